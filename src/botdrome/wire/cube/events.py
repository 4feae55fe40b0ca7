"""Battlecube's events: the news of a game as its organiser, and whoever watches, is told them."""

import re
from typing import Any

from msgspec import Struct

from botdrome.games.battlecube_answer import WRONG_COUNT
from botdrome.games.game import Game, View
from botdrome.match.course import News
from botdrome.match.events import Ended, Out, Played, Player
from botdrome.wire.cube.checks import Details
from botdrome.wire.cube.scene import CubeScene, Payload

Told = tuple[str, Payload]
"""The name of an event and what it says."""

NO_ANSWER = "CONNECTION_ERROR"
BAD_ANSWER = "VALIDATION_ERROR"
A_POSITION = re.compile(r"task at position (\d+):")
QUOTES = ", not "
"""After this the words about an illegal answer repeat it."""
DID = {"move": "PLAYER_MOVE_ATTEMPT", "bomb": "PLAYER_PLACED_BOMB", "nothing": "PLAYER_DID_NOTHING"}


class Final(Struct, frozen=True):
    """How a game ended: the result, and the seats with their scores, losers first in the order in which they lost."""

    result: str
    scores: tuple[tuple[Player, int], ...]
    winner: tuple[Player, int] | None = None


class CubeEvents:
    """Tells one game. Of each tick, its state comes before what happened in it."""

    def __init__(self, scene: CubeScene, position: Game[Any]) -> None:
        """From this position on."""
        self.final: Final | None = None
        """Known when the game is over."""
        self.words: dict[Player, str] = {}
        """What is known beyond the news about why a player gave no answer."""
        self._scene = scene
        self._position = position
        self._shown = False
        """Whether the state of this tick has been told."""

    def on_news(self, news: News) -> list[Told]:
        told: list[Told] = []
        for event, position in news:
            match event:
                case Played():
                    told += self.opened()
                    told += self._happened(self._scene.view(position))
                    self._shown = False
                case Out():
                    told.append(self._out(event))
                case Ended():
                    self.final = final(self._scene.view(position), event.result.aborted)
            self._position = position
        return told

    def opened(self) -> list[Told]:
        """A tick begins: its state, unless that has been told."""
        if self._shown:
            return []
        self._shown = True
        return [("NEXT_TICK", self._scene.state(self._position))]

    def _happened(self, view: View) -> list[Told]:
        told: list[Told] = []
        names, game_id = self._scene.names, self._scene.game_id
        for one in view["happened"]:
            name, did = names[one["seat"]], one.get("did")
            if did is None:
                told.append(("PLAYER_LOST", {"cause": one["lost"], "name": name, "id": game_id}))
                continue
            cell = {"x": one["x"], "y": one["y"], "z": one["z"]}
            if did == "move":
                told.append((DID[did], {"name": name} | cell | {"direction": one["direction"], "id": game_id}))
            else:
                told.append((DID[did], cell | {"name": name, "id": game_id}))
        return told

    def _out(self, event: Out) -> Told:
        """The match put a player out: the cause in the form of the original, and plain words beside it."""
        player, words = event.player, self.words.get(event.player) or event.detail or event.cause
        cause: Any = NO_ANSWER
        if event.cause == "illegal moves":
            words = words.partition(QUOTES)[0]
            cause = {"error": BAD_ANSWER, "details": _bad_answer(words)}
        told = {"cause": cause, "name": self._scene.names[player], "details": words, "id": self._scene.game_id}
        return "PLAYER_LOST", told


def _bad_answer(words: str) -> Details:
    """What the original says about such an answer, without the answer: it may be that of any service on this machine."""
    if words.startswith(WRONG_COUNT):
        return WRONG_COUNT
    found = A_POSITION.match(words)
    if found is None:
        return [_element("must be an array", [], "array.base", {})]
    at = int(found[1])
    return [_element(f"at position {at} does not match any of the allowed types", [at], "array.includes", {"pos": at, "key": at})]


def _element(words: str, path: list[int], kind: str, context: dict[str, Any]) -> dict[str, Any]:
    return {"message": f'"value" {words}', "path": path, "type": kind, "context": context | {"label": "value"}}


def final(view: View, stopped: bool) -> Final:
    lost = tuple((one["seat"], one["tick"]) for one in view["lost"])
    left = tuple((one["seat"], view["tick"]) for one in view["players"])
    if stopped:
        return Final("STOPPED", lost + left)
    return Final("WINNER_FOUND", lost + left, left[0]) if len(left) == 1 else Final("TIE", lost + left)


def ended(end: Final, scene: CubeScene, urls: tuple[str, ...] | None) -> Payload:
    """The payload of GAME_ENDED; without urls for those who did not type them in."""

    def scored(one: tuple[Player, int]) -> Payload:
        player, score = one
        url = {} if urls is None else {"url": urls[player]}
        return {"name": scene.names[player]} | url | {"highScore": score, "score": score}

    winner = {} if end.winner is None else {"winner": scored(end.winner)}
    return winner | {"scores": [scored(one) for one in end.scores], "id": scene.game_id, "result": end.result}
