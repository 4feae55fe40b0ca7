"""Gomoku: five or more in a row, on a board of any size, without forbidden moves.

An opening may be given.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from operator import itemgetter
from typing import Annotated, ClassVar

from msgspec import Meta

from botdrome.games.chance import Chance
from botdrome.games.game import BadOption, Game, IllegalMove, Raw, Seat, View
from botdrome.games.reading import an_object, entry, whole_within

Point = tuple[int, int]
"""Column and row."""

Opening = tuple[Point, ...]
MARKS = ("X", "O")
FREE = "."
TURNS = ((0,), (1,))
NO_CHANCE = Chance(0)
DRAW, WINS = (0.0, 0.0), ((1.0, 0.0), (0.0, 1.0))
LARGEST = 25
ROWS = tuple(tuple(mark * length for length in range(LARGEST + 1)) for mark in MARKS)
"""Stones in a row, by seat and length."""


@cache
def points(size: int) -> tuple[Point, ...]:
    """Return the column and row of each cell."""
    return tuple((x, y) for y in range(size) for x in range(size))


@cache
def stretches(size: int, win_length: int) -> tuple[tuple[slice, ...], ...]:
    """Return, for each cell, the slices of the board in which a stone there may complete a row: at
    most one per direction.
    """
    return tuple(tuple(_stretches_through(x, y, size, win_length)) for x, y in points(size))


def _stretches_through(x: int, y: int, size: int, win_length: int) -> Iterator[slice]:
    cell, reach = y * size + x, win_length - 1
    left, right, up, down = (min(room, reach) for room in (x, size - 1 - x, y, size - 1 - y))
    for step, before, after in (
        (1, left, right),
        (size, up, down),
        (size + 1, min(left, up), min(right, down)),
        (size - 1, min(right, up), min(left, down)),
    ):
        if before + after >= reach:
            yield slice(cell - before * step, cell + after * step + 1, step)


NO_CELLS = slice(0), slice(0)
"""With two slices an itemgetter always returns a tuple."""


Cutter = Callable[[str], tuple[str, ...]]


@cache
def cutters(size: int, win_length: int) -> tuple[Cutter, ...]:
    """Return, for each cell, a function that cuts its stretches out of a board."""
    found = stretches(size, win_length)
    return tuple([itemgetter(*(cell if len(cell) > 1 else (*cell, *NO_CELLS))) for cell in found])


@cache
def row_cutter(size: int) -> Cutter:
    """Return a function that cuts a board into its rows."""
    return itemgetter(*[slice(start, start + size) for start in range(0, size * size, size)])


class KnownStone(dict[str, int]):
    """A parsed move that matches share: do not change it."""

    __slots__ = ("point",)

    def __init__(self, point: Point) -> None:
        self["x"], self["y"] = self.point = point


KNOWN_STONES = {point: KnownStone(point) for point in points(LARGEST)}


class Gomoku(Game[Point], frozen=True):
    name: ClassVar[str] = "gomoku"
    players: ClassVar[range] = range(2, 3)
    opening_moves: ClassVar[int] = 4

    size: Annotated[int, Meta(description="rows and columns of the board", ge=5, le=LARGEST)] = 15
    win_length: Annotated[
        int, Meta(description="how many stones in a row win; more do too", ge=3, le=LARGEST)
    ] = 5

    cells: str = ""
    """One character per cell, row by row."""
    history: tuple[Point, ...] = ()
    """The stones in the order in which they were played."""
    cutters: tuple[Cutter, ...] = ()
    """Those of this size and win length, once the game has started."""
    to_move: tuple[Seat, ...] = TURNS[0]
    scores: tuple[float, ...] = DRAW
    line: tuple[Point, ...] | None = None
    """The winning row."""
    opening: Annotated[
        Opening | None,
        Meta(description="the first stones, [x, y], in turns from seat 0; none: no stones"),
    ] = None

    def check(self, players: int) -> None:
        if self.win_length > self.size:
            raise BadOption(
                f"win_length: {self.win_length} in a row do not fit on a board of size {self.size}"
            )
        if self.opening:
            self._opened()

    def start(self, players: int, chance: Chance) -> "Gomoku":
        self.check(players)
        return self._opened()

    def _opened(self) -> "Gomoku":
        """Return the position after the opening.

        Raise BadOption if that cannot be played, or ends the game.
        """
        size, win_length, opening = self.size, self.win_length, self.opening
        cells, cuts = FREE * size**2, cutters(size, win_length)
        position = Gomoku(size, win_length, cells, (), cuts, opening=opening)
        for number, (x, y) in enumerate(opening or ()):
            try:
                point = position.parse(number % 2, {"x": x, "y": y})
            except IllegalMove as problem:
                raise BadOption(f"opening: stone {number + 1}: {problem}") from None
            position = position.play({number % 2: point}, NO_CHANCE)
            if position.over:
                raise BadOption(f"opening: stone {number + 1}, [{x}, {y}], ends the game")
        return position

    @property
    def rows(self) -> tuple[str, ...]:
        return row_cutter(self.size)(self.cells)

    @property
    def over(self) -> bool:
        return not self.to_move

    def parse(self, seat: Seat, raw: Raw) -> Point:
        size = self.size
        if type(raw) is KnownStone:
            column, row = known = raw.point
            if column < size and row < size and self.cells[row * size + column] == FREE:
                return known
        point = raw if type(raw) is dict else an_object(raw)
        x, y = point.get("x"), point.get("y")
        if type(x) is not int or not 0 <= x < size:
            x = whole_within(entry(point, "x"), "x", 0, size - 1)
        if type(y) is not int or not 0 <= y < size:
            y = whole_within(entry(point, "y"), "y", 0, size - 1)
        if self.cells[y * size + x] != FREE:
            raise IllegalMove(f"[{x}, {y}] is taken")
        return x, y

    def play(self, moves: Mapping[Seat, Point], chance: Chance) -> "Gomoku":
        size, win_length, opening, cuts = self.size, self.win_length, self.opening, self.cutters
        cells, history = self.cells, self.history
        if not moves:  # the seat passes
            other = TURNS[1 - self.to_move[0]]
            return Gomoku(size, win_length, cells, history, cuts, other, DRAW, None, opening)
        (seat,) = moves
        x, y = point = moves[seat]
        cell, winning, stone = y * size + x, ROWS[seat][win_length], (point,)
        cells, history = f"{cells[:cell]}{MARKS[seat]}{cells[cell + 1 :]}", history + stone
        if winning in " ".join(cuts[cell](cells)):
            line = self._line(winning, cells, cell)
            return Gomoku(size, win_length, cells, history, cuts, (), WINS[seat], line, opening)
        turn = TURNS[1 - seat] if FREE in cells else ()
        return Gomoku(size, win_length, cells, history, cuts, turn, DRAW, None, opening)

    def _line(self, winning: str, cells: str, cell: int) -> tuple[Point, ...]:
        """Return all stones of the winning row, which may be longer than `win_length`."""
        found = stretches(self.size, self.win_length)[cell]
        stretch = next(one for one in found if winning in cells[one])
        before, _, after = cells[stretch].partition(winning)
        more = len(after) - len(after.lstrip(winning))
        start = len(before)
        return points(self.size)[stretch][start : start + len(winning) + more]

    def verdict(self, names: Sequence[str]) -> str:
        if self.line is None:
            return f"the board is full, and nobody has {self.win_length} in a row"
        winner = names[self.scores.index(1.0)]
        return f"{winner} has {len(self.line)} in a row: " + ", ".join(
            str([*point]) for point in self.line
        )

    def move_words(self, seat: Seat, raw: Raw) -> str:
        """Columns are letters from the left, rows are numbers from the bottom."""
        x, y = self.parse(seat, raw)
        return f"{chr(97 + x)}{self.size - y}"

    def opening_words(self, seat: Seat, raw: Raw) -> str:
        x, y = self.parse(seat, raw)
        stones = [at for at, cell in enumerate(self.cells) if cell != FREE]
        if len(stones) > 1:
            return ""
        if not stones:
            centre = self.size % 2 == 1 and x == y == self.size // 2
            return f"opens {'in the centre' if centre else f'at {self.move_words(seat, raw)}'}"
        first_y, first_x = divmod(stones[0], self.size)
        across, along = abs(x - first_x), abs(y - first_y)
        if max(across, along) > 1:
            return "answers away from the first stone"
        return f"answers {'diagonally to' if across == along else 'beside'} the first stone"

    def view(self, seat: Seat | None) -> View:
        return {
            "you": seat,
            "toMove": self.to_move,
            "size": self.size,
            "winLength": self.win_length,
            "board": self.rows,
            "moves": list(self.history),
            "line": self.line,
        }

    def moves(self, seat: Seat) -> Iterator[Raw]:
        for (x, y), mark in zip(points(self.size), self.cells, strict=True):
            if mark == FREE:
                yield {"x": x, "y": y}
