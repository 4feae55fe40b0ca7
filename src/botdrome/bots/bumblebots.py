"""House bots for bumblebots."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from botdrome.games.bumblebots import EMPTY, FLOWER, OPEN, RESPAWN, STEPS, Hex, around, bits, rings
from botdrome.games.chance import Chance
from botdrome.games.game import Raw, View

WAYS = [(direction, down, right) for direction, (down, right) in STEPS.items()]
FAR = 1000
"""A distance longer than any path."""
Errand = tuple[bool, int, Hex, str]
"""Whether a rival is nearer, the distance, the flower and the drone. Smaller is better."""


def random(view: View, chance: Chance) -> Raw:
    """Send each drone in a random open direction; a drone that finds none in ten tries stays."""
    seat, board, orders = view["you"], view["board"], {}
    for drone, state in view["drones"][seat].items():
        row, column = state["position"]
        luck = chance.bits()
        for _ in range(10):
            luck, way = divmod(luck, 6)
            direction, down, right = WAYS[way]
            if board[row + down][column + right] in OPEN[seat]:
                orders[drone] = direction
                break
    return {"orders": orders}


def forager(view: View, chance: Chance) -> Raw:
    """Send a drone to each flower by the shortest paths; the other drones spread out and wait for
    the next flower.
    """
    return Foray(view, chance).orders()


class Foray:
    """One tick of the forager: the board, and the targets of its drones.

    Sets of hexes are bit sets.
    """

    def __init__(self, view: View, chance: Chance) -> None:
        seat = view["you"]
        self.board, self.width, self.chance = view["board"], len(view["board"]), chance
        swarms = [
            {drone: (at["position"][0], at["position"][1]) for drone, at in swarm.items()}
            for swarm in view["drones"]
        ]
        self.mine: dict[str, Hex] = swarms[seat]
        self.rivals: Collection[Hex] = swarms[1 - seat].values()
        drones = self._bits(self.mine.values()) | self._bits(self.rivals)
        self.ground = self._bits(self._where(OPEN[seat]))
        self.meadow = self._bits(self._where({EMPTY}))
        self.free = self.ground & ~drones
        self.their_ground = self._bits(self._where(OPEN[1 - seat]))
        self.free_for_rivals = self.their_ground & ~drones

    def orders(self) -> Raw:
        idle, goals = dict(self.mine), {}
        sought: set[Hex] = set()
        for _, _, flower, drone in sorted(self._errands()):
            if drone in idle and flower not in sought:
                sought.add(flower)
                goals[drone] = self._taken(self._next_hex(idle.pop(drone), flower))
        for drone in [*idle]:
            goals[drone] = idle[drone] = self._taken(self._post(idle.pop(drone), idle.values()))
        return self._orders_to(goals)

    def _orders_to(self, goals: dict[str, Hex]) -> Raw:
        """Return the orders that send each drone to its goal, which is its own hex or one beside
        it.
        """
        return {
            "orders": {
                drone: _direction(spot, goals[drone])
                for drone, spot in self.mine.items()
                if spot != goals[drone]
            }
        }

    def _errands(self) -> Iterator[Errand]:
        for flower in self._where({FLOWER}):
            trail, their_trail = (
                self._trail(flower, self.free),
                self._trail(flower, self.free_for_rivals),
            )
            rival = min((self._approach(spot, their_trail)[0] for spot in self.rivals), default=FAR)
            for drone, spot in self.mine.items():
                far, _ = self._approach(spot, trail)
                if far < FAR:
                    yield rival < far, far, flower, drone

    def _next_hex(self, spot: Hex, flower: Hex) -> Hex:
        _, ahead = self._approach(spot, self._trail(flower, self.free))
        return self.chance.choice(
            [near for near in (spot, *around(spot)) if self._bits([near]) & ahead] or [spot]
        )

    def _trail(self, flower: Hex, free: int) -> list[int]:
        """Return the hexes 0, 1, 2, ... steps away from a flower."""
        return list(rings(self._bits([flower]), free, self.width))

    def _approach(self, spot: Hex, trail: Sequence[int]) -> tuple[int, int]:
        """Return the distance of a drone along the trail, and the hexes that it may enter first."""
        if self._bits([spot]) & trail[0]:
            return 0, trail[0]
        near = self._bits(around(spot))
        for far, ring in enumerate(trail, start=1):
            if ring & near:
                return far, ring & near
        return FAR, 0

    def _post(self, spot: Hex, others: Iterable[Hex]) -> Hex:
        """Return this hex or a neighbour: the one that, with the others' places, is nearest to all
        possible flowers.
        """
        posts = self._bits(others)
        choice = [spot, *(near for near in around(spot) if self._bits([near]) & self.free)]
        return min(choice, key=lambda hex_: self._remoteness(posts | self._bits([hex_])))

    def _remoteness(self, posts: int) -> int:
        """Return the sum of the distances from the posts to all empty hexes."""
        return sum(
            far * (ring & self.meadow).bit_count()
            for far, ring in enumerate(rings(posts, self.ground, self.width))
        )

    def _taken(self, spot: Hex) -> Hex:
        """Return the spot, and mark it as taken."""
        self.free &= ~self._bits([spot])
        return spot

    def _where(self, kinds: Collection[int]) -> list[Hex]:
        return [
            (r, c)
            for r, row in enumerate(self.board)
            for c, cell in enumerate(row)
            if cell in kinds
        ]

    def _bits(self, spots: Iterable[Hex]) -> int:
        return bits(spots, self.width)


def _direction(spot: Hex, goal: Hex) -> str:
    step = goal[0] - spot[0], goal[1] - spot[1]
    return next(direction for direction, change in STEPS.items() if change == step)


# An estimate for bumblebots: which flowers the drones of both players will claim if each goes to
# the nearest one.

Ways = Mapping[Hex, int]
"""The distance to each flower."""
Runner = tuple[int, Ways, str]
"""The ticks until a drone can leave, its ways, and its name; a drone that is still to come has no
name.
"""
Plan = dict[str, Hex]
"""The flowers to which drones go first."""
Arrival = tuple[int, Hex, int]
"""The ticks until a drone reaches a flower, the flower, and the number of the drone."""
NOWHERE: Hex = (-1, -1)
SOONER = 0.0001
"""The value of claiming a flower one tick sooner."""


def race(
    swarms: Sequence[Sequence[Runner]], homes: Sequence[Ways], left: int, forced: Plan
) -> tuple[float, Plan]:
    """Return the lead in flowers that the bot gains in the ticks that are left, and the plan of its
    drones.

    Forced drones go to their flower first. Two rivals that reach a flower in the same tick block
    each other for good.
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


# The surveyor: a house bot for bumblebots that plans which flowers its drones can get, and posts
# the others by the same rule.

TIE, REMOTE = 0.5, 0.04
"""The value of a hex that both players reach at once, and the loss for each step to a hex, in hexes
reached first.
"""


def surveyor(view: View, chance: Chance) -> Raw:
    """Estimate the race for the flowers, leave fights that cost more than they gain, and post
    drones to be first at the next.
    """
    return Survey(view, chance).orders()


class Survey(Foray):
    """One tick of the surveyor."""

    def __init__(self, view: View, chance: Chance) -> None:
        super().__init__(view, chance)
        you, self.left = view["you"], view["ticks"] - view["turnNumber"]
        self.flowers = self._where({FLOWER})
        homes = [
            [(row, column) for row, column in view["spawnPoints"][seat]] for seat in (you, 1 - you)
        ]
        missing = [max(0, view["maxDrones"] - len(drones)) for drones in (self.mine, self.rivals)]
        self.homes: list[Ways] = []
        self.runners: list[list[Runner]] = []
        for player, (ground, swarm) in enumerate(
            ((self.ground, self.mine), (self.their_ground, self._named_rivals()))
        ):
            fields = {flower: _distances(flower, ground, self.width) for flower in self.flowers}
            home = {
                flower: min(fields[flower].get(spot, FAR) for spot in homes[player])
                for flower in self.flowers
            }
            self.homes.append(home)
            coming: Runner = (RESPAWN + 1, home, "")
            self.runners.append(
                [(0, _ways(spot, fields), name) for name, spot in swarm.items()]
                + [coming] * missing[player]
            )
        busy = {near for flower in self.flowers for near in around(flower)}
        free = [spot for spot in self.rivals if spot not in busy] + homes[1][len(homes[1]) // 2 :][
            : min(1, missing[1])
        ]
        self.their_rings = list(rings(self._bits(free), self.their_ground, self.width))
        self.own_home = self._bits(homes[0][len(homes[0]) // 2 :][: min(1, missing[0])])

    def _named_rivals(self) -> dict[str, Hex]:
        return {f"rival {number}": spot for number, spot in enumerate(self.rivals)}

    def orders(self) -> Raw:
        plan = self._plan()
        idle, goals = dict(self.mine), {}
        for drone, flower in sorted(
            plan.items(), key=lambda item: self.runners[0][[*self.mine].index(item[0])][1][item[1]]
        ):
            goals[drone] = self._taken(self._next_hex(idle.pop(drone), flower))
        for drone in [*idle]:
            goals[drone] = idle[drone] = self._taken(self._post(idle.pop(drone), idle.values()))
        return self._orders_to(goals)

    def _plan(self) -> Plan:
        """Return the best plan that differs from the nearest flowers in the target of one drone,
        then of another, and so on.
        """
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
        """Return this hex or a neighbour: the one from which the drones reach the most empty hexes
        first.
        """
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
        found.update(
            {divmod(place, width): far for place in range(ring.bit_length()) if ring >> place & 1}
        )
    return found


def _ways(spot: Hex, fields: dict[Hex, dict[Hex, int]]) -> Ways:
    """Return the distance to each flower. A drone may stand on ground that it could not enter."""
    return {
        flower: field[spot]
        if spot in field
        else 1 + min(field.get(near, FAR) for near in around(spot))
        for flower, field in fields.items()
    }
