"""Desk: clients that wait for a table, and the tables that are set for them."""

import asyncio
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from functools import partial
from itertools import count, islice
from operator import attrgetter
from random import randrange
from typing import Any, Protocol, cast

import msgspec
from msgspec import Struct

from botdrome.catalogue import CATALOGUE, restored
from botdrome.contest.lobby import (
    NO_OPTIONS,
    ContestBook,
    Lobby,
    Seeker,
    Ticket,
    Wish,
    table_wish,
)
from botdrome.games.game import Game
from botdrome.games.options import with_options
from botdrome.match.events import Player
from botdrome.match.record import BadRecord, Resumption
from botdrome.match.terms import PaceName, Terms, paced
from botdrome.server import metrics
from botdrome.server.failures import STORE_AWAY, log_failure
from botdrome.server.lobby.clients import Logins, is_of_guest, seat_key, seat_of
from botdrome.server.lobby.contest_queue import ContestQueue
from botdrome.server.lobby.house import GatheredPlayer, HouseSeat, house_bot, house_players
from botdrome.server.lobby.matchmaker import Matchmaker
from botdrome.server.lobby.registry import Registry
from botdrome.server.network.connection import GOING, INTERNAL, NORMAL, TRY_LATER
from botdrome.server.network.limits import Timeouts
from botdrome.server.settings import Settings
from botdrome.server.tables.audience import header_of
from botdrome.server.tables.running_tables import Candidate, RunningTables
from botdrome.server.tables.table import Subscriber, Table
from botdrome.store.entries import BrokenMatch, MatchEntry, StoreUnavailable
from botdrome.store.store import Store
from botdrome.wire.writers import MatchWriters, match_status


class Unplayed(Struct, frozen=True):
    """Players with matches left in a contest."""

    game: str
    contest: str
    players: tuple[str, ...]
    left: int


# WaitingClient: a client that has logged in, and wants a table.


class WaitingClient(Candidate, Protocol):
    """A client that has logged in."""

    seeker: Seeker | None

    @property
    def owner(self) -> str:
        """The owner of the seats that it takes (see `clients.py`)."""

    def wait_at_most(self, seconds: float, words: str) -> None: ...

    def contest_complete(self, contest: str) -> None:
        """The client has met all others in the contest: it may leave, or wait for newcomers."""

    def turn_away(self, words: dict[str, Any], code: int = NORMAL) -> None:
        """Send the message, if the client knows such messages, and close."""

    def postpone(self, words: dict[str, Any], code: int) -> None:
        """No match begins at present.

        A client that knows no such messages goes on waiting; others are turned away.
        """


class OtherNodes:
    """The other nodes, as the desk and the rooms see them. A single server has none; `SharedDesk`
    has those of a cluster.
    """

    alone = True

    def __init__(self) -> None:
        self.on_change: list[Callable[[], None]] = []
        """Called after nodes came or went, or homes of rooms changed."""

    @property
    def draining(self) -> bool:
        """Whether this node takes no new matches."""
        return False

    @property
    def drained(self) -> bool:
        """Whether this node is drained and another one takes its place."""
        return False

    @property
    def connected(self) -> bool:
        """Whether other nodes can be reached."""
        return True

    def has_rooms(self, game: str) -> bool:
        """Whether the rooms and contests of a game are here."""
        return True

    def is_home(self, wish: Wish) -> bool:
        """Whether the contests of this wish are here."""
        return True

    def seek(self, client: WaitingClient, seeker: Seeker) -> bool:
        """Move a client that seeks to the node where it has to wait, or let it wait until that is
        known; False: it seeks here.
        """
        return False

    def left_over(self, client: WaitingClient, seeker: Seeker) -> bool:
        """Move a client that has found nobody here, now or in a moment; False: it waits here."""
        return False

    def open_elsewhere(self, seekers: Sequence[Seeker], clients: Sequence[WaitingClient]) -> bool:
        """Let clients that were paired seek at another node; False: their table is set here."""
        return False

    def bring(self, client: WaitingClient, to: str, match_id: str) -> bool:
        """Move a client that returns to the node of its match; False: it cannot move there."""
        return False

    def learn(self, wish: Wish, one: str, two: str, points: float) -> None:
        """Tell the result of a match of two players that matchmaking has paired."""


# Clients that asked for a table while no match may begin.

RETRY = 1.0
"""Seconds until a table is tried again if no match could begin."""


class PostponedClients:
    """Most clients are told and closed.

    Clients of the original connect again after any close, at once and for ever.

    So their sockets stay open in silence: until matches may begin again, or until the server has
    stopped.
    """

    def __init__(self, desk: "Desk") -> None:
        self._desk, self._silent = desk, set[WaitingClient]()

    def add(self, client: WaitingClient, seeker: Seeker, words: str, code: int = TRY_LATER) -> None:
        """`seeker` is what the client asked for, and `words` say why no match begins, or none with
        it.
        """
        stopping = self._desk.closing
        client.postpone({"error": words}, GOING if stopping else code)
        if client.present:
            self._silent.add(client)
            if not stopping:
                asyncio.get_running_loop().call_later(RETRY, self._seek_again, client, seeker)

    def _seek_again(self, client: WaitingClient, seeker: Seeker) -> None:
        if not self._desk.closing:
            self._silent.discard(client)
            if client.present:
                self._desk.seek_again(client, seeker)

    def close(self) -> None:
        """The server has stopped."""
        silent, self._silent = self._silent, set()
        for client in silent:
            client.turn_away({})


# Returns: clients that come back to a match that does not run on this node.
#
# It runs elsewhere, or it is over.

PAUSE = 0.1
"""Seconds between two looks for a match whose node has died."""
NEW = 0.5
"""Seconds after which other nodes know a new match."""
INPUTS = 100
"""Inputs that are replayed at a time."""


async def come_back_elsewhere(
    desk: "Desk", client: WaitingClient, match_id: str, secret: str
) -> None:
    """Bring a client to the node of its match, or tell it the result if the match is over.

    If that node has died, wait until another one has taken the match over. If the result is being
    stored here, wait until it is.
    """
    loop = asyncio.get_running_loop()
    soon = loop.time() + NEW
    until = loop.time() + desk.settings.cluster.death + desk.settings.cluster.grace
    try:
        while client.present:
            ending = desk.tables[match_id]
            entry = await desk.store.match(match_id)
            player = None if entry is None else seat_of(entry, client.owner, secret)
            if entry is None and not desk.others.alone and loop.time() < soon:
                await asyncio.sleep(PAUSE)
                continue
            if entry is None or player is None:
                break
            if entry.status != "running":
                return await _tell_result(desk.store, client, entry, player)
            table = desk.tables[match_id]
            if table is not None and table.match.result is None:
                return desk.come_back(client, match_id, secret)
            if ending is None and (desk.others.alone or loop.time() > until):
                break
            if ending is None and desk.others.bring(client, entry.node, match_id):
                return None
            await asyncio.sleep(PAUSE)
    except BrokenMatch as problem:
        return client.turn_away({"error": str(problem)})
    except StoreUnavailable:
        return client.turn_away({"error": STORE_AWAY}, TRY_LATER)
    return client.turn_away({"error": f"you have no seat in a running match {match_id}"})


async def _tell_result(
    store: Store, client: WaitingClient, entry: MatchEntry, player: Player
) -> None:
    """Send the last messages of a match as the player would have got them."""
    data = await store.record(entry.id)
    try:
        record, game = restored(data or b"")
        resumption = Resumption(record.setup, game, [line.input for line in record.lines])
        while resumption.advance(INPUTS):
            await asyncio.sleep(0)
    except BadRecord:
        return client.turn_away(
            {"error": f"match {entry.id} is over: {entry.reason or entry.status}"}
        )
    if not client.present:
        return None
    status, writers = match_status(resumption.match, resumption.now), MatchWriters(header_of(entry))
    writers.recap = resumption.recap, status, ()
    client.take_seat(player, writers)
    client.tell(writers.written(resumption.news, status).get(player, []))
    return client.dismiss(failed=False)


# Background tasks of the server.


class Tasks:
    """Background tasks. The event loop itself keeps no reference to a task."""

    def __init__(self) -> None:
        self._running: set[asyncio.Task[None]] = set()

    def start(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.ensure_future(work)
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    def cancel(self) -> None:
        for task in self._running:
            task.cancel()


NAME, OWNER, BY_LOT = attrgetter("name"), attrgetter("owner"), attrgetter("by_lot")

DECLINED = "the other player does not want to play"
NOT_STORED = "results cannot be stored at present, so no new match begins; try again later"


class Desk:
    def __init__(self, store: Store, settings: Settings) -> None:
        self.store, self.settings, self._journal = store, settings, store.journal
        self._most_unwritten = settings.limits.unwritten
        self.registry, self.tasks, self.tables = (
            Registry(store),
            Tasks(),
            RunningTables(store, settings),
        )
        self.workers, self.guest_sessions = self.tables.workers, Logins()
        """The sessions of guests, by wish or match. Of several, the newest stays."""
        self.closing, self.postponed = False, PostponedClients(self)
        self.on_closing: list[Callable[[], None]] = []
        self.contest_queue: ContestQueue | None = None
        self.others = OtherNodes()
        self._lobby = Lobby()
        self.tickets: Iterator[Ticket] = count()
        """Nodes of a cluster have nanoseconds, so that waits can be compared."""
        self.close_books, self.seekers_in_turn = self._lobby.close_books, self._lobby.in_turn
        self._clients: dict[int, WaitingClient] = {}
        self.matchmaker = Matchmaker(
            self._lobby,
            settings,
            self._open,
            lambda seeker, bot: self.against_the_house(seeker, self._clients[seeker.ticket], bot),
            lambda seeker: self._clients[seeker.ticket].version,
        )
        self._watchers: dict[str, tuple[Callable[[Seeker], None], ...]] = {"": ()}
        """Functions that are called when a client begins to wait, by game; empty: any game."""
        self.fillers: list[Callable[[Seeker, Callable[[], None]], bool]] = []
        """Rooms that may seat a waiting bot with house bots, now or when they call back; they
        return whether they do.
        """
        self._loop = asyncio.get_running_loop()
        self.deadlines: dict[int, Timeouts[Any]] = {}
        """Timeouts of sessions, by their length in milliseconds."""
        self._nobody_came = f"no opponent came within {settings.limits.waiting:g} seconds"
        self.gatherings: list[Callable[[], Seeker | None]] = []
        """Rooms, which name one of their players if it waits for clients from here."""
        metrics.WAITING.set_function(lambda: len(self._clients))

    @property
    def refusal(self) -> str:
        """The reason why no match may begin at present, for clients; empty if matches may begin."""
        if self.closing:
            return "the server is stopping"
        return NOT_STORED if self._journal.unwritten >= self._most_unwritten else ""

    # Clients that want to play.

    def seek(
        self,
        client: WaitingClient,
        name: str,
        wish: Wish,
        opponent: str | None = None,
        by_lot: bool = False,
        waited: float = 0.0,
        all_contests: bool = False,
        avoids: str | None = None,
        moved: bool = False,
    ) -> None:
        """Give a client a table, or let it wait.

        `waited`: the seconds since it began to seek, at another node or here. The rest is as in
        `Seeker`.
        """
        ticket = next(self.tickets)
        if waited:
            ticket -= round(waited * 1e9)
        while ticket in self._clients:
            ticket += 1
        by_lot = by_lot or wish.ladder
        seeker = Seeker(ticket, name, wish, opponent, by_lot, all_contests, avoids, moved)
        if not self.others.alone and self.others.seek(client, seeker):
            return None
        if refusal := self.refusal:
            return self.postponed.add(client, seeker, refusal)
        if opponent is not None and (problem := self.registry.cannot_meet(name, wish, opponent)):
            return client.turn_away({"error": problem})
        if is_of_guest(client.owner) and (problem := self._name_waits(name, wish)):
            return client.turn_away({"error": problem})
        client.seeker = seeker
        self._clients[ticket] = client
        if waited:
            self.matchmaker.arrive(seeker, waited)
        if wish.contest is not None:
            return self._seek_in_contest(seeker, client)
        return self._seek(seeker, client)

    def _seek_in_contest(self, seeker: Seeker, client: WaitingClient) -> None:
        wish = seeker.wish
        self.matchmaker.arrive(seeker)
        if wish.contest and self.contest_queue and self.contest_queue.seek(seeker, client):
            return None
        if self._lobby.book(wish) is None:
            return self.tasks.start(self._open_book(wish, seeker, client))
        return self._seek(seeker, client)

    def seek_again(self, client: WaitingClient, seeker: Seeker) -> None:
        self.seek(
            client,
            seeker.name,
            seeker.wish,
            seeker.opponent,
            seeker.by_lot,
            all_contests=seeker.all_contests,
        )

    def enqueue(self, seeker: Seeker, client: WaitingClient) -> None:
        client.seeker = seeker
        self._clients[seeker.ticket] = client

    def _name_waits(self, name: str, wish: Wish) -> str:
        """Two players of one name never meet, so the server refuses the guest at once."""
        waiting = any(seeker.name == name for seeker in self._lobby.waiting(wish))
        return (
            f"another player with the name {name} waits there; choose another name"
            if waiting
            else ""
        )

    async def _open_book(self, wish: Wish, seeker: Seeker, client: WaitingClient) -> None:
        assert wish.contest is not None
        try:
            ended, running = await self.store.meetings(wish.game, wish.contest)
        except Exception:
            log_failure("a contest could not be read")
            return client.turn_away({"error": "the contest cannot be read"}, INTERNAL)
        self._lobby.open_book(
            wish.game, wish.contest, ContestBook(self.settings.contest.games, ended, running)
        )
        if self._clients.get(seeker.ticket) is client:
            self._seek(seeker, client)

    def _seek(self, seeker: Seeker, client: WaitingClient) -> None:
        if seeker.opponent is not None and seeker.opponent.startswith("house:"):
            return self.against_the_house(seeker, client, seeker.opponent)
        gathers = self.matchmaker.gathers(seeker)
        table = self._lobby.seek(seeker, gathers)
        if table is not None:
            return self._open(table)
        self.matchmaker.arrive(seeker)
        if not self.others.alone and self.others.left_over(client, seeker):
            return None
        self._let_wait(seeker, client)
        return self.matchmaker.gather(seeker) if gathers else None

    def _let_wait(self, seeker: Seeker, client: WaitingClient) -> None:
        settings = self.settings
        if seeker.wish.ladder:  # the matchmaker finds it an opponent
            return self.announce(seeker)
        if seeker.wish.contest and self.complete(seeker.wish, seeker.name):
            self._loop.call_later(settings.contest.wait, self._close_contest_for, seeker, client)
        elif settings.house.fill and seeker.wish.open_to_house and seeker.opponent is None:
            gathered = settings.matchmaking.wait if self.matchmaker.gathers(seeker) else 0.0
            self._loop.call_later(
                gathered + settings.house.wait, self._call_the_house, seeker, client
            )
        if settings.limits.waiting:
            client.wait_at_most(settings.limits.waiting, self._nobody_came)
        return self.announce(seeker)

    def announce(self, waiting: Seeker) -> None:
        """Tell rooms, and bots with a URL."""
        watchers, game = self._watchers, waiting.wish.game
        for tell in (*watchers[""], *watchers[game]) if game in watchers else watchers[""]:
            tell(waiting)

    def _close_contest_for(self, seeker: Seeker, client: WaitingClient) -> None:
        if self._clients.get(seeker.ticket) is client and self.complete(seeker.wish, seeker.name):
            client.contest_complete(seeker.wish.contest or "")

    def give_up(self, client: WaitingClient) -> None:
        """Remove a client from the queue."""
        seeker, client.seeker = client.seeker, None
        if seeker is not None and self._clients.pop(seeker.ticket, None) is not None:
            self._lobby.leave(seeker)
            self.matchmaker.leave(seeker)
            if self.contest_queue:
                self.contest_queue.leave(seeker)

    def come_back(self, client: WaitingClient, match_id: str, secret: str = "") -> None:
        """Give a client the seat back that it left: the owner of a seat gets it, or a guest that
        knows its secret.
        """
        if (table := self.tables[match_id]) is None or table.match.result is not None:
            return self.tasks.start(come_back_elsewhere(self, client, match_id, secret))
        if (player := seat_of(table.entry, client.owner, secret) if table.open else None) is None:
            return client.turn_away({"error": f"you have no seat in a running match {match_id}"})
        if secret and table.match.terms.gone == "wait":
            self.guest_sessions.end(seat_key(match_id, player))
        words = f"there is no coming back to match {match_id}"
        return (
            client.sit_down(table, player)
            if table.rejoin(player, client)
            else client.turn_away({"error": words})
        )

    # House bots.

    def _call_the_house(self, seeker: Seeker, client: WaitingClient) -> None:
        """Prefer a table at which players wait to one with house bots alone."""
        if self._clients.get(seeker.ticket) is not client:
            return
        again = partial(self._call_the_house, seeker, client)
        if self.refusal:
            self._loop.call_later(RETRY, again)
        elif not any(fill(seeker, again) for fill in self.fillers):
            self.against_the_house(seeker, client, "house")

    def against_the_house(self, seeker: Seeker, client: WaitingClient, opponent: str) -> None:
        if (bot := house_bot(seeker.wish.game, opponent)) is None:
            return client.turn_away({"error": f"there is no bot {opponent} for {seeker.wish.game}"})
        self.matchmaker.seated(seeker)
        self.give_up(client)
        players = house_players(*bot, seeker.wish.players - 1)
        seat = randrange(seeker.wish.players) if seeker.by_lot else 0
        players.insert(seat, GatheredPlayer(seeker.name, client.owner, client))
        over = partial(self._learn, seeker.wish) if seeker.wish.ladder else None
        return self._play(seeker.wish, players, over)

    # Tables.

    def _open(self, seekers: tuple[Seeker, ...]) -> None:
        if True in map(BY_LOT, seekers):
            first = randrange(len(seekers))
            seekers = seekers[first:] + seekers[:first]
        players: list[GatheredPlayer] = []
        for seeker in seekers:
            client = self._clients.pop(seeker.ticket)
            client.seeker = None
            players.append(GatheredPlayer(seeker.name, client.owner, client))
        wish = table_wish(seekers)
        book = self._lobby.book(seekers[0].wish) if wish.contest else None
        gathers = book is None and self.matchmaker.gathers(seekers[0])
        if not (self.others.alone or book is not None or gathers):
            clients = [player.client for player in players]
            if self.others.open_elsewhere(seekers, cast(list[WaitingClient], clients)):
                for seeker in seekers:
                    self.matchmaker.leave(seeker)
                return
        self.matchmaker.seated(*seekers)
        over: Callable[[Table], None] | None = None
        if book is not None:
            book.note(tuple([seeker.name for seeker in seekers]))
            over = partial(self._meeting_over, book)
        elif gathers:
            over = partial(self._learn, wish)
        self._play(wish, players, over)

    def _learn(self, wish: Wish, table: Table) -> None:
        result = table.match.result
        if result is not None and not result.aborted:
            (one, two), (first, second) = self.matchmaker.keys(wish, table.entry), result.places
            points = (first < second) + (first == second) / 2
            self.matchmaker.learn(wish, one, two, points)
            self.others.learn(wish, one, two, points)

    def _meeting_over(self, book: ContestBook, table: Table) -> None:
        """Count a meeting that is stored as ended. An aborted one is played again."""
        names, contest, result = table.entry.players, table.entry.contest, table.match.result
        if not table.stored or result is None or result.aborted:
            return book.note(names, -1)
        book.end(names)
        for seeker in self._lobby.waiting_in(table.entry.game, contest or "", names):
            if self.complete(seeker.wish, seeker.name):
                self._loop.call_later(
                    self.settings.contest.wait,
                    self._close_contest_for,
                    seeker,
                    self._clients[seeker.ticket],
                )
        return None

    def _play(
        self,
        wish: Wish,
        players: Sequence[GatheredPlayer],
        over: Callable[[Table], None] | None = None,
    ) -> None:
        row = CATALOGUE[wish.game]
        game, terms = row.game, row.terms
        options: dict[str, Any] = {}
        if wish.options != NO_OPTIONS:
            options = msgspec.json.decode(wish.options)
            game = with_options(game, options)
        if wish.pace != "usual":
            terms = paced(terms, wish.pace)
        table = self.set_table(game, terms, players, options, wish.contest, wish.pace)
        if over is not None:
            table.subscribe(Subscriber(over=over))
        self.tables.start_table(table, [player.client for player in players])

    def set_table(
        self,
        game: Game[Any],
        terms: Terms,
        players: Sequence[GatheredPlayer],
        options: Mapping[str, Any],
        contest: str | None = None,
        pace: PaceName = "usual",
        seed: int | None = None,
        versions: tuple[str, ...] = (),
        resumes: bool = True,
    ) -> Table:
        """Return a table for these players, with its house bots seated.

        `resumes`: another node may resume the match; a room and its players are in memory.
        """
        names, owners = tuple(map(NAME, players)), tuple(map(OWNER, players))
        table = self.tables.set_table(
            game, terms, names, owners, options, contest, pace, seed, versions
        )
        table.resumes = resumes
        for number, player in enumerate(players):
            if player.house is not None:
                HouseSeat(self.workers, table, number, player.house).sit_down()
        return table

    # For rooms, which set tables of their own and fill them with clients that wait here.

    def on_wait(self, tell: Callable[[Seeker], None], game: str = "") -> Callable[[], None]:
        """Call `tell` whenever a client begins to wait for a game (empty: for any), until the
        returned function is called.
        """
        watchers = self._watchers
        watchers[game] = (*watchers.get(game, ()), tell)

        def stop() -> None:
            watchers[game] = tuple([one for one in watchers[game] if one != tell])

        return stop

    def waiting(self, wish: Wish) -> list[Seeker]:
        """Clients that accept any opponent, the first of each name, the longest wait first."""
        return self._lobby.waiting(wish)

    def waiting_named(self, game: str, name: str) -> Seeker | None:
        """The client of this name that waits for any opponent and no contest."""
        return self._lobby.named(game, name)

    def recruit(self, seeker: Seeker) -> WaitingClient:
        """Remove a waiting client from the queue, to seat it now."""
        client = self._clients[seeker.ticket]
        self.matchmaker.seated(seeker)
        self.give_up(client)
        return client

    @property
    def waiting_clients(self) -> list[WaitingClient]:
        return list(self._clients.values())

    def client_of(self, seeker: Seeker) -> WaitingClient | None:
        """The client of a seeker; None if it waits no longer."""
        return self._clients.get(seeker.ticket)

    def complete(self, wish: Wish, name: str) -> bool:
        """Whether a bot has met all others of the contest as often as planned, with all these
        matches stored as ended.
        """
        book = self._lobby.book(wish)
        return book is not None and book.complete_for(name, wish.players)

    # Waiting players and matches left, for pages and tools.

    def seekers(self, most: int) -> list[Seeker]:
        return self._lobby.invited(None)[:most]

    def invited(self, invite: str) -> list[Seeker]:
        return self._lobby.invited(invite)

    def decline(self, invite: str) -> list[str]:
        """Turn away the players that wait with an invite, and return their names."""
        seekers = self.invited(invite)
        for seeker in seekers:
            client = self._clients[seeker.ticket]
            self.give_up(client)
            client.turn_away({"error": DECLINED})
        return [seeker.name for seeker in seekers]

    def unplayed(self, most: int) -> list[Unplayed]:
        return [
            Unplayed(*contest, names, times)
            for contest, names, times in islice(self._lobby.unplayed(), most)
        ]

    # The end.

    async def close(self) -> None:
        """Start no new match. Running matches get time to end, and are then aborted."""
        self.closing = True
        for tell in self.on_closing:
            tell()
        for client in self.waiting_clients:
            if (seeker := client.seeker) is not None:
                self.give_up(client)
                self.postponed.add(client, seeker, self.refusal)
        await self.tables.close()
        self.postponed.close()
