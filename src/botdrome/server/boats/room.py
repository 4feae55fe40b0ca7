"""Room: where boat games of one kind are played; one gathers, any number run."""

import asyncio
import secrets
from collections.abc import Callable, Iterator
from functools import partial

from botdrome.contest.lobby import Seeker
from botdrome.games.battleship import Battleship
from botdrome.games.chance import SEED_BITS, Chance
from botdrome.server.boats.books import BoatBookkeeper, Books
from botdrome.server.boats.company import Client, Company, Gathering, Sailor, TryAgain, TurnedAway
from botdrome.server.boats.game import BoatGame
from botdrome.server.boats.plan import RoomPlan
from botdrome.server.lobby.desk import RETRY, Desk
from botdrome.server.lobby.house import house_bot, house_names
from botdrome.server.tables.subscriber import Subscriber
from botdrome.server.tables.table import Table
from botdrome.wire.boats.crew import display_name
from botdrome.wire.boats.lines import BAD_BOARD, FULL, STARTED, is_fleet, joined

EXPECTED_BACK = 60.0
"""Seconds in which a player that lost its connection is likely to come back."""


class Room:
    def __init__(self, plan: RoomPlan, desk: Desk, books: Books) -> None:
        self.plan, self.offer, self._desk, self._books = plan, plan.offer, desk, books
        self.games: list[BoatGame] = []
        self._seats: dict[bytes, list[tuple[BoatGame, Sailor]]] = {}
        """The seats in these games, by the names of those who have them."""
        self.banned_names: set[str] = set()
        """As the host reads them."""
        self.banned_addresses: set[str] = set()
        self._opened = 1
        self.gathering: Gathering | None = Gathering(self.offer, self._opened)
        """None: there is no game to join now."""
        self.on_change: set[Callable[[], None]] = set()
        self._closed = False
        self.chance = Chance(secrets.randbits(SEED_BITS))
        self._stop_heeding, self._filler = desk.on_wait(self._heed), self._fill
        desk.fillers.append(self._filler)

    def change(self, plan: RoomPlan) -> bool:
        """Other rules for the games that start from now on; False: players have joined by the old ones."""
        if self.gathering is not None and self.gathering.sailors:
            return False
        self.plan, self.offer = plan, plan.offer
        if self.gathering is not None:
            self.gathering = Gathering(self.offer, self.gathering.number)
        self._open_next()
        self.changed()
        return True

    @property
    def companies(self) -> Iterator[Company]:
        if self.gathering is not None:
            yield self.gathering
        yield from self.games

    def info(self) -> bytes:
        """For those who have not joined."""
        company = next(self.companies, None)
        return self.offer.info(True, 0) if company is None else company.info()

    def greeting(self, address: str, now: float) -> bytes:
        """For a new connection. To clients of the original a game that has started means: come back to your seat. So an address
        from which a player was lost is shown that game once; the next game may be joined all the same."""
        for game in self.games:
            for seat in game.absent:
                lately = seat.lost_at is not None and now - seat.lost_at < EXPECTED_BACK
                if lately and seat.address == address and seat.is_nobodys() and game.lost_connection(seat):
                    seat.lost_at = None
                    return game.info()
        return self.info()

    @property
    def has_seat(self) -> bool:
        gathering = self.gathering
        if gathering is not None and len(gathering.sailors) < self.plan.max:
            return True
        return any(game.absent for game in self.games)

    @property
    def refusal(self) -> str:
        """Why no game can start at present, whoever has joined; empty: it can."""
        return self._desk.refusal

    @property
    def over(self) -> bool:
        """No game runs, and there will be none."""
        return self.gathering is None and not self.games

    # How somebody joins.

    def join(self, client: Client, sailor: Sailor) -> Company:
        """The company that it is in now. Or TurnedAway, or TryAgain: the checks are made in the order of the original."""
        if not self.has_seat:
            raise TurnedAway(FULL.decode())
        gathering = self.gathering
        again = self._rejoined(client, sailor)
        if again is not None:
            return again
        if gathering is None:
            raise TurnedAway(STARTED.decode())
        if len(gathering.sailors) >= self.plan.max:
            raise TurnedAway(FULL.decode())
        if not is_fleet(sailor.board, self.plan.boats, self.plan.width, self.plan.height):
            raise TurnedAway(BAD_BOARD.decode())
        if refusal := self._desk.refusal:
            raise TurnedAway(refusal)
        sailor.client, sailor.address = client, client.address
        gathering.join(sailor)
        if self._desk.settings.house.fill and self.plan.auto_start:
            self._call_the_house_in(self._desk.settings.house.wait, gathering)
        return gathering

    def _rejoined(self, client: Client, sailor: Sailor) -> BoatGame | None:
        """The game at which it has a seat already. A client that brings a fleet wants the next game, if there is one, unless an
        empty seat is its own, or it lost its connection: clients of the original bring their fleet again when they come back."""
        own = self._back_at_own(client, sailor) or self._back_at_lost(client, sailor)
        if own is not None:
            return own
        gathering = self.gathering
        if gathering is not None and any(sailor.text == other.text or sailor.name == other.name for other in gathering.sailors):
            raise TryAgain("name in use")
        if gathering is not None and sailor.board.strip(b"."):
            return None
        if sailor.name not in self._seats:
            return None
        again = self._back_at_nobodys(client, sailor)
        if again is None:
            raise TryAgain("name in use")
        return again

    def come_back(self, client: Client, sailor: Sailor) -> BoatGame | None:
        """The game at which a guest has a seat whose name is another's now."""
        return self._back_at_own(client, sailor) or self._back_at_nobodys(client, sailor)

    def _back_at_own(self, client: Client, sailor: Sailor) -> BoatGame | None:
        return self._back_at_one([(game, seat) for game, seat in self._seats_of(sailor) if sailor.proves_to_be(seat)], client)

    def _back_at_lost(self, client: Client, sailor: Sailor) -> BoatGame | None:
        seats = [(game, seat) for game, seat in self._nobodys(client, sailor) if game.lost_connection(seat)]
        return self._back_at_one(seats, client)

    def _back_at_nobodys(self, client: Client, sailor: Sailor) -> BoatGame | None:
        return self._back_at_one(self._nobodys(client, sailor), client)

    def _nobodys(self, client: Client, sailor: Sailor) -> list[tuple[BoatGame, Sailor]]:
        """Seats under its name without a secret: they are for those who come from the address of the player that left."""
        seats = self._seats_of(sailor) if sailor.is_nobodys() else []
        return [(game, seat) for game, seat in seats if seat.is_nobodys() and seat.address == client.address]

    def _seats_of(self, sailor: Sailor) -> list[tuple[BoatGame, Sailor]]:
        return self._seats.get(sailor.name, [])

    def _back_at_one(self, seats: list[tuple[BoatGame, Sailor]], client: Client) -> BoatGame | None:
        """The first of these games that has an empty seat for it."""
        for game, seat in seats:
            if seat in game.absent:
                seat.address = client.address
                if game.rejoin(seat, client):
                    return game
        return None

    def joined(self, company: Company) -> None:
        """Somebody has joined and knows it: perhaps the game can start."""
        self.changed()
        gathering = self.gathering
        if company is gathering and gathering is not None and self.plan.auto_start:
            if len(gathering.sailors) == self.plan.max:
                self.start()
            else:
                self._recruit()

    def _heed(self, seeker: Seeker) -> None:
        """Somebody waits at the desk."""
        if self.plan.auto_start and seeker.wish == self.plan.wish:
            self._recruit()

    def _recruit(self) -> None:
        """Native bots that wait for a game like this fill a table at which somebody sits already."""
        gathering = self.gathering
        if gathering is None or not gathering.sailors or self._desk.refusal:
            return
        waiting = self._waiting_for(gathering)
        if len(waiting) >= self.plan.max - len(gathering.sailors):
            self._seat_native(gathering, waiting)
            self.start()

    def _waiting_for(self, gathering: Gathering) -> list[Seeker]:
        """Those at the desk who can join these."""
        here = {sailor.text for sailor in gathering.sailors}
        return [seeker for seeker in self._desk.waiting(self.plan.wish) if seeker.name not in here]

    def _seat_native(self, gathering: Gathering, seekers: list[Seeker]) -> None:
        """As many of them as there are seats."""
        for seeker in seekers[: self.plan.max - len(gathering.sailors)]:
            sailor = self._take_in(gathering, seeker.name, seeker.name)
            guest = sailor.guest = self._desk.recruit(seeker)
            sailor.owner = guest.owner

    def _fill(self, seeker: Seeker) -> bool:
        """The house is to play a bot that has waited for long enough: let it do so here, if that makes a game."""
        gathering = self.gathering
        meant = self.plan.auto_start and seeker.wish == self.plan.wish
        if not meant or gathering is None or seeker not in self._waiting_for(gathering):
            return False
        self._call_the_house(gathering)
        return gathering is not self.gathering

    def _call_the_house_in(self, seconds: float, gathering: Gathering) -> None:
        asyncio.get_running_loop().call_later(seconds, self._call_the_house, gathering)

    def _call_the_house(self, gathering: Gathering) -> None:
        """Too few have come: native bots that wait take the free seats, and house bots the others."""
        if gathering is not self.gathering or not gathering.sailors:
            return
        if self._desk.refusal:
            self._call_the_house_in(RETRY, gathering)
            return
        self._seat_native(gathering, self._waiting_for(gathering))
        found = house_bot(Battleship.name, "house")
        assert found is not None
        name, bot = found
        for text in house_names(name, self.plan.max - len(gathering.sailors)):
            self._take_in(gathering, text, name.removeprefix("house:")).house = bot
        self.start()

    def _take_in(self, gathering: Gathering, text: str, name: str) -> Sailor:
        """Somebody who does not come by lines."""
        taken = {sailor.name for sailor in gathering.sailors}
        sailor = Sailor(display_name(name, self.plan.width, taken), text)
        gathering.sailors.append(sailor)
        gathering.tell_others(sailor, [joined(sailor.name)])
        return sailor

    # How a game goes.

    def start(self) -> BoatGame | None:
        """The game of those who have gathered; None: they are too few."""
        gathering, plan = self.gathering, self.plan
        if gathering is None or not plan.min <= len(gathering.sailors) <= plan.max or self._desk.refusal:
            return None
        sailors = gathering.sailors
        self.chance.shuffle(sailors)
        names = tuple(sailor.text for sailor in sailors)
        owners = tuple(sailor.owner for sailor in sailors)
        table = self._desk.floor.set_table(plan.game, plan.terms, names, owners, plan.options)
        game = BoatGame(self.offer, gathering.number, sailors, table, Chance(secrets.randbits(SEED_BITS)))
        books = BoatBookkeeper(self._books, plan, game, self._desk)
        over = partial(self._over, game)
        table.subscribe(Subscriber(changed=self.changed, notes=books.notes, stored=books.stored, over=over))
        self.gathering = None
        self.games.append(game)
        for sailor in sailors:
            self._seats.setdefault(sailor.name, []).append((game, sailor))
            if sailor.client is not None:
                sailor.client.enter(game)
        self._open_next()
        game.begin(self._desk.floor)
        self.changed()
        return game

    def _over(self, game: BoatGame, table: Table) -> None:
        self.games.remove(game)
        for sailor in game.sailors:
            self._vacate(sailor.name, game)
        self._open_next()
        self.changed()

    def _vacate(self, name: bytes, game: BoatGame) -> None:
        left = [(other, seat) for other, seat in self._seats[name] if other is not game]
        if left:
            self._seats[name] = left
        else:
            del self._seats[name]

    def _open_next(self) -> None:
        """Another game can be joined, if there is to be one."""
        tables = self.plan.tables
        if self.gathering is None and self.plan.repeat and not self._closed and (not tables or len(self.games) < tables):
            self._opened += 1
            self.gathering = Gathering(self.offer, self._opened)

    def changed(self) -> None:
        for tell in tuple(self.on_change):
            tell()

    def close(self) -> None:
        """Nobody joins any more, and who waits is sent off. Running games go on."""
        self._closed = True
        self._stop_heeding()
        if self._filler in self._desk.fillers:
            self._desk.fillers.remove(self._filler)
        gathering, self.gathering = self.gathering, None
        if gathering is not None:
            gathering.abort()
        self.changed()
