"""RunningContest: seats the players of a contest as they come, counts results, and deals with
players that do not come.
"""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Collection, Coroutine, Iterable, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import Any

import structlog

from botdrome.contest.document import ContestDocument, Penalties
from botdrome.contest.formats.format import Entrant, EntrantNumber, Fixture, FixtureResult
from botdrome.contest.progress import (
    OpenFixtures,
    PlanSummary,
    fixture_result,
    match_seed,
    unplayed,
)
from botdrome.match.record import fingerprint
from botdrome.server.contests.contest_planner import ContestPlanner
from botdrome.server.failures import log_failure
from botdrome.server.lobby.contest_queue import ContestPlayer, contest_table
from botdrome.server.tables.table import Subscriber, Table
from botdrome.server.workers.jobs import WorkersClosed
from botdrome.store.contest_journal import ContestJournal, EnteredContest, result_note
from botdrome.store.entries import Note

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


class ContestMatches:
    def __init__(self, ended: Callable[[Fixture, FixtureResult | None], None]) -> None:
        """`ended` is called when the result of a match is stored; None: it was aborted, and is
        played again.
        """
        self.players = PresentPlayers()
        self.playing: dict[str, Table | None] = {}
        """The fixtures that are played or being stored; None: a result without a match."""
        self._ended = ended

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
        table = contest_table(
            document,
            match_seed(secret, fixture.seed),
            partial(self._prepare, fixture, names, after),
        )
        max(players, key=lambda player: player.opener.rank).opener.open_for_contest(table, players)

    def abort(self, why: str) -> None:
        for table in [table for table in self.playing.values() if table is not None]:
            table.abort(why)

    def _prepare(
        self,
        fixture: Fixture,
        names: Sequence[str],
        after: Sequence[Callable[[], None]],
        table: Table,
    ) -> None:
        self.playing[fixture.key] = table
        table.subscribe(
            Subscriber(
                notes=partial(_notes, fixture), over=partial(self._over, fixture, names, after)
            )
        )

    def _over(
        self,
        fixture: Fixture,
        names: Sequence[str],
        after: Sequence[Callable[[], None]],
        table: Table,
    ) -> None:
        self.players.stand_up(names)
        del self.playing[fixture.key]
        self._ended(fixture, _result(table) if table.stored else None)
        for call in after:
            call()


def _result(table: Table) -> FixtureResult | None:
    result = table.match.result
    return (
        None
        if result is None or result.aborted
        else fixture_result(result, table.entry.id, fingerprint(table.match))
    )


def _notes(fixture: Fixture, table: Table) -> tuple[Note, ...]:
    """The result of the fixture is stored together with the match, so it counts exactly once."""
    result = _result(table)
    return () if result is None else (result_note(table.entry.contest or "", fixture.key, result),)


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


# CurrentPlan: the open fixtures of a running contest, and the next plan while it is made.


class CurrentPlan:
    """No match begins while a plan is made. Results that arrive meanwhile count for both plans."""

    def __init__(
        self,
        planner: ContestPlanner,
        playing: Collection[str],
        tell: Callable[[OpenFixtures], None],
    ) -> None:
        """`playing` are the fixtures that are played or being stored.

        `tell` is called with the plan before, after a new one.
        """
        self._planner, self._playing, self._tell = planner, playing, tell
        self._ordered = self._changed = False
        self.in_work, self.made = False, asyncio.Event()
        """`made` is set when there is a plan, though another one may be in work."""

    def reset(self, document: ContestDocument, entrants: list[Entrant], results: int) -> None:
        """Drop the plan. The contest has about that many results."""
        self._changed, self._ordered = True, self.in_work
        self.made.clear()
        self.fixtures = OpenFixtures(PlanSummary(0, results=results), document, entrants)

    def order(self, *, changed: bool) -> bool:
        """Order a plan, and return True if the caller must await `make`.

        `changed`: not only results were added.
        """
        self._ordered, self._changed = True, self._changed or changed
        starts, self.in_work = not self.in_work, True
        return starts

    async def make(self) -> None:
        """Make the plan that is ordered, until no other is ordered meanwhile."""
        while self._ordered:
            changed, self._ordered, self._changed = self._changed, False, False
            try:
                fixtures = await self._planner.plan(self.fixtures, changed, self._playing)
            except WorkersClosed:
                return
            except Exception:
                log_failure("a contest could not be planned")
                self.order(changed=changed)
                await asyncio.sleep(RETRY)
                continue
            if self._ordered:
                self._changed = True  # this plan is out of date
        before, self.fixtures, self.in_work = self.fixtures, fixtures, False
        for key, result in before.added.items():
            self.fixtures.add(key, result)
        self.made.set()
        self._tell(before)


# PendingChanges: changes of the entrants of a contest that are being stored.

Start = Callable[[Coroutine[Any, Any, None]], None]
"""Starts a background task."""


class PendingChanges:
    """No match begins while there are any, since the next pairing depends on them."""

    def __init__(self) -> None:
        self._left = 0

    def __bool__(self) -> bool:
        return self._left > 0

    async def store(self, change: Callable[[], Awaitable[object]]) -> None:
        """Try until it is stored: the plan of the contest has changed already."""
        self._left += 1
        try:
            while not await _done(change):
                await asyncio.sleep(RETRY)
        finally:
            self._left -= 1


async def _done(change: Callable[[], Awaitable[object]]) -> bool:
    try:
        await change()
    except Exception:
        log_failure("a change of a contest could not be stored")
        return False
    return True


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
        self._plan = CurrentPlan(planner, self._playing, self._planned)
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
        self._plan.reset(self.document, self.entrants, results)

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

    def _names(self, fixture: Fixture) -> list[str]:
        return [self.entrants[number].name for number in fixture.entrants]

    def _match_over(self, fixture: Fixture, result: FixtureResult | None) -> None:
        names = self._names(fixture)
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
            self._plan.fixtures.add(fixture.key, result)
        numbers = {number for fixture in results for number in fixture.entrants}
        penalised = set(filter(self._plan.fixtures.penalised, numbers))
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
        entrant = self._plan.fixtures.leave(number)
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
        number = self._numbers[entrant.name] = self._plan.fixtures.enter(entrant)
        late = self.entrants[number]
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
        of, results = self._plan.fixtures.of, dict[Fixture, FixtureResult]()
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
