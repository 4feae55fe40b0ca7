"""Journal: gathers the changes that wait while a batch is being written, and writes them as the next one.

The caller that entered a change is told when it is on disk, and yet a thousand of them cost hardly more than one. Where the
process has time, nobody waits for company.

A batch that the database refuses is split, and the changes are tried again alone, so that a bad change spoils no other. While
the database is away (StoreUnavailable), changes that last stay in the queue, in their order, and are tried again with growing
pauses for as long as it takes. All others fail at once. The first write that succeeds ends the outage.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from itertools import islice
from time import process_time
from typing import Any

from botdrome.store.changes import Change, Outcome, Probe
from botdrome.store.outage import Outage
from botdrome.store.sheet import Begin, End
from botdrome.store.store import StoreUnavailable

LARGEST_BATCH = 1_000
COMPANY = 0.025
"""Seconds that a change waits for others to be written with it, in a process that has no time to lose at all."""
QUIET = 0.75
"""A process that uses no more of a core than this lets nobody wait: what gathering saves would go to waste."""
LEISURE = 0.05
"""How long a beginning waits, which nobody waits for."""
MEMORY = 0.2
"""Seconds after which it hardly matters any more how busy the process was."""
SHORTEST_PAUSE, LONGEST_PAUSE = 0.05, 2.0
"""Seconds before the database is tried again; each pause is twice as long as the one before."""
GOODBYE = 10.0
"""Seconds that a database that is away gets to come back when the journal is closed."""

Write = Callable[[Sequence[Change]], Awaitable[list[Outcome]]]
"""Writes all or nothing. StoreUnavailable: the database is away. Any other exception: it does not take one of these."""


class Entry:
    """A change that waits to be written."""

    __slots__ = ("change", "future", "lasting", "refused")

    def __init__(self, change: Change, future: asyncio.Future[Any], lasting: bool) -> None:
        self.change, self.future, self.lasting = change, future, lasting
        self.refused = False
        """It was in a batch that the database refused."""

    def resolve(self, outcome: Outcome) -> None:
        if self.future.done():
            return  # its caller was cancelled meanwhile
        if isinstance(outcome, Exception):
            self.future.set_exception(outcome)
        else:
            self.future.set_result(outcome)


class Journal:
    def __init__(self, write: Write, spent: Callable[[], float] = process_time) -> None:
        """`spent` tells how much time of processors this process has used."""
        self._write, self._spent = write, spent
        self._loop = asyncio.get_running_loop()
        self._waiting: deque[Entry] = deque()
        """Entries leave it when they are on disk, or never will be."""
        self._outage = Outage("written")
        self._pause = SHORTEST_PAUSE
        self._most = LARGEST_BATCH
        self.unwritten = 0
        """Ends of matches that wait."""
        self._begun: asyncio.Future[Any] | None = None
        self._alarm: asyncio.TimerHandle | None = None
        self._alarm_at = 0.0
        self._company = self._busy = 0.0
        self._looked, self._spent_then = self._loop.time(), spent()
        self._arrived = asyncio.Event()
        self._closing = False
        self._task = self._loop.create_task(self._keep_writing())

    @property
    def trouble(self) -> str:
        """Why nothing can be written at present; empty: all is well."""
        return self._outage.trouble

    def enter(self, change: Change, lasting: bool = False) -> asyncio.Future[Any]:
        """Done when it is on disk. While the database is away, a change that does not last fails at once."""
        if self._company and self._loop.time() - self._looked > MEMORY:
            self._look_how_busy_we_are()
        return self._hand_over(change, self._company, lasting)

    def note(self, begin: Begin) -> None:
        """Written before whatever is entered after it."""
        begun = self._hand_over(begin, LEISURE, lasting=True)
        if not self.trouble:
            self._begun = begun

    async def settled(self) -> None:
        """All that was noted is on disk, or was tried in vain."""
        if self._begun is not None and not self._begun.done():
            self._arrived.set()
            await asyncio.wait([self._begun])

    async def close(self) -> None:
        """Everything is written first. A database that is away gets some seconds; then StoreUnavailable says what is lost."""
        self._closing = True
        self._arrived.set()
        while not self._task.done():
            await asyncio.wait([self._task], timeout=GOODBYE)
            if self.trouble:
                self._task.cancel()
                await asyncio.wait([self._task])
        if not self._task.cancelled():
            self._task.result()
        if self._waiting:
            ends, problem = self.unwritten, self.trouble
            for entry in self._waiting:
                self._settle(entry, StoreUnavailable(problem))
            raise StoreUnavailable(f"{ends} results were not stored, and were told to nobody: {problem}")

    def _hand_over(self, change: Change, patience: float, lasting: bool) -> asyncio.Future[Any]:
        if self._closing:
            raise StoreUnavailable("the store is closed")
        entry = Entry(change, self._loop.create_future(), lasting)
        if self.trouble and not lasting:
            entry.resolve(StoreUnavailable(self.trouble))
            return entry.future
        self.unwritten += isinstance(change, End)
        self._waiting.append(entry)
        self._write_within(patience)
        return entry.future

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
        while self._waiting or not self._closing:
            if self.trouble:
                await asyncio.sleep(self._pause)
                self._pause = min(2 * self._pause, LONGEST_PAUSE)
                await self._write_batch()
                continue
            await self._arrived.wait()
            self._arrived.clear()
            if self._alarm is not None:
                self._alarm.cancel()
                self._alarm = None
            while self._waiting and not self.trouble and (self._alarm is None or len(self._waiting) >= self._next()):
                await self._write_batch()
                self._look_how_busy_we_are()

    def _next(self) -> int:
        """The size of the next batch."""
        return 1 if self._waiting and self._waiting[0].refused else self._most

    def _look_how_busy_we_are(self) -> None:
        now, spent = self._loop.time(), self._spent()
        passed = now - self._looked
        if passed > 0:
            share = min(1.0, (spent - self._spent_then) / passed)
            self._busy += (share - self._busy) * min(1.0, passed / MEMORY)
            self._looked, self._spent_then = now, spent
        self._company = COMPANY * max(0.0, self._busy - QUIET) / (1 - QUIET)

    async def _write_batch(self) -> None:
        """The first of those who wait; where there are none, it is only tried whether the database is back."""
        batch = list(islice(self._waiting, self._next()))
        try:
            outcomes = await self._write([entry.change for entry in batch] or [Probe()])
        except StoreUnavailable as problem:
            return self._postpone(problem)
        except Exception as refusal:
            outcomes = self._divide(batch, refusal)
        else:
            self._most = min(2 * self._most, LARGEST_BATCH)
        for entry, outcome in zip(batch, outcomes, strict=False):
            self._waiting.popleft()
            self._settle(entry, outcome)
        if self.trouble:
            self._pause = SHORTEST_PAUSE
            self._outage.worked(unwritten=self.unwritten)
            self._arrived.set()
        return None

    def _divide(self, batch: Sequence[Entry], refusal: Exception) -> list[Outcome]:
        """Try each alone, even if it was: another process may only have been quicker. What is refused twice fails."""
        if len(batch) == 1 and batch[0].refused:
            return [refusal]
        for entry in batch:
            entry.refused = True
        return []

    def _postpone(self, problem: StoreUnavailable) -> None:
        """Keep what lasts. A beginning was tried in vain: that is as much as `settled` waits for."""
        self._most = 1
        waiting, self._waiting = self._waiting, deque()
        for entry in waiting:
            if entry.lasting:
                self._waiting.append(entry)
            if not entry.lasting or isinstance(entry.change, Begin):
                entry.resolve(None if entry.lasting else StoreUnavailable(*problem.args))
        self._outage.failed(str(problem), unwritten=self.unwritten)

    def _settle(self, entry: Entry, outcome: Outcome) -> None:
        self.unwritten -= isinstance(entry.change, End)
        entry.resolve(None if isinstance(entry.change, Begin) else outcome)
