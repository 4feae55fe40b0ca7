"""The arenas of bumblebots: the documented one, and random ones."""

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
"""The marks of each seat's safe zone."""


class HexArena(Struct, frozen=True):
    board: Rows
    spawn_points: tuple[tuple[Hex, ...], tuple[Hex, ...]]


def _read(picture: str) -> Rows:
    values = dict(zip("#.*+x", (WALL, EMPTY, FLOWER, *TERRITORY), strict=True))
    lines = picture.split()
    side = len(lines[0])
    return tuple((None,) * columns(side, row)[0] + tuple(values[sign] for sign in line) for row, line in enumerate(lines))


DOCUMENTED = HexArena(
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


def draw_arena(side: int, walls: int, starts: Starts, drones: int, flowers: int, chance: Chance) -> HexArena:
    """Draw a symmetric arena. Each seat can reach all of it except the other's spawn points."""
    points = _facing(side, drones) if starts == "facing" else _scattered(side, drones, chance)
    others = [opposite(point, side) for point in points]
    blooms = _blooms(side, flowers, points, chance)
    blocks = _blocks(side, walls, points, blooms, chance)
    marks = dict.fromkeys(blooms, FLOWER) | dict.fromkeys(blocks, WALL)
    marks |= dict.fromkeys(points, TERRITORY[0]) | dict.fromkeys(others, TERRITORY[1])
    return HexArena(_rows(side, marks), (tuple(points), tuple(others)))


def inside(side: int) -> int:
    """Return the number of hexes inside the border."""
    return 3 * (side - 1) * (side - 2) + 1


def check_arena(side: int, drones: int, flowers: int) -> None:
    """Raise BadOption if the drones or the flowers do not fit."""
    if drones >= side:
        raise BadOption(f"drones: {drones} are too many where the side is {side}; there is room for {side - 1}")
    most = inside(side) - 2 * drones
    if flowers > most:
        raise BadOption(f"flowers: {flowers} are too many where the side is {side}; there is room for {most}")


def _rows(side: int, marks: dict[Hex, int]) -> Rows:
    values = dict.fromkeys(within(side), EMPTY) | marks
    return tuple(
        (None,) * columns(side, row)[0] + tuple(values.get((row, column), WALL) for column in columns(side, row))
        for row in range(2 * side - 1)
    )


def _facing(side: int, drones: int) -> list[Hex]:
    """Return spawn points in the middle of the row next to the border."""
    first = (side - drones + 1) // 2
    return [(1, column) for column in range(first, first + drones)]


def _scattered(side: int, drones: int, chance: Chance) -> list[Hex]:
    """Return random spawn points in one half that cut nothing off. `check_arena` ensures that there is room."""
    points: list[Hex] = []
    for point in _one_half(side, chance):
        if len(points) < drones and _all_in_reach(side, [*points, point]):
            points.append(point)
    return points


def _blooms(side: int, flowers: int, points: list[Hex], chance: Chance) -> list[Hex]:
    """Return the flowers in symmetric pairs; an odd flower stands in the centre."""
    ones = [spot for spot in _one_half(side, chance) if spot not in points][: flowers // 2]
    centre = [(side - 1, side - 1)] * (flowers % 2)
    return centre + [spot for one in ones for spot in (one, opposite(one, side))]


def _blocks(side: int, percent: int, points: list[Hex], blooms: list[Hex], chance: Chance) -> list[Hex]:
    """Return walls in symmetric pairs that cut nothing off; fewer than `percent` if there is no more room."""
    width, count = 2 * side - 1, inside(side) * percent // 200 * 2
    ground = _inside(side) & ~bits([opposite(point, side) for point in points], width)
    kept = {*points, *blooms}
    blocks: list[Hex] = []
    for one in _one_half(side, chance):
        if len(blocks) < count and one not in kept:
            pair = [one, opposite(one, side)]
            left = _without(pair, ground, width)
            if left:
                ground = left
                blocks += pair
    return blocks


def _without(pair: list[Hex], ground: int, width: int) -> int:
    """Return the ground without this pair of hexes, or 0 if that would split it."""
    for row, column in pair:
        place = row * width + column
        ground &= ~(1 << place)
        if not _is_joined(_arcs(place, ground, width), ground, width):
            return 0
    return ground


def _arcs(place: int, ground: int, width: int) -> list[int]:
    """Return the connected pieces of ground around a place."""
    arcs: list[int] = []
    last = 0
    for step in (-width - 1, -width, 1, width + 1, width, -1):
        near = ground & 1 << place + step
        if near and last:
            arcs[-1] |= near
        elif near:
            arcs.append(near)
        last = near
    if len(arcs) > 1 and last and ground & 1 << place - width - 1:
        arcs[0] |= arcs.pop()
    return arcs


def _is_joined(parts: list[int], ground: int, width: int) -> bool:
    """Return True if all parts are connected. The parts grow in turns, so that a small isolated part is found soon."""
    while len(parts) > 1:
        part, *others = parts
        near = part << 1 | part >> 1 | part << width | part >> width | part << width + 1 | part >> width + 1
        grown = part | near & ground
        if grown == part:
            return False
        parts = []
        for other in others:
            if other & grown:
                grown |= other
            else:
                parts.append(other)
        parts.append(grown)
    return True


def _one_half(side: int, chance: Chance) -> list[Hex]:
    """Return the upper hex of each pair of opposite hexes, in random order, without the centre."""
    half = list(_upper_half(side))
    chance.shuffle(half)
    return half


@cache
def _upper_half(side: int) -> tuple[Hex, ...]:
    return tuple(spot for spot in within(side) if spot < opposite(spot, side))


def _all_in_reach(side: int, points: list[Hex]) -> bool:
    """Return True if the first seat can reach everything except the other's spawn points. By symmetry the other seat can too."""
    width = 2 * side - 1
    ground = _inside(side) & ~bits([opposite(point, side) for point in points], width)
    return sum(rings(bits(points[:1], width), ground, width)) == ground


@cache
def _inside(side: int) -> int:
    return bits(within(side), 2 * side - 1)
