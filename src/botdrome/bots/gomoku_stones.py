"""A gomoku board for bots that look ahead: it knows the cells where a stone of either player would make a threat.

The line through a cell in one direction is coded as one number: two bits for each other cell that can share a row with it.
"""

from collections.abc import Iterable, Iterator
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
        self.touched: list[list[list[tuple[int, Cell, Code]]]] = [[[] for _ in range(size * size)] for _ in MARKS]
        """For a stone of each player on each cell: the lines that it changes, their cells, and what it adds to their codes."""
        offsets = [offset for offset in range(1 - win_length, win_length) if offset]
        for cell, (way, (down, right)) in product(range(size * size), enumerate(WAYS)):
            for place, offset in enumerate(offsets):
                row, column = cell // size + offset * down, cell % size + offset * right
                if 0 <= row < size and 0 <= column < size:
                    for seat, touched in enumerate(self.touched):
                        touched[row * size + column].append((4 * cell + way, cell, seat + 1 << 2 * place))
                else:
                    self.codes[4 * cell + way] |= EDGE << 2 * place


ground = cache(Ground)


class Stones:
    """The stones on a board. They never change: `with_stone` returns new ones."""

    __slots__ = ("_codes", "_ground", "key", "threats")

    def __init__(self, shared: Ground, codes: list[Code], threats: tuple[Threats, Threats], key: int) -> None:
        self._ground, self._codes, self.threats = shared, codes, threats
        self.key = key
        """The bit set of the stones, which is equal for equal boards."""

    def key_with(self, cell: Cell, seat: Seat) -> int:
        return self.key | 1 << 2 * cell + seat

    def with_stone(self, cell: Cell, seat: Seat) -> "Stones":
        codes, crosses, noughts = self._codes.copy(), self.threats[0].copy(), self.threats[1].copy()
        table = self._ground.threats
        crosses.pop(cell, None)
        noughts.pop(cell, None)
        for line in range(4 * cell, 4 * cell + 4):
            codes[line] |= self._ground.taken
        for line, near, change in self._ground.touched[seat][cell]:
            code = codes[line]
            codes[line] = changed = code + change
            if (old := table[code]) is not (new := table[changed]):
                _add(crosses, near, new[0] - old[0])
                _add(noughts, near, new[1] - old[1])
        return Stones(self._ground, codes, (crosses, noughts), self.key_with(cell, seat))

    def promises(self, cells: Iterable[Cell] | None = None) -> Iterator[tuple[Cell, Promises]]:
        """Yield each free cell (of these cells), and the promises of both players for it."""
        lines, codes, taken = self._ground.lines, self._codes, self._ground.taken
        for cell in range(len(codes) // 4) if cells is None else cells:
            first = 4 * cell
            if codes[first] < taken:
                (a, b), (c, d), (e, f), (g, h) = [lines[code] for code in codes[first : first + 4]]
                yield cell, (a + c + e + g, b + d + f + h)

    def near(self, cell: Cell) -> Iterator[Cell]:
        """Yield the cells whose promises a stone on this cell may change."""
        return (near for _, near, _ in self._ground.touched[0][cell])


def _add(threats: Threats, cell: Cell, change: Promise) -> None:
    if change:
        threats[cell] = threats.get(cell, 0) + change
        if not threats[cell]:
            del threats[cell]


def stones_on(board: str, size: int, win_length: int) -> Stones:
    shared = ground(size, win_length)
    stones = Stones(shared, shared.codes, ({}, {}), 0)
    for cell, mark in enumerate(board):
        if mark != FREE:
            stones = stones.with_stone(cell, MARKS.index(mark))
    return stones
