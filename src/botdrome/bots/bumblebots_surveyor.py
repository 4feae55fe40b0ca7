"""The surveyor: a house bot for bumblebots that plans which flowers its drones can get, and posts the others by the same rule."""

from collections.abc import Iterable

from botdrome.bots.bumblebots import FAR, Foray
from botdrome.bots.bumblebots_race import Plan, Runner, Ways, race
from botdrome.games.bumblebots import RESPAWN
from botdrome.games.bumblebots_arena import FLOWER
from botdrome.games.chance import Chance
from botdrome.games.game import Raw, View
from botdrome.games.hexagon import Hex, around, bits, rings

TIE, REMOTE = 0.5, 0.04
"""The value of a hex that both players reach at once, and the loss for each step to a hex, in hexes reached first."""


def surveyor(view: View, chance: Chance) -> Raw:
    """Estimate the race for the flowers, leave fights that cost more than they gain, and post drones to be first at the next."""
    return Survey(view, chance).orders()


class Survey(Foray):
    """One tick of the surveyor."""

    def __init__(self, view: View, chance: Chance) -> None:
        super().__init__(view, chance)
        you, self.left = view["you"], view["ticks"] - view["turnNumber"]
        self.flowers = self._where({FLOWER})
        homes = [[(row, column) for row, column in view["spawnPoints"][seat]] for seat in (you, 1 - you)]
        missing = [max(0, view["maxDrones"] - len(drones)) for drones in (self.mine, self.rivals)]
        self.homes: list[Ways] = []
        self.runners: list[list[Runner]] = []
        for player, (ground, swarm) in enumerate(((self.ground, self.mine), (self.their_ground, self._named_rivals()))):
            fields = {flower: _distances(flower, ground, self.width) for flower in self.flowers}
            home = {flower: min(fields[flower].get(spot, FAR) for spot in homes[player]) for flower in self.flowers}
            self.homes.append(home)
            coming: Runner = (RESPAWN + 1, home, "")
            self.runners.append([(0, _ways(spot, fields), name) for name, spot in swarm.items()] + [coming] * missing[player])
        busy = {near for flower in self.flowers for near in around(flower)}
        free = [spot for spot in self.rivals if spot not in busy] + homes[1][len(homes[1]) // 2 :][: min(1, missing[1])]
        self.their_rings = list(rings(self._bits(free), self.their_ground, self.width))
        self.own_home = self._bits(homes[0][len(homes[0]) // 2 :][: min(1, missing[0])])

    def _named_rivals(self) -> dict[str, Hex]:
        return {f"rival {number}": spot for number, spot in enumerate(self.rivals)}

    def orders(self) -> Raw:
        plan = self._plan()
        idle, goals = dict(self.mine), {}
        for drone, flower in sorted(plan.items(), key=lambda item: self.runners[0][[*self.mine].index(item[0])][1][item[1]]):
            goals[drone] = self._taken(self._next_hex(idle.pop(drone), flower))
        for drone in [*idle]:
            goals[drone] = idle[drone] = self._taken(self._post(idle.pop(drone), idle.values()))
        return self._orders_to(goals)

    def _plan(self) -> Plan:
        """Return the best plan that differs from the nearest flowers in the target of one drone, then of another, and so on."""
        forced: Plan = {}
        best, plan = race(self.runners, self.homes, self.left, forced)
        for _, ways, drone in self.runners[0][: len(self.mine)]:
            for flower in (flower for flower in self.flowers if ways[flower] < FAR):
                changed = forced | {drone: flower}
                lead, found = race(self.runners, self.homes, self.left, changed)
                if lead > best:
                    best, plan, forced = lead, found, changed
        return plan

    def _post(self, spot: Hex, others: Iterable[Hex]) -> Hex:
        """Return this hex or a neighbour: the one from which the drones reach the most empty hexes first."""
        posts = self._bits(others) | self.own_home
        choice = [spot, *(near for near in around(spot) if self._bits([near]) & self.free)]
        return max(choice, key=lambda hex_: self._reached_first(posts | self._bits([hex_])))

    def _reached_first(self, posts: int) -> float:
        value, theirs = 0.0, 0
        for far, ring in enumerate(rings(posts, self.ground, self.width)):
            here = self.their_rings[far] if far < len(self.their_rings) else 0
            mine = ring & self.meadow & ~theirs
            value += (mine & ~here).bit_count() + TIE * (mine & here).bit_count()
            value -= REMOTE * far * (ring & self.meadow).bit_count()
            theirs |= here
        return value


def _distances(flower: Hex, ground: int, width: int) -> dict[Hex, int]:
    """Return the distance of each hex of the ground from the flower."""
    found = {}
    for far, ring in enumerate(rings(bits([flower], width), ground, width)):
        found.update({divmod(place, width): far for place in range(ring.bit_length()) if ring >> place & 1})
    return found


def _ways(spot: Hex, fields: dict[Hex, dict[Hex, int]]) -> Ways:
    """Return the distance to each flower. A drone may stand on ground that it could not enter."""
    return {
        flower: field[spot] if spot in field else 1 + min(field.get(near, FAR) for near in around(spot))
        for flower, field in fields.items()
    }
