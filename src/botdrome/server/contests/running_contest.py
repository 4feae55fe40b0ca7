"""RunningContest: seats the players of a contest as they come, counts results, and deals with players that do not come."""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Coroutine, Iterable
from functools import partial
from typing import Any

import structlog

from botdrome.contest.fixture_results import fixture_result, unplayed
from botdrome.contest.fixture_seeds import match_seed
from botdrome.contest.formats.format import ContestFixture, Entrant, EntrantNumber, FixtureResult
from botdrome.contest.progress import ContestProgress
from botdrome.formats import FORMATS
from botdrome.games.options import with_options
from botdrome.server.contests.contest_player import ContestPlayer, ContestTable
from botdrome.server.failures import log_failure
from botdrome.server.tables.subscriber import Subscriber
from botdrome.server.tables.table import Table
from botdrome.store.contest_journal import ContestJournal, StoredContest, result_note
from botdrome.store.store import Note

log = structlog.get_logger()

RETRY = 1.0
"""Seconds until fixtures are tried again while no match may begin."""
MOST_AT_ONCE = 50
"""Matches of house bots alone that run at the same time."""

Start = Callable[[Coroutine[Any, Any, None]], None]
"""Starts a background task."""


class RunningContest:
    def __init__(
        self,
        stored: StoredContest,
        journal: ContestJournal,
        start: Start,
        refusal: Callable[[], str],
        on_over: Callable[["RunningContest"], None],
    ) -> None:
        """`refusal` says why no match may begin at present; empty: it may."""
        self._read(stored)
        self.paused, self.started = True, False
        self._journal, self._start_task, self._refusal, self._on_over = journal, start, refusal, on_over
        self._loop = asyncio.get_running_loop()
        self._waiting: defaultdict[str, list[ContestPlayer]] = defaultdict(list)
        self._playing: dict[str, Table | None] = {}
        """The fixtures that are played or being stored; None: a result without a match."""
        self._seats_taken: defaultdict[str, int] = defaultdict(int)
        """The number of matches that a bot plays."""
        self._open_of: defaultdict[str, dict[str, ContestFixture]] = defaultdict(dict)
        """The open fixtures of each bot, by their keys."""
        self._absent_since: dict[str, float] = {}
        self._timer: asyncio.TimerHandle | None = None

    def _read(self, stored: StoredContest) -> None:
        self.document, self.secret = stored.entry.document, stored.entry.secret
        self.progress = ContestProgress(stored.entry.document, stored.entrants, stored.results)
        self._indexed_round = -1

    @property
    def name(self) -> str:
        return self.document.name

    def number_of(self, bot: str) -> EntrantNumber | None:
        return next((number for number, entrant in enumerate(self.progress.entrants) if entrant.name == bot), None)

    # Players that come and go.

    def start(self, stored: StoredContest) -> None:
        """Start with these entrants and results."""
        self._read(stored)
        self.started = True
        self.resume()

    def resume(self) -> None:
        """Seat the players that wait. Absent players are expected from now on."""
        self.paused = False
        now = self._loop.time()
        for entrant in self.progress.entrants:
            if not self._is_here(entrant.name):
                self._absent_since[entrant.name] = now
        self._look()

    def pause(self) -> None:
        """Start no match. Running matches are played to their end."""
        self.paused = True
        self._stop_timer()

    def arrive(self, player: ContestPlayer) -> None:
        self._waiting[player.name].append(player)
        self._absent_since.pop(player.name, None)
        self._look([player.name])

    def depart(self, name: str, ticket: int) -> None:
        """A player waits no longer."""
        self._waiting[name] = [player for player in self._waiting[name] if player.ticket != ticket]
        self._note_absence(name)

    def release(self) -> None:
        """Let all players go: the contest is over."""
        waiting, self._waiting = self._waiting, defaultdict(list)
        for player in [player for players in waiting.values() for player in players]:
            player.release()

    def _is_here(self, name: str) -> bool:
        return bool(self._waiting.get(name) or self._seats_taken.get(name))

    def _note_absence(self, name: str) -> None:
        if not self._is_here(name):
            self._absent_since.setdefault(name, self._loop.time())
            self._set_timer()

    # Fixtures.

    def _look(self, names: Iterable[str] | None = None) -> None:
        """Start the fixtures whose players all wait: those of these bots, or all."""
        if self.paused or self.progress.over:
            return
        if self._refusal():
            self._set_timer(RETRY)
            return
        self._index_fixtures()
        groups = self._open_of.values() if names is None else [self._open_of.get(name, {}) for name in names]
        for fixture in [fixture for group in groups for fixture in group.values()]:
            if fixture.key not in self._playing and self._can_start(fixture):
                self._seat(fixture)
        self._set_timer()

    def _index_fixtures(self) -> None:
        """Sort the fixtures of a new round by bot, so that an arrival looks only at its own."""
        if self._indexed_round != self.progress.rounds_played:
            self._indexed_round = self.progress.rounds_played
            self._open_of = defaultdict(dict)
            for fixture in self.progress.open.values():
                for name in self._names(fixture):
                    self._open_of[name][fixture.key] = fixture

    def _names(self, fixture: ContestFixture) -> list[str]:
        return [self.progress.entrants[number].name for number in fixture.entrants]

    def _can_start(self, fixture: ContestFixture) -> bool:
        waiting = [self._waiting.get(name) for name in self._names(fixture)]
        if not all(waiting):
            return False
        return len(self._playing) < MOST_AT_ONCE or not all(players[0].is_house for players in waiting if players)

    def _seat(self, fixture: ContestFixture) -> None:
        players = [self._waiting[name][0] for name in self._names(fixture)]
        self._playing[fixture.key] = None
        for player in players:
            if not player.is_house:
                self._waiting[player.name].pop(0)
        for player in players:
            self._seats_taken[player.name] += 1
        game = with_options(FORMATS[self.document.game].game, self.document.options)
        seed = match_seed(self.secret, fixture.seed)
        prepare = partial(self._prepare, fixture)
        table = ContestTable(self.name, game, self.document.terms, self.document.options, seed, prepare)
        max(players, key=lambda player: player.opener.rank).opener.open_for_contest(table, players)

    def _prepare(self, fixture: ContestFixture, table: Table) -> None:
        self._playing[fixture.key] = table
        table.subscribe(Subscriber(notes=partial(self._notes, fixture), over=partial(self._match_over, fixture)))

    def _notes(self, fixture: ContestFixture, table: Table) -> tuple[Note, ...]:
        """The result of the fixture is stored together with the match, so it counts exactly once."""
        result = table.match.result
        if result is None or result.aborted:
            return ()
        return (result_note(self.name, fixture.key, fixture_result(result, table.entry.id)),)

    def _match_over(self, fixture: ContestFixture, table: Table) -> None:
        """An aborted match is played again."""
        names, result = self._names(fixture), table.match.result
        for name in names:
            self._seats_taken[name] -= 1
        if table.stored and result is not None and not result.aborted:
            self._count(fixture, fixture_result(result, table.entry.id))
        else:
            self._playing.pop(fixture.key)
        for name in names:
            self._note_absence(name)
        self._look(names)

    def _count(self, fixture: ContestFixture, result: FixtureResult) -> None:
        before = self.progress.rounds_played
        self._playing.pop(fixture.key)
        self.progress.add(fixture.key, result)
        for name in self._names(fixture):
            self._open_of[name].pop(fixture.key, None)
        for number in fixture.entrants:
            if self.progress.penalised(number) and self.progress.entrants[number].left is None:
                self._start_task(self._withdraw_penalised(number))
        if self.progress.rounds_played != before:
            self._go_on()

    async def _withdraw_penalised(self, number: EntrantNumber) -> None:
        await self.withdraw(number, "the rules", f"no-shows or crashes: {self.document.penalties.withdraw_after}")

    async def withdraw(self, number: EntrantNumber, author: str, why: str) -> None:
        """Take a bot out: it forfeits its open matches, and is paired no more."""
        if self.started:
            self.progress.withdraw(number)
        left = self.progress.entrants[number].left if self.started else None
        await self._journal.withdraw(self.name, number, left or 0, author, why)
        self._replanned()

    async def enter(self, entrant: Entrant, author: str) -> None:
        """Add a bot. Raise LateEntry if the format takes none after the start."""
        if self.started:
            entrant = self.progress.entrants[self.progress.enter(entrant)]
        await self._journal.enter(self.name, entrant, author)
        self._replanned()

    def _replanned(self) -> None:
        self._indexed_round = -1
        if self.started:
            self._go_on()

    def _go_on(self) -> None:
        """Start what can start, or end the contest."""
        if not self.progress.over:
            return self._look()
        self._stop_timer()
        return self._on_over(self)

    # Players that do not come.

    def _set_timer(self, seconds: float | None = None) -> None:
        """Wake when the next absent player is overdue, or after these seconds."""
        self._stop_timer()
        if seconds is None and self._absent_since and self.document.penalties.no_show != "wait":
            seconds = min(self._absent_since.values()) + self.document.penalties.wait - self._loop.time()
        if seconds is not None and not self.paused:
            self._timer = self._loop.call_later(max(seconds, RETRY), self._wake)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _wake(self) -> None:
        self._timer = None
        self._look_for_absent()
        self._look()

    @property
    def awaited(self) -> list[str]:
        """The bots that have fixtures and are not here."""
        return [name for name in self._absent_since if self._open_of.get(name)]

    def _overdue(self, name: str, now: float) -> bool:
        rules = self.document.penalties
        return rules.no_show != "wait" and now - self._absent_since.get(name, now) >= rules.wait

    def _look_for_absent(self) -> None:
        """Decide the fixtures of players that are overdue."""
        if self.paused or self.progress.over:
            return
        now = self._loop.time()
        names = {entrant.name for entrant in self.progress.entrants if self._overdue(entrant.name, now)}
        fixtures = {key: fixture for name in names for key, fixture in self._open_of.get(name, {}).items()}
        for fixture in fixtures.values():
            if fixture.key not in self._playing:
                self._playing[fixture.key] = None
                absent = [seat for seat, name in enumerate(self._names(fixture)) if name in names]
                self._start_task(self._decide(fixture, unplayed(fixture, absent, self.document.penalties.no_show)))

    async def _decide(self, fixture: ContestFixture, result: FixtureResult) -> None:
        """Count a result without a match, once it is stored."""
        try:
            absent = ", ".join(self._names(fixture)[seat] for seat in result.absent)
            await self._journal.keep_results(self.name, {fixture.key: result}, "the document", f"no show: {absent}")
        except Exception:
            log_failure("a forfeit could not be stored")
            self._playing.pop(fixture.key)
            return
        self._count(fixture, result)
