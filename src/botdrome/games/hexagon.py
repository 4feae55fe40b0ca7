"""A hexagonal board: its hexes, their neighbours, and flood fill.

The board is an array of rows whose axes run along two sides from the top left corner. With n hexes a side it has 2n - 1
rows. The upper rows are shorter at their end; the lower rows begin with places that are not on the board.
"""

from collections.abc import Iterable, Iterator

Hex = tuple[int, int]
"""Row and column."""

STEPS: dict[str, Hex] = {"UL": (-1, -1), "UR": (-1, 0), "R": (0, 1), "DR": (1, 1), "DL": (1, 0), "L": (0, -1)}


def columns(side: int, row: int) -> range:
    """Return the columns of this row that are on the board."""
    return range(max(0, row - side + 1), min(2 * side - 1, side + row))


def within(side: int) -> list[Hex]:
    """Return the hexes inside the border, row by row."""
    return [(row, column) for row in range(1, 2 * side - 2) for column in columns(side, row)[1:-1]]


def opposite(spot: Hex, side: int) -> Hex:
    """Return the hex on the other side of the centre."""
    return 2 * side - 2 - spot[0], 2 * side - 2 - spot[1]


def around(spot: Hex) -> Iterator[Hex]:
    row, column = spot
    return ((row + down, column + right) for down, right in STEPS.values())


def bits(spots: Iterable[Hex], width: int) -> int:
    """Return the hexes as a bit set; `width` is the number of rows of the board."""
    number = 0
    for row, column in spots:
        number |= 1 << row * width + column
    return number


def rings(start: int, ground: int, width: int) -> Iterator[int]:
    """Yield `start`, then the hexes one step away over the ground, then two steps, and so on; all as bit sets.

    The ground must not touch the border of the board: a step from there would lead into the next row.
    """
    ring = reached = start
    while ring:
        yield ring
        near = ring << 1 | ring >> 1 | ring << width | ring >> width | ring << width + 1 | ring >> width + 1
        ring = near & ground & ~reached
        reached |= ring
