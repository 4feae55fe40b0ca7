"""A gomoku board for bots that look ahead: it knows the cells where a stone of either player would make a threat.

The line through a cell in one direction is coded as one number: two bits for each other cell that can share a row with it.
"""

from collections.abc import Iterator
from functools import cache
from itertools import product

from botdrome.bots.gomoku import THREE, Promise, line_promises
from botdrome.games.game import Seat
from botdrome.games.gomoku import FREE, MARKS

Cell = int
Code = int
Promises = tuple[Promise, ...]
"""The promises of both players."""
Threats = dict[Cell, Promise]
"""The promise of a stone on each free cell where it makes a three, a four or a row."""
SIGNS = FREE + "".join(MARKS) + "#"
"""The signs of the codes 0 to 3; the last means that the board ends there."""
EDGE = 3
WAYS = ((0, 1), (1, 0), (1, 1), (1, -1))
"""The four directions of a line, as steps down and right."""
COMPANY = (0, 1, 6, 18, 20, 20, 20)
"""The value of a row that is still possible, by the number of its stones."""
SEARCHED = range(4, len(COMPANY))
"""The lengths of a row for which this board is of use: longer lines have too many codes, and with 3 any stone is a threat."""
NO_THREATS: Promises = (0, 0)


class LineTable(dict[Code, Promises]):
    """The promises of both players for the middle of a line, by its code. A line is rated when it is first met."""

    def __init__(self, win_length: int) -> None:
        self._win_length = win_length

    def __missing__(self, code: Code) -> Promises:
        reach = self._win_length - 1
        signs = [SIGNS[code >> 2 * place & 3] for place in range(2 * reach)]
        line = "".join([*signs[:reach], FREE, *signs[reach:]])
        self[code] = found = line_promises(line, reach, self._win_length, COMPANY)
        return found


class ThreatTable(dict[Code, Promises]):
    """The same for the threats only. Lines without threats share one value, so that a search skips them quickly."""

    def __init__(self, lines: LineTable, taken: Code) -> None:
        self._lines, self._taken = lines, taken

    def __missing__(self, code: Code) -> Promises:
        promises = NO_THREATS if code >= self._taken else self._lines[code]
        threats = tuple(promise - promise % THREE for promise in promises)
        self[code] = found = threats if any(threats) else NO_THREATS
        return found


class Ground:
    """The tables that all boards of one size and length of a row share."""

    def __init__(self, size: int, win_length: int) -> None:
        self.taken: Code = 1 << 4 * (win_length - 1)
        """The bit that marks a line with a stone in the middle."""
        self.lines = LineTable(win_length)
        self.threats = ThreatTable(self.lines, self.taken)
        self.codes: list[Code] = [0] * (4 * size * size)
        """The codes of the lines of an empty board, four for each cell."""
        self.touched: list[list[tuple[int, Code]]] = [[] for _ in range(size * size)]
        """For each cell the lines that a stone there changes, and the lowest bit of its place in them."""
        offsets = [offset for offset in range(1 - win_length, win_length) if offset]
        for cell, (way, (down, right)) in product(range(size * size), enumerate(WAYS)):
            for place, offset in enumerate(offsets):
                row, column = cell // size + offset * down, cell % size + offset * right
                if 0 <= row < size and 0 <= column < size:
                    self.touched[row * size + column].append((4 * cell + way, 1 << 2 * place))
                else:
                    self.codes[4 * cell + way] |= EDGE << 2 * place


ground = cache(Ground)


class Stones:
    """The stones on a board. They never change: `with_stone` returns new ones."""

    __slots__ = ("_codes", "_ground", "after", "threats")

    def __init__(self, shared: Ground, codes: list[Code], threats: tuple[Threats, Threats]) -> None:
        self._ground, self._codes, self.threats = shared, codes, threats
        self.after: dict[tuple[Cell, Seat], Stones] = {}
        """The boards with one more stone that a search has visited."""

    def with_stone(self, cell: Cell, seat: Seat) -> "Stones":
        codes, crosses, noughts = self._codes.copy(), self.threats[0].copy(), self.threats[1].copy()
        table, mark = self._ground.threats, seat + 1
        crosses.pop(cell, None)
        noughts.pop(cell, None)
        for line in range(4 * cell, 4 * cell + 4):
            codes[line] |= self._ground.taken
        for line, bit in self._ground.touched[cell]:
            code = codes[line]
            codes[line] = changed = code + bit * mark
            if (old := table[code]) is not (new := table[changed]):
                _add(crosses, line // 4, new[0] - old[0])
                _add(noughts, line // 4, new[1] - old[1])
        return Stones(self._ground, codes, (crosses, noughts))

    def promises(self) -> Iterator[tuple[Cell, Promises]]:
        """Yield each free cell, and the promises of both players for it."""
        lines, codes, taken = self._ground.lines, self._codes, self._ground.taken
        for first in range(0, len(codes), 4):
            if codes[first] < taken:
                (a, b), (c, d), (e, f), (g, h) = [lines[code] for code in codes[first : first + 4]]
                yield first // 4, (a + c + e + g, b + d + f + h)


def _add(threats: Threats, cell: Cell, change: Promise) -> None:
    if change:
        threats[cell] = threats.get(cell, 0) + change
        if not threats[cell]:
            del threats[cell]


def stones_on(board: str, size: int, win_length: int) -> Stones:
    shared = ground(size, win_length)
    stones = Stones(shared, shared.codes, ({}, {}))
    for cell, mark in enumerate(board):
        if mark != FREE:
            stones = stones.with_stone(cell, MARKS.index(mark))
    return stones
