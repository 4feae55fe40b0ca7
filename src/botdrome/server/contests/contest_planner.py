"""ContestPlanner: plans the next fixtures of contests, in a worker process where that takes long.

A worker reads the contest from the store. It keeps the contests that it planned last, so that the
next round of these needs only the results since then. Results that are stored while a plan is made
are in the plan, or are added to it when it arrives.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Collection, Sequence
from itertools import count

import msgspec
from msgspec import Struct

from botdrome.contest.formats.format import EntrantNumber, Fixture, FixtureResult
from botdrome.contest.progress import ContestProgress, OpenFixtures, plan_summary
from botdrome.server.workers.jobs import PiecewiseResult, ServerCaller
from botdrome.server.workers.pool import Workers
from botdrome.store.contest_journal import ContestReader
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
        self, before: OpenFixtures, changed: bool, underway: Collection[str]
    ) -> OpenFixtures:
        """Plan the fixtures to play now. `changed`: not only results were added since `before`."""
        after = 0 if changed or len(before.added) > MOST_ADDED else before.plan.number
        added = msgspec.msgpack.encode(before.added if after else {})
        name, document, entrants = before.document.name, before.document, before.entrants
        request = PlanRequest(name, next(_numbers), after, added, list(underway))
        await self._store.journal.settled()
        if len(entrants) + before.results <= SMALL:
            progress = await _progress(self._store, request)
            fixtures = OpenFixtures(plan_summary(request.number, progress), document, entrants)
            fixtures.open(progress.open.values())
            return fixtures
        target = f"{__name__}:plan_in_worker"
        job = await self._workers.run(
            CLIENT, target, self._store.source, request, long=True, limit=LONGEST
        )
        fixtures = OpenFixtures(job.value, document, entrants)
        async for piece in job.pieces():
            fixtures.open(msgspec.msgpack.decode(piece, type=list[Fixture]))
            await asyncio.sleep(0)
        return fixtures

    async def matches_of(
        self, contest: str, numbers: Sequence[EntrantNumber], failed: bool
    ) -> dict[str, FixtureResult]:
        """Return the results that are annulled if matches are played again: those of these
        entrants, or those that failed.
        """
        await self._store.journal.settled()
        target = f"{__name__}:annulled_in_worker"
        args = self._store.source, contest, numbers, failed
        job = await self._workers.run(CLIENT, target, *args, long=True, limit=LONGEST)
        return msgspec.msgpack.decode(job.value, type=dict[str, FixtureResult])


_kept: OrderedDict[str, tuple[int, ContestProgress]] = OrderedDict()
"""The contests planned last in this process, with the numbers of their plans."""


async def plan_in_worker(_: ServerCaller, source: Source, request: PlanRequest) -> PiecewiseResult:
    progress = await _progress(await reader(source), request)
    fixtures = list(progress.open.values())
    parts = [fixtures[start : start + PIECE] for start in range(0, len(fixtures), PIECE)]
    return PiecewiseResult(
        plan_summary(request.number, progress), list(map(msgspec.msgpack.encode, parts))
    )


async def _progress(store: StoreReader, request: PlanRequest) -> ContestProgress:
    number, progress = _kept.pop(request.contest, (0, None))
    if progress is not None and number == request.after:
        for key, result in msgspec.msgpack.decode(
            request.added, type=dict[str, FixtureResult]
        ).items():
            progress.add(key, result)
    else:
        stored = await ContestReader(store).load(request.contest)
        progress = ContestProgress(
            stored.entry.document, stored.entrants, stored.results, frozenset(request.underway)
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
    dropped = progress.forget(progress.with_results(numbers, failed))
    return msgspec.msgpack.encode(
        {key: stored.results[key] for key in sorted(dropped) if key in stored.results}
    )
