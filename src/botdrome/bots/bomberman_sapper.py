"""The sapper: a house bot for Bomberman that looks ahead until the last bomb has gone off."""

from collections.abc import Iterator

from msgspec.structs import replace

from botdrome.bots.bomberman_foresight import burned_by, distances, refuges
from botdrome.bots.bomberman_scene import Scene, scene_of
from botdrome.games.bomberman_actions import PLACE_BOMB, WAIT, WORDS, Action
from botdrome.games.bomberman_map import CRATE, FREE, Place, closing_groups, neighbours
from botdrome.games.bomberman_things import Bomb
from botdrome.games.chance import Chance
from botdrome.games.game import Raw, View

UPGRADE, RIVAL = 4, 2
"""What they are worth, in crates."""
FAR = 1000
SOON = 10
"""So many rounds before walls close in, the middle of the map becomes the goal."""


def sapper(view: View, chance: Chance) -> Raw:
    """Stays alive if it can; bombs crates and rivals where it can get away; takes upgrades."""
    scene = scene_of(view)
    steps, feared = _safe_steps(scene)
    if scene.can_place and _gain(scene, scene.own.at) and _can_get_away(scene, [scene.own, *feared]):
        return {"action": WORDS[PLACE_BOMB]}
    way = distances(scene, _goal(scene))
    nearest = min(way.get(place, FAR) for place in steps.values())
    best = [action for action, place in steps.items() if way.get(place, FAR) == nearest]
    if WAIT in steps and scene.tiles(steps[action] for action in best) & scene.with_neighbours(scene.tiles(scene.rivals)):
        best.append(WAIT)  # lest two that want the same tile stop each other for ever
    return {"action": WORDS[chance.choice(best)]}


def _safe_steps(scene: Scene) -> tuple[dict[Action, Place], list[Bomb]]:
    """The steps that one survives, and the bombs that are reckoned with: at best whatever the rivals do, else ever less of it."""
    steps = dict(steps_of(scene))
    crowd, threats = scene.tiles(scene.rivals), scene.threats
    for feared, blocked, spreading in ((threats, crowd, True), (threats, crowd, False), ([], crowd, False), ([], 0, False)):
        safe = refuges(scene, feared, blocked, spreading)
        sure = safe if scene.tile(scene.own.at) & safe else safe & ~scene.with_neighbours(blocked)
        survived = {action: place for action, place in steps.items() if scene.tile(place) & sure}
        if survived:
            return survived, feared
    return steps, []


def steps_of(scene: Scene) -> Iterator[tuple[Action, Place]]:
    yield WAIT, scene.own.at
    taken = {*scene.rivals, *(bomb.at for bomb in scene.lying)}
    for action, place in enumerate(neighbours(scene.height, scene.width)[scene.own.at]):
        if place is not None and scene.rows[place[0]][place[1]] == FREE and place not in taken:
            yield action, place


def _can_get_away(scene: Scene, placed: list[Bomb]) -> bool:
    """From the first of the bombs that are placed."""
    return bool(scene.tile(placed[0].at) & refuges(scene, placed, scene.tiles(scene.rivals), True))


def _goal(scene: Scene) -> Place:
    """The place that is worth most for the way there; when walls are about to close in, one where they do so last."""
    reached = distances(scene, scene.own.at)
    if scene.closing_at is not None and scene.closing_at - scene.round <= SOON:
        innermost = closing_groups(scene.height, scene.width)[-1]
        for place in filter(innermost.__contains__, reached):
            return place
    worth = {place: UPGRADE if place in scene.upgrades else _gain(scene, place) for place in reached}
    for place in sorted(reached, key=lambda place: -worth[place] / (reached[place] + 2)):
        if place in scene.upgrades or _can_get_away(scene, [replace(scene.own, at=place)]):
            return place
    return scene.own.at


def _gain(scene: Scene, place: Place) -> int:
    """What a bomb on this place would be worth."""
    burned = burned_by(scene, replace(scene.own, at=place))
    crates = sum(scene.rows[row][column] == CRATE for row, column in burned if (row, column) not in scene.doomed)
    return crates + RIVAL * len(set(scene.rivals).intersection(burned))
