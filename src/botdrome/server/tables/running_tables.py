"""The running tables."""

import asyncio
import os
import secrets
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from time import time
from typing import Any, Protocol

from msgspec.structs import replace

from botdrome.games.chance import SEED_BITS
from botdrome.games.game import Game
from botdrome.match.events import Player, Result
from botdrome.match.match import Match
from botdrome.match.record import Resumption, seed_of
from botdrome.match.terms import Milliseconds, PaceName, Terms, with_grace
from botdrome.server import metrics
from botdrome.server.network.steady_loop import watch_of
from botdrome.server.settings import Settings
from botdrome.server.tables.audience import LiveTable, SeatedPlayer, Spectator
from botdrome.server.tables.kept_table import InputKeeper, KeptTable
from botdrome.server.tables.table import Subscriber, Table
from botdrome.server.tables.timing import MoveTimes, TickTimers, never
from botdrome.server.workers.pool import Workers
from botdrome.store.entries import MatchEntry, Note
from botdrome.store.store import Store


class Candidate(SeatedPlayer, Protocol):
    """A client that can take a seat."""

    @property
    def version(self) -> str:
        """The version of the bot, as its login names it; empty: it names none."""

    @property
    def present(self) -> bool: ...

    def sit_down(self, table: Table, player: Player) -> None: ...


class RunningTables:
    def __init__(self, store: Store, settings: Settings) -> None:
        self._store, self._settings = store, settings
        self._tables: dict[str, Table] = {}
        self._watchers: set[Callable[[], None]] = set()
        self._loop = asyncio.get_running_loop()
        self._network_credit = round(settings.match.network_credit * 1000)
        self._clearing = Subscriber(over=self._clear)
        self.tick_timers = TickTimers()
        self._watch = watch_of(self._loop)
        self.behind = never if self._watch is None else self._watch.behind
        """Whether the loop is late with its work."""
        if self._watch is not None:
            self._watch.busy.append(lambda: bool(self._tables))
        self.unannounced: Milliseconds = 0
        """Extra time for each move, of which players are not told."""
        self.keeper: InputKeeper | None = None
        """Stores the inputs of all matches, on a node of a cluster."""
        self.release: Callable[[], Awaitable[None]] | None = None
        """Lets the matches that are left go on at other nodes."""
        self.workers = Workers(settings.processes)
        metrics.TABLES.set_function(lambda: len(self._tables))

    def __getitem__(self, match_id: str) -> Table | None:
        return self._tables.get(match_id)

    def bound(self, game: str) -> bool:
        """Whether a match of a game is bound to this node, by a room or a contest."""
        tables = (table for table in self._tables.values() if table.entry.game == game)
        return any(table.entry.contest is not None or not table.resumes for table in tables)

    def ending_in_contests(self, game: str) -> bool:
        """Whether the end of a match of a contest is being stored."""
        tables = [
            table
            for table in self._tables.values()
            if table.entry.game == game and table.entry.contest is not None
        ]
        return any(table.match.result is not None for table in tables)

    def note_ends(self, told: Callable[[MatchEntry, Result], tuple[Note, ...]] | None) -> None:
        """Store these notes with the end of each match; None: there are none."""

        def notes(table: Table) -> tuple[Note, ...]:
            result = table.match.result
            return told(table.entry, result) if told and result else ()  # not after a board

        self._clearing.notes = notes if told else None

    # New tables.

    def set_table(
        self,
        game: Game[Any],
        terms: Terms,
        names: tuple[str, ...],
        owners: tuple[str, ...],
        options: Mapping[str, Any] | None = None,
        contest: str | None = None,
        pace: PaceName = "usual",
        seed: int | None = None,
        versions: tuple[str, ...] = (),
    ) -> Table:
        """Return a table for these players.

        `owners` are the owners of their seats (see `clients.py`).

        `options` are those that the game was made with, and `pace` is the name of the pace of the
        terms. Without a seed, one is drawn. `versions` are those of players that are no candidates.
        """
        if self.unannounced:
            terms = with_grace(terms, self.unannounced)
        drawn = os.urandom(SEED_BITS // 8 + 8)
        seed = int.from_bytes(drawn[8:]) if seed is None else seed
        match, started = Match(game, len(names), terms, seed), int(time() * 1000)
        entry = MatchEntry(
            drawn[:8].hex(),
            game.name,
            names,
            started,
            contest,
            dict(options) if options else {},
            seed_of(match),
            owners=owners,
            pace=pace,
            versions=versions,
        )
        parts = self._parts(entry, match)
        return self._enter(Table(*parts) if self.keeper is None else KeptTable(*parts, self.keeper))

    def _parts(
        self, entry: MatchEntry, match: Match
    ) -> tuple[MatchEntry, MoveTimes, Store, int, TickTimers]:
        """Return what a table is made of."""
        times = MoveTimes(match, self._network_credit, self.behind, self._loop)
        return entry, times, self._store, self._settings.match.flight_bytes, self.tick_timers

    def _enter(self, table: Table) -> Table:
        if self._watch is not None:
            self._watch.wake()
        table.subscribe(self._clearing)
        self._tables[table.entry.id] = table
        return table

    def resume(self, entry: MatchEntry, resumption: Resumption, resumes: bool = True) -> KeptTable:
        """Return a table for a match that another node played. `KeptTable.go_on` starts it."""
        assert self.keeper is not None
        table = KeptTable(*self._parts(entry, resumption.match), self.keeper)
        table.resumes = resumes
        table.take_up(resumption)
        self._enter(table)
        self._tell_watchers()
        return table

    def start_table(
        self, table: Table, sitters: Sequence[Candidate | None], delay: float | None = None
    ) -> None:
        """Store the match as running, seat the candidates in the order of the players, and begin
        after the delay.

        None: a house bot has that seat, or a bot that the caller has seated.

        Without a delay the usual one is taken, and tables that tick get different phases.
        """
        entry = table.entry
        named = [
            entry.version(player) if sitter is None else sitter.version
            for player, sitter in enumerate(sitters)
        ]
        versions = tuple(named) if any(named) else ()
        if versions != entry.versions:
            entry = table.entry = replace(entry, versions=versions)
        self._store.begin(entry)
        for player, sitter in enumerate(sitters):
            if sitter is not None:
                sitter.sit_down(table, player)
                table.seat(player, sitter)
        if delay is None:
            pace = table.match.terms.pace
            phase = secrets.randbelow(1000) / 1000 * (pace.limit or 0) / 1000 if pace.beat else 0.0
            delay = self._settings.match.start_delay + phase
        self._loop.call_later(delay, self._begin, table, sitters)

    def _begin(self, table: Table, sitters: Sequence[Candidate | None]) -> None:
        """Start the match. Players that have gone meanwhile leave at once."""
        if table.match.result is not None:
            return
        table.start()
        self._tell_watchers()
        for player, sitter in enumerate(sitters):
            if sitter is not None and not sitter.present:
                table.leave(player)

    def _clear(self, table: Table) -> None:
        result = table.match.result
        if self.keeper is not None and isinstance(table, KeptTable):
            self.keeper.forget(table)
        if result is not None:  # otherwise it goes on at another node
            status = "aborted" if result.aborted else "ended"
            metrics.MATCHES.inc(labels=(table.entry.game, status))
        if self._tables.get(table.entry.id) is table:  # not one that came back to this node
            del self._tables[table.entry.id]
        self._tell_watchers()

    def remove(self, table: Table) -> None:
        """Let nobody return to a table, whose match is about to go on at another node."""
        del self._tables[table.entry.id]

    # Spectators.

    def live(self, game: str | None = None, most: int | None = None) -> list[LiveTable]:
        found = (table for table in self._tables.values() if game in (None, table.entry.game))
        return [table.live() for table in islice(found, most)]

    def count(self, game: str | None = None) -> int:
        if game is None:
            return len(self._tables)
        return sum(table.entry.game == game for table in self._tables.values())

    def watch(self, match_id: str, spectator: Spectator, node: str = "") -> bool:
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
        """Give running matches time to end, then release or abort them."""
        await self._empty(self._settings.drain)
        if self.release is not None:
            await self.release()
        for table in list(self._tables.values()):
            table.abort("the server was stopped")
        await self._empty(10.0)

    async def _empty(self, seconds: float) -> None:
        """Wait until no table runs, or the time is over."""
        done = asyncio.Event()
        stop = self.on_change(lambda: None if self._tables else done.set())
        try:
            if self._tables:
                with suppress(TimeoutError):
                    async with asyncio.timeout(seconds):
                        await done.wait()
        finally:
            stop()
