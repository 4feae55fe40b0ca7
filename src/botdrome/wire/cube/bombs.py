"""Bombs in Battlecube's state of play: which are shown, and how a great many are written down.

Bombs lie until somebody steps on them, and every tick shows them all. So as not to write a hundred thousand of them anew each
time, a pile remembers what it wrote, and writes only what has come since.
"""

from collections import deque
from collections.abc import Sequence

import msgspec

Cell = tuple[int, int, int]

MOST_OUTSIDE = 1000
"""Bombs outside the cube that are shown. They harm nobody, and bots may go on throwing them for as long as a game lasts."""
A_BOMB = b'{"x":%d,"y":%d,"z":%d,"type":"BOMB"}'


def shown_bombs(bombs: Sequence[Cell], edge: int) -> Sequence[Cell]:
    """All in the cube, and of those outside the last."""
    if len(bombs) <= MOST_OUTSIDE:
        return bombs
    outside = [cell for cell in bombs if max(cell) >= edge]
    forgotten = set(outside[:-MOST_OUTSIDE])
    return [cell for cell in bombs if cell not in forgotten] if forgotten else bombs


class BombPile:
    """The bombs of one game that are shown, as JSON. Nearly always there are those of the last time, and a few more."""

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
