"""The Bomberman API's answers, and the dialect of those at a table who play through it."""

from collections.abc import Collection
from typing import Any

import msgspec
from msgspec import Struct

from botdrome.games.bomberman_actions import WORDS, action_in
from botdrome.games.game import IllegalMove
from botdrome.match.course import News
from botdrome.match.events import Began, Ended, Late, Played, Player, Refused
from botdrome.wire.bomber_request import BadRequest
from botdrome.wire.vocabulary import Standing

ENCODER = msgspec.json.Encoder()
ACCEPTED, CANNOT_MOVE, DEAD, DECLINED = "ACCEPTED", "CANNOT_MOVE", "DEAD", "DECLINED"
OVERWRITTEN, TOO_LATE, GAME_OVER, NOT_STARTED = "OVERWRITTEN", "TOO_LATE", "GAME_OVER", "NOT_STARTED"


class Response(Struct, frozen=True):
    """What becomes of an action: the document's word, the word that says more, and a sentence."""

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


IS_DEAD = Response(DEAD, DEAD, "your user is dead")
IS_OVER = Response(CANNOT_MOVE, GAME_OVER, "the game is over")
HAS_NOT_BEGUN = Response(CANNOT_MOVE, NOT_STARTED, "the game has not begun")
CAME_LATE = Response(CANNOT_MOVE, TOO_LATE, "the round of that state_number is over")


def read_action(value: Any) -> str:
    """The action's own word, from any of the words for it."""
    try:
        return WORDS[action_in({"action": value})]
    except IllegalMove as fault:
        word, _, sentence = str(fault).partition(": ")
        raise BadRequest(word, sentence.replace("WAIT,", "WAIT, STATE,")) from None


def refusal(why: str) -> Response:
    """The rules begin their refusals with a word for programs."""
    word, _, sentence = why.partition(": ")
    return Response(CANNOT_MOVE, word, sentence) if sentence else Response(CANNOT_MOVE, CANNOT_MOVE, why)


class BomberDialect:
    """Those at a table who play through the API ask for what they want to know: here it is noted for their records."""

    def __init__(self, wrapped: bool) -> None:
        self._wrapped = wrapped

    def on_news(self, news: News, standing: Standing, players: Collection[Player]) -> dict[Player, list[bytes]]:
        """The numbers of the states that can be asked for from now on, and what was refused."""
        told: dict[Player, list[bytes]] = {player: [] for player in players}
        for event, _ in news:
            match event:
                case Refused() if event.player in told:
                    told[event.player].append(ENCODER.encode(refusal(event.why).fields(self._wrapped)))
                case Late() if event.player in told:
                    told[event.player].append(ENCODER.encode(CAME_LATE.fields(self._wrapped)))
                case Began():
                    _to_all(told, {"state_number": 1, "time_left": standing.time_left})
                case Played():
                    _to_all(told, {"state_number": event.step + 2, "time_left": standing.time_left})
                case Ended():
                    _to_all(told, {"phase": "FINISHED"})
        return told


def _to_all(told: dict[Player, list[bytes]], fields: dict[str, Any]) -> None:
    message = ENCODER.encode(fields)
    for messages in told.values():
        messages.append(message)
