"""ContestPlanner: plans the next fixtures of contests, in a worker process where that takes long.

A worker reads the contest from the store. It keeps the contests that it planned last, so that the
next round of these needs only the results since then. Results that are stored while a plan is made
are in the plan, or are added to it when it arrives.
"""

import asyncio
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Collection, Iterable, Sequence
from itertools import count
from typing import Any

import msgspec
from msgspec import Struct

from botdrome.contest.formats.format import EntrantNumber, Fixture, FixtureResult
from botdrome.contest.progress import ContestProgress, faulty
from botdrome.server.workers.jobs import PiecewiseResult, ServerCaller, at_low_priority
from botdrome.server.workers.pool import BackgroundWork, Job, Workers
from botdrome.store.contest_journal import ContestReader, StoredContest
from botdrome.store.entries import Source
from botdrome.store.store import Store, StoreReader, reader

SMALL = 100
"""Entrants and results of a contest that the event loop plans itself: that takes at most 5 ms of
processor time.
"""
UNKNOWN = SMALL
"""In place of a number of results that is not known."""
PIECE = 500
"""Fixtures that are received at once, within 2 ms."""
MOST_ADDED = 10_000
"""Results that are sent to a worker, within 2 ms; it reads more from the store."""
MOST_KEPT = 4
"""Contests that a process keeps for their next rounds."""
CLIENT = "contests"
"""The name under which planning takes its turns among the jobs of clients."""
LONGEST = 600.0
"""The time limit of planning in a worker, in seconds."""
_numbers = count(1)


class PlanSummary(Struct, frozen=True):
    """A plan without its fixtures."""

    number: int = 0
    """Unique among all plans of a server; 0: nothing is planned yet."""
    size: int = 0
    """How many entrants and results the contest has."""
    round: int = 0
    """The latest round that has begun."""
    over: bool = False
    refusal: str = ""
    """Why the contest cannot continue; empty: it can, or it is over."""
    faults: dict[EntrantNumber, int] = {}
    """The no-shows and crashes of each entrant."""


class ContestPlan:
    """The fixtures that can be played now, and the results since they were planned."""

    def __init__(self, summary: PlanSummary) -> None:
        self.summary, self.faults = summary, Counter(summary.faults)
        self.of: defaultdict[EntrantNumber, dict[str, Fixture]] = defaultdict(dict)
        """The fixtures without results, by entrant and key."""
        self.added: dict[Fixture, FixtureResult] = {}
        self._left = 0

    @property
    def all_played(self) -> bool:
        """True if the next plan is due."""
        return bool(self.added) and not self._left

    def open(self, fixtures: Iterable[Fixture]) -> None:
        for fixture in fixtures:
            self._left += 1
            for number in fixture.entrants:
                self.of[number][fixture.key] = fixture

    def add(self, fixture: Fixture, result: FixtureResult) -> None:
        """Count a result, unless the plan knows it already."""
        if fixture.key not in self.of.get(fixture.entrants[0], ()):
            return
        self._left -= 1
        for number in fixture.entrants:
            del self.of[number][fixture.key]
        self.added[fixture] = result
        self.faults.update(faulty(fixture, result))


class PlanRequest(Struct, frozen=True):
    contest: str
    number: int
    """Of the plan to make."""
    after: int
    """The plan that is continued with the results in `added`; 0: none, read everything."""
    added: bytes
    underway: list[str]
    """The fixtures that are being played or stored."""


class ContestPlanner:
    def __init__(self, store: Store, workers: Workers) -> None:
        self._store, self._workers = store, workers

    async def plan(
        self, contest: str, before: ContestPlan, changed: bool, underway: Collection[str]
    ) -> ContestPlan:
        """Plan the fixtures to play now. `changed`: not only results were added since `before`."""
        after = 0 if changed or len(before.added) > MOST_ADDED else before.summary.number
        added = {fixture.key: result for fixture, result in before.added.items()} if after else {}
        request = PlanRequest(
            contest, next(_numbers), after, msgspec.msgpack.encode(added), list(underway)
        )
        await self._store.journal.settled()
        if before.summary.size + len(before.added) <= SMALL:
            progress = _progress(await _known(self._store, request), request)
            plan = ContestPlan(_summary(request, progress))
            plan.open(progress.open.values())
            return plan
        job = await self._run("plan_in_worker", request, background="plan")
        plan = ContestPlan(job.value)
        async for piece in job.pieces():
            plan.open(msgspec.msgpack.decode(piece, type=list[Fixture]))
            await asyncio.sleep(0)
        return plan

    async def annulled(
        self, contest: str, numbers: Sequence[EntrantNumber], failed: bool
    ) -> dict[str, FixtureResult]:
        """Return the results that are annulled if matches are played again: those of these
        entrants, or those that failed.
        """
        await self._store.journal.settled()
        job = await self._run("annulled_in_worker", contest, numbers, failed)
        return msgspec.msgpack.decode(job.value, type=dict[str, FixtureResult])

    async def _run(
        self, function: str, *args: Any, background: BackgroundWork | None = None
    ) -> Job:
        target = f"{__name__}:{function}"
        return await self._workers.run(
            CLIENT,
            target,
            self._store.source,
            *args,
            long=True,
            background=background,
            limit=LONGEST,
        )


_kept: OrderedDict[str, tuple[int, ContestProgress]] = OrderedDict()
"""The contests planned last in this process, with the numbers of their plans."""


async def plan_in_worker(_: ServerCaller, source: Source, request: PlanRequest) -> PiecewiseResult:
    known = await _known(await reader(source), request)
    return await at_low_priority(_plan, known, request)


def _plan(known: ContestProgress | StoredContest, request: PlanRequest) -> PiecewiseResult:
    progress = _progress(known, request)
    fixtures = list(progress.open.values())
    parts = [fixtures[start : start + PIECE] for start in range(0, len(fixtures), PIECE)]
    return PiecewiseResult(_summary(request, progress), list(map(msgspec.msgpack.encode, parts)))


def _summary(request: PlanRequest, progress: ContestProgress) -> PlanSummary:
    return PlanSummary(
        request.number,
        len(progress.entrants) + len(progress.results),
        progress.round,
        progress.over,
        progress.refusal,
        dict(progress.faults),
    )


async def _known(store: StoreReader, request: PlanRequest) -> ContestProgress | StoredContest:
    """Return what this process has kept, or read everything."""
    number, progress = _kept.pop(request.contest, (0, None))
    if progress is not None and number == request.after:
        return progress
    return await ContestReader(store).load(request.contest)


def _progress(known: ContestProgress | StoredContest, request: PlanRequest) -> ContestProgress:
    if isinstance(known, ContestProgress):
        progress = known
        for key, result in msgspec.msgpack.decode(
            request.added, type=dict[str, FixtureResult]
        ).items():
            progress.add(key, result)
    else:
        progress = ContestProgress(
            known.entry.document, known.entrants, known.results, frozenset(request.underway)
        )
    _kept[request.contest] = request.number, progress
    if len(_kept) > MOST_KEPT:
        _kept.popitem(last=False)
    return progress


async def annulled_in_worker(
    _: ServerCaller, source: Source, contest: str, numbers: Sequence[EntrantNumber], failed: bool
) -> bytes:
    stored = await ContestReader(await reader(source)).load(contest)
    progress = ContestProgress(stored.entry.document, stored.entrants, stored.results)
    return msgspec.msgpack.encode(progress.annul(numbers, failed))
