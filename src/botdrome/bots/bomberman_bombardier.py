"""The bombardier: a house bot for Bomberman that sets traps, avoids the traps of others, and is first in the middle."""

from msgspec.structs import replace

from botdrome.bots.bomberman_foresight import burned_by, distances, refuges
from botdrome.bots.bomberman_sapper import FAR, steps_of
from botdrome.bots.bomberman_scene import Scene, scene_of
from botdrome.bots.bomberman_traps import dangers, gets_away, grips, steps_left, trap, ways_out
from botdrome.games.bomberman_actions import PLACE_BOMB, WORDS, Action
from botdrome.games.bomberman_map import CRATE, WALL, Place, closing_groups, closing_plan
from botdrome.games.bomberman_things import Bomb
from botdrome.games.chance import Chance
from botdrome.games.game import Raw, View

UPGRADE, RIVAL = 6, 2
"""Their values, in crates."""
DANGER, GRIP = 6.0, 3.0
"""The loss for a place where it could be trapped, and the gain for one where it could trap a rival, in steps."""
SOON = 30
"""The number of rounds before walls close in from which the bot goes to the middle of the map."""
NARROW = 25
"""The number of remaining tiles from which a place in the middle is worth a risk."""


def bombardier(view: View, chance: Chance) -> Raw:
    """Stay alive if possible; trap rivals, open crates, take upgrades; hold the middle when walls close in."""
    scene = scene_of(view)
    steps, feared = safe_steps(scene)
    if scene.can_place and _is_worth_a_bomb(scene, view) and may_place(scene, view, feared):
        return {"action": WORDS[PLACE_BOMB]}
    way = distances(scene, _goal(scene))
    shunned, sought = dangers(scene), grips(scene, steps.values())
    worth = {
        action: GRIP * sought.get(place, 0.0) - DANGER * bool(scene.tile(place) & shunned) - way.get(place, FAR)
        for action, place in steps.items()
    }
    best = max(worth.values())
    return {"action": WORDS[chance.choice([action for action in steps if worth[action] == best])]}


def safe_steps(scene: Scene, daring: bool = False) -> tuple[dict[Action, Place], list[Bomb]]:
    """Return the steps that the bot survives, and the bombs of rivals that it assumes.

    Assume the worst actions of the rivals first, then fewer and fewer, until a step survives. The danger of the bot's own bomb
    has priority over bombs that others may place. A daring bot does not assume bombs.
    """
    steps = dict(steps_of(scene))
    crowd, threats = scene.tiles(scene.rivals), scene.threats
    cautious = not _is_narrow(scene) or any(bomb.seat == scene.own.seat for bomb in scene.lying)
    none: list[Bomb] = []
    assumed = ((threats, crowd, cautious), (none, crowd, True), (none, crowd, False), (none, 0, False))
    for feared, blocked, spreading in assumed[daring:]:
        safe = refuges(scene, feared, blocked, spreading)
        sure = safe if scene.tile(scene.own.at) & safe else safe & ~scene.with_neighbours(blocked)
        survived = {action: place for action, place in steps.items() if scene.tile(place) & sure}
        if survived:
            return survived, feared
    return _longest(scene, steps), []


def _longest(scene: Scene, steps: dict[Action, Place]) -> dict[Action, Place]:
    """Return the steps with the longest survival if none is safe. One more round often wins the game."""
    for horizon in range(scene.fuse, 0, -1):
        safe = refuges(scene, [], scene.tiles(scene.rivals), False, horizon)
        if survived := {action: place for action, place in steps.items() if scene.tile(place) & safe}:
            return survived
    return steps


def _is_narrow(scene: Scene) -> bool:
    return scene.closing_at is not None and sum(len(row) - row.count(WALL) for row in scene.rows) <= NARROW


def may_place(scene: Scene, view: View, feared: list[Bomb]) -> bool:
    """Return True if the bot escapes its own bomb and the walls. Only the next walls are predicted."""
    plan = closing_plan(scene.height, scene.width, view["closing"]["from"], view["rounds"])
    closings = [end for end, _ in plan if end is not None and 0 <= end - scene.round <= scene.fuse]
    return len(closings) < 2 and gets_away(scene, [scene.own, *feared])


def _is_worth_a_bomb(scene: Scene, view: View) -> bool:
    """Return True for a trapped rival or for crates; with a spare bomb, also for a rival with one safe step or in the flames."""
    ways = ways_out(scene, scene.own)
    left = min(steps_left(scene, rival, ways) for rival in scene.rivals)
    burned = burned_by(scene, scene.own)
    if left == 0 or any(scene.rows[row][column] == CRATE for row, column in burned if (row, column) not in scene.doomed):
        return True
    has_spare = view["users"][view["you"]]["bombsLeft"] > 1
    return has_spare and (left == 1 or not set(scene.rivals).isdisjoint(burned))


def _goal(scene: Scene) -> Place:
    """Return the place where walls close in last, if they close soon; else a trap; else the best value for its distance."""
    reached = distances(scene, scene.own.at)
    if scene.closing_at is not None and scene.closing_at - scene.round <= SOON:
        return innermost(scene, reached)
    prey = trap(scene, reached) if scene.can_place else None
    if prey is not None:
        return prey
    worth = {place: UPGRADE if place in scene.upgrades else _gain(scene, place) for place in reached}
    for place in sorted(reached, key=lambda place: -worth[place] / (reached[place] + 2)):
        if place in scene.upgrades or gets_away(scene, [replace(scene.own, at=place)]):
            return place
    return scene.own.at


def innermost(scene: Scene, reached: dict[Place, int]) -> Place:
    rank = {place: number for number, group in enumerate(closing_groups(scene.height, scene.width)) for place in group}
    return max(reached, key=rank.__getitem__)  # sorted by distance, so the nearest wins a tie


def _gain(scene: Scene, place: Place) -> int:
    """Return the value of a bomb on this place."""
    burned = burned_by(scene, replace(scene.own, at=place))
    crates = sum(scene.rows[row][column] == CRATE for row, column in burned if (row, column) not in scene.doomed)
    return crates + RIVAL * len(set(scene.rivals).intersection(burned))
