"""Chart: tables for a board's size and boats, and the state of a board after some shots.

Squares are numbered row by row, with one extra square at the end of each row that is never open. So shifted bits do not run
into the next row. Numbers for all squares are in one large integer, `FIELD` bits each: one addition adds them all.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache

from msgspec import Struct

from botdrome.games.fleet import Mask, Rows, Square

FIELD = 32
FULL = (1 << FIELD) - 1
Field = int
"""One number per square."""

_OPEN = str.maketrans(".0X|", "\1\0\0\0")
_HITS = str.maketrans(".0X|", "0010")
_MISSES = str.maketrans(".0X|", "0101")


class Berth(Struct, frozen=True, gc=False):
    """A place for a boat."""

    mask: Mask
    length: int
    field: Field


class Chart(Struct, frozen=True, eq=False):
    """The tables for one board size and set of boats, shared by all games that use them."""

    width: int
    height: int
    counts: Mapping[int, int]
    """The number of boats of each length, shortest first."""
    berths: Mapping[int, Sequence[Berth]]
    """The berths of each length, across first and then down."""
    over: Sequence[Sequence[Berth]]
    """The berths over each square."""
    reach: Sequence[Mask]
    """All squares of the berths over each square."""
    colours: tuple[Mask, Mask]
    """The squares of each colour, as on a chessboard."""

    @property
    def stride(self) -> int:
        return self.width + 1

    @property
    def squares(self) -> int:
        return self.stride * self.height

    @property
    def afloat(self) -> int:
        return sum(length * count for length, count in self.counts.items())


def chart_for(board: Rows, boats: Sequence[str]) -> Chart:
    return chart_of(len(board[0]), len(board), tuple(sorted(int(name[1:]) for name in boats)))


@lru_cache(8)
def chart_of(width: int, height: int, lengths: tuple[int, ...]) -> Chart:
    stride = width + 1
    berths: dict[int, list[Berth]] = {length: [] for length in lengths}
    over: list[list[Berth]] = [[] for _ in range(stride * height)]
    for length in berths:
        across = [range(y * stride + x, y * stride + x + length) for y in range(height) for x in range(width - length + 1)]
        down = [
            range(y * stride + x, (y + length) * stride + x, stride) for y in range(height - length + 1) for x in range(width)
        ]
        for squares in (*across, *down):
            berth = Berth(sum(1 << square for square in squares), length, sum(1 << FIELD * square for square in squares))
            berths[length].append(berth)
            for square in squares:
                over[square].append(berth)
    reach = [_union(berths) for berths in over]
    black, white = (
        sum(1 << y * stride + x for y in range(height) for x in range((y + colour) % 2, width, 2)) for colour in (0, 1)
    )
    return Chart(width, height, Counter(lengths), berths, over, reach, (black, white))


def _union(berths: Sequence[Berth]) -> Mask:
    mask = 0
    for berth in berths:
        mask |= berth.mask
    return mask


class Sea(Struct, frozen=True):
    """The known state of one board."""

    hits: Mask
    misses: Mask
    """Including all squares outside the board."""
    open: Field
    """1 for each square that no player has shot at."""


@lru_cache(256)
def sea_of(board: Rows) -> Sea:
    text = "|".join((*board, ""))
    backwards = text[::-1]
    hits, misses = int(backwards.translate(_HITS), 2), int(backwards.translate(_MISSES), 2)
    return Sea(hits, misses, int.from_bytes(text.translate(_OPEN).encode("utf-32-le"), "little"))


def numbers_in(field: Field, chart: Chart) -> list[int]:
    """Return the number of each square."""
    return memoryview(field.to_bytes(chart.squares * FIELD // 8, "little")).cast("I").tolist()


def squares_in(mask: Mask) -> list[Square]:
    squares = []
    while mask:
        lowest = mask & -mask
        squares.append(lowest.bit_length() - 1)
        mask ^= lowest
    return squares


class OpenWater(Struct, frozen=True):
    """The berths of one length without any shots."""

    berths: int
    over: Field
    """The number of berths over each square."""


def open_water(chart: Chart, open_: Field) -> dict[int, OpenWater]:
    """Return the open water for each length."""
    right, down = FIELD, FIELD * chart.stride
    waters = {}
    across, upright, reached = open_, open_, 1
    for length in chart.counts:
        for step in range(reached, length):
            across &= open_ >> right * step
            upright &= open_ >> down * step
        reached = length
        over = 0
        for step in range(length):
            over += (across << right * step) + (upright << down * step)
        waters[length] = OpenWater(across.bit_count() + upright.bit_count(), over)
    return waters
