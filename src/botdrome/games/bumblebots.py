"""Bumblebots: drones on a board of hexes race for flowers and claim the territory around them."""

from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, TypeVar

from msgspec import Meta, Struct
from msgspec.structs import asdict, replace

from botdrome.games.chance import Chance
from botdrome.games.game import BadOption, Game, IllegalMove, Raw, Seat, View
from botdrome.games.reading import an_object, shown

# A hexagonal board: its hexes, their neighbours, and flood fill.
#
# The board is an array of rows whose axes run along two sides from the top left corner. With n
# hexes a side it has 2n - 1 rows. The upper rows are shorter at their end; the lower rows begin
# with places that are not on the board.

Hex = tuple[int, int]
"""Row and column."""

STEPS: dict[str, Hex] = {
    "UL": (-1, -1),
    "UR": (-1, 0),
    "R": (0, 1),
    "DR": (1, 1),
    "DL": (1, 0),
    "L": (0, -1),
}


def columns(side: int, row: int) -> range:
    """Return the columns of this row that are on the board."""
    return range(max(0, row - side + 1), min(2 * side - 1, side + row))


def within(side: int) -> list[Hex]:
    """Return the hexes inside the border, row by row."""
    return [(row, column) for row in range(1, 2 * side - 2) for column in columns(side, row)[1:-1]]


def opposite(spot: Hex, side: int) -> Hex:
    """Return the hex on the other side of the centre."""
    return 2 * side - 2 - spot[0], 2 * side - 2 - spot[1]


def around(spot: Hex) -> Iterator[Hex]:
    row, column = spot
    return ((row + down, column + right) for down, right in STEPS.values())


def bits(spots: Iterable[Hex], width: int) -> int:
    """Return the hexes as a bit set; `width` is the number of rows of the board."""
    number = 0
    for row, column in spots:
        number |= 1 << row * width + column
    return number


def rings(start: int, ground: int, width: int) -> Iterator[int]:
    """Yield `start`, then the hexes one step away over the ground, then two steps, and so on; all
    as bit sets.

    The ground must not touch the border of the board: a step from there would lead into the next
    row.
    """
    ring = reached = start
    while ring:
        yield ring
        near = (
            ring << 1
            | ring >> 1
            | ring << width
            | ring >> width
            | ring << width + 1
            | ring >> width + 1
        )
        ring = near & ground & ~reached
        reached |= ring


# The arenas of bumblebots: the documented one, and random ones.

Rows = tuple[tuple[int | None, ...], ...]
Starts = Literal["facing", "drawn"]

EMPTY, WALL, FLOWER = 0, 1, 2
TERRITORY = (5, 6)
"""The marks of each seat's safe zone."""


class HexArena(Struct, frozen=True):
    board: Rows
    spawn_points: tuple[tuple[Hex, ...], tuple[Hex, ...]]


def _read(picture: str) -> Rows:
    values = dict(zip("#.*+x", (WALL, EMPTY, FLOWER, *TERRITORY), strict=True))
    lines = picture.split()
    side = len(lines[0])
    return tuple(
        (None,) * columns(side, row)[0] + tuple(values[sign] for sign in line)
        for row, line in enumerate(lines)
    )


DOCUMENTED = HexArena(
    _read("""
               ########
              #..+++..#
             #........#
            #..##.##..#
           #..#*...#..#
          #...........#
         #..#......#..#
        #..#.......#*.#
         #..#......#..#
          #...........#
           #..#....#..#
            #*.##.##..#
             #........#
              #..xxx..#
               ########
    """),
    (((1, 3), (1, 4), (1, 5)), ((13, 11), (13, 10), (13, 9))),
)


def draw_arena(
    side: int, walls: int, starts: Starts, drones: int, flowers: int, chance: Chance
) -> HexArena:
    """Draw a symmetric arena. Each seat can reach all of it except the other's spawn points."""
    points = _facing(side, drones) if starts == "facing" else _scattered(side, drones, chance)
    others = [opposite(point, side) for point in points]
    blooms = _blooms(side, flowers, points, chance)
    blocks = _blocks(side, walls, points, blooms, chance)
    marks = dict.fromkeys(blooms, FLOWER) | dict.fromkeys(blocks, WALL)
    marks |= dict.fromkeys(points, TERRITORY[0]) | dict.fromkeys(others, TERRITORY[1])
    return HexArena(_rows(side, marks), (tuple(points), tuple(others)))


def inside(side: int) -> int:
    """Return the number of hexes inside the border."""
    return 3 * (side - 1) * (side - 2) + 1


def check_arena(side: int, drones: int, flowers: int) -> None:
    """Raise BadOption if the drones or the flowers do not fit."""
    if drones >= side:
        raise BadOption(
            f"drones: {drones} are too many where the side is {side}; there is room for {side - 1}"
        )
    most = inside(side) - 2 * drones
    if flowers > most:
        raise BadOption(
            f"flowers: {flowers} are too many where the side is {side}; there is room for {most}"
        )


def _rows(side: int, marks: dict[Hex, int]) -> Rows:
    values = dict.fromkeys(within(side), EMPTY) | marks
    return tuple(
        (None,) * columns(side, row)[0]
        + tuple(values.get((row, column), WALL) for column in columns(side, row))
        for row in range(2 * side - 1)
    )


def _facing(side: int, drones: int) -> list[Hex]:
    """Return spawn points in the middle of the row next to the border."""
    first = (side - drones + 1) // 2
    return [(1, column) for column in range(first, first + drones)]


def _scattered(side: int, drones: int, chance: Chance) -> list[Hex]:
    """Return random spawn points in one half that cut nothing off.

    `check_arena` ensures that there is room.
    """
    points: list[Hex] = []
    for point in _one_half(side, chance):
        if len(points) < drones and _all_in_reach(side, [*points, point]):
            points.append(point)
    return points


def _blooms(side: int, flowers: int, points: list[Hex], chance: Chance) -> list[Hex]:
    """Return the flowers in symmetric pairs; an odd flower stands in the centre."""
    ones = [spot for spot in _one_half(side, chance) if spot not in points][: flowers // 2]
    centre = [(side - 1, side - 1)] * (flowers % 2)
    return centre + [spot for one in ones for spot in (one, opposite(one, side))]


def _blocks(
    side: int, percent: int, points: list[Hex], blooms: list[Hex], chance: Chance
) -> list[Hex]:
    """Return walls in symmetric pairs that cut nothing off; fewer than `percent` if there is no
    more room.
    """
    width, count = 2 * side - 1, inside(side) * percent // 200 * 2
    ground = _inside(side) & ~bits([opposite(point, side) for point in points], width)
    kept = {*points, *blooms}
    blocks: list[Hex] = []
    for one in _one_half(side, chance):
        if len(blocks) < count and one not in kept:
            pair = [one, opposite(one, side)]
            left = _without(pair, ground, width)
            if left:
                ground = left
                blocks += pair
    return blocks


def _without(pair: list[Hex], ground: int, width: int) -> int:
    """Return the ground without this pair of hexes, or 0 if that would split it."""
    for row, column in pair:
        place = row * width + column
        ground &= ~(1 << place)
        arcs = _arcs(place, ground, width)
        if len(arcs) > 1 and not _is_joined(arcs, ground, width):
            return 0
    return ground


def _arcs(place: int, ground: int, width: int) -> list[int]:
    """Return the connected pieces of ground around a place."""
    arcs: list[int] = []
    last = 0
    for step in (-width - 1, -width, 1, width + 1, width, -1):
        near = ground & 1 << place + step
        if near and last:
            arcs[-1] |= near
        elif near:
            arcs.append(near)
        last = near
    if len(arcs) > 1 and last and ground & 1 << place - width - 1:
        arcs[0] |= arcs.pop()
    return arcs


def _is_joined(parts: list[int], ground: int, width: int) -> bool:
    """Return True if all parts are connected.

    The parts grow in turns, so that a small isolated part is found soon.
    """
    while len(parts) > 1:
        part, *others = parts
        near = (
            part << 1
            | part >> 1
            | part << width
            | part >> width
            | part << width + 1
            | part >> width + 1
        )
        grown = part | near & ground
        if grown == part:
            return False
        parts = []
        for other in others:
            if other & grown:
                grown |= other
            else:
                parts.append(other)
        parts.append(grown)
    return True


def _one_half(side: int, chance: Chance) -> list[Hex]:
    """Return the upper hex of each pair of opposite hexes, in random order, without the centre."""
    half = list(_upper_half(side))
    chance.shuffle(half)
    return half


@cache
def _upper_half(side: int) -> tuple[Hex, ...]:
    return tuple(spot for spot in within(side) if spot < opposite(spot, side))


def _all_in_reach(side: int, points: list[Hex]) -> bool:
    """Return True if the first seat can reach everything except the other's spawn points.

    By symmetry the other seat can too.
    """
    width = 2 * side - 1
    ground = _inside(side) & ~bits([opposite(point, side) for point in points], width)
    return sum(rings(bits(points[:1], width), ground, width)) == ground


@cache
def _inside(side: int) -> int:
    return bits(within(side), 2 * side - 1)


# Names for the drones of bumblebots: a kind or an unkind adjective, depending on the seat, and a
# forename.


def _words(text: str) -> list[str]:
    return text.split()


KIND = _words("""
    Able Adept Amiable Ardent Artful Blithe Bonny Bouncy Bright Bubbly Buoyant Calm Candid Caring
    Charming Cheery Chivalrous Civil Clement Cordial Cosy Courtly Daring Dashing Dear Decent Devoted
    Diligent Dutiful Eager Earnest Elegant Fair Faithful Fearless Fond Forgiving Frank Gallant
    Generous Genial Gentle Giving Gleeful Graceful Gracious Hardy Heartening Honest Hopeful Humble
    Jaunty Jolly Jovial Joyful Keen Kindly Lively Lovely Lucid Mellow Merry Mild Neat Nimble Noble
    Patient Peaceful Placid Plucky Polite Prudent Radiant Sage Serene Smiling Soothing Spirited
    Sprightly Steadfast Stout Sunny Supple Sweet Tactful Tender Thankful Trusty Valiant Zestful
""")

UNKIND = _words("""
    Abrasive Aloof Beastly Bitter Bleak Boastful Boorish Bossy Brash Brusque Brutish Callous Catty
    Churlish Clammy Conceited Cowardly Crabby Crafty Crass Cross Cruel Cunning Cynical Deceitful
    Devious Dour Dreary Fiendish Fickle Fierce Flaky Frosty Furtive Ghastly Gloomy Glum Grasping
    Grim Grouchy Gruff Grumpy Haughty Heartless Hostile Huffy Icy Impudent Insolent Irksome Jaded
    Knavish Livid Loutish Malicious Mean Meddling Miserly Morose Naughty Nosy Oafish Odious Peevish
    Petty Pompous Prickly Pushy Rancid Rotten Rude Scornful Shifty Slimy Sly Smug Sneaky Snide Sour
    Spiteful Stubborn Sulky Sullen Surly Testy Touchy Uncouth Unfair Vain Vile Wily Wretched
""")

FORENAMES = _words("""
    Ada Adela Agatha Agnes Aileen Alba Alma Amabel Amelie Anouk Anthea Astrid Audrey Aurora Beatrix
    Bella Berenice Bertha Blanche Brenda Bridget Bronwen Camilla Carmen Celeste Chloe Clara Clarissa
    Colette Cora Cordelia Cosima Daphne Daria Delia Delphine Dora Doris Edna Effie Elena Elfrida
    Eliza Elspeth Enid Erika Ethel Eudora Eunice Faye Fern Fiona Flavia Flora Freya Frida Gerda
    Gilda Ginny Greta Gudrun Gwen Harriet Hazel Heidi Hilda Honor Ida Imogen Ines Ingrid Irma Isolde
    Jemima Jessamy Johanna Juno Karin Kirsten Klara Lavinia Leonie Lettice Lilith Lottie Lucinda
    Luna Mabel Magda Marcella Marigold Maud Melba Mildred Minerva Muriel Myrtle Nadia Nettie Nora
    Odette Olga Ottilie Petra Philippa Phoebe Portia Prudence Quintina Ramona Rosamund Rowena Sabina
    Saskia Selma Sibyl Thea Thelma Ursula Viola Zelda
""")

ADJECTIVES = (KIND, UNKIND)


def new_name(seat: Seat, taken: Container[str], chance: Chance) -> str:
    """Return a name that is not taken.

    Seats never share a name, since no adjective is both kind and unkind.
    """
    while True:
        name = chance.choice(ADJECTIVES[seat]) + chance.choice(FORENAMES)
        if name not in taken:
            return name


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
        Meta(
            description="documented: the same arena in every game; drawn: a new one for each, as "
            "the other options say"
        ),
    ] = "documented"
    side: Annotated[
        int,
        Meta(description="drawn arena: hexes along each side, the border included", ge=4, le=16),
    ] = 8
    walls: Annotated[
        int,
        Meta(description="drawn arena: percent of the hexes within that are walls", ge=0, le=40),
    ] = 14
    starts: Annotated[
        Starts,
        Meta(
            description="drawn arena: spawn points in rows that face each other (facing), or "
            "anywhere (drawn)"
        ),
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
        return (
            FirstBumblebots(**asdict(self))
            if version == FirstBumblebots.rules
            else super().by_rules(version)
        )

    def check(self, players: int) -> None:
        if self.arena == "drawn":
            return check_arena(self.side, self.drones, self.flowers)
        usual = Bumblebots()
        for option in ("side", "walls", "starts", "drones", "flowers"):
            if getattr(self, option) != getattr(usual, option):
                raise BadOption(
                    f"{option}: the documented arena has its own; it can be chosen where the arena "
                    "is drawn"
                )
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
        return replace(
            self, board=arena.board, spawn_points=arena.spawn_points, swarms=tuple(swarms)
        )

    def _lay_out(self, chance: Chance) -> HexArena:
        if self.arena == "drawn":
            return draw_arena(self.side, self.walls, self.starts, self.drones, self.flowers, chance)
        return DOCUMENTED

    @property
    def over(self) -> bool:
        return not self.to_move

    # Orders.

    def parse(self, seat: Seat, raw: Raw) -> Orders:
        """Return the orders that are possible on the current board.

        An invalid order does not affect the others.
        """
        swarm, board, open_ = self.swarms[seat], self.board, OPEN[seat]
        orders, targets = self._orders_in(an_object(raw), swarm), {}
        for drone, direction in orders.items():
            if drone in swarm and isinstance(direction, str) and direction in STEPS:
                (row, column), (down, right) = swarm[drone], STEPS[direction]
                if board[row + down][column + right] in open_:
                    targets[drone] = (row + down, column + right)
        return Orders(targets, len(orders) - len(targets))

    def _orders_in(self, message: dict[str, Raw], swarm: Swarm) -> dict[str, Raw]:
        """Return the orders in a message.

        Raise IllegalMove if it has none; earlier orders then stay in force.
        """
        if "orders" in message:
            orders = message["orders"]
            if orders in FALSY:
                raise IllegalMove(
                    f'"orders" is an object from drones to directions, not {shown(orders)}'
                )
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
            swarms=tuple(
                [
                    {drone: going.get(drone, spot) for drone, spot in swarm.items()}
                    for swarm in self.swarms
                ]
            ),
            record=tuple(
                [_conduct(row, moves.get(seat), going) for seat, row in enumerate(self.record)]
            ),
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
        fence = {
            near: TERRITORY[seat] for near in around(spot) if self.board[near[0]][near[1]] == EMPTY
        }
        return replace(
            self,
            board=_changed(self.board, {**fence, spot: WALL}),
            swarms=_with(
                self.swarms,
                seat,
                {name: at for name, at in self.swarms[seat].items() if name != drone},
            ),
            due=_with(self.due, seat, (*self.due[seat], self.turn + RESPAWN)),
            scores=_with(self.scores, seat, self.scores[seat] + 1),
        )

    def _flowered(self, before: "Bumblebots", chance: Chance) -> "Bumblebots":
        if not QUIET < before.turn < self.ticks - QUIET or chance.random() >= ODDS:
            return self
        meadow = before._meadow()
        free = [(row, column) for row, column in meadow if self.board[row][column] == EMPTY]
        return (
            replace(self, board=_changed(self.board, {_drawn(meadow, free, chance): FLOWER}))
            if free
            else self
        )

    def _meadow(self) -> list[Hex]:
        """Return the empty hexes without a drone, row by row."""
        empty = [
            (row, column)
            for row, cells in enumerate(self.board)
            for column, cell in enumerate(cells)
            if cell == EMPTY
        ]
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
        return replace(
            self, swarms=_with(self.swarms, seat, swarm), due=_with(self.due, seat, due[1:])
        )

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
            "drones": [
                {drone: {"position": spot} for drone, spot in swarm.items()}
                for swarm in self.swarms
            ],
            "score": self.scores,
            "record": [
                {"missed": row[0], "invalid": row[1], "blocked": row[2]} for row in self.record
            ],
        }


class FirstBumblebots(Bumblebots, frozen=True):
    """The first version of the rules: every object was a set of orders, even an empty one."""

    rules: ClassVar[int] = 1

    def _orders_in(self, message: dict[str, Raw], swarm: Swarm) -> dict[str, Raw]:
        orders = message.get("orders", message)
        if not isinstance(orders, dict):
            raise IllegalMove(
                f'"orders" is an object from drones to directions, not {shown(orders)}'
            )
        return orders


def unhindered(swarms: Sequence[Swarm], orders: Collection[Orders]) -> dict[str, Hex]:
    """Return the moves that no drone blocks.

    Drones may follow each other, in a line or in a ring of three or more.
    """
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
    stuck = [
        drone for drone, target in going.items() if target in held or (target, at[drone]) in ways
    ]
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
    return (
        missed,
        invalid + orders.invalid,
        blocked + sum(drone not in going for drone in orders.targets),
    )


def _free(spots: Iterable[Hex], swarms: Sequence[Swarm]) -> list[Hex]:
    taken = {*swarms[0].values(), *swarms[1].values()}
    return [spot for spot in spots if spot not in taken]


def _drawn(before: Sequence[Hex], now: Sequence[Hex], chance: Chance) -> Hex:
    """Choose a hex that was free before the tick, as in earlier versions.

    If it is taken now, choose one that is free now.
    """
    spot = chance.choice(before or now)
    return spot if spot in now else chance.choice(now)


def _with(items: tuple[T, ...], seat: Seat, item: T) -> tuple[T, ...]:
    return (item, items[1]) if seat == 0 else (items[0], item)


def _changed(board: Rows, cells: Mapping[Hex, int]) -> Rows:
    rows = list(board)
    for (row, column), value in cells.items():
        rows[row] = (*rows[row][:column], value, *rows[row][column + 1 :])
    return tuple(rows)
