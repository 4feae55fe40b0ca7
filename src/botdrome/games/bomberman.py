"""Bomberman: users on a map of pillars and crates try to outlive each other with bombs; all move at once."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial
from typing import Annotated, ClassVar

from msgspec import Meta
from msgspec.structs import replace

from botdrome.games.bomberman_actions import PLACE_BOMB, WAIT, WORDS, Action, action_in
from botdrome.games.bomberman_map import (
    CRATE,
    FREE,
    UPGRADES,
    WALL,
    Place,
    Rows,
    closing_plan,
    crate_sites,
    drawn_map,
    neighbours,
    starts,
    with_tiles,
)
from botdrome.games.bomberman_round import after_moves, blasts
from botdrome.games.bomberman_things import Bomb, Death, Fate, Upgrade, User
from botdrome.games.chance import Chance
from botdrome.games.game import BadOption, Game, IllegalMove, Raw, Seat, View

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
    crates: Annotated[int, Meta(description="percent of all tiles that start as crates, if there is room", ge=30, le=100)] = 45
    upgrades: Annotated[int, Meta(description="chance in percent that a crate hides an upgrade", ge=0, le=100)] = 20
    fuse: Annotated[int, Meta(description="rounds for flight after the one in which a bomb is placed", ge=1, le=50)] = 4
    radius: Annotated[int, Meta(description="tiles that a bomb burns each way beside its own, at the start", ge=1, le=25)] = 3
    bombs: Annotated[int, Meta(description="bombs that a user may have on the map at a time, at the start", ge=1, le=50)] = 1
    flame_pierces: Annotated[bool, Meta(description="whether flames burn on behind a crate")] = False
    rounds: Annotated[int, Meta(description="rounds after which the game is over", ge=1, le=10_000)] = 500
    closing: Annotated[int, Meta(description="rounds after which the walls begin to close in; 0: never", ge=0, le=10_000)] = 300

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
        tiles, hidden = drawn_map(self.height, self.width, players, self.crates, self.upgrades, chance)
        at = starts(self.height, self.width, players)
        chance.shuffle(at)
        users = (User(self.bombs, self.radius),) * players
        return replace(self, tiles=tiles, hidden=hidden, at=tuple(at), users=users, to_move=tuple(range(players)))

    @property
    def over(self) -> bool:
        return not self.to_move

    @property
    def scores(self) -> tuple[float, ...]:
        """Return one point for each user outlived, and one more for the sole survivor."""
        ends = [self.rounds if user.death is None else user.death.round for user in self.users]
        alone = self.at.count(None) == len(self.at) - 1
        return tuple(float(sum(end < own for end in ends) + (alone and own == self.rounds)) for own in ends)

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
        """Return the place in that direction. Users do not block a move, since they may move away in the same round."""
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
        return self._bombs_placed(moves)._moved(moves)._upgrades_taken()._exploded()._closed_in()._turned_to(self.round + 1)

    def _bombs_placed(self, moves: Mapping[Seat, Move]) -> "Bomberman":
        due = self.round + self.fuse
        bombs = [
            Bomb(moves[seat][0], due, self.users[seat].range, seat) for seat in self.to_move if seat in moves and moves[seat][1]
        ]
        return self._with_bombs((*self.lying, *bombs), bombs, -1) if bombs else self

    def _moved(self, moves: Mapping[Seat, Move]) -> "Bomberman":
        at = self.at
        going = {seat: moves[seat][0] for seat in self.to_move if seat in moves and moves[seat][0] != at[seat]}
        return replace(self, at=after_moves(at, going)) if going else self

    def _upgrades_taken(self) -> "Bomberman":
        taken = [upgrade for upgrade in self.found if upgrade.at in self.at]
        if not taken:
            return self
        users = list(self.users)
        for upgrade in taken:
            seat = self.at.index(upgrade.at)
            users[seat] = users[seat].upgraded(upgrade.type)
        return replace(self, users=tuple(users), found=tuple(upgrade for upgrade in self.found if upgrade not in taken))

    def _exploded(self) -> "Bomberman":
        if not self.lying or self.lying[0].due > self.round:  # bombs are sorted by the round in which they explode
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
        return replace(position, tiles=with_tiles(self.tiles, crates, FREE), found=tuple(left + opened), burned=tuple(burned))

    def _credited(self, blown: Collection[Blast], crates: Collection[Place]) -> "Bomberman":
        """Credit kills and crates to every user whose flames reached them. A user's own death is not a kill."""
        users = list(self.users)
        for owner in {bomb.seat for bomb, _ in blown}:
            reached = {place for bomb, places in blown if bomb.seat == owner for place in places}
            user = users[owner]
            kills = sum(place in reached for seat, place in enumerate(self.at) if seat != owner)
            users[owner] = replace(user, kills=user.kills + kills, crates=user.crates + len(reached.intersection(crates)))
        return replace(self, users=tuple(users))

    def _closed_in(self) -> "Bomberman":
        end, places = self._next_closing
        if end != self.round:
            return self
        found = tuple(upgrade for upgrade in self.found if upgrade.at not in places)
        position = self._without_bombs([bomb for bomb in self.lying if bomb.at in places])._without_users_on(places, "walls")
        return replace(position, tiles=with_tiles(self.tiles, places, WALL), found=found, closed=self.closed + 1)

    @property
    def _next_closing(self) -> tuple[int | None, tuple[Place, ...]]:
        """Return the round after which walls close in next, and the places that become walls."""
        return closing_plan(self.height, self.width, self.closing, self.rounds)[self.closed]

    def _without_bombs(self, gone: Collection[Bomb]) -> "Bomberman":
        return self._with_bombs(tuple(bomb for bomb in self.lying if bomb not in gone), gone, 1)

    def _with_bombs(self, lying: tuple[Bomb, ...], changed: Collection[Bomb], back: int) -> "Bomberman":
        """Replace the bombs on the map; give the changed bombs back to their owners (1) or take them away (-1)."""
        users = list(self.users)
        for bomb in changed:
            users[bomb.seat] = replace(users[bomb.seat], bombs_left=users[bomb.seat].bombs_left + back)
        return replace(self, users=tuple(users), lying=lying)

    def _without_users_on(self, places: Collection[Place], fate: Fate, blown: Collection[Blast] = ()) -> "Bomberman":
        """Kill the users on these places, and record the bombs whose flames reached them."""
        dead = {
            seat: Death(self.round, fate, tuple(bomb for bomb, burned in blown if place in burned))
            for seat, place in enumerate(self.at)
            if place in places
        }
        return self._without_users(dead) if dead else self

    def _without_users(self, dead: Mapping[Seat, Death]) -> "Bomberman":
        at = tuple(None if seat in dead else place for seat, place in enumerate(self.at))
        users = tuple(replace(user, death=dead[seat]) if seat in dead else user for seat, user in enumerate(self.users))
        return replace(self, at=at, users=users)

    @property
    def deaths(self) -> tuple[Death | None, ...]:
        """Return how each seat's user died; None if it lives. Views omit this, so that match files stay the same."""
        return tuple(user.death for user in self.users)

    def _turned_to(self, number: int) -> "Bomberman":
        """Go to the round of this number. The living users move, unless the game is over."""
        living = tuple([seat for seat in self.to_move if self.at[seat] is not None])
        return replace(self, round=number, to_move=living if len(living) > 1 and number < self.rounds else ())

    def without(self, seat: Seat) -> "Bomberman":
        """Kill the user in the current round, without credit to any other user."""
        return self._without_users({seat: Death(self.round, "left")})._turned_to(self.round) if seat in self.to_move else self

    def verdict(self, names: Sequence[str]) -> str:
        fallen = sorted((death.round, seat, death) for seat, death in enumerate(self.deaths) if death is not None)
        ends = [death.told(seat, names) for _, seat, death in fallen]
        left = [name for name, place in zip(names, self.at, strict=True) if place is not None]
        if left:
            ends.append(f"{' and '.join(left)} survived" + (f" all {self.rounds} rounds" if self.round == self.rounds else ""))
        return "; ".join(ends)

    def view(self, seat: Seat | None) -> View:
        now = self.round
        end, closing = self._next_closing
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
                {"at": bomb.at, "turnsLeft": bomb.due - now + 1, "range": bomb.range, "seat": bomb.seat} for bomb in self.lying
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
