"""The arenas of bumblebots: the documented one, and those that are drawn."""

from functools import cache
from typing import Literal

from msgspec import Struct

from botdrome.games.chance import Chance
from botdrome.games.game import BadOption
from botdrome.games.hexagon import Hex, bits, columns, opposite, rings, within

Rows = tuple[tuple[int | None, ...], ...]
Starts = Literal["facing", "drawn"]

EMPTY, WALL, FLOWER = 0, 1, 2
TERRITORY = (5, 6)
"""What marks the safe zone of either seat."""


class Arena(Struct, frozen=True):
    board: Rows
    spawn_points: tuple[tuple[Hex, ...], tuple[Hex, ...]]


def _read(picture: str) -> Rows:
    values = dict(zip("#.*+x", (WALL, EMPTY, FLOWER, *TERRITORY), strict=True))
    lines = picture.split()
    side = len(lines[0])
    return tuple((None,) * columns(side, row)[0] + tuple(values[sign] for sign in line) for row, line in enumerate(lines))


DOCUMENTED = Arena(
    _read("""
               ########
              #..+++..#
             #........#
            #..##.##..#
           #..#*...#..#
          #...........#
         #..#......#..#
        #..#.......#*.#
         #..#......#..#
          #...........#
           #..#....#..#
            #*.##.##..#
             #........#
              #..xxx..#
               ########
    """),
    (((1, 3), (1, 4), (1, 5)), ((13, 11), (13, 10), (13, 9))),
)


def draw_arena(side: int, walls: int, starts: Starts, drones: int, flowers: int, chance: Chance) -> Arena:
    """An arena that looks the same from both ends; either seat can reach all of it but the other's spawn points."""
    _check(side, drones, flowers)
    points = _facing(side, drones) if starts == "facing" else _scattered(side, drones, chance)
    others = [opposite(point, side) for point in points]
    blooms = _blooms(side, flowers, points, chance)
    blocks = _blocks(side, walls, points, blooms, chance)
    marks = dict.fromkeys(blooms, FLOWER) | dict.fromkeys(blocks, WALL)
    marks |= dict.fromkeys(points, TERRITORY[0]) | dict.fromkeys(others, TERRITORY[1])
    return Arena(_rows(side, marks), (tuple(points), tuple(others)))


def _check(side: int, drones: int, flowers: int) -> None:
    if drones >= side:
        raise BadOption(f"drones: {drones} are too many where the side is {side}; there is room for {side - 1}")
    most = len(within(side)) - 2 * drones
    if flowers > most:
        raise BadOption(f"flowers: {flowers} are too many where the side is {side}; there is room for {most}")


def _rows(side: int, marks: dict[Hex, int]) -> Rows:
    values = dict.fromkeys(within(side), EMPTY) | marks
    return tuple(
        (None,) * columns(side, row)[0] + tuple(values.get((row, column), WALL) for column in columns(side, row))
        for row in range(2 * side - 1)
    )


def _facing(side: int, drones: int) -> list[Hex]:
    """In the middle of the row next to the border."""
    first = (side - drones + 1) // 2
    return [(1, column) for column in range(first, first + drones)]


def _scattered(side: int, drones: int, chance: Chance) -> list[Hex]:
    """Anywhere in one half, so that nothing is cut off. (There is always room for as many as `_check` admits.)"""
    points: list[Hex] = []
    for point in _one_half(side, chance):
        if len(points) < drones and _all_in_reach(side, [*points, point], []):
            points.append(point)
    return points


def _blooms(side: int, flowers: int, points: list[Hex], chance: Chance) -> list[Hex]:
    """Flowers by twos; an odd one stands in the centre."""
    ones = [spot for spot in _one_half(side, chance) if spot not in points][: flowers // 2]
    centre = [(side - 1, side - 1)] * (flowers % 2)
    return centre + [spot for one in ones for spot in (one, opposite(one, side))]


def _blocks(side: int, percent: int, points: list[Hex], blooms: list[Hex], chance: Chance) -> list[Hex]:
    """Walls by twos, each where it cuts nothing off; fewer than asked for if there is no more room for them."""
    count = len(within(side)) * percent // 200 * 2
    blocks: list[Hex] = []
    for one in _one_half(side, chance):
        pair = [one, opposite(one, side)]
        if len(blocks) < count and one not in points and one not in blooms and _all_in_reach(side, points, blocks + pair):
            blocks += pair
    return blocks


def _one_half(side: int, chance: Chance) -> list[Hex]:
    """In random order, one hex of each two that lie opposite: the upper one. The centre is not among them."""
    half = [spot for spot in within(side) if spot < opposite(spot, side)]
    chance.shuffle(half)
    return half


def _all_in_reach(side: int, points: list[Hex], blocks: list[Hex]) -> bool:
    """True if a drone of the first seat can go everywhere, the other's spawn points apart. What it can, the other can too."""
    width = 2 * side - 1
    others = [opposite(point, side) for point in points]
    ground = _inside(side) & ~bits(blocks + others, width)
    return sum(rings(bits(points[:1], width), ground, width)) == ground


@cache
def _inside(side: int) -> int:
    return bits(within(side), 2 * side - 1)
