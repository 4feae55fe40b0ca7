"""The native protocol's updates, game by game: two as their original sends them, one manner for all the others."""

from collections.abc import Callable
from typing import Any

from msgspec import Struct

from botdrome.games.game import View
from botdrome.match.events import BoardResult, Cause, Result
from botdrome.match.terms import Milliseconds

Message = dict[str, Any]


class Scene(Struct, frozen=True):
    """All that an update is made of."""

    view: View
    names: tuple[str, ...]
    """The players."""
    bots: tuple[str, ...]
    """The same by their seats on this board."""
    time_left: Milliseconds | None
    strikes: tuple[int, ...]
    boards: tuple[BoardResult, ...]
    result: Result | None
    turn: Message | None
    why: str = ""
    """Why a move was not taken."""


def update(game: str, scene: Scene) -> Message:
    return UPDATES.get(game, any_game)(scene)


def any_game(scene: Scene) -> Message:
    """The view, with who is who, who is awaited and for how long, and how it ended."""
    state = scene.view | {
        "bots": scene.bots,
        "waitingFor": waiting_for(scene),
        "timeLeft": scene.time_left,
        "result": _full_result(scene),
    }
    if scene.boards:
        state["boardsPlayed"] = [dict(zip(scene.names, board.places, strict=True)) for board in scene.boards]
    return {"state": state} | _kept(turn=scene.turn, why=scene.why)


def noughts_and_crosses(scene: Scene) -> Message:
    state = {
        "bots": scene.bots,
        "board": scene.view["board"],
        "marks": dict(zip(scene.view["marks"], scene.bots, strict=True)),
        "waitingFor": waiting_for(scene),
        "result": _result(scene, {"complete": "complete", "timeout": "timeout", "illegal moves": "Didn't write unit tests"}),
        "invalidTurns": dict(zip(scene.names, scene.strikes, strict=True)),
    }
    return {"state": state} | _kept(turn=scene.turn)


def bumblebots(scene: Scene) -> Message:
    """Flat, and by names where the rules speak of seats. The record of missed and bad orders comes on top."""
    view = {key: value for key, value in scene.view.items() if key not in ("you", "toMove")}
    for key in ("spawnPoints", "territory", "drones", "score", "record"):
        view[key] = dict(zip(scene.bots, view[key], strict=True))
    reasons: dict[Cause, str] = {"complete": "BUMBLEBOTS_FULL_TIME", "disconnect": "BUMBLEBOTS_DISCONNECT"}
    return view | {"bots": scene.bots, "result": _result(scene, reasons)}


UPDATES: dict[str, Callable[[Scene], Message]] = {
    "noughts-and-crosses": noughts_and_crosses,
    "bumblebots": bumblebots,
}


def waiting_for(scene: Scene) -> list[str]:
    return [] if scene.result else [scene.bots[seat] for seat in scene.view["toMove"]]


def _kept(**entries: Any) -> Message:
    return {key: value for key, value in entries.items() if value}


def _cause(result: Result) -> Cause:
    """Why a match ended: the first cause that is not the rules."""
    return next((cause for cause in result.causes if cause != "complete"), "complete")


def _victor(scene: Scene) -> str | None:
    winner = scene.result.winner if scene.result else None
    return None if winner is None else scene.names[winner]


def _result(scene: Scene, reasons: dict[Cause, str]) -> Message | None:
    """What a cause is called; all other ways of dropping out are disconnections."""
    if scene.result is None:
        return None
    reason = reasons.get(_cause(scene.result), reasons.get("disconnect", "disconnect"))
    return {"reason": reason, "victor": _victor(scene)}


def _full_result(scene: Scene) -> Message | None:
    result = scene.result
    if result is None:
        return None
    by_name = {
        name: {"place": place, "score": score, "cause": cause}
        for name, place, score, cause in zip(scene.names, result.places, result.scores, result.causes, strict=True)
    }
    return {"reason": _cause(result), "victor": _victor(scene), "players": by_name}
