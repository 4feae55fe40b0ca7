"""Chart: what a board's size and boats say before the first shot, and what a board says after some.

Squares are counted row by row with one more at the end of each row, which is never open: so nothing that is shifted runs on in
the next row. Where squares have numbers, all of them are in one large integer, `FIELD` bits for each: one addition adds all.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache

from msgspec import Struct

from botdrome.games.fleet import Mask, Rows, Square

FIELD = 32
FULL = (1 << FIELD) - 1
Field = int
"""A number for each square."""

_OPEN = str.maketrans(".0X|", "\1\0\0\0")
_HITS = str.maketrans(".0X|", "0010")
_MISSES = str.maketrans(".0X|", "0101")


class Berth(Struct, frozen=True, gc=False):
    """A place for a boat."""

    mask: Mask
    length: int
    field: Field


class Chart(Struct, frozen=True, eq=False):
    """A board of some size for some boats; there is one only for each."""

    width: int
    height: int
    counts: Mapping[int, int]
    """How many boats there are of each length, the shortest first."""
    berths: Mapping[int, Sequence[Berth]]
    """By length, across and then down."""
    over: Sequence[Sequence[Berth]]
    """The berths over each square."""
    reach: Sequence[Mask]
    """All squares of the berths over each square."""
    colours: tuple[Mask, Mask]
    """Every other square, as on a chequered board, and the rest."""

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
    """What is known of one board."""

    hits: Mask
    misses: Mask
    """And all that lies outside the board."""
    open: Field
    """1 for each square that nobody has shot at."""


@lru_cache(256)
def sea_of(board: Rows) -> Sea:
    text = "|".join((*board, ""))
    backwards = text[::-1]
    hits, misses = int(backwards.translate(_HITS), 2), int(backwards.translate(_MISSES), 2)
    return Sea(hits, misses, int.from_bytes(text.translate(_OPEN).encode("utf-32-le"), "little"))


def numbers_in(field: Field, chart: Chart) -> list[int]:
    """Square by square."""
    return memoryview(field.to_bytes(chart.squares * FIELD // 8, "little")).cast("I").tolist()


def squares_in(mask: Mask) -> list[Square]:
    squares = []
    while mask:
        lowest = mask & -mask
        squares.append(lowest.bit_length() - 1)
        mask ^= lowest
    return squares


class OpenWater(Struct, frozen=True):
    """The berths of one length of which nobody has shot at a square."""

    berths: int
    over: Field
    """How many go over each square."""


def open_water(chart: Chart, open_: Field) -> dict[int, OpenWater]:
    """By length."""
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
