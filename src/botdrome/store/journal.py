"""The queue of changes to the store, which writes them in batches.

Changes that arrive while a batch is being written form the next batch, so a thousand cost hardly
more than one. A caller learns when its change is on disk. A busy process also delays changes a
little to make batches larger.

If the database refuses a batch, each of its changes is tried alone, so that a bad change fails
alone. During an outage (StoreUnavailable), lasting changes stay in the queue, in order, and are
retried with growing pauses without limit. All others fail at once. The first successful write
ends the outage.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from itertools import islice
from time import monotonic, process_time
from typing import Any

import structlog

from botdrome.games.reading import plural
from botdrome.store.changes import Begin, Change, End, Outcome, probe
from botdrome.store.entries import Fenced, StoreUnavailable

log = structlog.get_logger()

INTERVAL = 30.0
"""Seconds between two log lines about the same outage."""


class Outage:
    """A time in which the store fails, logged when it begins, at intervals and when it ends."""

    def __init__(self, verb: str) -> None:
        """`verb` is "written" or "read"."""
        self.trouble = ""
        """Why the store fails at present, for the operator; empty: it works."""
        self._verb = verb
        self._began = self._logged = 0.0

    def failed(self, problem: str, **figures: int) -> None:
        now = monotonic()
        if not self.trouble:
            self._began = now
        elif now - self._logged < INTERVAL:
            return
        self.trouble, self._logged = problem, now
        log.error(
            f"the store cannot be {self._verb}",
            problem=problem,
            seconds=round(now - self._began),
            **figures,
        )

    def worked(self, **figures: int) -> None:
        if self.trouble:
            self.trouble = ""
            log.warning(
                f"the store can be {self._verb} again",
                seconds=round(monotonic() - self._began),
                **figures,
            )


LARGEST_BATCH = 1_000
LONGEST_DELAY = 0.025
"""Seconds that a change waits for others in a process that uses its core fully."""
LIGHT_LOAD = 0.75
"""Share of a core up to which changes are not delayed."""
BEGIN_DELAY = 0.05
"""Seconds that the begin of a match may be delayed, as no caller waits for it."""
LOAD_WINDOW = 0.2
"""Seconds over which the load of the process is averaged."""
SHORTEST_PAUSE, LONGEST_PAUSE = 0.05, 2.0
"""Seconds before a retry; each pause is twice as long as the one before."""
CLOSING_TIME = 10.0
"""Seconds that closing waits for an outage to end."""
CLOSING_PAUSE = 0.5
"""The longest pause before a retry meanwhile."""

Write = Callable[[Sequence[Change]], Awaitable[list[Outcome]]]
"""Writes all changes or none.

StoreUnavailable: an outage. Any other exception: the database refuses one of the changes.
"""


class JournalEntry:
    """A change in the queue."""

    __slots__ = ("change", "future", "lasting", "refused")

    def __init__(self, change: Change, future: asyncio.Future[Any], lasting: bool) -> None:
        self.change, self.future, self.lasting = change, future, lasting
        self.refused = False
        """Whether the database refused a batch with it."""

    def resolve(self, outcome: Outcome) -> None:
        if self.future.done():
            return  # its caller was cancelled
        if isinstance(outcome, Exception):
            self.future.set_exception(outcome)
        else:
            self.future.set_result(outcome)


class Journal:
    def __init__(self, write: Write, spent: Callable[[], float] = process_time) -> None:
        """`spent` returns the CPU time of this process."""
        self._write, self._spent = write, spent
        self._loop = asyncio.get_running_loop()
        self._waiting: deque[JournalEntry] = deque()
        """Entries leave the queue when they are on disk or have failed."""
        self._outage = Outage("written")
        self._fenced: Fenced | None = None
        self._pause = SHORTEST_PAUSE
        self._most = LARGEST_BATCH
        self.unwritten = 0
        """Ends of matches in the queue."""
        self._begun: asyncio.Future[Any] | None = None
        self._alarm: asyncio.TimerHandle | None = None
        self._alarm_at = self._alarm_patience = 0.0
        self._delay = self._busy = 0.0
        self._looked, self._spent_then = self._loop.time(), spent()
        self._arrived = asyncio.Event()
        self._closing = False
        self._task = self._loop.create_task(self._keep_writing())

    @property
    def trouble(self) -> str:
        """Why nothing can be written at present; empty: it can."""
        return self._outage.trouble

    def enter(self, change: Change, lasting: bool = False) -> asyncio.Future[Any]:
        """Queue a change; the future is done when it is on disk.

        In an outage only lasting changes are queued.
        """
        if self._delay and self._loop.time() - self._looked > LOAD_WINDOW:
            self._measure_load()
        return self._hand_over(change, self._delay, lasting)

    def note(self, begin: Begin) -> None:
        """Queue the begin of a match; it is written before all later changes."""
        begun = self._hand_over(begin, BEGIN_DELAY, lasting=True)
        if not self._outage.trouble:
            self._begun = begun

    async def settled(self) -> None:
        """Wait until all begins are on disk or have failed once."""
        if self._begun is not None and not self._begun.done():
            self._arrived.set()
            await asyncio.wait([self._begun])

    async def close(self) -> None:
        """Write everything first.

        An outage gets 10 s to end; then StoreUnavailable says how many results are lost.
        """
        self._closing = True
        self._arrived.set()
        while not self._task.done():
            await asyncio.wait([self._task], timeout=CLOSING_TIME)
            if self._outage.trouble:
                self._task.cancel()
                await asyncio.wait([self._task])
        if not self._task.cancelled():
            self._task.result()
        if self._waiting:
            ends, problem = self.unwritten, self._outage.trouble
            for entry in self._waiting:
                self._settle(entry, StoreUnavailable(problem))
            raise StoreUnavailable(
                f"{plural(ends, 'result')} not stored, and told to nobody: {problem}"
            )

    def _hand_over(self, change: Change, patience: float, lasting: bool) -> asyncio.Future[Any]:
        if self._closing:
            raise StoreUnavailable("the store is closed")
        entry = JournalEntry(change, self._loop.create_future(), lasting)
        if self._fenced is not None:
            entry.resolve(None if isinstance(change, Begin) else Fenced(*self._fenced.args))
            return entry.future
        if self._outage.trouble and not lasting:
            entry.resolve(StoreUnavailable(self._outage.trouble))
            return entry.future
        self.unwritten += isinstance(change, End)
        self._waiting.append(entry)
        if patience:
            self._write_within(patience)
        else:
            self._arrived.set()
        return entry.future

    def _write_within(self, patience: float) -> None:
        if self._alarm is not None and self._alarm_patience <= patience:
            return  # it rings earlier
        at = self._loop.time() + patience
        if self._alarm is not None:
            if self._alarm_at <= at:
                return
            self._alarm.cancel()
        self._alarm, self._alarm_at = self._loop.call_at(at, self._arrived.set), at
        self._alarm_patience = patience

    async def _keep_writing(self) -> None:
        while self._waiting or not self._closing:
            if self._outage.trouble:
                await asyncio.sleep(self._pause)
                longest = CLOSING_PAUSE if self._closing else LONGEST_PAUSE
                self._pause = min(2 * self._pause, longest)
                await self._write_batch()
                continue
            await self._arrived.wait()
            self._arrived.clear()
            if self._alarm is not None:
                self._alarm.cancel()
                self._alarm = None
            while (
                self._waiting
                and not self._outage.trouble
                and (self._alarm is None or len(self._waiting) >= self._next())
            ):
                await self._write_batch()
                self._measure_load()

    def _next(self) -> int:
        """The size of the next batch."""
        return 1 if self._waiting and self._waiting[0].refused else self._most

    def _measure_load(self) -> None:
        now, spent = self._loop.time(), self._spent()
        passed = now - self._looked
        if passed > 0:
            share = min(1.0, (spent - self._spent_then) / passed)
            self._busy += (share - self._busy) * min(1.0, passed / LOAD_WINDOW)
            self._looked, self._spent_then = now, spent
        self._delay = LONGEST_DELAY * max(0.0, self._busy - LIGHT_LOAD) / (1 - LIGHT_LOAD)

    async def _write_batch(self) -> None:
        """Write the first entries of the queue; if it is empty, only test whether the outage has
        ended.
        """
        batch = list(islice(self._waiting, self._next()))
        try:
            outcomes = await self._write([entry.change for entry in batch] or [probe])
        except Fenced as problem:
            return self._refuse_all(problem)
        except StoreUnavailable as problem:
            return self._postpone(problem)
        except Exception as refusal:
            outcomes = self._divide(batch, refusal)
        else:
            self._most = min(2 * self._most, LARGEST_BATCH)
        for entry, outcome in zip(batch, outcomes, strict=False):
            self._waiting.popleft()
            self._settle(entry, outcome)
        if self._outage.trouble:
            self._pause = SHORTEST_PAUSE
            self._outage.worked(unwritten=self.unwritten)
            self._arrived.set()
        return None

    def _divide(self, batch: Sequence[JournalEntry], refusal: Exception) -> list[Outcome]:
        """Retry each entry alone.

        An entry that is refused twice, alone, fails: once may be a conflict with another process.
        """
        if len(batch) == 1 and batch[0].refused:
            return [refusal]
        for entry in batch:
            entry.refused = True
        return []

    def _refuse_all(self, problem: Fenced) -> None:
        """Fail everything now and later: another node owns the matches of this one."""
        self._fenced = problem
        waiting, self._waiting = self._waiting, deque()
        for entry in waiting:
            self._settle(entry, Fenced(*problem.args))

    def _postpone(self, problem: StoreUnavailable) -> None:
        """Keep lasting changes in the queue, and fail the others."""
        self._most = 1
        waiting, self._waiting = self._waiting, deque()
        for entry in waiting:
            if entry.lasting:
                self._waiting.append(entry)
            if not entry.lasting or isinstance(entry.change, Begin):
                entry.resolve(None if entry.lasting else StoreUnavailable(*problem.args))
        self._outage.failed(str(problem), unwritten=self.unwritten)

    def _settle(self, entry: JournalEntry, outcome: Outcome) -> None:
        self.unwritten -= isinstance(entry.change, End)
        entry.resolve(None if isinstance(entry.change, Begin) else outcome)
