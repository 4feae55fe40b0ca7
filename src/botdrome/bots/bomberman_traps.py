"""Traps in Bomberman: bombs from which users do not get away."""

from collections.abc import Iterable

from msgspec.structs import replace

from botdrome.bots.bomberman_foresight import burned_by, refuges
from botdrome.bots.bomberman_scene import Scene, Tiles
from botdrome.games.bomberman_map import Place, neighbours
from botdrome.games.bomberman_things import Bomb

Ways = tuple[Tiles, Tiles]
"""What can be entered, and where one may stand after the moves of this round and live on."""

CLOSE = 8
"""Tiles; rivals farther off are no danger yet, and no prey."""
MOST = 2
"""So many rivals are watched at a time, the nearest."""
REACH = 5
"""Traps are looked for in so many steps, and for rivals in so many tiles."""
GRIP = (1.0, 0.4, 0.15, 0.0, 0.0, 0.0)
"""What a bomb is worth that leaves a rival so many steps to live on; none: it is trapped."""


def ways_out(scene: Scene, bomb: Bomb) -> Ways:
    """If this bomb is placed now and nobody else does anything."""
    stands = scene.tile(bomb.at)
    return scene.can_enter(scene.rows, [*scene.lying, bomb]), refuges(scene, [bomb], stands, False)


def steps_left(scene: Scene, place: Place, ways: Ways) -> int:
    """How many steps save a user on this place; to stay is one of them."""
    can_enter, safe = ways
    tile = scene.tile(place)
    return ((tile | scene.with_neighbours(tile) & can_enter) & safe).bit_count()


def gets_away(scene: Scene, placed: list[Bomb]) -> bool:
    """Whether one lives on that stands on the first of the bombs that are placed, whatever steps the rivals make."""
    return bool(scene.tile(placed[0].at) & refuges(scene, placed, scene.tiles(scene.rivals), True))


def dangers(scene: Scene) -> Tiles:
    """Where one could be trapped by a bomb in the next round."""
    found = 0
    for bomb in sorted(scene.threats, key=lambda bomb: tiles_between(bomb.at, scene.own.at))[:MOST]:
        if tiles_between(bomb.at, scene.own.at) <= CLOSE:
            for place in _next_places(scene, bomb.at, scene.own.at):
                can_enter, safe = ways_out(scene, replace(bomb, at=place))
                found |= ~(safe | scene.with_neighbours(safe & can_enter))
    return found


def grips(scene: Scene, places: Iterable[Place]) -> dict[Place, float]:
    """How well a bomb in the next round would hold the rivals, by the place that it is placed on."""
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
    """Where a user may be after one step, to stay included."""
    can_enter = scene.can_enter(scene.rows, scene.lying) & ~scene.tile(taken)
    beside = neighbours(scene.height, scene.width)[place]
    return [place, *(after for after in beside if after is not None and scene.tile(after) & can_enter)]


def trap(scene: Scene, reached: dict[Place, int]) -> Place | None:
    """The nearest place where a bomb would trap a rival that does not move."""
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
    """As if there were no walls."""
    return abs(one[0] - other[0]) + abs(one[1] - other[1])
