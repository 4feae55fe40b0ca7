"""The encoding of battlecube: six steps, no action, then a bomb on each cell, with z counting
fastest.
"""

from collections.abc import Sequence
from itertools import product

import numpy as np

from botdrome.encodings.encoding import Arrays, BadAction, Encoding, Memory
from botdrome.games.battlecube import STEPS, Battlecube, plan_in
from botdrome.games.game import BadOption, IllegalMove, Raw, View

LARGEST_EDGE = 16
OWN, OTHERS, BOMBS = range(3)
WAYS = tuple(STEPS)


class BattlecubeEncoding(Encoding):
    open_views = mortal = True
    planes = ("own cell", "cells of the others", "bombs")

    def __init__(self, game: Battlecube, players: int) -> None:
        if game.tasks > 1:
            raise BadOption(f"tasks: an action is one task, so it must be 1, not {game.tasks}")
        if game.edge > LARGEST_EDGE:
            raise BadOption(
                f"edge: every cell is an action, so it is at most {LARGEST_EDGE}, not {game.edge}"
            )
        edge = self._edge = game.edge
        self.shape = (3, edge, edge, edge)
        steps: list[Raw] = [{"task": "MOVE", "direction": way} for way in WAYS]
        bombs = [
            {"task": "BOMB", "x": x, "y": y, "z": z} for x, y, z in product(range(edge), repeat=3)
        ]
        self._moves = [[task] for task in (*steps, {"task": "NOOP"}, *bombs)]
        self.actions = len(self._moves)
        self._all, self._nothing = np.ones(self.actions, np.int8), np.zeros(self.actions, np.int8)

    def arrays(self, view: View, memory: Memory) -> Arrays:
        if memory.get("tick") != view["tick"]:
            memory["tick"] = view["tick"]
            self._remember_bombs(view["bombs"], memory)
        planes, seat = memory["planes"].copy(), view["you"]
        for other in view["players"]:
            planes[OWN if other["seat"] == seat else OTHERS, other["x"], other["y"], other["z"]] = 1
        return planes, self._all.copy() if seat in view["toMove"] else self._nothing.copy()

    def _remember_bombs(self, bombs: Sequence[Sequence[int]], memory: Memory) -> None:
        known = memory.get("bombs", ())
        if "planes" not in memory or bombs[: len(known)] != known:
            known, memory["planes"] = (), np.zeros(self.shape, np.int8)
        planes, edge = memory["planes"], self._edge
        for x, y, z in bombs[len(known) :]:
            if x < edge and y < edge and z < edge:
                planes[BOMBS, x, y, z] = 1
        memory["bombs"] = bombs

    def _cell(self, x: int, y: int, z: int) -> int:
        return (x * self._edge + y) * self._edge + z

    def move(self, view: View, action: int) -> Raw:
        return self._moves[action]

    def action(self, view: View, move: Raw) -> int:
        try:
            (task,) = plan_in(move, 1)
        except IllegalMove as problem:
            raise BadAction(str(problem)) from None
        if task is None:
            return len(WAYS)
        if isinstance(task, str):
            return WAYS.index(task)
        if max(task) >= self._edge:
            raise BadAction(f"{move!r} is outside the cube")
        return len(WAYS) + 1 + self._cell(*task)

    def playing(self, view: View) -> bool:
        return any(other["seat"] == view["you"] for other in view["players"])
