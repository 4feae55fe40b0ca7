"""Desk: who is here, what they seek, and which tables run."""

import asyncio
import secrets
from collections.abc import Callable, Coroutine
from itertools import count
from time import time
from typing import Any, Protocol

import msgspec
import structlog

from botdrome.contest.lobby import ContestBook, Lobby, Seeker, Wish
from botdrome.formats import FORMATS
from botdrome.games.options import with_options
from botdrome.match.events import Player
from botdrome.match.match import Match
from botdrome.server import metrics
from botdrome.server.arena import LiveTable
from botdrome.server.audience import Spectator
from botdrome.server.house import HouseSeat, house_bot
from botdrome.server.registry import Registry
from botdrome.server.settings import Settings
from botdrome.server.table import Listener, Table
from botdrome.store.store import MatchEntry, Store
from botdrome.wire.battlebot import Battlebot
from botdrome.wire.login import Login

log = structlog.get_logger()


class Guest(Listener, Protocol):
    """A bot that has logged in."""

    seeker: Seeker | None

    @property
    def present(self) -> bool: ...

    def wait_at_most(self, seconds: float, words: str) -> None: ...

    def turn_away(self, words: dict[str, Any], code: int = 1000) -> None: ...

    def sit_down(self, table: Table, player: Player) -> None: ...


class Tasks:
    """Keeps hold of what runs in the background."""

    def __init__(self) -> None:
        self._running: set[asyncio.Task[None]] = set()

    def start(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.ensure_future(work)
        self._running.add(task)
        task.add_done_callback(self._running.discard)


class Desk:
    def __init__(self, store: Store, settings: Settings) -> None:
        self.settings, self.registry, self.tasks = settings, Registry(store), Tasks()
        self.closing = False
        """No new matches are opened."""
        self._store = store
        self._lobby = Lobby()
        self._tickets = count()
        self._guests: dict[int, Guest] = {}
        self._tables: dict[str, Table] = {}
        self._watchers: set[Callable[[], None]] = set()
        self._loop = asyncio.get_running_loop()

    # Those who come to play.

    def welcome(self, guest: Guest, login: Login) -> None:
        """A bot has logged in: give it a table, or let it wait."""
        if self.closing:
            return guest.turn_away({"error": "the server is stopping"}, 1001)
        if login.match is not None:
            return self._return_to(login.match, guest, login)
        options = msgspec.json.encode(login.options, order="sorted").decode()
        wish = Wish(login.format.name, login.players, options, login.contest)
        seeker = Seeker(next(self._tickets), login.name, wish, login.opponent)
        if login.contest is not None and self._lobby.book(wish) is None:
            guest.seeker = seeker
            self.tasks.start(self._open_book(wish, seeker, guest))
            return None
        return self._seek(seeker, guest)

    async def _open_book(self, wish: Wish, seeker: Seeker, guest: Guest) -> None:
        assert wish.contest is not None
        try:
            met = await self._store.meetings(wish.game, wish.contest)
        except Exception:
            log.exception("a contest could not be read")
            return guest.turn_away({"error": "the contest cannot be read"}, 1011)
        self._lobby.open_book(wish.game, wish.contest, ContestBook(self.settings.contest_games, met))
        if guest.present:
            self._seek(seeker, guest)

    def _seek(self, seeker: Seeker, guest: Guest) -> None:
        guest.seeker = seeker
        if (seeker.opponent or "").startswith("house:"):
            return self._against_the_house(seeker, guest, seeker.opponent or "")
        self._guests[seeker.ticket] = guest
        table = self._lobby.seek(seeker)
        if table is not None:
            return self._open(table)
        metrics.WAITING.set(len(self._guests))
        return self._let_wait(seeker, guest)

    def _let_wait(self, seeker: Seeker, guest: Guest) -> None:
        settings, contest = self.settings, seeker.wish.contest
        book = self._lobby.book(seeker.wish)
        if book is not None and book.complete_for(seeker.name):
            self._loop.call_later(settings.contest_wait, self._close_contest_for, seeker, guest)
        elif settings.house and contest is None and seeker.opponent is None:
            self._loop.call_later(settings.house_wait, self._call_the_house, seeker, guest)
        if settings.waiting_limit:
            guest.wait_at_most(settings.waiting_limit, f"no opponent came within {settings.waiting_limit:g} seconds")

    def _close_contest_for(self, seeker: Seeker, guest: Guest) -> None:
        book = self._lobby.book(seeker.wish)
        if self._guests.get(seeker.ticket) is guest and book is not None and book.complete_for(seeker.name):
            guest.turn_away({"contest": seeker.wish.contest, "complete": True})

    def give_up(self, guest: Guest) -> None:
        """A guest waits no longer."""
        seeker, guest.seeker = guest.seeker, None
        if seeker is not None and self._guests.pop(seeker.ticket, None) is not None:
            self._lobby.leave(seeker)
            metrics.WAITING.set(len(self._guests))

    # House bots.

    def _call_the_house(self, seeker: Seeker, guest: Guest) -> None:
        if self._guests.get(seeker.ticket) is guest:
            self._against_the_house(seeker, guest, "house")

    def _against_the_house(self, seeker: Seeker, guest: Guest, opponent: str) -> None:
        bot = house_bot(seeker.wish.game, opponent)
        if bot is None:
            return guest.turn_away({"error": f"there is no bot {opponent} for {seeker.wish.game}"})
        self.give_up(guest)
        name, function = bot
        names = (seeker.name, *(f"{name} {number}" if number else name for number in range(seeker.wish.players - 1)))
        table = self._set(seeker.wish, names)
        for player in range(1, seeker.wish.players):
            HouseSeat(table, player, function).sit_down()
        return self._start(table, [guest])

    # Tables.

    def _open(self, seekers: tuple[Seeker, ...]) -> None:
        guests = [self._guests.pop(seeker.ticket) for seeker in seekers]
        metrics.WAITING.set(len(self._guests))
        names = tuple(seeker.name for seeker in seekers)
        wish = seekers[0].wish
        if book := self._lobby.book(wish):
            book.note(names)
        self._start(self._set(wish, names), guests)

    def _set(self, wish: Wish, names: tuple[str, ...]) -> Table:
        """A table for these players, noted as running."""
        row = FORMATS[wish.game]
        options = msgspec.json.decode(wish.options)
        match = Match(with_options(row.game, options), wish.players, row.terms, secrets.randbits(48))
        entry = MatchEntry(secrets.token_hex(8), wish.game, names, int(time() * 1000), wish.contest, options, seed=match.seed)
        table = Table(entry, match, self._store, self.settings.flight_bytes)
        table.on_over = self._clear
        self._tables[entry.id] = table
        self._store.begin(entry)
        metrics.TABLES.set(len(self._tables))
        return table

    def _start(self, table: Table, guests: list[Guest]) -> None:
        tongue = Battlebot(table.entry.game, table.entry.players, table.entry.started)
        for player, guest in enumerate(guests):
            guest.seeker = None
            guest.sit_down(table, player)
            table.seat(player, guest, tongue)
        delay = self.settings.start_delay
        if table.match.terms.pace.beat:
            delay += secrets.randbelow(1000) / 1000 * (table.match.terms.pace.limit or 0) / 1000
        self._loop.call_later(delay, self._begin, table, guests)

    def _begin(self, table: Table, guests: list[Guest]) -> None:
        """Anything may have happened since the match was made: who has gone by now leaves at once."""
        if table.match.result is not None:
            return
        table.start()
        self._tell_watchers()
        for player, guest in enumerate(guests):
            if not guest.present:
                table.leave(player)

    def _clear(self, table: Table) -> None:
        self._tables.pop(table.entry.id, None)
        result, entry = table.match.result, table.entry
        aborted = result is not None and result.aborted
        metrics.TABLES.set(len(self._tables))
        metrics.MATCHES.labels(entry.game, "aborted" if aborted else "ended").inc()
        book = self._lobby.book(Wish(entry.game, contest=entry.contest))
        if aborted and book:
            book.note(entry.players, -1)
        self._tell_watchers()

    def _return_to(self, match_id: str, guest: Guest, login: Login) -> None:
        table = self._tables.get(match_id)
        if table is None or login.name not in table.entry.players or not table.open:
            return guest.turn_away({"error": f"you have no seat in a running match {match_id}"})
        player = table.entry.players.index(login.name)
        if not table.rejoin(player, guest):
            return guest.turn_away({"error": f"there is no coming back to match {match_id}"})
        return guest.sit_down(table, player)

    # Those who come to look.

    def live(self) -> list[LiveTable]:
        return [table.live() for table in self._tables.values()]

    def watch(self, match_id: str, spectator: Spectator) -> bool:
        table = self._tables.get(match_id)
        if table is None or table.match.result is not None:
            return False
        table.watch(spectator)
        return True

    def unwatch(self, match_id: str, spectator: Spectator) -> None:
        if table := self._tables.get(match_id):
            table.audience.leave(spectator)

    def on_change(self, tell: Callable[[], None]) -> Callable[[], None]:
        self._watchers.add(tell)
        return lambda: self._watchers.discard(tell)

    def _tell_watchers(self) -> None:
        for tell in tuple(self._watchers):
            tell()

    # The end.

    async def close(self) -> None:
        """No new matches; the running ones get their time, and then are aborted."""
        self.closing = True
        for guest in list(self._guests.values()):
            guest.turn_away({"error": "the server is stopping"}, 1001)
        await self._empty(self.settings.drain)
        for table in list(self._tables.values()):
            table.abort("the server was stopped")
        await self._empty(10.0)

    async def _empty(self, seconds: float) -> None:
        """Until no table runs, or the time is over."""
        done = asyncio.Event()
        stop = self.on_change(lambda: None if self._tables else done.set())
        try:
            if self._tables:
                await asyncio.wait_for(done.wait(), seconds)
        except TimeoutError:
            pass
        finally:
            stop()
