"""The warden: a house bot for Bomberman that plays like the bombardier, then takes the middle of the map and holds it."""

from botdrome.bots.bomberman_bombardier import bombardier, innermost, may_place, safe_steps
from botdrome.bots.bomberman_foresight import distances
from botdrome.bots.bomberman_sapper import FAR
from botdrome.bots.bomberman_scene import Scene, scene_of
from botdrome.bots.bomberman_traps import steps_left, ways_out
from botdrome.games.bomberman_actions import PLACE_BOMB, WORDS, Action
from botdrome.games.bomberman_map import Place, closing_groups
from botdrome.games.chance import Chance
from botdrome.games.game import Raw, View

EARLY = 120
"""The number of rounds before walls close in from which the bot goes to the middle of the map."""
DARE = 4
"""One time in so many the bot takes a risk where caution would keep it away from the middle."""


def warden(view: View, chance: Chance) -> Raw:
    """Be first in the middle, where walls close in last; leave it only when it burns, and at the last moment."""
    scene = scene_of(view)
    if scene.closing_at is None or scene.closing_at - scene.round > EARLY:
        return bombardier(view, chance)
    middle = innermost(scene, distances(scene, scene.own.at))
    if middle in scene.rivals or middle not in closing_groups(scene.height, scene.width)[-1]:
        return bombardier(view, chance)
    steps, feared = safe_steps(scene)
    if scene.can_place and _traps_a_rival(scene) and may_place(scene, view, feared):
        return {"action": WORDS[PLACE_BOMB]}
    way = distances(scene, middle)
    best = _nearest(steps, way)
    if scene.own.at in best.values() and scene.own.at != middle and chance.below(DARE) == 0:
        best = _nearest(safe_steps(scene, daring=True)[0], way)
    return {"action": WORDS[chance.choice([*best])]}


def _nearest(steps: dict[Action, Place], way: dict[Place, int]) -> dict[Action, Place]:
    least = min(way.get(place, FAR) for place in steps.values())
    return {action: place for action, place in steps.items() if way.get(place, FAR) == least}


def _traps_a_rival(scene: Scene) -> bool:
    ways = ways_out(scene, scene.own)
    return any(steps_left(scene, rival, ways) == 0 for rival in scene.rivals)
