"""Traps in Bomberman: bombs from which users cannot escape."""

from collections.abc import Iterable

from msgspec.structs import replace

from botdrome.bots.bomberman_foresight import burned_by, refuges
from botdrome.bots.bomberman_scene import Scene, Tiles
from botdrome.games.bomberman_map import Place, neighbours
from botdrome.games.bomberman_things import Bomb

Ways = tuple[Tiles, Tiles]
"""The tiles that can be entered, and the tiles on which a user survives after this round's moves."""

CLOSE = 8
"""The distance in tiles up to which a rival is a danger or a target."""
MOST = 2
"""The number of rivals that are watched, nearest first."""
REACH = 5
"""The largest distance of a trap in steps, and of its rivals in tiles."""
GRIP = (1.0, 0.4, 0.15, 0.0, 0.0, 0.0)
"""The value of a bomb that leaves a rival 0, 1, 2, ... safe steps. With 0 the rival is trapped."""


def ways_out(scene: Scene, bomb: Bomb) -> Ways:
    """Return the ways out if this bomb is placed now and nobody else acts."""
    stands = scene.tile(bomb.at)
    return scene.can_enter(scene.rows, [*scene.lying, bomb]), refuges(scene, [bomb], stands, False)


def steps_left(scene: Scene, place: Place, ways: Ways) -> int:
    """Return the number of steps that save a user on this place, including staying."""
    can_enter, safe = ways
    tile = scene.tile(place)
    return ((tile | scene.with_neighbours(tile) & can_enter) & safe).bit_count()


def gets_away(scene: Scene, placed: list[Bomb]) -> bool:
    """Return True if a user on the first of these bombs survives any moves of the rivals."""
    return bool(scene.tile(placed[0].at) & refuges(scene, placed, scene.tiles(scene.rivals), True))


def dangers(scene: Scene) -> Tiles:
    """Return the tiles where a bomb in the next round could trap the bot."""
    found = 0
    for bomb in sorted(scene.threats, key=lambda bomb: tiles_between(bomb.at, scene.own.at))[:MOST]:
        if tiles_between(bomb.at, scene.own.at) <= CLOSE:
            for place in _next_places(scene, bomb.at, scene.own.at):
                can_enter, safe = ways_out(scene, replace(bomb, at=place))
                found |= ~(safe | scene.with_neighbours(safe & can_enter))
    return found


def grips(scene: Scene, places: Iterable[Place]) -> dict[Place, float]:
    """Return how well a bomb on each place in the next round would restrict the rivals."""
    watched = sorted(scene.rivals, key=lambda rival: tiles_between(rival, scene.own.at))[:MOST]
    close = [rival for rival in watched if tiles_between(rival, scene.own.at) <= CLOSE]
    return {place: _grip(scene, replace(scene.own, at=place), close) for place in places} if close else {}


def _grip(scene: Scene, bomb: Bomb, rivals: list[Place]) -> float:
    if bomb.at in [lying.at for lying in scene.lying] or not gets_away(scene, [bomb]):
        return 0.0
    ways = ways_out(scene, bomb)
    grip = 0.0
    for rival in rivals:
        after = _next_places(scene, rival, bomb.at)
        grip += sum(GRIP[steps_left(scene, place, ways)] for place in after) / len(after)
    return grip


def _next_places(scene: Scene, place: Place, taken: Place) -> list[Place]:
    """Return the places of a user after one step, including its current place."""
    can_enter = scene.can_enter(scene.rows, scene.lying) & ~scene.tile(taken)
    beside = neighbours(scene.height, scene.width)[place]
    return [place, *(after for after in beside if after is not None and scene.tile(after) & can_enter)]


def trap(scene: Scene, reached: dict[Place, int]) -> Place | None:
    """Return the nearest place where a bomb would trap a rival that does not move."""
    for place, steps in reached.items():
        if steps > REACH:
            break
        bomb = replace(scene.own, at=place)
        held = {*burned_by(scene, bomb), *scene.doomed}
        near = [rival for rival in scene.rivals if tiles_between(rival, place) <= REACH and rival in held]
        if near and _holds(scene, bomb, near) and gets_away(scene, [bomb]):
            return place
    return None


def _holds(scene: Scene, bomb: Bomb, rivals: list[Place]) -> bool:
    ways = ways_out(scene, bomb)
    return any(steps_left(scene, rival, ways) == 0 for rival in rivals)


def tiles_between(one: Place, other: Place) -> int:
    """Return the distance, ignoring walls."""
    return abs(one[0] - other[0]) + abs(one[1] - other[1])
