"""Bomberman: users on a map of pillars and crates try to outlive each other with bombs; all move at
once.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from typing import Annotated, ClassVar, Literal

from msgspec import Meta, Struct
from msgspec.structs import replace

from botdrome.games.chance import Chance
from botdrome.games.game import BadOption, Game, IllegalMove, Raw, Seat, View
from botdrome.games.reading import shown

# The actions of Bomberman and their names.

Action = int
UP, DOWN, LEFT, RIGHT, PLACE_BOMB, WAIT = range(6)
"""The first four are directions, in the same order as DIRECTIONS of the map."""
WORDS = ("MOVE_UP", "MOVE_DOWN", "MOVE_LEFT", "MOVE_RIGHT", "PLACE_BOMB", "WAIT")
SHORT_WORDS = {
    "UP": UP,
    "DOWN": DOWN,
    "LEFT": LEFT,
    "RIGHT": RIGHT,
    "BOMB": PLACE_BOMB,
    "STAY": WAIT,
    "NOOP": WAIT,
}
ACTIONS: dict[str, Action] = {word: action for action, word in enumerate(WORDS)} | SHORT_WORDS


def action_in(raw: Raw) -> Action:
    """Return the action that a name stands for.

    The name may be lower case, and may be in an object.
    """
    word = raw
    if isinstance(raw, dict):
        if "action" not in raw:
            raise IllegalMove('MISSING_FIELD: the key "action" is missing')
        word = raw["action"]
    if isinstance(word, str):
        action = ACTIONS.get(word)
        if action is None:
            action = ACTIONS.get(word.upper())
        if action is not None:
            return action
    raise IllegalMove(f"UNKNOWN_ACTION: an action is one of {', '.join(WORDS)}, not {shown(word)}")


# The map of Bomberman: pillars, starts, crates, hidden upgrades, and the order in which walls
# close in.

Place = tuple[int, int]
"""Row and column from 0; row 0 is the top row."""
Rows = tuple[str, ...]

FREE, CRATE, WALL = ".", "+", "#"
DIRECTIONS = ((-1, 0), (1, 0), (0, -1), (0, 1))
"""Up, down, left, right."""
ADDITIONAL_BOMB, EXPLOSION_RANGE = "ADDITIONAL_BOMB", "EXPLOSION_RANGE"
UPGRADES = {"b": ADDITIONAL_BOMB, "r": EXPLOSION_RANGE}
"""The upgrades that a crate may hide, by letter."""
FEWEST_CRATES = 30
"""The lowest share of crates, in percent of all tiles."""

per_setup = lru_cache(maxsize=64)
"""Cache for tables that are the same in every game of one set-up."""


def is_pillar(place: Place) -> bool:
    return bool(place[0] & place[1] & 1)


def places_of(height: int, width: int) -> list[Place]:
    return [(row, column) for row in range(height) for column in range(width)]


def with_tiles(rows: Rows, places: Iterable[Place], tile: str) -> Rows:
    """Return the rows with these places replaced by one kind of tile."""
    changed = list(rows)
    for row, column in places:
        changed[row] = changed[row][:column] + tile + changed[row][column + 1 :]
    return tuple(changed)


@per_setup
def neighbours(height: int, width: int) -> dict[Place, tuple[Place | None, ...]]:
    """Return the neighbours of each place, in the order of DIRECTIONS; None beyond the edge of the
    map.
    """
    on_map = {place: place for place in places_of(height, width)}
    return {
        (row, column): tuple(on_map.get((row + down, column + right)) for down, right in DIRECTIONS)
        for row, column in on_map
    }


@per_setup
def arms(height: int, width: int) -> dict[Place, tuple[tuple[Place, ...], ...]]:
    """Return the places that flames can reach from each place, by direction, up to a pillar or the
    edge.
    """
    beside = neighbours(height, width)
    return {place: tuple(tuple(_arm(place, way, beside)) for way in range(4)) for place in beside}


def _arm(place: Place, way: int, beside: dict[Place, tuple[Place | None, ...]]) -> Iterator[Place]:
    after = beside[place][way]
    while after is not None and not is_pillar(after):
        yield after
        after = beside[after][way]


@per_setup
def closing_groups(height: int, width: int) -> tuple[tuple[Place, ...], ...]:
    """Return the groups of tiles that become walls together: ring by ring from the edge, each from
    its corners to the middles.
    """
    groups: dict[tuple[int, int], list[Place]] = {}
    for place in places_of(height, width):
        row, column = min(place[0], height - 1 - place[0]), min(place[1], width - 1 - place[1])
        if not is_pillar(place):
            groups.setdefault((min(row, column), max(row, column)), []).append(place)
    return tuple(tuple(groups[key]) for key in sorted(groups))


@per_setup
def closing_plan(
    height: int, width: int, closing: int, rounds: int
) -> tuple[tuple[int | None, tuple[Place, ...]], ...]:
    """Return the rounds after which walls close in, and the places.

    The last entry means that no more walls close in.
    """
    plan: dict[int | None, tuple[Place, ...]] = {}
    if 0 < closing < rounds:
        groups = closing_groups(height, width)
        for number, group in enumerate(groups):
            end = closing + number * (rounds - closing) // len(groups)
            plan[end] = plan.get(end, ()) + group
    return (*plan.items(), (None, ()))


def starts(height: int, width: int, players: int) -> list[Place]:
    """Return one start per player: opposite corners, other corners, then the middles of the longer
    and the shorter sides.
    """
    bottom, right = height - 1, width - 1
    middle_row, middle_column = bottom // 4 * 2, right // 4 * 2
    corners = [(0, 0), (bottom, right), (0, right), (bottom, 0)]
    across = [(0, middle_column), (bottom, right - middle_column)]
    upright = [(middle_row, right), (bottom - middle_row, 0)]
    middles = across + upright if width >= height else upright + across
    return (corners + middles)[:players]


def _images(place: Place, height: int, width: int, diagonal: bool) -> set[Place]:
    """Return the symmetric places: mirrored both ways and, if `diagonal`, at the diagonal."""
    row, column = place
    images = {(r, c) for r in (row, height - 1 - row) for c in (column, width - 1 - column)}
    return images | {(c, r) for r, c in images} if diagonal else images


@per_setup
def crate_sites(height: int, width: int, players: int) -> tuple[tuple[Place, ...], ...]:
    """Return the places for crates, in sets that are filled together so that the map is the same
    for all seats.
    """
    crowded = players > 4
    diagonal = crowded and height == width
    beside = neighbours(height, width)
    taken: set[Place] = {place for place in beside if is_pillar(place)}
    for start in starts(height, width, 8 if crowded else 4):
        for place in (start, *beside[start]):
            if place is not None:
                taken |= _images(place, height, width, diagonal)
    sites = []
    for place in beside:
        if place not in taken:
            site = _images(place, height, width, diagonal)
            taken |= site
            sites.append(tuple(sorted(site)))
    if sum(map(len, sites)) * 100 < FEWEST_CRATES * height * width:
        raise BadOption(
            f"height and width: {height} by {width} tiles are too few for {players} players and "
            f"{FEWEST_CRATES} percent of crates"
        )
    return tuple(sites)


@per_setup
def _bare_tiles(height: int, width: int) -> str:
    return "".join(WALL if is_pillar(place) else FREE for place in places_of(height, width))


def drawn_map(
    height: int, width: int, players: int, crates: int, upgrades: int, chance: Chance
) -> tuple[Rows, Rows]:
    """Return the tiles, and the letters of UPGRADES hidden in the crates."""
    sites = list(crate_sites(height, width, players))
    tiles = list(_bare_tiles(height, width))
    hidden = [FREE] * len(tiles)
    missing = -(-crates * height * width // 100)
    while missing > 0 and sites:
        site = sites.pop(chance.below(len(sites)))
        missing -= len(site)
        for row, column in site:
            tiles[row * width + column] = CRATE
        if chance.below(100) < upgrades:
            letter = chance.choice("br")
            for row, column in site:
                hidden[row * width + column] = letter
    return _rows(tiles, width), _rows(hidden, width)


def _rows(tiles: list[str], width: int) -> Rows:
    row_by_row = "".join(tiles)
    return tuple([row_by_row[first : first + width] for first in range(0, len(row_by_row), width)])


# The objects on the map of Bomberman: users, bombs and upgrades.


class Bomb(Struct, frozen=True):
    at: Place
    due: int
    """The round after which it explodes."""
    range: int
    seat: Seat


Fate = Literal["bombs", "walls", "left"]


class Death(Struct, frozen=True):
    """How a user died."""

    round: int
    fate: Fate
    bombs: tuple[Bomb, ...] = ()
    """The bombs whose flames reached the user."""

    def told(self, seat: Seat, names: Sequence[str]) -> str:
        """Say who died, when and how. `names` are those of the seats."""
        if self.fate != "bombs":
            how = "was crushed by the walls" if self.fate == "walls" else "left"
            return f"{names[seat]} {how} in round {self.round}"
        owners = sorted({bomb.seat for bomb in self.bombs})
        bombs = " and ".join(
            "its own bomb" if owner == seat else f"a bomb of {names[owner]}" for owner in owners
        )
        return f"{names[seat]} was killed by {bombs} in round {self.round}"


class User(Struct, frozen=True, cache_hash=True):
    """The state of one seat's user, except its place, which is in the position."""

    bombs_left: int
    range: int
    kills: int = 0
    crates: int = 0
    upgrades: int = 0
    death: Death | None = None
    """None if the user lives."""

    def upgraded(self, kind: str) -> "User":
        taken = self.upgrades + 1
        if kind == ADDITIONAL_BOMB:
            return replace(self, upgrades=taken, bombs_left=self.bombs_left + 1)
        return replace(self, upgrades=taken, range=self.range + 1)


class Upgrade(Struct, frozen=True):
    at: Place
    type: str


# One round of Bomberman: resolve the moves of all users and the explosions of all bombs.


def after_moves(
    at: Sequence[Place | None], going: Mapping[Seat, Place]
) -> tuple[Place | None, ...]:
    """Return the place of each seat after all moves at once. Users that block each other stay."""
    targets = list(going.values())
    if len({*at, *targets}) == len({*at}) + len(targets):  # nobody is in the way of another
        return tuple([going.get(seat, place) for seat, place in enumerate(at)])
    leaving = {seat: target for seat, target in going.items() if targets.count(target) == 1}
    ahead = {seat: at.index(target) for seat, target in leaving.items() if target in at}
    while stopped := [
        seat for seat in ahead if seat in leaving and leaving.get(ahead[seat], at[seat]) == at[seat]
    ]:
        for seat in stopped:  # the seat ahead stays or wants to swap
            del leaving[seat]
    standing = list(at)
    for seat, target in leaving.items():
        standing[seat] = target
    return tuple(standing)


def blasts(
    tiles: Rows, lying: Sequence[Bomb], now: int, pierces: bool
) -> list[tuple[Bomb, list[Place]]]:
    """Return the bombs that explode after a round (due, or reached by flames), each with the places
    that it burns.
    """
    waiting = {bomb.at: bomb for bomb in lying if bomb.due > now}
    going_off = [bomb for bomb in lying if bomb.due <= now]
    found = []
    for bomb in going_off:  # the loop body appends to this list
        burned = flames(tiles, bomb, pierces)
        found.append((bomb, burned))
        going_off += [waiting.pop(place) for place in burned if place in waiting]
    return found


def flames(tiles: Rows, bomb: Bomb, pierces: bool) -> list[Place]:
    """Return the places that one bomb burns, its own place first."""
    burned = [bomb.at]
    for arm in arms(len(tiles), len(tiles[0]))[bomb.at]:
        for place in arm[: bomb.range]:
            tile = tiles[place[0]][place[1]]
            if tile == WALL:
                break
            burned.append(place)
            if tile == CRATE and not pierces:
                break
    return burned


OBSTACLES = {CRATE: "a crate", WALL: "a wall"}

Blast = tuple[Bomb, Collection[Place]]
"""A bomb that has exploded, and the places that it burned."""
Move = tuple[Place, bool]
"""The place that a user wants to be on, and whether it places a bomb."""


class Bomberman(Game[Move], frozen=True):
    name: ClassVar[str] = "bomberman"
    players: ClassVar[range] = range(2, 9)
    counts_departures: ClassVar[bool] = True

    height: Annotated[int, Meta(description="rows of the map, an odd number", ge=5, le=25)] = 13
    width: Annotated[int, Meta(description="columns of the map, an odd number", ge=5, le=25)] = 13
    crates: Annotated[
        int,
        Meta(
            description="percent of all tiles that start as crates, if there is room", ge=30, le=100
        ),
    ] = 45
    upgrades: Annotated[
        int, Meta(description="chance in percent that a crate hides an upgrade", ge=0, le=100)
    ] = 20
    fuse: Annotated[
        int,
        Meta(description="rounds for flight after the one in which a bomb is placed", ge=1, le=50),
    ] = 4
    radius: Annotated[
        int,
        Meta(
            description="tiles that a bomb burns each way beside its own, at the start", ge=1, le=25
        ),
    ] = 3
    bombs: Annotated[
        int,
        Meta(
            description="bombs that a user may have on the map at a time, at the start", ge=1, le=50
        ),
    ] = 1
    flame_pierces: Annotated[bool, Meta(description="whether flames burn on behind a crate")] = (
        False
    )
    rounds: Annotated[
        int, Meta(description="rounds after which the game is over", ge=1, le=10_000)
    ] = 500
    closing: Annotated[
        int,
        Meta(
            description="rounds after which the walls begin to close in; 0: never", ge=0, le=10_000
        ),
    ] = 300

    round: int = 0
    """The number of rounds played, which is also the number of the next round."""
    tiles: Rows = ()
    hidden: Rows = ()
    """The contents of the crates at the start. An upgrade stays hidden until its crate burns."""
    at: tuple[Place | None, ...] = ()
    """The place of each seat; None if its user is dead."""
    users: tuple[User, ...] = ()
    lying: tuple[Bomb, ...] = ()
    found: tuple[Upgrade, ...] = ()
    burned: tuple[Place, ...] = ()
    """The places that burned in the last round."""
    closed: int = 0
    """How many times the walls have closed in."""
    to_move: tuple[Seat, ...] = ()

    def check(self, players: int) -> None:
        for option, value in (("height", self.height), ("width", self.width)):
            if value % 2 == 0:
                raise BadOption(f"{option}: an odd number, not {value}")
        crate_sites(self.height, self.width, players)

    def start(self, players: int, chance: Chance) -> "Bomberman":
        self.check(players)
        tiles, hidden = drawn_map(
            self.height, self.width, players, self.crates, self.upgrades, chance
        )
        at = starts(self.height, self.width, players)
        chance.shuffle(at)
        users = (User(self.bombs, self.radius),) * players
        return replace(
            self,
            tiles=tiles,
            hidden=hidden,
            at=tuple(at),
            users=users,
            to_move=tuple(range(players)),
        )

    @property
    def over(self) -> bool:
        return not self.to_move

    @property
    def scores(self) -> tuple[float, ...]:
        """Return one point for each user outlived, and one more for the sole survivor."""
        ends = [self.rounds if user.death is None else user.death.round for user in self.users]
        alone = self.at.count(None) == len(self.at) - 1
        return tuple(
            float(sum(end < own for end in ends) + (alone and own == self.rounds)) for own in ends
        )

    def parse(self, seat: Seat, raw: Raw) -> Move:
        action = action_in(raw)
        here = self.at[seat]
        if here is None:
            raise IllegalMove("DEAD: your user is dead")
        if action == WAIT:
            return here, False
        if action != PLACE_BOMB:
            return self._beside(here, action), False
        if self._has_bomb(here):
            raise IllegalMove(f"TILE_HAS_BOMB: there is a bomb on {list(here)} already")
        if not self.users[seat].bombs_left:
            raise IllegalMove("NO_BOMBS_LEFT: all your bombs are lying on the map")
        return here, True

    def _beside(self, here: Place, direction: Action) -> Place:
        """Return the place in that direction.

        Users do not block a move, since they may move away in the same round.
        """
        target = neighbours(self.height, self.width)[here][direction]
        if target is None:
            raise IllegalMove(f"CANNOT_MOVE: the map ends at {list(here)}")
        tile = self.tiles[target[0]][target[1]]
        if tile != FREE:
            raise IllegalMove(f"CANNOT_MOVE: there is {OBSTACLES[tile]} on {list(target)}")
        if self._has_bomb(target):
            raise IllegalMove(f"CANNOT_MOVE: there is a bomb on {list(target)}")
        return target

    def _has_bomb(self, place: Place) -> bool:
        return place in [bomb.at for bomb in self.lying]

    def play(self, moves: Mapping[Seat, Move], chance: Chance) -> "Bomberman":
        return (
            self._bombs_placed(moves)
            ._moved(moves)
            ._upgrades_taken()
            ._exploded()
            ._closed_in()
            ._turned_to(self.round + 1)
        )

    def _bombs_placed(self, moves: Mapping[Seat, Move]) -> "Bomberman":
        due = self.round + self.fuse
        bombs = [
            Bomb(moves[seat][0], due, self.users[seat].range, seat)
            for seat in self.to_move
            if seat in moves and moves[seat][1]
        ]
        return self._with_bombs((*self.lying, *bombs), bombs, -1) if bombs else self

    def _moved(self, moves: Mapping[Seat, Move]) -> "Bomberman":
        at = self.at
        going = {
            seat: moves[seat][0]
            for seat in self.to_move
            if seat in moves and moves[seat][0] != at[seat]
        }
        return replace(self, at=after_moves(at, going)) if going else self

    def _upgrades_taken(self) -> "Bomberman":
        taken = [upgrade for upgrade in self.found if upgrade.at in self.at]
        if not taken:
            return self
        users = list(self.users)
        for upgrade in taken:
            seat = self.at.index(upgrade.at)
            users[seat] = users[seat].upgraded(upgrade.type)
        return replace(
            self,
            users=tuple(users),
            found=tuple(upgrade for upgrade in self.found if upgrade not in taken),
        )

    def _exploded(self) -> "Bomberman":
        if (
            not self.lying or self.lying[0].due > self.round
        ):  # bombs are sorted by the round in which they explode
            return replace(self, burned=()) if self.burned else self
        blown = blasts(self.tiles, self.lying, self.round, self.flame_pierces)
        burned = sorted({place for _, places in blown for place in places})
        crates = [(row, column) for row, column in burned if self.tiles[row][column] == CRATE]
        left = [upgrade for upgrade in self.found if upgrade.at not in burned]
        opened = [
            Upgrade((row, column), UPGRADES[self.hidden[row][column]])
            for row, column in crates
            if self.hidden[row][column] != FREE
        ]
        position = self._without_bombs([bomb for bomb, _ in blown])._credited(blown, crates)
        position = position._without_users_on(burned, "bombs", blown)
        return replace(
            position,
            tiles=with_tiles(self.tiles, crates, FREE),
            found=tuple(left + opened),
            burned=tuple(burned),
        )

    def _credited(self, blown: Collection[Blast], crates: Collection[Place]) -> "Bomberman":
        """Credit kills and crates to every user whose flames reached them.

        A user's own death is not a kill.
        """
        users = list(self.users)
        for owner in {bomb.seat for bomb, _ in blown}:
            reached = {place for bomb, places in blown if bomb.seat == owner for place in places}
            user = users[owner]
            kills = sum(place in reached for seat, place in enumerate(self.at) if seat != owner)
            users[owner] = replace(
                user,
                kills=user.kills + kills,
                crates=user.crates + len(reached.intersection(crates)),
            )
        return replace(self, users=tuple(users))

    def _closed_in(self) -> "Bomberman":
        if self.round < self.closing:
            return self
        end, places = self.next_closing
        if end != self.round:
            return self
        found = tuple(upgrade for upgrade in self.found if upgrade.at not in places)
        position = self._without_bombs(
            [bomb for bomb in self.lying if bomb.at in places]
        )._without_users_on(places, "walls")
        return replace(
            position,
            tiles=with_tiles(self.tiles, places, WALL),
            found=found,
            closed=self.closed + 1,
        )

    @property
    def next_closing(self) -> tuple[int | None, tuple[Place, ...]]:
        """Return the round after which walls close in next, and the places that become walls."""
        return closing_plan(self.height, self.width, self.closing, self.rounds)[self.closed]

    def _without_bombs(self, gone: Collection[Bomb]) -> "Bomberman":
        return self._with_bombs(tuple(bomb for bomb in self.lying if bomb not in gone), gone, 1)

    def _with_bombs(
        self, lying: tuple[Bomb, ...], changed: Collection[Bomb], back: int
    ) -> "Bomberman":
        """Replace the bombs on the map; give the changed bombs back to their owners (1) or take
        them away (-1).
        """
        users = list(self.users)
        for bomb in changed:
            users[bomb.seat] = replace(
                users[bomb.seat], bombs_left=users[bomb.seat].bombs_left + back
            )
        return replace(self, users=tuple(users), lying=lying)

    def _without_users_on(
        self, places: Collection[Place], fate: Fate, blown: Collection[Blast] = ()
    ) -> "Bomberman":
        """Kill the users on these places, and record the bombs whose flames reached them."""
        dead = {
            seat: Death(self.round, fate, tuple(bomb for bomb, burned in blown if place in burned))
            for seat, place in enumerate(self.at)
            if place in places
        }
        return self._without_users(dead) if dead else self

    def _without_users(self, dead: Mapping[Seat, Death]) -> "Bomberman":
        at = tuple(None if seat in dead else place for seat, place in enumerate(self.at))
        users = tuple(
            replace(user, death=dead[seat]) if seat in dead else user
            for seat, user in enumerate(self.users)
        )
        return replace(self, at=at, users=users)

    @property
    def deaths(self) -> tuple[Death | None, ...]:
        """Return how each seat's user died; None if it lives.

        Views omit this, so that match files stay the same.
        """
        if None not in self.at:
            return (None,) * len(self.at)
        return tuple([user.death for user in self.users])

    def _turned_to(self, number: int) -> "Bomberman":
        """Go to the round of this number. The living users move, unless the game is over."""
        living = self.to_move
        if None in self.at:
            living = tuple([seat for seat in living if self.at[seat] is not None])
        return replace(
            self, round=number, to_move=living if len(living) > 1 and number < self.rounds else ()
        )

    def without(self, seat: Seat) -> "Bomberman":
        """Kill the user in the current round, without credit to any other user."""
        return (
            self._without_users({seat: Death(self.round, "left")})._turned_to(self.round)
            if seat in self.to_move
            else self
        )

    def verdict(self, names: Sequence[str]) -> str:
        fallen = sorted(
            (death.round, seat, death)
            for seat, death in enumerate(self.deaths)
            if death is not None
        )
        ends = [death.told(seat, names) for _, seat, death in fallen]
        left = [name for name, place in zip(names, self.at, strict=True) if place is not None]
        if left:
            ends.append(
                f"{' and '.join(left)} survived"
                + (f" all {self.rounds} rounds" if self.round == self.rounds else "")
            )
        return "; ".join(ends)

    def death_words(self, seat: Seat) -> str:
        death = self.users[seat].death
        if death is None:
            return ""
        if death.fate != "bombs":
            return "was crushed by the walls" if death.fate == "walls" else "left"
        owners = {bomb.seat for bomb in death.bombs}
        return f"was killed by {'its own bomb' if owners == {seat} else 'a bomb of another'}"

    def view(self, seat: Seat | None) -> View:
        now = self.round
        end, closing = self.next_closing
        return {
            "you": seat,
            "toMove": self.to_move,
            "round": now,
            "rounds": self.rounds,
            "height": self.height,
            "width": self.width,
            "fuse": self.fuse,
            "flamePierces": self.flame_pierces,
            "tiles": self.tiles,
            "users": [
                {
                    "seat": number,
                    "at": place,
                    "alive": place is not None,
                    "bombsLeft": user.bombs_left,
                    "range": user.range,
                    "kills": user.kills,
                    "crates": user.crates,
                    "upgrades": user.upgrades,
                }
                for number, (place, user) in enumerate(zip(self.at, self.users, strict=True))
            ],
            "bombs": [
                {
                    "at": bomb.at,
                    "turnsLeft": bomb.due - now + 1,
                    "range": bomb.range,
                    "seat": bomb.seat,
                }
                for bomb in self.lying
            ],
            "upgrades": [{"at": upgrade.at, "type": upgrade.type} for upgrade in self.found],
            "explosions": self.burned,
            "closing": {"from": self.closing, "at": end, "next": closing},
        }

    def moves(self, seat: Seat) -> Iterator[Raw]:
        return filter(partial(self._allows, seat), ({"action": word} for word in WORDS))

    def _allows(self, seat: Seat, raw: Raw) -> bool:
        try:
            self.parse(seat, raw)
        except IllegalMove:
            return False
        return True
