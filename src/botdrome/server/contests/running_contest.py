"""RunningContest: seats the players of a contest as they come, counts results, and deals with players that do not come."""

from collections import defaultdict
from collections.abc import Callable, Coroutine, Iterable, Mapping
from functools import partial
from typing import Any

import structlog

from botdrome.contest.fixture_results import fixture_result
from botdrome.contest.fixture_seeds import match_seed
from botdrome.contest.formats.format import ContestFixture, Entrant, EntrantNumber, FixtureResult
from botdrome.contest.progress import ContestProgress
from botdrome.server.contests.contest_player import ContestPlayer, contest_table
from botdrome.server.contests.entry_rules import BEFORE_THE_START
from botdrome.server.contests.no_shows import RETRY, NoShows
from botdrome.server.contests.pending_changes import PendingChanges
from botdrome.server.failures import log_failure
from botdrome.server.tables.subscriber import Subscriber
from botdrome.server.tables.table import Table
from botdrome.store.contest_journal import ContestJournal, StoredContest, result_note
from botdrome.store.store import Note

log = structlog.get_logger()

RULES = "the document"
"""The author of changes that nobody ordered."""
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
        self._playing: dict[str, Table | None] = {}
        """The fixtures that are played or being stored; None: a result without a match."""
        self._read(stored)
        self.paused, self.started = True, False
        self._journal, self._start_task, self._refusal, self._on_over = journal, start, refusal, on_over
        self._waiting: defaultdict[str, list[ContestPlayer]] = defaultdict(list)
        self._seats_taken: defaultdict[str, int] = defaultdict(int)
        """The number of matches that a bot plays."""
        self._open_of: defaultdict[str, dict[str, ContestFixture]] = defaultdict(dict)
        """The open fixtures of each bot, by their keys."""
        self._no_shows, self._pending = NoShows(self._wake), PendingChanges()
        self._refusal_told = ""

    def _read(self, stored: StoredContest) -> None:
        self.document, self.secret = stored.entry.document, stored.entry.secret
        self.progress = ContestProgress(stored.entry.document, stored.entrants, stored.results)
        self.progress.underway = self._playing.keys()
        self._indexed_plan = -1

    @property
    def name(self) -> str:
        return self.document.name

    def has(self, bot: str) -> bool:
        """Return True if a bot has entered, and not left."""
        return any(entrant.name == bot and entrant.left is None for entrant in self.progress.entrants)

    # Players that come and go.

    def start(self, stored: StoredContest) -> None:
        """Start with these entrants and results."""
        self._read(stored)
        self.started = True
        self.resume()

    def reset(self, stored: StoredContest) -> None:
        """Forget results that are annulled. Players that wait stay; the contest starts again."""
        self._read(stored)
        self.started = False

    def resume(self) -> None:
        """Seat the players that wait. Absent players are expected from now on."""
        self.paused = False
        for entrant in self.progress.entrants:
            if not self._is_here(entrant.name):
                self._no_shows.expect(entrant.name)
        self._go_on()

    def pause(self) -> None:
        """Start no match. Running matches are played to their end."""
        self.paused = True
        self._no_shows.stop()

    def arrive(self, player: ContestPlayer) -> None:
        self._waiting[player.name].append(player)
        self._no_shows.arrive(player.name)
        self._look([player.name])

    def depart(self, name: str, ticket: int) -> None:
        """A player waits no longer. Players that did not wait, such as those that were refused, are ignored."""
        waiting = self._waiting.get(name, [])
        for player in [player for player in waiting if player.ticket == ticket]:
            waiting.remove(player)
            self._note_absence(name)

    def end(self) -> None:
        """The contest is over: abort its matches, and let all players go."""
        self.pause()
        for table in [table for table in self._playing.values() if table is not None]:
            table.abort("the contest is over")
        for name in list(self._waiting):
            self._release(name)

    def _release(self, name: str) -> None:
        for player in self._waiting.pop(name, []):
            player.release()

    def _is_here(self, name: str) -> bool:
        return bool(self._waiting.get(name) or self._seats_taken.get(name))

    def _note_absence(self, name: str) -> None:
        if not self._is_here(name):
            self._no_shows.leave(name)
            self._watch()

    # Fixtures.

    def _look(self, names: Iterable[str] | None = None) -> None:
        """Start the fixtures whose players all wait: those of these bots, or all."""
        if self.paused or self.progress.over or self._pending:
            return
        if self._refusal():
            self._no_shows.wake_in(RETRY)
            return
        self._index_fixtures()
        groups = self._open_of.values() if names is None else [self._open_of.get(name, {}) for name in names]
        for fixture in [fixture for group in groups for fixture in group.values()]:
            if fixture.key not in self._playing and self._can_start(fixture):
                self._seat(fixture)
        self._watch()

    def _index_fixtures(self) -> None:
        """Sort new fixtures by bot, so that an arrival looks only at its own. Absent players are expected from now on."""
        if self._indexed_plan == self.progress.plans:
            return
        self._indexed_plan, before = self.progress.plans, self._open_of
        self._open_of = defaultdict(dict)
        for fixture in self.progress.open.values():
            for name in self._names(fixture):
                self._open_of[name][fixture.key] = fixture
        for name in self._open_of:
            if not before.get(name) and not self._is_here(name):
                self._no_shows.expect(name)

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
        table = contest_table(self.document, match_seed(self.secret, fixture.seed), partial(self._prepare, fixture))
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
            self._count({fixture: fixture_result(result, table.entry.id)})
        else:
            del self._playing[fixture.key]
            self.progress.reopen(fixture.key)
            self._go_on(names)
        for name in names:
            self._note_absence(name)

    def _count(self, results: Mapping[ContestFixture, FixtureResult]) -> None:
        for fixture, result in results.items():
            del self._playing[fixture.key]
            self.progress.add(fixture.key, result)
            for name in self._names(fixture):
                self._open_of[name].pop(fixture.key, None)
        numbers = {number for fixture in results for number in fixture.entrants}
        penalised = {number for number in numbers if self.progress.penalised(number)}
        for number in penalised:
            self._start_task(self._withdraw_penalised(number))
        if not penalised:
            self._go_on([self.progress.entrants[number].name for number in numbers])

    async def _withdraw_penalised(self, number: EntrantNumber) -> None:
        if self.progress.entrants[number].left is None:
            await self.withdraw(number, RULES, f"no-shows or crashes: {self.document.penalties.withdraw_after}")
        else:
            self._go_on()

    # Entrants. Before the start they are only in the journal.

    async def withdraw(self, number: EntrantNumber, author: str, why: str) -> None:
        """Take a bot out: it forfeits its matches that have not begun, and is paired no more."""
        if not self.started:
            return await self._journal.withdraw(self.name, number, BEFORE_THE_START, author, why)
        self.progress.withdraw(number)
        entrant = self.progress.entrants[number]
        await self._pending.store(lambda: self._journal.withdraw(self.name, number, entrant.left or 0, author, why))
        self._release(entrant.name)
        return self._go_on()

    async def enter(self, entrant: Entrant, author: str) -> None:
        """Add a bot. Raise LateEntry if the format takes none after the start."""
        if not self.started:
            await self._journal.enter(self.name, entrant, author)
            return
        late = self.progress.entrants[self.progress.enter(entrant)]
        await self._pending.store(lambda: self._journal.enter(self.name, late, author))
        self._go_on()

    def _go_on(self, names: Iterable[str] | None = None) -> None:
        """Start what can start, of these bots or of all if there are new fixtures, or end the contest."""
        if self.progress.over:
            self._no_shows.stop()
            return self._on_over(self)
        self._tell_refusal()
        return self._look(names if self._indexed_plan == self.progress.plans else None)

    def _tell_refusal(self) -> None:
        """Write down once why the contest cannot continue: the organiser has to act."""
        refusal, told = self.progress.refusal, self._refusal_told
        self._refusal_told = refusal
        if refusal and refusal != told:
            log.warning("a contest cannot continue", contest=self.name, why=refusal)
            self._start_task(self._journal.write_log(self.name, RULES, "cannot continue", refusal))

    # Players that do not come.

    @property
    def awaited(self) -> list[str]:
        """The bots that have fixtures and are not here, by name."""
        return sorted([name for name, fixtures in self._open_of.items() if fixtures and name in self._no_shows])

    def _watch(self) -> None:
        if not self.paused:
            self._no_shows.watch(self.awaited, self.document.penalties)

    def _wake(self) -> None:
        self._look_for_absent()
        self._look()

    def _look_for_absent(self) -> None:
        """Decide the fixtures of players that are overdue."""
        if self.paused or self.progress.over or self._pending:
            return
        names = self._no_shows.overdue(self.awaited, self.document.penalties)
        fixtures = {fixture for name in names for fixture in self._open_of[name].values() if fixture.key not in self._playing}
        results: dict[ContestFixture, FixtureResult] = {}
        for fixture in fixtures:
            self._playing[fixture.key] = None
            absent = [seat for seat, name in enumerate(self._names(fixture)) if name in names]
            results[fixture] = self.progress.unplayed(fixture, absent)
        if results:
            self._start_task(self._decide(results, ", ".join(sorted(names))))

    async def _decide(self, results: Mapping[ContestFixture, FixtureResult], absent: str) -> None:
        """Count results without a match, once they are stored."""
        by_key = {fixture.key: result for fixture, result in results.items()}
        try:
            await self._journal.keep_results(self.name, by_key, RULES, f"no show: {absent}")
        except Exception:
            log_failure("a forfeit could not be stored")
            for key in by_key:
                del self._playing[key]
            return
        self._count(results)
