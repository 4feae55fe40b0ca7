"""RunningContest: seats the players of a contest as they come, counts results, and deals with
players that do not come.
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from itertools import islice

import structlog
from msgspec.structs import replace

from botdrome.contest.formats.format import ContestFixture, Entrant, EntrantNumber, FixtureResult
from botdrome.contest.progress import OpenFixtures, late_entrant, unplayed
from botdrome.server.contests.contest_matches import DECIDED, LOOKED_AT, SEATING, ContestMatches
from botdrome.server.contests.contest_planner import ContestPlanner
from botdrome.server.contests.contest_player import ContestPlayer
from botdrome.server.contests.current_plan import CurrentPlan
from botdrome.server.contests.entry_rules import BEFORE_THE_START
from botdrome.server.contests.no_shows import RETRY, NoShows
from botdrome.server.contests.pending_changes import PendingChanges, Start
from botdrome.server.failures import log_failure
from botdrome.store.contest_journal import ContestJournal, EnteredContest

log = structlog.get_logger()

MOVED = "its contest goes on at another node, which plays it again"
RULES = "the document"
"""The author of changes that nobody ordered."""


class RunningContest:
    def __init__(
        self,
        stored: EnteredContest,
        journal: ContestJournal,
        planner: ContestPlanner,
        start: Start,
        refusal: Callable[[], str],
        on_over: Callable[["RunningContest"], None],
        results: int,
    ) -> None:
        """`refusal` says why no match may begin at present; empty: it may.

        The contest has that many results.
        """
        self._matches = ContestMatches(self._match_over)
        self.players, self._playing = self._matches.players, self._matches.playing
        self.name = stored.entry.document.name
        self._plan = CurrentPlan(planner, self.name, self._playing, self._planned)
        self._read(stored, results)
        self.paused, self.started = True, False
        self._journal, self._start_task, self._refusal, self._on_over = (
            journal,
            start,
            refusal,
            on_over,
        )
        self._to_look: dict[str, None] = {}
        """The bots whose fixtures may be able to start."""
        self._looks: asyncio.Handle | None = None
        self._no_shows, self._pending = NoShows(self._wake), PendingChanges()
        self._refusal_told = ""

    def _read(self, stored: EnteredContest, results: int) -> None:
        self.document, self._secret, self.entrants = (
            stored.entry.document,
            stored.entry.secret,
            list(stored.entrants),
        )
        self._numbers = {entrant.name: number for number, entrant in enumerate(self.entrants)}
        self._plan.reset(self.entrants, results)

    @property
    def over(self) -> bool:
        """True if all fixtures have results."""
        return self._plan.fixtures.plan.over

    @property
    def playing(self) -> int:
        """The number of fixtures that are played or being stored."""
        return len(self._playing)

    def has(self, bot: str) -> bool:
        """Return True if a bot has entered, and not left."""
        number = self._numbers.get(bot)
        return number is not None and self.entrants[number].left is None

    # Players that come and go.

    def start(self, stored: EnteredContest) -> None:
        """Start with these entrants. No match begins before `resume`."""
        self.started = True
        self.reset(stored, self._plan.fixtures.results)

    def reset(self, stored: EnteredContest, results: int) -> None:
        """Forget results that are annulled. Players that wait stay."""
        self._read(stored, results)
        self._plan_anew(changed=True)

    def resume(self) -> None:
        """Seat the players that wait. Absent players are expected from now on."""
        self.paused = False
        for entrant in self.entrants:
            if entrant.name not in self.players:
                self._no_shows.expect(entrant.name)
        self._go_on()

    def pause(self, why: str = "") -> None:
        """Start no match. Running matches are played to their end, or aborted for a reason."""
        self.paused = True
        self._no_shows.stop()
        if why:
            self._matches.abort(why)

    def arrive(self, player: ContestPlayer) -> None:
        self.players.arrive(player)
        self._no_shows.arrive(player.name)
        self._look([player.name])

    def depart(self, name: str, ticket: int) -> None:
        """A player waits no longer."""
        if self.players.depart(name, ticket):
            self._note_absence(name)

    def take_back(self, name: str) -> None:
        """Its match in another contest is over."""
        self.players.stand_up([name])
        self._note_absence(name)

    def end(self) -> None:
        """The contest is over: abort its matches, and let all players go."""
        self.pause("the contest is over")
        self.started = False
        self.players.release(self.players.waiting)

    def _note_absence(self, name: str) -> None:
        if name not in self.players:
            self._no_shows.leave(name)
            self._watch()

    # Plans.

    def _plan_anew(self, *, changed: bool) -> None:
        """Plan the open fixtures. `changed`: not only results were added."""
        if self._plan.order(changed=changed):
            self._start_task(self._plan.make())

    def _planned(self, before: OpenFixtures) -> None:
        """A plan was made. Its absent players are expected from now on."""
        if not self.started:
            return
        for name in self._plan.fixtures.of:
            if not before.of.get(name) and name not in self.players:
                self._no_shows.expect(name)
        self._go_on()

    def _go_on(self, names: Iterable[str] | None = None) -> None:
        """Start what can start, of these bots or of all, plan the next fixtures, or end the
        contest.
        """
        if self._plan.in_work:
            return None
        if self.over:
            self._no_shows.stop()
            return self._on_over(self)
        if self._plan.fixtures.all_played:
            return self._plan_anew(changed=False)
        self._tell_refusal()
        return self._look(names)

    def _tell_refusal(self) -> None:
        """Write down once why the contest cannot continue: the organiser has to act."""
        refusal, told = self._plan.fixtures.plan.refusal, self._refusal_told
        self._refusal_told = refusal
        if refusal and refusal != told:
            log.warning("a contest cannot continue", contest=self.name, why=refusal)
            self._start_task(self._journal.write_log(self.name, RULES, "cannot continue", refusal))

    # Fixtures.

    @property
    def _waits(self) -> bool:
        """True if no match may begin, and no forfeit be decided."""
        return self.paused or self.over or self._plan.in_work or bool(self._pending)

    def _look(self, names: Iterable[str] | None = None) -> None:
        """Start the fixtures whose players all wait: those of these bots, or all."""
        self._to_look.update(dict.fromkeys(self.players.waiting if names is None else names))
        if self._looks is None:
            self._look_on()

    def _look_on(self) -> None:
        """Look at some fixtures now, and at the others in later callbacks."""
        self._looks = None
        if self._waits:
            return self._to_look.clear()  # all are looked at when the matches may begin
        if self._refusal():
            return self._no_shows.wake_in(RETRY)
        budget = LOOKED_AT
        for name in list(self._to_look):
            budget -= self._start_fixtures_of(name)
            self._to_look.pop(name, None)
            if budget <= 0:
                self._looks = asyncio.get_running_loop().call_soon(self._look_on)
                return None
        return self._watch()

    def _start_fixtures_of(self, name: str) -> int:
        """Start the fixtures of a bot that waits, and return the cost: the number of fixtures, and
        more for each start.
        """
        fixtures = (
            list(self._plan.fixtures.of.get(name, {}).values()) if self.players.next(name) else []
        )
        started = 0
        for fixture in fixtures:
            names = self._names(fixture)
            if self._matches.can_start(fixture, names):
                self._matches.start(self.document, self._secret, fixture, names)
                started += 1
        return 1 + len(fixtures) + started * SEATING

    def _names(self, fixture: ContestFixture) -> list[str]:
        return [self.entrants[number].name for number in fixture.entrants]

    def _match_over(self, fixture: ContestFixture, result: FixtureResult | None) -> None:
        names = self._names(fixture)
        if result is not None:
            self._count({fixture: result})
        elif any(self.entrants[number].left is not None for number in fixture.entrants):
            self._plan_anew(changed=True)  # it is forfeited
        else:
            self._go_on(names)
        for name in names:
            self._note_absence(name)

    def _count(self, results: Mapping[ContestFixture, FixtureResult]) -> None:
        for fixture, result in results.items():
            self._plan.fixtures.add(fixture.key, result)
        numbers = {number for fixture in results for number in fixture.entrants}
        limit, faults = self.document.penalties.withdraw_after, self._plan.fixtures.faults
        penalised = {number for number in numbers if limit is not None and faults[number] >= limit}
        for number in penalised:
            self._start_task(self._withdraw_penalised(number))
        if not penalised:
            self._go_on([self.entrants[number].name for number in numbers])

    async def _withdraw_penalised(self, number: EntrantNumber) -> None:
        if self.entrants[number].left is None:
            await self.withdraw(
                number, RULES, f"no-shows or crashes: {self.document.penalties.withdraw_after}"
            )
        else:
            self._go_on()

    # Entrants. Before the start they are only in the journal.

    async def withdraw(self, number: EntrantNumber, author: str, why: str) -> None:
        """Take a bot out: it forfeits its matches that have not begun, and is paired no more."""
        if not self.started:
            return await self._journal.withdraw(self.name, number, BEFORE_THE_START, author, why)
        await self._plan.made.wait()
        if self.entrants[number].left is None:
            self.entrants[number] = replace(
                self.entrants[number], left=self._plan.fixtures.plan.round + 1
            )
        entrant = self.entrants[number]
        await self._pending.store(
            lambda: self._journal.withdraw(self.name, number, entrant.left or 0, author, why)
        )
        self.players.release([entrant.name])
        return self._plan_anew(changed=True)

    async def enter(self, entrant: Entrant, author: str) -> None:
        """Add a bot. Raise LateEntry if the format takes none after the start."""
        if not self.started:
            await self._journal.enter(self.name, entrant, author)
            return
        await self._plan.made.wait()
        late = late_entrant(self.document, entrant, self._plan.fixtures.plan.round)
        self._numbers[late.name] = len(self.entrants)
        self.entrants.append(late)
        await self._pending.store(lambda: self._journal.enter(self.name, late, author))
        self._plan_anew(changed=True)

    # Players that do not come.

    @property
    def awaited(self) -> list[str]:
        """The bots that have fixtures and are not here, by name."""
        return sorted(
            [
                name
                for name, open_ in self._plan.fixtures.of.items()
                if open_ and name in self._no_shows
            ]
        )

    def _watch(self) -> None:
        if not self.paused:
            self._no_shows.watch(self.awaited, self.document.penalties)

    def _wake(self) -> None:
        self._look_for_absent()
        self._look()

    def _look_for_absent(self) -> None:
        """Decide the fixtures of players that are overdue."""
        if self._waits:
            return
        names = self._no_shows.overdue(self.awaited, self.document.penalties)
        of, results = self._plan.fixtures.of, dict[ContestFixture, FixtureResult]()
        overdue = (
            fixture
            for name in names
            for fixture in of[name].values()
            if fixture.key not in self._playing
        )
        for fixture in list(islice(overdue, DECIDED)):
            self._playing[fixture.key] = None
            absent = [seat for seat, name in enumerate(self._names(fixture)) if name in names]
            results[fixture] = unplayed(self.document, fixture, absent)
        if results:
            self._start_task(self._decide(results, ", ".join(sorted(names))))

    async def _decide(self, results: Mapping[ContestFixture, FixtureResult], absent: str) -> None:
        """Count results without a match, once they are stored."""
        by_key = {fixture.key: result for fixture, result in results.items()}
        try:
            await self._journal.keep_results(self.name, by_key, RULES, f"no show: {absent}")
        except Exception:
            log_failure("a forfeit could not be stored")
            results = {}
        for key in by_key:
            del self._playing[key]
        self._count(results)
