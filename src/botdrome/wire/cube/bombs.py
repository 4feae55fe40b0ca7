"""The bombs in Battlecube's state of play, as JSON.

A bomb lies until a bot steps on it, and every tick shows all bombs. There may be a hundred thousand of them, so a pile
remembers their JSON and encodes only the new ones.
"""

from collections import deque
from collections.abc import Sequence

import msgspec

Cell = tuple[int, int, int]

MOST_OUTSIDE = 1000
"""Bombs outside the cube that are shown: they harm nobody, and bots can place any number of them."""
A_BOMB = b'{"x":%d,"y":%d,"z":%d,"type":"BOMB"}'


def shown_bombs(bombs: Sequence[Cell], edge: int) -> Sequence[Cell]:
    """All bombs in the cube, and the last of those outside."""
    if len(bombs) <= MOST_OUTSIDE:
        return bombs
    outside = [cell for cell in bombs if max(cell) >= edge]
    forgotten = set(outside[:-MOST_OUTSIDE])
    return [cell for cell in bombs if cell not in forgotten] if forgotten else bombs


class BombPile:
    """The bombs of one game as JSON. Nearly always these are the bombs of the last tick and a few more."""

    def __init__(self) -> None:
        self._bombs: tuple[Cell, ...] = ()
        self._edge = 0
        self._texts: dict[Cell, bytes] = {}
        self._outside: deque[Cell] = deque()

    def written(self, bombs: tuple[Cell, ...], edge: int) -> msgspec.Raw:
        known = len(self._bombs)
        if edge == self._edge and bombs[:known] == self._bombs:
            self._add(bombs[known:], edge)
        else:
            self._texts.clear()
            self._outside.clear()
            self._add(shown_bombs(bombs, edge), edge)
        self._bombs, self._edge = bombs, edge
        return msgspec.Raw(b"[" + b",".join(self._texts.values()) + b"]")

    def _add(self, bombs: Sequence[Cell], edge: int) -> None:
        texts, outside = self._texts, self._outside
        for cell in bombs:
            texts[cell] = A_BOMB % cell
            if max(cell) >= edge:
                outside.append(cell)
                if len(outside) > MOST_OUTSIDE:
                    del texts[outside.popleft()]
