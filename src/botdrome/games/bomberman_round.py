"""One round of Bomberman: resolve the moves of all users and the explosions of all bombs."""

from collections.abc import Mapping, Sequence

from botdrome.games.bomberman_map import CRATE, WALL, Place, Rows, arms
from botdrome.games.bomberman_things import Bomb
from botdrome.games.game import Seat


def after_moves(at: Sequence[Place | None], going: Mapping[Seat, Place]) -> tuple[Place | None, ...]:
    """Return the place of each seat after all moves at once. Users that block each other stay."""
    targets = list(going.values())
    leaving = {seat: target for seat, target in going.items() if targets.count(target) == 1}
    ahead = {seat: at.index(target) for seat, target in leaving.items() if target in at}
    while stopped := [seat for seat in ahead if seat in leaving and leaving.get(ahead[seat], at[seat]) == at[seat]]:
        for seat in stopped:  # the seat ahead stays or wants to swap
            del leaving[seat]
    standing = list(at)
    for seat, target in leaving.items():
        standing[seat] = target
    return tuple(standing)


def blasts(tiles: Rows, lying: Sequence[Bomb], now: int, pierces: bool) -> list[tuple[Bomb, list[Place]]]:
    """Return the bombs that explode after a round (due, or reached by flames), each with the places that it burns."""
    waiting = {bomb.at: bomb for bomb in lying if bomb.due > now}
    going_off = [bomb for bomb in lying if bomb.due <= now]
    found = []
    for bomb in going_off:  # the loop body appends to this list
        burned = flames(tiles, bomb, pierces)
        found.append((bomb, burned))
        going_off += [waiting.pop(place) for place in burned if place in waiting]
    return found


def flames(tiles: Rows, bomb: Bomb, pierces: bool) -> list[Place]:
    """Return the places that one bomb burns, its own place first."""
    burned = [bomb.at]
    for arm in arms(len(tiles), len(tiles[0]))[bomb.at]:
        for place in arm[: bomb.range]:
            tile = tiles[place[0]][place[1]]
            if tile == WALL:
                break
            burned.append(place)
            if tile == CRATE and not pierces:
                break
    return burned
