"""What is worked out for all users and bombs of a round of Bomberman at once: where moves lead, and what burns."""

from collections.abc import Mapping, Sequence

from botdrome.games.bomberman_map import CRATE, WALL, Place, Rows, arms
from botdrome.games.bomberman_things import Bomb
from botdrome.games.game import Seat


def after_moves(at: Sequence[Place | None], going: Mapping[Seat, Place]) -> tuple[Place | None, ...]:
    """Where the seats stand when all that are going have moved at once, as far as they do not stop one another."""
    targets = list(going.values())
    leaving = {seat: target for seat, target in going.items() if targets.count(target) == 1}
    ahead = {seat: at.index(target) for seat, target in leaving.items() if target in at}
    while stopped := [seat for seat in ahead if seat in leaving and leaving.get(ahead[seat], at[seat]) == at[seat]]:
        for seat in stopped:  # by the seat ahead, which stays or wants to swap
            del leaving[seat]
    standing = list(at)
    for seat, target in leaving.items():
        standing[seat] = target
    return tuple(standing)


def blasts(tiles: Rows, lying: Sequence[Bomb], now: int, pierces: bool) -> list[tuple[Bomb, list[Place]]]:
    """The bombs that go off at the end of a round, each with what it burns: those that are due, and those that flames reach."""
    waiting = {bomb.at: bomb for bomb in lying if bomb.due > now}
    going_off = [bomb for bomb in lying if bomb.due <= now]
    found = []
    for bomb in going_off:  # grows on the way
        burned = flames(tiles, bomb, pierces)
        found.append((bomb, burned))
        going_off += [waiting.pop(place) for place in burned if place in waiting]
    return found


def flames(tiles: Rows, bomb: Bomb, pierces: bool) -> list[Place]:
    """What one bomb burns, its own place first."""
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
