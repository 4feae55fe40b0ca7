"""House bots for bumblebots."""

from collections.abc import Collection, Iterable, Iterator, Sequence

from botdrome.games.bumblebots import OPEN
from botdrome.games.bumblebots_arena import EMPTY, FLOWER
from botdrome.games.chance import Chance
from botdrome.games.game import Raw, View
from botdrome.games.hexagon import STEPS, Hex, around, bits, rings

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
    """Send a drone to each flower by the shortest paths; the other drones spread out and wait for the next flower."""
    return Foray(view, chance).orders()


class Foray:
    """One tick of the forager: the board, and the targets of its drones. Sets of hexes are bit sets."""

    def __init__(self, view: View, chance: Chance) -> None:
        seat = view["you"]
        self.board, self.width, self.chance = view["board"], len(view["board"]), chance
        swarms = [{drone: (at["position"][0], at["position"][1]) for drone, at in swarm.items()} for swarm in view["drones"]]
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
        """Return the orders that send each drone to its goal, which is its own hex or one beside it."""
        return {"orders": {drone: _direction(spot, goals[drone]) for drone, spot in self.mine.items() if spot != goals[drone]}}

    def _errands(self) -> Iterator[Errand]:
        for flower in self._where({FLOWER}):
            trail, their_trail = self._trail(flower, self.free), self._trail(flower, self.free_for_rivals)
            rival = min((self._approach(spot, their_trail)[0] for spot in self.rivals), default=FAR)
            for drone, spot in self.mine.items():
                far, _ = self._approach(spot, trail)
                if far < FAR:
                    yield rival < far, far, flower, drone

    def _next_hex(self, spot: Hex, flower: Hex) -> Hex:
        _, ahead = self._approach(spot, self._trail(flower, self.free))
        return self.chance.choice([near for near in (spot, *around(spot)) if self._bits([near]) & ahead] or [spot])

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
        """Return this hex or a neighbour: the one that, with the others' places, is nearest to all possible flowers."""
        posts = self._bits(others)
        choice = [spot, *(near for near in around(spot) if self._bits([near]) & self.free)]
        return min(choice, key=lambda hex_: self._remoteness(posts | self._bits([hex_])))

    def _remoteness(self, posts: int) -> int:
        """Return the sum of the distances from the posts to all empty hexes."""
        return sum(far * (ring & self.meadow).bit_count() for far, ring in enumerate(rings(posts, self.ground, self.width)))

    def _taken(self, spot: Hex) -> Hex:
        """Return the spot, and mark it as taken."""
        self.free &= ~self._bits([spot])
        return spot

    def _where(self, kinds: Collection[int]) -> list[Hex]:
        return [(r, c) for r, row in enumerate(self.board) for c, cell in enumerate(row) if cell in kinds]

    def _bits(self, spots: Iterable[Hex]) -> int:
        return bits(spots, self.width)


def _direction(spot: Hex, goal: Hex) -> str:
    step = goal[0] - spot[0], goal[1] - spot[1]
    return next(direction for direction, change in STEPS.items() if change == step)
