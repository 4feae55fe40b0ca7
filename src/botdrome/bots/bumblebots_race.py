"""An estimate for bumblebots: which flowers the drones of both players will claim if each goes to the nearest one."""

from collections.abc import Mapping, Sequence

from botdrome.bots.bumblebots import FAR
from botdrome.games.bumblebots import RESPAWN
from botdrome.games.hexagon import Hex

Ways = Mapping[Hex, int]
"""The distance to each flower."""
Runner = tuple[int, Ways, str]
"""The ticks until a drone can leave, its ways, and its name; a drone that is still to come has no name."""
Plan = dict[str, Hex]
"""The flowers to which drones go first."""
Arrival = tuple[int, Hex, int]
"""The ticks until a drone reaches a flower, the flower, and the number of the drone."""
NOWHERE: Hex = (-1, -1)
SOONER = 0.0001
"""The value of claiming a flower one tick sooner."""


def race(swarms: Sequence[Sequence[Runner]], homes: Sequence[Ways], left: int, forced: Plan) -> tuple[float, Plan]:
    """Return the lead in flowers that the bot gains in the ticks that are left, and the plan of its drones.

    Forced drones go to their flower first. Two rivals that reach a flower in the same tick block each other for good.
    """
    runners, rivals, open_ = list(swarms[0]), list(swarms[1]), set(homes[0])
    lead = 0.0
    plan: Plan = {}
    while open_:
        ours, other = _first(runners, open_, forced), _first(rivals, open_, {})
        tick, flower, number = min(ours, other, key=lambda arrival: arrival[0])
        if tick > left:
            break
        open_.discard(flower)
        if ours[0] > tick:
            lead -= 1 + SOONER * (left - tick)
            rivals[number] = (tick + RESPAWN + 1, homes[1], "")
            continue
        plan.setdefault(runners[number][2], flower)
        blocker = next((rival for rival in rivals if rival[0] + rival[1][flower] == tick), None)
        if blocker is None:
            lead += 1 + SOONER * (left - tick)
            runners[number] = (tick + RESPAWN + 1, homes[0], "")
        else:
            rivals.remove(blocker)
            del runners[number]
    plan.pop("", None)
    return lead, plan


def _first(runners: Sequence[Runner], open_: set[Hex], forced: Plan) -> Arrival:
    best = (FAR, NOWHERE, 0)
    for number, (ready, ways, name) in enumerate(runners):
        for flower in {forced[name]} & open_ or open_ if name in forced else open_:
            best = min(best, (ready + ways[flower], flower, number))
    return best
