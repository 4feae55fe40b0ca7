"""Cubes to try the rules of battlecube on."""

from typing import Any

from botdrome.games.battlecube import Battlecube, Cell
from botdrome.games.chance import Chance

STAY = {"task": "NOOP"}
Starts = tuple[Cell, ...]


def step(direction: str) -> dict[str, Any]:
    return {"task": "MOVE", "direction": direction}


def bomb(x: int, y: int, z: int) -> dict[str, Any]:
    return {"task": "BOMB", "x": x, "y": y, "z": z}


def cube(*starts: Cell, edge: int = 4, ticks: int = 20, tasks: int = 1) -> Battlecube:
    return Battlecube(edge, ticks, tasks, starts).start(len(starts), Chance(0))


def after(position: Battlecube, *answers: Any) -> Battlecube:
    """One tick; the answers are those of the seats to move, in order, a task or a plan each."""
    plans = [answer if isinstance(answer, list) else [answer] for answer in answers]
    moves = {
        seat: position.parse(seat, plan) for seat, plan in zip(position.to_move, plans, strict=True)
    }
    return position.play(moves, Chance(7))


def happened(position: Battlecube) -> list[Any]:
    """In short: each seat's action with the cell, or the reason of its loss."""
    return [
        (
            entry["seat"],
            entry.get("direction") or entry["did"],
            (entry["x"], entry["y"], entry["z"]),
        )
        if "did" in entry
        else (entry["seat"], entry["lost"])
        for entry in position.view(None)["happened"]
    ]


def where(position: Battlecube) -> dict[int, Cell]:
    return dict(zip(position.seats, position.cells, strict=True))
