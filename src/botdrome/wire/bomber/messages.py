"""The responses of the Bomberman API, and the writer for its users at a table."""

from collections.abc import Collection, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from botdrome.games.bomberman import WORDS, Bomberman, action_in
from botdrome.games.game import IllegalMove
from botdrome.match.events import Began, Ended, Late, Played, Player, Refused
from botdrome.match.match import News
from botdrome.wire.bomber.request import BadRequest
from botdrome.wire.bomber.state import told_death
from botdrome.wire.standing import Standing

ENCODER = msgspec.json.Encoder()
ACCEPTED, CANNOT_MOVE, DEAD, DECLINED = "ACCEPTED", "CANNOT_MOVE", "DEAD", "DECLINED"
OWN_WORDS = frozenset(WORDS)
OVERWRITTEN, TOO_LATE, GAME_OVER, NOT_STARTED = "OVERWRITTEN", "TOO_LATE", "GAME_OVER", "NOT_STARTED"

Told = dict[Player, list[bytes]]


class Response(Struct, frozen=True):
    """The outcome of an action: the document's word, a more exact word, and a sentence."""

    word: str
    information: str = ""
    sentence: str = ""

    def fields(self, wrapped: bool) -> dict[str, Any]:
        """As the keys of a message; wrapped, all that is not accepted is DECLINED, as in the document's example."""
        told = {"response": DECLINED if wrapped and self.word != ACCEPTED else self.word}
        if self.information:
            told["information"] = self.information
        if self.sentence:
            told["detail"] = self.sentence
        return told


IS_ACCEPTED = Response(ACCEPTED)
IS_DEAD = Response(DEAD, DEAD, "your user is dead")
IS_OVER = Response(CANNOT_MOVE, GAME_OVER, "the game is over")
HAS_NOT_BEGUN = Response(CANNOT_MOVE, NOT_STARTED, "the game has not begun")
CAME_LATE = Response(CANNOT_MOVE, TOO_LATE, "the round of that state_number is over")
IS_AHEAD = Response(CANNOT_MOVE, TOO_LATE, "the round of that state_number has not begun")
"""There is one word for every state_number but that of the round that runs."""


def read_action(value: Any) -> str:
    """The action's own word, from any of the words for it."""
    if type(value) is str and value in OWN_WORDS:
        return value
    try:
        return WORDS[action_in({"action": value})]
    except IllegalMove as fault:
        word, _, sentence = str(fault).partition(": ")
        raise BadRequest(word, sentence.replace("WAIT,", "WAIT, STATE,")) from None


def refusal(why: str) -> Response:
    """The rules begin their refusals with a word for programs."""
    word, _, sentence = why.partition(": ")
    return Response(CANNOT_MOVE, word, sentence) if sentence else Response(CANNOT_MOVE, CANNOT_MOVE, why)


def refusal_in(verdict: str) -> Response | None:
    """Return the response to an action with this verdict of the table; None: it was accepted."""
    if verdict == "accepted":
        return None
    _, illegal, why = verdict.partition("illegal: ")
    return refusal(why) if illegal else CAME_LATE


class BomberWriter:
    """Writes what users of the API could ask for, for their flight records: they are sent nothing."""

    def __init__(self, wrapped: bool, names: Sequence[str] = ()) -> None:
        self._wrapped, self._names = wrapped, names

    def on_news(self, news: News, standing: Standing, players: Collection[Player]) -> Told:
        """The numbers of the states that can be asked for from now on, and what was refused."""
        told: Told = {}
        for event, position in news:
            if isinstance(event, Played):
                moment = {"state_number": event.step + 2, "time_left": standing.time_left}
                _to_all(told, players, moment | self._deaths(position))
            elif isinstance(event, Refused):
                self._to_one(told, players, event.player, refusal(event.why))
            elif isinstance(event, Late):
                self._to_one(told, players, event.player, CAME_LATE)
            elif isinstance(event, Began):
                _to_all(told, players, {"state_number": 1, "time_left": standing.time_left})
            elif isinstance(event, Ended):
                _to_all(told, players, {"phase": "FINISHED"})
        return told

    def _deaths(self, position: Any) -> dict[str, Any]:
        """Those of the round that was just played."""
        assert isinstance(position, Bomberman)
        dead = [
            {"user_name": name} | told_death(death, self._names, position.fuse)
            for name, death in zip(self._names, position.deaths, strict=False)
            if death is not None and death.round == position.round - 1
        ]
        return {"deaths": dead} if dead else {}

    def _to_one(self, told: Told, players: Collection[Player], player: Player, response: Response) -> None:
        if player in players:
            told.setdefault(player, []).append(ENCODER.encode(response.fields(self._wrapped)))


def _to_all(told: Told, players: Collection[Player], fields: dict[str, Any]) -> None:
    message = ENCODER.encode(fields)
    for player in players:
        told.setdefault(player, []).append(message)
