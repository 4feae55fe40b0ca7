"""Bumblebots: drones on a board of hexes race for flowers and claim the territory around them."""

from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, TypeVar

from msgspec import Meta
from msgspec.structs import asdict, replace

from botdrome.games.bumblebots_arena import (
    DOCUMENTED,
    EMPTY,
    FLOWER,
    TERRITORY,
    WALL,
    HexArena,
    Rows,
    Starts,
    check_arena,
    draw_arena,
)
from botdrome.games.bumblebots_names import new_name
from botdrome.games.chance import Chance
from botdrome.games.game import BadOption, Game, IllegalMove, Raw, Seat, View
from botdrome.games.hexagon import STEPS, Hex, around
from botdrome.games.reading import an_object, shown

T = TypeVar("T")
Swarm = dict[str, Hex]
"""The place of each drone of one seat. Never changed, only replaced."""
Conduct = tuple[int, int, int]
"""The numbers of missed ticks, invalid orders and blocked orders."""

OPEN = tuple(frozenset((EMPTY, FLOWER, zone)) for zone in TERRITORY)
"""The kinds of hexes that the drones of each seat may enter."""
FALSY: tuple[Raw, ...] = (None, "", 0)
"""Values that JavaScript treats as no orders; 0 also matches false."""
RESPAWN = 5
"""The number of ticks before a lost drone may be replaced."""
QUIET = 15
"""The number of ticks without new flowers, both at the start and at the end."""
ODDS = 0.1
"""The chance of a new flower in each other tick."""


class Orders(NamedTuple):
    """A bot's orders to its drones."""

    targets: dict[str, Hex]
    """The target hex of each drone with a valid order."""
    invalid: int
    """The number of invalid orders, which are dropped."""


class Bumblebots(Game[Orders], frozen=True):
    name: ClassVar[str] = "bumblebots"
    players: ClassVar[range] = range(2, 3)
    rules: ClassVar[int] = 2

    ticks: Annotated[int, Meta(description="how many ticks the game lasts", ge=1, le=1000)] = 100
    arena: Annotated[
        Literal["documented", "drawn"],
        Meta(description="documented: the same arena in every game; drawn: a new one for each, as the other options say"),
    ] = "documented"
    side: Annotated[int, Meta(description="drawn arena: hexes along each side, the border included", ge=4, le=16)] = 8
    walls: Annotated[int, Meta(description="drawn arena: percent of the hexes within that are walls", ge=0, le=40)] = 14
    starts: Annotated[
        Starts, Meta(description="drawn arena: spawn points in rows that face each other (facing), or anywhere (drawn)")
    ] = "facing"
    drones: Annotated[int, Meta(description="drawn arena: drones of each player", ge=1, le=8)] = 3
    flowers: Annotated[int, Meta(description="drawn arena: flowers at the start", ge=0, le=20)] = 3

    to_move: tuple[Seat, ...] = (0, 1)
    turn: int = 0
    """The number of ticks played."""
    board: Rows = ()
    spawn_points: tuple[tuple[Hex, ...], ...] = ()
    swarms: tuple[Swarm, ...] = ()
    due: tuple[tuple[int, ...], ...] = ((), ())
    """For each seat, the ticks after which a new drone may come, oldest first."""
    scores: tuple[int, ...] = (0, 0)
    record: tuple[Conduct, ...] = ((0, 0, 0), (0, 0, 0))

    def by_rules(self, version: int) -> Game[Any]:
        return FirstBumblebots(**asdict(self)) if version == FirstBumblebots.rules else super().by_rules(version)

    def check(self, players: int) -> None:
        if self.arena == "drawn":
            return check_arena(self.side, self.drones, self.flowers)
        usual = Bumblebots()
        for option in ("side", "walls", "starts", "drones", "flowers"):
            if getattr(self, option) != getattr(usual, option):
                raise BadOption(f"{option}: the documented arena has its own; it can be chosen where the arena is drawn")
        return None

    def start(self, players: int, chance: Chance) -> "Bumblebots":
        self.check(players)
        arena = self._lay_out(chance)
        swarms: list[Swarm] = []
        for seat, points in enumerate(arena.spawn_points):
            swarm: Swarm = {}
            for point in points:
                swarm[new_name(seat, swarm, chance)] = point
            swarms.append(swarm)
        return replace(self, board=arena.board, spawn_points=arena.spawn_points, swarms=tuple(swarms))

    def _lay_out(self, chance: Chance) -> HexArena:
        if self.arena == "drawn":
            return draw_arena(self.side, self.walls, self.starts, self.drones, self.flowers, chance)
        return DOCUMENTED

    @property
    def over(self) -> bool:
        return not self.to_move

    # Orders.

    def parse(self, seat: Seat, raw: Raw) -> Orders:
        """Return the orders that are possible on the current board. An invalid order does not affect the others."""
        swarm, board, open_ = self.swarms[seat], self.board, OPEN[seat]
        orders, targets = self._orders_in(an_object(raw), swarm), {}
        for drone, direction in orders.items():
            if drone in swarm and isinstance(direction, str) and direction in STEPS:
                (row, column), (down, right) = swarm[drone], STEPS[direction]
                if board[row + down][column + right] in open_:
                    targets[drone] = (row + down, column + right)
        return Orders(targets, len(orders) - len(targets))

    def _orders_in(self, message: dict[str, Raw], swarm: Swarm) -> dict[str, Raw]:
        """Return the orders in a message. Raise IllegalMove if it has none; earlier orders then stay in force."""
        if "orders" in message:
            orders = message["orders"]
            if orders in FALSY:
                raise IllegalMove(f'"orders" is an object from drones to directions, not {shown(orders)}')
            return orders if isinstance(orders, dict) else {"orders": orders}
        if not any(drone in swarm for drone in message):
            raise IllegalMove('there are no orders: neither the key "orders" nor a drone of yours')
        return message

    @property
    def lists_all_moves(self) -> bool:
        return False

    def moves(self, seat: Seat) -> Iterator[Raw]:
        """List the moves of one drone at a time; a bot may combine them."""
        yield {"orders": {}}
        for drone, (row, column) in self.swarms[seat].items():
            for direction, (down, right) in STEPS.items():
                if self.board[row + down][column + right] in OPEN[seat]:
                    yield {"orders": {drone: direction}}

    # A tick.

    def play(self, moves: Mapping[Seat, Orders], chance: Chance) -> "Bumblebots":
        going = unhindered(self.swarms, moves.values())
        after = replace(
            self,
            to_move=self.to_move if self.turn + 1 < self.ticks else (),
            turn=self.turn + 1,
            swarms=tuple([{drone: going.get(drone, spot) for drone, spot in swarm.items()} for swarm in self.swarms]),
            record=tuple([_conduct(row, moves.get(seat), going) for seat, row in enumerate(self.record)]),
        )
        after = after._claimed()._flowered(self, chance)
        return after._respawned(0, self, chance)._respawned(1, self, chance)

    def _claimed(self) -> "Bumblebots":
        after = self
        for seat, swarm in enumerate(self.swarms):
            for drone, (row, column) in swarm.items():
                if after.board[row][column] == FLOWER:
                    after = after._with_claim(seat, drone)
        return after

    def _with_claim(self, seat: Seat, drone: str) -> "Bumblebots":
        spot = self.swarms[seat][drone]
        fence = {near: TERRITORY[seat] for near in around(spot) if self.board[near[0]][near[1]] == EMPTY}
        return replace(
            self,
            board=_changed(self.board, {**fence, spot: WALL}),
            swarms=_with(self.swarms, seat, {name: at for name, at in self.swarms[seat].items() if name != drone}),
            due=_with(self.due, seat, (*self.due[seat], self.turn + RESPAWN)),
            scores=_with(self.scores, seat, self.scores[seat] + 1),
        )

    def _flowered(self, before: "Bumblebots", chance: Chance) -> "Bumblebots":
        if not QUIET < before.turn < self.ticks - QUIET or chance.random() >= ODDS:
            return self
        meadow = before._meadow()
        free = [(row, column) for row, column in meadow if self.board[row][column] == EMPTY]
        return replace(self, board=_changed(self.board, {_drawn(meadow, free, chance): FLOWER})) if free else self

    def _meadow(self) -> list[Hex]:
        """Return the empty hexes without a drone, row by row."""
        empty = [(row, column) for row, cells in enumerate(self.board) for column, cell in enumerate(cells) if cell == EMPTY]
        return _free(empty, self.swarms)

    def _respawned(self, seat: Seat, before: "Bumblebots", chance: Chance) -> "Bumblebots":
        due, swarm = self.due[seat], self.swarms[seat]
        if not due or due[0] > before.turn:
            return self
        points = self.spawn_points[seat]
        free = _free(points, self.swarms)
        if not free:
            return self
        name = new_name(seat, swarm, chance)
        swarm = {**swarm, name: _drawn(_free(points, before.swarms), free, chance)}
        return replace(self, swarms=_with(self.swarms, seat, swarm), due=_with(self.due, seat, due[1:]))

    # Views and scores.

    def view(self, seat: Seat | None) -> View:
        return {
            "you": seat,
            "toMove": self.to_move,
            "turnNumber": self.turn,
            "ticks": self.ticks,
            "board": self.board,
            "spawnPoints": self.spawn_points,
            "territory": TERRITORY,
            "maxDrones": self.drones,
            "drones": [{drone: {"position": spot} for drone, spot in swarm.items()} for swarm in self.swarms],
            "score": self.scores,
            "record": [{"missed": row[0], "invalid": row[1], "blocked": row[2]} for row in self.record],
        }


class FirstBumblebots(Bumblebots, frozen=True):
    """The first version of the rules: every object was a set of orders, even an empty one."""

    rules: ClassVar[int] = 1

    def _orders_in(self, message: dict[str, Raw], swarm: Swarm) -> dict[str, Raw]:
        orders = message.get("orders", message)
        if not isinstance(orders, dict):
            raise IllegalMove(f'"orders" is an object from drones to directions, not {shown(orders)}')
        return orders


def unhindered(swarms: Sequence[Swarm], orders: Collection[Orders]) -> dict[str, Hex]:
    """Return the moves that no drone blocks. Drones may follow each other, in a line or in a ring of three or more."""
    at = {**swarms[0], **swarms[1]}
    going: dict[str, Hex] = {}
    for given in orders:
        going.update(given.targets)
    targets = list(going.values())
    if len(set(targets)) < len(targets):
        going = {drone: target for drone, target in going.items() if targets.count(target) == 1}
    if set(at.values()).isdisjoint(targets):
        return going
    ways = {(at[drone], target) for drone, target in going.items()}
    held = {spot for drone, spot in at.items() if drone not in going}
    stuck = [drone for drone, target in going.items() if target in held or (target, at[drone]) in ways]
    while stuck:
        for drone in stuck:
            del going[drone]
            held.add(at[drone])
        stuck = [drone for drone, target in going.items() if target in held]
    return going


def _conduct(so_far: Conduct, orders: Orders | None, going: Container[str]) -> Conduct:
    missed, invalid, blocked = so_far
    if orders is None:
        return missed + 1, invalid, blocked
    return missed, invalid + orders.invalid, blocked + sum(drone not in going for drone in orders.targets)


def _free(spots: Iterable[Hex], swarms: Sequence[Swarm]) -> list[Hex]:
    taken = {*swarms[0].values(), *swarms[1].values()}
    return [spot for spot in spots if spot not in taken]


def _drawn(before: Sequence[Hex], now: Sequence[Hex], chance: Chance) -> Hex:
    """Choose a hex that was free before the tick, as in earlier versions. If it is taken now, choose one that is free now."""
    spot = chance.choice(before or now)
    return spot if spot in now else chance.choice(now)


def _with(items: tuple[T, ...], seat: Seat, item: T) -> tuple[T, ...]:
    return (item, items[1]) if seat == 0 else (items[0], item)


def _changed(board: Rows, cells: Mapping[Hex, int]) -> Rows:
    rows = list(board)
    for (row, column), value in cells.items():
        rows[row] = (*rows[row][:column], value, *rows[row][column + 1 :])
    return tuple(rows)
