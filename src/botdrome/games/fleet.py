"""Fleet: the boats of a battleship game, read from options and moves, or placed at random."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from operator import itemgetter
from typing import Any, Final

from msgspec import Struct

from botdrome.games.chance import Chance
from botdrome.games.game import BadOption, IllegalMove
from botdrome.games.reading import shown

Rows = tuple[str, ...]
"""A board as one text per row, from the top."""
Square = int
"""The number of a square, row by row, from 0."""
Mask = int
"""A set of squares, one bit each."""

WATER: Final = "."
HIT: Final = "X"
MISS: Final = "0"
Squares = str
"""A board as one text, row by row."""
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVW"
LENGTHS = "2345678"
RESTARTS = 50


class Boats(Struct, frozen=True):
    """The boats of each player."""

    names: tuple[str, ...]
    """As in the option and the view: A5 is boat A, five squares long."""
    lengths: Mapping[str, int]
    squares: int
    """The number of squares of a fleet."""
    gone: Mapping[int, None]
    """A table for `translate` that deletes boats and water, so that only wrong letters remain."""


@cache
def boats_in(text: str) -> Boats:
    """Return the boats in a text such as "A5 B4". Raise BadOption if it is wrong."""
    names = tuple(text.split())
    lengths: dict[str, int] = {}
    for name in names:
        if len(name) != 2 or name[0] not in LETTERS or name[1] not in LENGTHS:
            raise BadOption(f"boats: {shown(name)} is not a boat; A5 is boat A of length 5, from A to W and from 2 to 8")
        if name[0] in lengths:
            raise BadOption(f"boats: there are two boats {name[0]}")
        lengths[name[0]] = int(name[1])
    if not names:
        raise BadOption("boats: there is none")
    return Boats(names, lengths, sum(lengths.values()), dict.fromkeys(map(ord, (WATER, *lengths))))


def check_room(boats: Boats, width: int, height: int) -> None:
    """Raise BadOption if the boats are too long or too many for the board.

    Boats that cover at most half of the board always fit: see `_packed`.
    """
    for name, length in zip(boats.names, boats.lengths.values(), strict=True):
        if length > max(width, height):
            raise BadOption(f"boats: {name} is too long for a board of {width} by {height}")
    if 2 * boats.squares > width * height:
        raise BadOption(f"boats: they cover {boats.squares} squares, more than half of a board of {width} by {height}")


def squares_from(raw: Any, width: int, height: int) -> str:
    """Return the squares of a board sent as one text or as a list of rows. Raise IllegalMove if the size is wrong."""
    if isinstance(raw, str):
        if len(raw) != width * height:
            raise IllegalMove(f"a board has {width * height} squares ({height} rows of {width}), not {len(raw)}")
        return raw
    if not isinstance(raw, list | tuple):
        raise IllegalMove(f"a board is a text of {width * height} squares or a list of {height} rows, not {shown(raw)}")
    if len(raw) != height:
        raise IllegalMove(f"a board has {height} rows, not {len(raw)}")
    for y, row in enumerate(raw):
        if not isinstance(row, str) or len(row) != width:
            raise IllegalMove(f"row {y} of a board is a text of {width} squares, not {shown(row)}")
    return "".join(raw)


def check_fleet(squares: str, boats: Boats, width: int) -> None:
    """Raise IllegalMove unless the board has every boat as one straight run, and nothing else."""
    if strange := squares.translate(boats.gone):
        square = squares.index(strange[0])
        raise IllegalMove(f"{shown(strange[0])} at {_place(square, width)} is neither a boat nor water, which is '.'")
    for letter, length in boats.lengths.items():
        count, first = squares.count(letter), squares.find(letter)
        if not count:
            raise IllegalMove(f"boat {letter} is missing")
        if count != length:
            raise IllegalMove(f"boat {letter} is {count} long, it should be {length} (it begins at {_place(first, width)})")
        across = first % width + length <= width and squares[first : first + length] == letter * length
        if not across and squares[first : first + length * width : width] != letter * length:
            raise IllegalMove(f"boat {letter} is not one straight line (it begins at {_place(first, width)})")


def _place(square: Square, width: int) -> str:
    y, x = divmod(square, width)
    return f"x {x}, y {y}"


@cache
def cutter(width: int, height: int) -> Callable[[str], Rows]:
    """Return a function that cuts the squares of a board into rows."""
    return itemgetter(*[slice(at, at + width) for at in range(0, width * height, width)])


def rows_of(squares: str, width: int) -> Rows:
    return cutter(width, len(squares) // width)(squares)


@cache
def berths(width: int, height: int, length: int) -> dict[Mask, tuple[Square, ...]]:
    """Return every place for a boat of this length, across first and then down."""
    across = [range(width * y + x, width * y + x + length) for y in range(height) for x in range(width - length + 1)]
    down = [range(first, first + width * length, width) for first in range(width * (height - length + 1))]
    return {sum(1 << square for square in berth): tuple(berth) for berth in (*across, *down)}


def random_fleet(width: int, height: int, boats: Sequence[str], chance: Chance) -> Rows:
    """Place the boats at random, the longest first, each on free squares.

    If a boat finds no room, start again. After some attempts, pack the boats row by row.
    """
    by_length = sorted(boats, key=lambda name: -int(name[1]))
    for _ in range(RESTARTS):
        if squares := _scattered(width, height, by_length, chance):
            return rows_of(squares, width)
    return _packed(width, height, by_length)


def _scattered(width: int, height: int, boats: Iterable[str], chance: Chance) -> str | None:
    squares = [WATER] * (width * height)
    taken = 0
    for name in boats:
        places = berths(width, height, int(name[1]))
        free = [mask for mask in places if not mask & taken]
        if not free:
            return None
        mask = chance.choice(free)
        taken |= mask
        for square in places[mask]:
            squares[square] = name[0]
    return "".join(squares)


def _packed(width: int, height: int, boats: Iterable[str]) -> Rows:
    """Put each boat on the first line along the longer side that has room for it.

    Two consecutive lines together hold more squares than one line is long, or the later boats would be on the earlier line.
    So boats that cover at most half of the board never need more lines than it has.
    """
    long, lines = max(width, height), [""] * min(width, height)
    for name in boats:
        first = next(at for at, line in enumerate(lines) if len(line) + int(name[1]) <= long)
        lines[first] += name[0] * int(name[1])
    full = tuple(line.ljust(long, WATER) for line in lines)
    return full if width >= height else tuple("".join(column) for column in zip(*full, strict=True))
