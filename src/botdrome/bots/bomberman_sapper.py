"""The sapper: a house bot for Bomberman that looks ahead until the last bomb has exploded."""

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
"""Their values, in crates."""
FAR = 1000
SOON = 10
"""The number of rounds before walls close in from which the bot goes to the middle of the map."""


def sapper(view: View, chance: Chance) -> Raw:
    """Stay alive if possible; bomb crates and rivals if it can escape; take upgrades."""
    scene = scene_of(view)
    steps, feared = _safe_steps(scene)
    if scene.can_place and _gain(scene, scene.own.at) and _can_get_away(scene, [scene.own, *feared]):
        return {"action": WORDS[PLACE_BOMB]}
    way = distances(scene, _goal(scene))
    nearest = min(way.get(place, FAR) for place in steps.values())
    best = [action for action, place in steps.items() if way.get(place, FAR) == nearest]
    if WAIT in steps and scene.tiles(steps[action] for action in best) & scene.with_neighbours(scene.tiles(scene.rivals)):
        best.append(WAIT)  # two bots that want the same tile would block each other forever
    return {"action": WORDS[chance.choice(best)]}


def _safe_steps(scene: Scene) -> tuple[dict[Action, Place], list[Bomb]]:
    """Return the steps that the bot survives, and the bombs of rivals that it assumes: the worst actions first, then fewer."""
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
    """Return True if a user on the first of these bombs can escape."""
    return bool(scene.tile(placed[0].at) & refuges(scene, placed, scene.tiles(scene.rivals), True))


def _goal(scene: Scene) -> Place:
    """Return the place with the best value for its distance; if walls close soon, one where they close last."""
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
    """Return the value of a bomb on this place."""
    burned = burned_by(scene, replace(scene.own, at=place))
    crates = sum(scene.rows[row][column] == CRATE for row, column in burned if (row, column) not in scene.doomed)
    return crates + RIVAL * len(set(scene.rivals).intersection(burned))
