"""Battlebot's updates: two games as the original sends them, and one general form for all others."""

from collections.abc import Callable
from typing import Any

from botdrome.games.game import View
from botdrome.match.events import BoardResult, Cause, Result
from botdrome.match.terms import Milliseconds

Message = dict[str, Any]


class UpdateParts:
    """The parts of an update, beside the view."""

    def __init__(
        self,
        names: tuple[str, ...],
        bots: tuple[str, ...],
        time_left: Milliseconds | None,
        strikes: tuple[int, ...],
        boards: tuple[BoardResult, ...],
        result: Result | None,
        turn: Message | None,
        why: str = "",
        match: str = "",
    ) -> None:
        """`names` are the players' names; `bots` are these by seat on this board. `why` says why a move was refused.

        `match` is the id of the match, with which a bot can return to it.
        """
        self.names, self.bots, self.time_left, self.strikes, self.boards = names, bots, time_left, strikes, boards
        self.result, self.turn, self.why, self.match = result, turn, why, match


Update = Callable[[UpdateParts, View], Message]


def update_of(game: str, extras: bool) -> Update:
    """Return the function that makes the updates of a game; `extras`: with keys that the original lacks."""
    plain = UPDATES.get(game, any_game)
    return EXTENDED.get(game, plain) if extras else plain


def any_game(scene: UpdateParts, view: View) -> Message:
    """Return the view with the players' names, the players to move, their time, and the result."""
    state = view | {
        "bots": scene.bots,
        "waitingFor": _waiting_for(scene, view),
        "timeLeft": scene.time_left,
        "result": _full_result(scene),
    }
    if scene.match:
        state["match"] = scene.match
    if scene.boards:
        state["boardsPlayed"] = [dict(zip(scene.names, board.places, strict=True)) for board in scene.boards]
    return {"state": state} | _kept(turn=scene.turn, why=scene.why)


def noughts_and_crosses(scene: UpdateParts, view: View) -> Message:
    state = {
        "bots": scene.bots,
        "board": view["board"],
        "marks": dict(zip(view["marks"], scene.bots, strict=True)),
        "waitingFor": _waiting_for(scene, view),
        "result": _result(scene, NOUGHTS_REASONS),
        "invalidTurns": dict(zip(scene.names, scene.strikes, strict=True)),
    }
    return {"state": state, "turn": scene.turn} if scene.turn else {"state": state}


def bumblebots(scene: UpdateParts, view: View) -> Message:
    """Return the view flat, with names in place of seats."""
    bots = scene.bots
    return {
        "bots": bots,
        "spawnPoints": dict(zip(bots, view["spawnPoints"], strict=True)),
        "territory": dict(zip(bots, view["territory"], strict=True)),
        "maxDrones": view["maxDrones"],
        "board": view["board"],
        "drones": dict(zip(bots, view["drones"], strict=True)),
        "score": dict(zip(bots, view["score"], strict=True)),
        "result": _victor_first(_result(scene, BUMBLEBOTS_REASONS)),
        "turnNumber": view["turnNumber"],
    }


def bumblebots_with_extras(scene: UpdateParts, view: View) -> Message:
    extras = {"ticks": view["ticks"]}
    if "record" in view:  # a match that the original played has none
        extras["record"] = dict(zip(scene.bots, view["record"], strict=True))
    return bumblebots(scene, view) | extras


NOUGHTS_REASONS: dict[Cause, str] = {
    "complete": "complete",
    "timeout": "timeout",
    "illegal moves": "Didn't write unit tests",
}
BUMBLEBOTS_REASONS: dict[Cause, str] = {"complete": "BUMBLEBOTS_FULL_TIME", "disconnect": "BUMBLEBOTS_DISCONNECT"}

UPDATES: dict[str, Update] = {
    "noughts-and-crosses": noughts_and_crosses,
    "bumblebots": bumblebots,
}
EXTENDED: dict[str, Update] = {"bumblebots": bumblebots_with_extras}
SAME_FOR_ALL = UPDATES.keys()
"""Games whose updates are the same for all players."""
BEAT_ALONE = frozenset({"bumblebots"})
"""Games that send one update for each tick and nothing else: bad orders are not answered."""


def _waiting_for(scene: UpdateParts, view: View) -> list[str]:
    return [] if scene.result else [scene.bots[seat] for seat in view["toMove"]]


def _kept(**entries: Any) -> Message:
    return {key: value for key, value in entries.items() if value}


def _cause(result: Result) -> Cause:
    """Return why a match ended: the first cause that is not the rules."""
    return next((cause for cause in result.causes if cause != "complete"), "complete")


def _victor(scene: UpdateParts) -> str | None:
    winner = scene.result.winner if scene.result else None
    return None if winner is None else scene.names[winner]


def _result(scene: UpdateParts, reasons: dict[Cause, str]) -> Message | None:
    """Return the name of a cause on the wire; all other ways to drop out are disconnections."""
    if scene.result is None:
        return None
    reason = reasons.get(_cause(scene.result), reasons.get("disconnect", "disconnect"))
    return {"reason": reason, "victor": _victor(scene)}


def _victor_first(result: Message | None) -> Message | None:
    """Return the keys in the order of Bumblebots."""
    return result and {"victor": result["victor"], "reason": result["reason"]}


def _full_result(scene: UpdateParts) -> Message | None:
    result = scene.result
    if result is None:
        return None
    by_name = {
        name: {"place": place, "score": score, "cause": cause}
        for name, place, score, cause in zip(scene.names, result.places, result.scores, result.causes, strict=True)
    }
    return {"reason": _cause(result), "victor": _victor(scene), "players": by_name}
