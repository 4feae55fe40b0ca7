"""Journal: gathers the changes that wait while a batch is being written, and writes them as the next one.

Whoever entered a change is told when it is on disk, and yet a thousand of them cost hardly more than one. Where the process has
time, nobody waits for company. What the database refuses is tried again alone, so that a bad change spoils no other, nor does
another process that was quicker.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from itertools import islice
from time import process_time
from typing import Any

from botdrome.store.changes import Change, Outcome
from botdrome.store.sheet import Begin
from botdrome.store.store import StoreUnavailable

LARGEST_BATCH = 1_000
MOST_KEPT = 100_000
"""Beginnings that could not be written are kept for the next batch, but not more than that."""
COMPANY = 0.025
"""Seconds that a change waits for others to be written with it, in a process that has no time to lose at all."""
QUIET = 0.75
"""A process that uses no more of a core than this lets nobody wait: what gathering saves would go to waste."""
LEISURE = 0.05
"""How long a beginning waits, which nobody waits for."""
MEMORY = 0.2
"""Seconds after which it hardly matters any more how busy the process was."""

Write = Callable[[Sequence[Change]], Awaitable[list[Outcome]]]
"""Writes all or nothing. StoreUnavailable: it is no use to try them one by one."""
Entry = tuple[Change, asyncio.Future[Any]]


class Journal:
    def __init__(self, write: Write, spent: Callable[[], float] = process_time) -> None:
        """`spent` tells how much time of processors this process has used."""
        self._write, self._spent = write, spent
        self._loop = asyncio.get_running_loop()
        self._waiting: deque[Entry] = deque()
        self._kept: list[Begin] = []
        self._begun: asyncio.Future[Any] | None = None
        self._alarm: asyncio.TimerHandle | None = None
        self._alarm_at = 0.0
        self._company = self._busy = 0.0
        self._looked, self._spent_then = self._loop.time(), spent()
        self._arrived = asyncio.Event()
        self._closing = False
        self._task = self._loop.create_task(self._keep_writing())

    def enter(self, change: Change) -> asyncio.Future[Any]:
        """Done when it is on disk."""
        if self._company and self._loop.time() - self._looked > MEMORY:
            self._look_how_busy_we_are()
        return self._hand_over(change, self._company)

    def note(self, begin: Begin) -> None:
        """Written before whatever is entered after it."""
        self._begun = self._hand_over(begin, LEISURE)

    async def settled(self) -> None:
        """All that was noted is on disk, or was tried in vain."""
        if self._begun is not None and not self._begun.done():
            self._arrived.set()
            await asyncio.wait([self._begun])

    async def close(self) -> None:
        """Everything is written first."""
        self._closing = True
        self._arrived.set()
        await self._task
        if self._kept:
            raise StoreUnavailable(f"{len(self._kept)} matches that had begun could not be noted")

    def _hand_over(self, change: Change, patience: float) -> asyncio.Future[Any]:
        if self._closing:
            raise StoreUnavailable("the store is closed")
        future = self._loop.create_future()
        self._waiting.append((change, future))
        self._write_within(patience)
        return future

    def _write_within(self, patience: float) -> None:
        if not patience:
            self._arrived.set()
            return
        at = self._loop.time() + patience
        if self._alarm is not None:
            if self._alarm_at <= at:
                return
            self._alarm.cancel()
        self._alarm, self._alarm_at = self._loop.call_at(at, self._arrived.set), at

    async def _keep_writing(self) -> None:
        while not self._closing or self._waiting:
            await self._arrived.wait()
            self._arrived.clear()
            if self._alarm is not None:
                self._alarm.cancel()
                self._alarm = None
            while self._waiting and (self._alarm is None or len(self._waiting) >= LARGEST_BATCH):
                batch = [self._waiting.popleft() for _ in range(min(len(self._waiting), LARGEST_BATCH))]
                await self._settle(batch)
                self._look_how_busy_we_are()

    def _look_how_busy_we_are(self) -> None:
        now, spent = self._loop.time(), self._spent()
        passed = now - self._looked
        if passed > 0:
            share = min(1.0, (spent - self._spent_then) / passed)
            self._busy += (share - self._busy) * min(1.0, passed / MEMORY)
            self._looked, self._spent_then = now, spent
        self._company = COMPANY * max(0.0, self._busy - QUIET) / (1 - QUIET)

    async def _settle(self, batch: list[Entry]) -> None:
        kept, self._kept = self._kept, []
        changes = [*kept, *(change for change, _ in batch)]
        outcomes = await self._outcomes(changes)
        for change, outcome in zip(changes, outcomes, strict=True):
            if isinstance(change, Begin) and isinstance(outcome, StoreUnavailable) and len(self._kept) < MOST_KEPT:
                self._kept.append(change)
        for (change, future), outcome in zip(batch, islice(outcomes, len(kept), None), strict=True):
            _resolve(future, None if isinstance(change, Begin) else outcome)

    async def _outcomes(self, changes: Sequence[Change]) -> list[Outcome]:
        try:
            return await self._write(changes)
        except StoreUnavailable as problem:
            return [StoreUnavailable(*problem.args) for _ in changes]
        except Exception:
            return [await self._alone(change) for change in changes]

    async def _alone(self, change: Change) -> Outcome:
        try:
            return (await self._write([change]))[0]
        except Exception as refusal:
            return refusal


def _resolve(future: asyncio.Future[Any], outcome: Outcome) -> None:
    if future.done():
        return  # its caller was cancelled meanwhile
    if isinstance(outcome, Exception):
        future.set_exception(outcome)
    else:
        future.set_result(outcome)
