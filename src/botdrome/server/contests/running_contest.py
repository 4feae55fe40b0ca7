"""RunningContest: seats the players of a contest as they come, counts results, and deals with
players that do not come.
"""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence
from itertools import islice
from typing import Any

import structlog

from botdrome.contest.document import ContestDocument, Penalties
from botdrome.contest.formats.format import Entrant, EntrantNumber, Fixture, FixtureResult
from botdrome.contest.progress import (
    entered,
    fixture_result,
    match_seed,
    unplayed,
    withdrawn,
)
from botdrome.match.record import fingerprint
from botdrome.server.contests.contest_planner import ContestPlan, ContestPlanner, PlanSummary
from botdrome.server.failures import log_failure
from botdrome.server.lobby.contest_queue import ContestPlayer, contest_table
from botdrome.server.tables.table import Subscriber, Table
from botdrome.server.workers.jobs import WorkersClosed
from botdrome.store.contest_journal import ContestJournal, EnteredContest
from botdrome.store.entries import ContestResult

# PresentPlayers: the players of a contest that are here. They wait for a match, or play one.


class PresentPlayers:
    def __init__(self) -> None:
        self._waiting: defaultdict[str, list[ContestPlayer]] = defaultdict(list)
        self._playing: Counter[str] = Counter()
        """The number of matches that a bot plays."""

    def __contains__(self, name: str) -> bool:
        return bool(self._waiting.get(name) or self._playing[name])

    @property
    def waiting(self) -> list[str]:
        """The names of the bots that wait."""
        return [name for name, players in self._waiting.items() if players]

    def next(self, name: str) -> ContestPlayer | None:
        """Return the player of this name that has waited longest."""
        waiting = self._waiting.get(name)
        return waiting[0] if waiting else None

    def arrive(self, player: ContestPlayer) -> None:
        """Of several versions of a bot the newest waits on."""
        waiting = self._waiting[player.name]
        old = [one for one in waiting if one.version != player.version]
        waiting[:] = [one for one in waiting if one not in old] + [player]
        for one in old:
            one.release()

    def depart(self, name: str, ticket: int) -> bool:
        """Return False if there was no such player, as if it was refused."""
        waiting = self._waiting.get(name, [])
        leaving = [player for player in waiting if player.ticket == ticket]
        for player in leaving:
            waiting.remove(player)
        return bool(leaving)

    def release(self, names: Iterable[str]) -> None:
        """Let players go that wait."""
        for name in list(names):
            for player in self._waiting.pop(name, []):
                player.release()

    def sit_down(self, names: Sequence[str]) -> list[ContestPlayer]:
        """Take players that wait. House bots play any number of matches at once."""
        players = [self._waiting[name][0] for name in names]
        for player in players:
            if not player.is_house:
                self._waiting[player.name].pop(0)
        self._playing.update(names)
        return players

    def lend(self, name: str, ticket: int) -> bool:
        """Another contest has seated a player that waits: it is here until it stands up.

        Return False if it does not wait.
        """
        lent = self.depart(name, ticket)
        self._playing[name] += lent
        return lent

    def stand_up(self, names: Iterable[str]) -> None:
        self._playing.subtract(names)


# ContestMatches: the matches of a contest that are being played, and the players that are here for
# the next ones.

MOST_AT_ONCE = 50
"""Matches of house bots alone that run at the same time."""
LOOKED_AT, SEATING = 800, 100
"""Fixtures that one callback looks at, within 3 ms; starting a match costs as much as looking at
100.
"""
DECIDED = 400
"""Fixtures of absent players that are decided at once; more follow a second later."""
MOST_LEFT = 2
"""Times that a fixture is played again since a runner has left its match."""


class ContestMatches:
    def __init__(self, ended: Callable[[Fixture, FixtureResult | None, str], None]) -> None:
        """`ended` is called when the result of a match is stored; None: it is played again, since
        it was aborted, or since a runner has left the match of this id.
        """
        self.players = PresentPlayers()
        self.playing: dict[str, Table | None] = {}
        """The fixtures that are played or being stored; None: a result without a match."""
        self._ended = ended
        self._left = Counter[str]()
        """How often each fixture was left by a runner."""

    def can_start(self, fixture: Fixture, names: Sequence[str]) -> bool:
        players = [self.players.next(name) for name in names]
        if fixture.key in self.playing or not all(players):
            return False
        return len(self.playing) < MOST_AT_ONCE or not all(
            player.is_house for player in players if player
        )

    def start(
        self, document: ContestDocument, secret: str, fixture: Fixture, names: Sequence[str]
    ) -> None:
        self.playing[fixture.key] = None
        players = self.players.sit_down(names)
        after = [player.on_seat() for player in players]

        def prepare(table: Table) -> None:
            self.playing[fixture.key] = table
            table.subscribe(Subscriber(notes=notes, over=over))

        def left(table: Table) -> bool:
            return _was_left(document, table) and self._left[fixture.key] < MOST_LEFT

        def notes(table: Table) -> tuple[ContestResult, ...]:
            return () if left(table) else _notes(fixture, table)

        def over(table: Table) -> None:
            self.players.stand_up(names)
            del self.playing[fixture.key]
            if table.stored and left(table):
                self._left[fixture.key] += 1
                self._ended(fixture, None, table.entry.id)
            else:
                self._ended(fixture, _result(table) if table.stored else None, "")
            for call in after:
                call()

        table = contest_table(document, match_seed(secret, fixture.seed), prepare)
        max(players, key=lambda player: player.opener.rank).opener.open_for_contest(table, players)

    def abort(self, why: str) -> None:
        for table in [table for table in self.playing.values() if table is not None]:
            table.abort(why)


def _result(table: Table) -> FixtureResult | None:
    result = table.match.result
    return (
        None
        if result is None or result.aborted
        else fixture_result(result, table.entry.id, fingerprint(table.match))
    )


def _was_left(document: ContestDocument, table: Table) -> bool:
    """Return True if the runner of a bot was lost or stopped: in a contest of a class, all bots but
    house bots are hosted, and a hosted bot itself cannot close its connection.
    """
    result = table.match.result
    hosted = document.entry.kind == "class" and result is not None and not result.aborted
    return hosted and result is not None and "disconnect" in result.causes


def _notes(fixture: Fixture, table: Table) -> tuple[ContestResult, ...]:
    """The result of the fixture is stored together with the match, so it counts exactly once."""
    result = _result(table)
    contest = table.entry.contest or ""
    return () if result is None else (ContestResult(contest, fixture.key, result),)


# NoShows: the entrants of a contest that are not here, and a timer that wakes when the next one is
# overdue.

RETRY = 1.0
"""Seconds until fixtures are tried again while no match may begin or a result could not be stored.
"""


class NoShows:
    def __init__(self, wake: Callable[[], None]) -> None:
        self._wake, self._loop = wake, asyncio.get_running_loop()
        self._since: dict[str, float] = {}
        self._timer: asyncio.TimerHandle | None = None

    def __contains__(self, name: str) -> bool:
        return name in self._since

    def expect(self, name: str) -> None:
        """An entrant is not here, and is expected from now on."""
        self._since[name] = self._loop.time()

    def leave(self, name: str) -> None:
        self._since.setdefault(name, self._loop.time())

    def arrive(self, name: str) -> None:
        self._since.pop(name, None)

    def overdue(self, awaited: Iterable[str], rules: Penalties) -> set[str]:
        if rules.no_show == "wait":
            return set()
        now = self._loop.time()
        return {name for name in awaited if now - self._since[name] >= rules.wait}

    def watch(self, awaited: Iterable[str], rules: Penalties) -> None:
        """Wake when the first of these is overdue."""
        self.stop()
        since = [self._since[name] for name in awaited]
        if since and rules.no_show != "wait":
            self.wake_in(min(since) + rules.wait - self._loop.time())

    def wake_in(self, seconds: float) -> None:
        self.stop()
        self._timer = self._loop.call_later(max(seconds, RETRY), self._wake)

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


Start = Callable[[Coroutine[Any, Any, None]], None]
"""Starts a background task."""
log = structlog.get_logger()

BEFORE_THE_START = 0
"""The round from which an entrant no longer plays if it was withdrawn before the start."""
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
        self._journal, self._planner, self._start_task = journal, planner, start
        self._refusal, self._on_over = refusal, on_over
        self._planning, self._has_plan = False, asyncio.Event()
        self._read(stored, results)
        self.paused, self.started = True, False
        self._pending = 0
        """Changes of entrants that are being stored. No match begins meanwhile, since the next
        pairing depends on them.
        """
        self._to_look: dict[str, None] = {}
        """The bots whose fixtures may be able to start."""
        self._looks: asyncio.Handle | None = None
        self._no_shows, self._refusal_told = NoShows(self._wake), ""

    def _read(self, stored: EnteredContest, results: int) -> None:
        """Take these entrants, and drop the plan."""
        self.document, self._secret = stored.entry.document, stored.entry.secret
        self.entrants = list(stored.entrants)
        self._numbers = {entrant.name: number for number, entrant in enumerate(self.entrants)}
        self._changed, self._ordered = True, self._planning
        self._has_plan.clear()
        self._plan = ContestPlan(PlanSummary(size=len(self.entrants) + results))

    @property
    def over(self) -> bool:
        """True if all fixtures have results."""
        return self._plan.summary.over

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
        self.reset(stored, self._plan.summary.size - len(self.entrants))

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

    # Plans. No match begins while one is made. Results that arrive meanwhile count for both plans.

    def _plan_anew(self, *, changed: bool) -> None:
        """Plan the open fixtures. `changed`: not only results were added."""
        self._ordered, self._changed = True, self._changed or changed
        if not self._planning:
            self._planning = True
            self._start_task(self._make_plan())

    async def _make_plan(self) -> None:
        """Plan until no other plan is ordered meanwhile."""
        while self._ordered:
            changed, self._ordered, self._changed = self._changed, False, False
            try:
                plan = await self._planner.plan(self.name, self._plan, changed, self._playing)
            except WorkersClosed:
                return
            except Exception:
                log_failure("a contest could not be planned")
                self._plan_anew(changed=changed)
                await asyncio.sleep(RETRY)
                continue
            if self._ordered:
                self._changed = True  # this plan is out of date
        before, self._plan, self._planning = self._plan, plan, False
        for fixture, result in before.added.items():
            plan.add(fixture, result)
        self._has_plan.set()
        if self.started:
            self._expect_new(before)
            self._go_on()

    def _expect_new(self, before: ContestPlan) -> None:
        """Expect absent players that had no fixtures before, from now on."""
        for number in self._plan.of:
            name = self.entrants[number].name
            if not before.of.get(number) and name not in self.players:
                self._no_shows.expect(name)

    def _go_on(self, names: Iterable[str] | None = None) -> None:
        """Start what can start, of these bots or of all, plan the next fixtures, or end the
        contest.
        """
        if self._planning:
            return None
        if self.over:
            self._no_shows.stop()
            return self._on_over(self)
        if self._plan.all_played:
            return self._plan_anew(changed=False)
        self._tell_refusal()
        return self._look(names)

    def _tell_refusal(self) -> None:
        """Write down once why the contest cannot continue: the organiser has to act."""
        refusal, told = self._plan.summary.refusal, self._refusal_told
        self._refusal_told = refusal
        if refusal and refusal != told:
            log.warning("a contest cannot continue", contest=self.name, why=refusal)
            self._start_task(self._journal.write_log(self.name, RULES, "cannot continue", refusal))

    # Fixtures.

    @property
    def _waits(self) -> bool:
        """True if no match may begin, and no forfeit be decided."""
        return self.paused or self.over or self._planning or self._pending > 0

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
        number = self._numbers.get(name) if self.players.next(name) else None
        fixtures = [] if number is None else list(self._plan.of.get(number, {}).values())
        started = 0
        for fixture in fixtures:
            names = self._names(fixture)
            if self._matches.can_start(fixture, names):
                self._matches.start(self.document, self._secret, fixture, names)
                started += 1
        return 1 + len(fixtures) + started * SEATING

    def _names(self, fixture: Fixture) -> list[str]:
        return [self.entrants[number].name for number in fixture.entrants]

    def _match_over(self, fixture: Fixture, result: FixtureResult | None, left: str) -> None:
        names = self._names(fixture)
        if left:
            told = f"{fixture.key}: a runner was lost or stopped in match {left}"
            self._start_task(self._journal.write_log(self.name, RULES, "played again", told))
        if result is not None:
            self._count({fixture: result})
        elif any(self.entrants[number].left is not None for number in fixture.entrants):
            self._plan_anew(changed=True)  # it is forfeited
        else:
            self._go_on(names)
        for name in names:
            self._note_absence(name)

    def _count(self, results: Mapping[Fixture, FixtureResult]) -> None:
        for fixture, result in results.items():
            self._plan.add(fixture, result)
        numbers = {number for fixture in results for number in fixture.entrants}
        withdraw, faults = self.document.penalties.withdraw, self._plan.faults
        penalised = {number for number in numbers if withdraw(faults[number])}
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
        await self._has_plan.wait()
        entrant = withdrawn(self.entrants[number], self._plan.summary.round)
        self.entrants[number] = entrant
        await self._store(
            lambda: self._journal.withdraw(self.name, number, entrant.left or 0, author, why)
        )
        self.players.release([entrant.name])
        return self._plan_anew(changed=True)

    async def enter(self, entrant: Entrant, author: str) -> None:
        """Add a bot. Raise LateEntry if the format takes none after the start."""
        if not self.started:
            await self._journal.enter(self.name, entrant, author)
            return
        await self._has_plan.wait()
        late = entered(self.document, entrant, self._plan.summary.round)
        self._numbers[late.name] = len(self.entrants)
        self.entrants.append(late)
        await self._store(lambda: self._journal.enter(self.name, late, author))
        self._plan_anew(changed=True)

    async def _store(self, change: Callable[[], Awaitable[object]]) -> None:
        """Try until it is stored: the entrants of the contest have changed already."""
        self._pending += 1
        try:
            while not await self._stored(change):
                await asyncio.sleep(RETRY)
        finally:
            self._pending -= 1

    async def _stored(self, change: Callable[[], Awaitable[object]]) -> bool:
        try:
            await change()
        except Exception:
            log_failure("a change of a contest could not be stored")
            return False
        return True

    # Players that do not come.

    @property
    def awaited(self) -> list[str]:
        """The bots that have fixtures and are not here, by name."""
        busy = (self.entrants[number].name for number, open_ in self._plan.of.items() if open_)
        return sorted(name for name in busy if name in self._no_shows)

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
        results = dict[Fixture, FixtureResult]()
        overdue = (
            fixture
            for name in names
            for fixture in self._plan.of[self._numbers[name]].values()
            if fixture.key not in self._playing
        )
        for fixture in list(islice(overdue, DECIDED)):
            self._playing[fixture.key] = None
            absent = [seat for seat, name in enumerate(self._names(fixture)) if name in names]
            results[fixture] = unplayed(self.document, fixture, absent)
        if results:
            self._start_task(self._decide(results, ", ".join(sorted(names))))

    async def _decide(self, results: Mapping[Fixture, FixtureResult], absent: str) -> None:
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
