"""The map of Bomberman: pillars, starts, crates, hidden upgrades, and the order in which walls close in."""

from collections.abc import Iterable, Iterator
from functools import lru_cache

from botdrome.games.chance import Chance
from botdrome.games.game import BadOption

Place = tuple[int, int]
"""Row and column from 0; row 0 is the top row."""
Rows = tuple[str, ...]

FREE, CRATE, WALL = ".", "+", "#"
DIRECTIONS = ((-1, 0), (1, 0), (0, -1), (0, 1))
"""Up, down, left, right."""
ADDITIONAL_BOMB, EXPLOSION_RANGE = "ADDITIONAL_BOMB", "EXPLOSION_RANGE"
UPGRADES = {"b": ADDITIONAL_BOMB, "r": EXPLOSION_RANGE}
"""The upgrades that a crate may hide, by letter."""
FEWEST_CRATES = 30
"""The lowest share of crates, in percent of all tiles."""

per_setup = lru_cache(maxsize=64)
"""Cache for tables that are the same in every game of one set-up."""


def is_pillar(place: Place) -> bool:
    return bool(place[0] & place[1] & 1)


def places_of(height: int, width: int) -> list[Place]:
    return [(row, column) for row in range(height) for column in range(width)]


def with_tiles(rows: Rows, places: Iterable[Place], tile: str) -> Rows:
    """Return the rows with these places replaced by one kind of tile."""
    changed = list(rows)
    for row, column in places:
        changed[row] = changed[row][:column] + tile + changed[row][column + 1 :]
    return tuple(changed)


@per_setup
def neighbours(height: int, width: int) -> dict[Place, tuple[Place | None, ...]]:
    """Return the neighbours of each place, in the order of DIRECTIONS; None beyond the edge of the map."""
    on_map = {place: place for place in places_of(height, width)}
    return {
        (row, column): tuple(on_map.get((row + down, column + right)) for down, right in DIRECTIONS) for row, column in on_map
    }


@per_setup
def arms(height: int, width: int) -> dict[Place, tuple[tuple[Place, ...], ...]]:
    """Return the places that flames can reach from each place, by direction, up to a pillar or the edge."""
    beside = neighbours(height, width)
    return {place: tuple(tuple(_arm(place, way, beside)) for way in range(4)) for place in beside}


def _arm(place: Place, way: int, beside: dict[Place, tuple[Place | None, ...]]) -> Iterator[Place]:
    after = beside[place][way]
    while after is not None and not is_pillar(after):
        yield after
        after = beside[after][way]


@per_setup
def closing_groups(height: int, width: int) -> tuple[tuple[Place, ...], ...]:
    """Return the groups of tiles that become walls together: ring by ring from the edge, each from its corners to the middles."""
    groups: dict[tuple[int, int], list[Place]] = {}
    for place in places_of(height, width):
        row, column = min(place[0], height - 1 - place[0]), min(place[1], width - 1 - place[1])
        if not is_pillar(place):
            groups.setdefault((min(row, column), max(row, column)), []).append(place)
    return tuple(tuple(groups[key]) for key in sorted(groups))


@per_setup
def closing_plan(height: int, width: int, closing: int, rounds: int) -> tuple[tuple[int | None, tuple[Place, ...]], ...]:
    """Return the rounds after which walls close in, and the places. The last entry means that no more walls close in."""
    plan: dict[int | None, tuple[Place, ...]] = {}
    if 0 < closing < rounds:
        groups = closing_groups(height, width)
        for number, group in enumerate(groups):
            end = closing + number * (rounds - closing) // len(groups)
            plan[end] = plan.get(end, ()) + group
    return (*plan.items(), (None, ()))


def starts(height: int, width: int, players: int) -> list[Place]:
    """Return one start per player: opposite corners, other corners, then the middles of the longer and the shorter sides."""
    bottom, right = height - 1, width - 1
    middle_row, middle_column = bottom // 4 * 2, right // 4 * 2
    corners = [(0, 0), (bottom, right), (0, right), (bottom, 0)]
    across = [(0, middle_column), (bottom, right - middle_column)]
    upright = [(middle_row, right), (bottom - middle_row, 0)]
    middles = across + upright if width >= height else upright + across
    return (corners + middles)[:players]


def _images(place: Place, height: int, width: int, diagonal: bool) -> set[Place]:
    """Return the symmetric places: mirrored both ways and, if `diagonal`, at the diagonal."""
    row, column = place
    images = {(r, c) for r in (row, height - 1 - row) for c in (column, width - 1 - column)}
    return images | {(c, r) for r, c in images} if diagonal else images


@per_setup
def crate_sites(height: int, width: int, players: int) -> tuple[tuple[Place, ...], ...]:
    """Return the places for crates, in sets that are filled together so that the map is the same for all seats."""
    crowded = players > 4
    diagonal = crowded and height == width
    beside = neighbours(height, width)
    taken: set[Place] = {place for place in beside if is_pillar(place)}
    for start in starts(height, width, 8 if crowded else 4):
        for place in (start, *beside[start]):
            if place is not None:
                taken |= _images(place, height, width, diagonal)
    sites = []
    for place in beside:
        if place not in taken:
            site = _images(place, height, width, diagonal)
            taken |= site
            sites.append(tuple(sorted(site)))
    if sum(map(len, sites)) * 100 < FEWEST_CRATES * height * width:
        raise BadOption(
            f"height and width: {height} by {width} tiles are too few for {players} players and {FEWEST_CRATES} percent of crates"
        )
    return tuple(sites)


@per_setup
def _bare_tiles(height: int, width: int) -> str:
    return "".join(WALL if is_pillar(place) else FREE for place in places_of(height, width))


def drawn_map(height: int, width: int, players: int, crates: int, upgrades: int, chance: Chance) -> tuple[Rows, Rows]:
    """Return the tiles, and the letters of UPGRADES hidden in the crates."""
    sites = list(crate_sites(height, width, players))
    tiles = list(_bare_tiles(height, width))
    hidden = [FREE] * len(tiles)
    missing = -(-crates * height * width // 100)
    while missing > 0 and sites:
        site = sites.pop(chance.below(len(sites)))
        missing -= len(site)
        for row, column in site:
            tiles[row * width + column] = CRATE
        if chance.below(100) < upgrades:
            letter = chance.choice("br")
            for row, column in site:
                hidden[row * width + column] = letter
    return _rows(tiles, width), _rows(hidden, width)


def _rows(tiles: list[str], width: int) -> Rows:
    row_by_row = "".join(tiles)
    return tuple([row_by_row[first : first + width] for first in range(0, len(row_by_row), width)])
