"""Hidden state: other positions that look the same to a player.

A bot must not be judged by what it could not know. So every playout starts from a position with the
same view and with hidden parts drawn anew.
"""

from collections.abc import Callable
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from botdrome.games.battleship import HIT, MISS, Battleship, Boats, Squares, berths, boats_in
from botdrome.games.bomberman import CRATE, FREE, UPGRADES, Bomberman, crate_sites, with_tiles
from botdrome.games.chance import Chance
from botdrome.games.game import Game, Seat

ATTEMPTS = 200
"""Attempts to draw a fleet that fits, after which the true fleet is kept."""


class HiddenState(Struct, frozen=True):
    """How the hidden parts of a game are drawn."""

    redraw: Callable[[Any, Seat, Chance], Any]
    assumed: str


def redrawn(position: Game[Any], seat: Seat, chance: Chance) -> Game[Any]:
    """Return a position with the same view for this seat, and hidden parts drawn anew where the
    game has any.
    """
    hidden = HIDDEN.get(position.name)
    after: Game[Any] = hidden.redraw(position, seat, chance) if hidden else position
    return after


def _with_other_fleets(position: Battleship, seat: Seat, chance: Chance) -> Battleship:
    if not position.fleets:
        return position
    boats = boats_in(position.boats)
    fleets = [
        fleet
        if other == seat
        else _fleet_like(fleet, position.boards[other], boats, position.width, chance)
        for other, fleet in enumerate(position.fleets)
    ]
    return replace(position, fleets=tuple(fleets))


def _fleet_like(
    fleet: Squares, board: Squares, boats: Boats, width: int, chance: Chance
) -> Squares:
    """Draw a fleet that covers all hits and no miss."""
    hits = sum(1 << at for at, mark in enumerate(board) if mark == HIT)
    misses = sum(1 << at for at, mark in enumerate(board) if mark == MISS)
    for _ in range(ATTEMPTS):
        if squares := _attempt(hits, misses, boats, width, len(board) // width, chance):
            return "".join(_marked(squares.get(at, mark), mark) for at, mark in enumerate(board))
    return fleet


def _marked(square: str, mark: str) -> str:
    """Boat letters are lower case where they are hit."""
    return square.lower() if mark == HIT else square


def _attempt(
    hits: int, misses: int, boats: Boats, width: int, height: int, chance: Chance
) -> dict[int, str] | None:
    """Place boats on the hits first, then the others anywhere. None: a boat found no place."""
    names, taken, squares = list(boats.names), misses, dict[int, str]()
    chance.shuffle(names)
    for name in names:
        open_hits = hits & ~taken
        target = open_hits & -open_hits
        places = berths(width, height, int(name[1]))
        free = [mask for mask in places if not mask & taken and mask & target == target]
        if not free:
            return None
        mask = chance.choice(free)
        taken |= mask
        squares.update(dict.fromkeys(places[mask], name[0]))
    return None if hits & ~taken else squares


def _with_other_upgrades(position: Bomberman, _: Seat, chance: Chance) -> Bomberman:
    """Draw the upgrades in places whose crates all stand.

    Crates in symmetric places hide the same.
    """
    hidden = position.hidden
    for site in crate_sites(position.height, position.width, len(position.at)):
        if all(position.tiles[row][column] == CRATE for row, column in site):
            letter = (
                chance.choice("".join(UPGRADES)) if chance.below(100) < position.upgrades else FREE
            )
            hidden = with_tiles(hidden, site, letter)
    return replace(position, hidden=hidden)


HIDDEN: dict[str, HiddenState] = {
    "battleship": HiddenState(
        _with_other_fleets, "the other fleets are drawn at random to fit the hits and misses"
    ),
    "bomberman": HiddenState(
        _with_other_upgrades, "the upgrades in unopened crates are drawn at random"
    ),
}
