"""Predictions for Bomberman: the tiles that burn in each round, and the tiles on which a user survives."""

from collections.abc import Iterable, Iterator
from itertools import islice

from botdrome.bots.bomberman_scene import Scene, Tiles
from botdrome.games.bomberman_map import CRATE, FREE, WALL, Place, neighbours, with_tiles
from botdrome.games.bomberman_round import blasts, flames
from botdrome.games.bomberman_things import Bomb

ALL: Tiles = -1


def burned_by(scene: Scene, bomb: Bomb) -> list[Place]:
    """Return the tiles that this bomb alone would burn on the current map."""
    return flames(scene.rows, bomb, scene.pierces)


def forecast(scene: Scene, placed: Iterable[Bomb]) -> Iterator[tuple[Tiles, Tiles]]:
    """Yield, for each round until the last bomb explodes, the tiles that can be entered and the tiles that are deadly.

    Assume that no bombs are placed except `placed`, which are placed now.
    """
    rows, lying = scene.rows, [*scene.lying, *placed]
    for now in range(scene.round, scene.round + scene.fuse + 1):
        can_enter = scene.can_enter(rows, lying)
        blown = blasts(rows, lying, now, scene.pierces)
        deadly = {place for _, places in blown for place in places}
        rows = with_tiles(rows, [(row, column) for row, column in deadly if rows[row][column] == CRATE], FREE)
        gone = [bomb for bomb, _ in blown]
        lying = [bomb for bomb in lying if bomb not in gone]
        if now == scene.closing_at:
            deadly.update(scene.closing)
            rows = with_tiles(rows, scene.closing, WALL)
        yield can_enter, scene.tiles(deadly)


def refuges(scene: Scene, placed: Iterable[Bomb], crowd: Tiles, spreading: bool, horizon: int | None = None) -> Tiles:
    """Return the tiles on which a user survives after this round's moves, without the tiles of a crowd, which may spread.

    With a horizon, the user needs to survive only that many rounds.
    """
    rounds = []
    for can_enter, deadly in islice(forecast(scene, placed), horizon):
        crowd |= scene.with_neighbours(crowd) & can_enter if spreading else 0
        rounds.append((can_enter & ~crowd, deadly))
    living = can_enter_next = ALL
    for can_enter, deadly in reversed(rounds):
        living = (living | scene.with_neighbours(living & can_enter_next)) & ~deadly
        can_enter_next = can_enter
    return living


def distances(scene: Scene, start: Place) -> dict[Place, int]:
    """Return the places that can be reached on the current map, with their distances in steps, nearest first."""
    beside = neighbours(scene.height, scene.width)
    can_enter = scene.can_enter(scene.rows, scene.lying)
    found, reached = [start], {start: 0}
    for place in found:  # the loop body appends to this list
        for after in beside[place]:
            if after is not None and after not in reached and scene.tile(after) & can_enter:
                reached[after] = reached[place] + 1
                found.append(after)
    return reached
