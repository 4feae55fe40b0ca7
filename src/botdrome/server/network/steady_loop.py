"""An event loop whose clock pauses while the process is stalled.

A process can be stopped or swapped out, or its machine can be suspended. Clients keep sending
meanwhile, but the server reads nothing. With an ordinary clock all timeouts would expire at once,
before the first message is read. So the loop has a heartbeat. A gap much longer than the heartbeat
is left out of the loop's clock, and so out of all timeouts. All timeouts in `server/` and `api/`
therefore use the loop's clock, not the system's.

The heartbeat also measures how late the loop is (`LoopWatch`). It is fast while clients send input,
slower while matches run without any, and slow on an idle server.
"""

import asyncio
import sys
from collections.abc import Callable, Coroutine
from contextvars import Context, copy_context
from heapq import heapify, heappop, heappush
from math import inf
from time import monotonic
from typing import Any, Final, Protocol, TypeVar, TypeVarTuple, Unpack, cast

import structlog

from botdrome.server import metrics

if sys.platform != "win32":
    import uvloop

# A clock that pauses while the process is stalled.

log = structlog.get_logger()

HEARTBEAT: Final = 0.05
"""Seconds between two heartbeats while matches run."""
STALL: Final = 0.15
"""A gap of this many seconds is a stall while matches run.

More than a heartbeat, since a busy machine may wake the process late.
"""
LONG_STALL = 1.0
"""Seconds."""


class SteadyClock:
    """A clock that leaves out stalls of the loop. It must be read at every heartbeat."""

    __slots__ = ("_read", "_seen", "left_out", "sleep", "stall")

    def __init__(self, read: Callable[[], float] = monotonic) -> None:
        self._read, self._seen = read, read()
        self.stall = STALL
        """A gap of this many seconds is a stall."""
        self.sleep = 0.0
        """Seconds of such a gap that count, since an idle loop sleeps for so long by itself."""
        self.left_out = 0.0
        """Seconds of all stalls."""

    def now(self) -> float:
        now = self._read()
        if now - self._seen > self.stall:
            self._leave_out(now - self._seen - self.sleep)
        self._seen = now
        return now - self.left_out

    def _leave_out(self, gap: float) -> None:
        self.left_out += gap
        metrics.STALLED.inc(gap)
        if gap > LONG_STALL:
            log.warning(
                "the process was stalled; no player's clock ran meanwhile", seconds=round(gap, 1)
            )


T = TypeVar("T")


class Alarm(Protocol):
    def cancel(self) -> None: ...


SetAlarm = Callable[[float, Callable[[], None]], Alarm]
"""Sets a timer of a loop that counts by the system's clock: seconds, and the function to call."""


class Steady:
    """Mixin that gives an event loop the steady clock and its heartbeat."""

    def __init__(self, read: Callable[[], float] = monotonic) -> None:
        self.clock = SteadyClock(read)
        self.time = self.clock.now  # not a method: a call less for each message
        super().__init__()
        self.watch = LoopWatch(cast(AlarmLoop, self).set_alarm, self.clock, read)


class SteadyLoop(Steady, asyncio.SelectorEventLoop):
    """asyncio's loop with the steady clock. Its timers use `time()`, so nothing else is needed."""

    def set_alarm(self, delay: float, ring: Callable[[], None]) -> Alarm:
        return self.call_later(delay, ring)


# The timers of a loop: a heap, and one alarm of the loop for the earliest. A timer of uvloop costs
# several times as much.

EARLY: Final = 0.0005
"""Seconds by which a timer may ring early, since alarms count whole milliseconds."""
MOST_CANCELLED: Final = 1000
"""Cancelled timers that the heap may keep, even if they are more than half of it."""


class AlarmLoop(Protocol):
    """A loop for which these timers are."""

    def time(self) -> float: ...

    def set_alarm(self, delay: float, ring: Callable[[], None]) -> Alarm:
        """Call `ring` once after so many seconds."""

    def call_exception_handler(self, context: dict[str, Any]) -> None: ...


class LoopTimer:
    """A timer, in the place of asyncio.TimerHandle."""

    __slots__ = ("_args", "_callback", "_context", "_timers", "_when")

    def __init__(
        self,
        timers: "LoopTimers",
        when: float,
        callback: Callable[..., object],
        args: tuple[Any, ...],
        context: Context,
    ) -> None:
        self._timers, self._when, self._args = timers, when, args
        self._callback: Callable[..., object] | None = callback
        """None: it has rung, or was cancelled."""
        self._context: Context | None = context

    def when(self) -> float:
        return self._when

    def cancelled(self) -> bool:
        return self._callback is None

    def cancel(self) -> None:
        if self._callback is not None:
            self._callback, self._args, self._context = None, (), None
            self._timers.note_cancelled()

    def ring(self) -> None:
        callback, context, self._callback = self._callback, self._context, None
        if callback is not None and context is not None:
            context.run(callback, *self._args)


class LoopTimers:
    def __init__(self, loop: AlarmLoop) -> None:
        self._loop = loop
        self._heap: list[tuple[float, int, LoopTimer]] = []
        """The number orders timers that are due at the same time."""
        self._number = self._cancelled = 0
        self._alarm: Alarm | None = None
        self._alarm_at = inf

    def __len__(self) -> int:
        """The number of timers in the heap, also of cancelled ones."""
        return len(self._heap)

    def set(
        self,
        when: float,
        callback: Callable[..., object],
        args: tuple[Any, ...],
        context: Context | None,
    ) -> LoopTimer:
        """Set a timer that is due later than EARLY from now."""
        timer = LoopTimer(
            self, when, callback, args, copy_context() if context is None else context
        )
        self._number += 1
        heappush(self._heap, (when, self._number, timer))
        if when < self._alarm_at:
            self._set_alarm()
        return timer

    def note_cancelled(self) -> None:
        self._cancelled += 1
        if self._cancelled > MOST_CANCELLED and 2 * self._cancelled > len(self._heap):
            self._heap = [entry for entry in self._heap if not entry[2].cancelled()]
            heapify(self._heap)
            self._cancelled = 0

    def ring(self) -> None:
        """Ring the timers that are due, and set the next alarm."""
        self._alarm, self._alarm_at = None, -inf
        due = self._loop.time() + EARLY
        try:
            while self._heap and self._heap[0][0] <= due:
                self._ring(heappop(self._heap)[2])
        finally:
            while self._heap and self._heap[0][2].cancelled():
                self._ring(heappop(self._heap)[2])  # the loop need not wake up for it
            self._alarm_at = inf
            if self._heap:
                self._set_alarm()

    def _ring(self, timer: LoopTimer) -> None:
        if timer.cancelled():
            self._cancelled -= 1
            return
        try:
            timer.ring()
        except Exception as problem:
            self._loop.call_exception_handler({"message": "a timer failed", "exception": problem})

    def _set_alarm(self) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
        self._alarm_at = self._heap[0][0]
        self._alarm = self._loop.set_alarm(self._alarm_at - self._loop.time(), self.ring)


# uvloop with the steady clock. Its own timers use the system's clock, so it has others.

Ts = TypeVarTuple("Ts")


if sys.platform != "win32":

    class SteadyUvLoop(Steady, uvloop.Loop):  # type: ignore[misc]  # its types differ from asyncio's
        def __init__(self, read: Callable[[], float] = monotonic) -> None:
            self._timers = LoopTimers(self)
            super().__init__(read)

        def call_later(
            self,
            delay: float,
            callback: Callable[[Unpack[Ts]], object],
            *args: *Ts,
            context: Context | None = None,
        ) -> asyncio.TimerHandle:
            if delay <= EARLY:
                return cast(asyncio.TimerHandle, self.call_soon(callback, *args, context=context))
            timer: Any = self._timers.set(self.clock.now() + delay, callback, args, context)
            return timer  # type: ignore[no-any-return]  # a cast would be a call

        def call_at(
            self,
            when: float,
            callback: Callable[[Unpack[Ts]], object],
            *args: *Ts,
            context: Context | None = None,
        ) -> asyncio.TimerHandle:
            if when - self.clock.now() <= EARLY:
                return cast(asyncio.TimerHandle, self.call_soon(callback, *args, context=context))
            return cast(asyncio.TimerHandle, self._timers.set(when, callback, args, context))

        def set_alarm(self, delay: float, ring: Callable[[], None]) -> Alarm:
            return super().call_later(delay, ring)


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end, on uvloop where there is one."""
    factory = SteadyLoop if sys.platform == "win32" else SteadyUvLoop
    with asyncio.Runner(loop_factory=factory) as runner:
        return runner.run(work)


# Loop watch: the heartbeat, which measures how long the event loop is blocked.

PERIOD = 0.008
"""Seconds between two heartbeats while clients send input. A block may be measured as shorter by up
to this time.
"""
IDLE: Final = 0.5
"""Seconds between two heartbeats of an idle server."""
AWAKE: Final = 1.0
"""Seconds after input in which more is expected."""
WINDOW = 60.0
"""Seconds for which the longest block is kept, and between two warnings."""
LONG_BLOCK = 0.1
"""Seconds."""
BEHIND: Final = 0.02
"""Seconds for which input may wait until the loop is behind with its work."""


class LoopWatch:
    """The heartbeat of a loop, a timer that measures its own lateness."""

    def __init__(self, set_alarm: SetAlarm, clock: SteadyClock, now: Callable[[], float]) -> None:
        """`now` is the system's clock."""
        self._set_alarm, self._clock, self._now = set_alarm, clock, now
        self.busy: list[Callable[[], bool]] = []
        """Say whether matches run."""
        self._longest = self._longest_before = 0.0
        self._window_began, self._warned = now(), now() - WINDOW
        self._awake_until, self._last, self._read_before = -inf, -inf, -inf
        """`_last` is the last heartbeat, and `_read_before` the one before it: input that had
        arrived by then was read, since the loop reads all sockets between two heartbeats.
        """
        self._set_timer(IDLE)
        metrics.LONGEST_BLOCK.set_function(self.longest)

    def _set_timer(self, period: float) -> None:
        self._clock.now()  # the gap before is judged by the period that ends here
        self._due, self._period = self._now() + period, period
        self._timer = self._set_alarm(period, self._beat)
        self._clock.sleep = max(0.0, period - HEARTBEAT)
        self._clock.stall = STALL + self._clock.sleep

    def _beat(self) -> None:
        now = self._now()
        self.note(now - self._due)
        if now < self._awake_until:
            self._read_before, self._last = self._last, now
            self._set_timer(PERIOD)
        else:
            self._read_before = self._last = -inf
            self._set_timer(HEARTBEAT if any(runs() for runs in self.busy) else IDLE)

    def wake(self) -> None:
        """Beat fast for a while: input arrives, or a match begins."""
        self._awake_until = self._now() + AWAKE
        if self._period > PERIOD:
            self._timer.cancel()
            self._set_timer(PERIOD)

    def note(self, late: float) -> None:
        now = self._now()
        self._turn_window(now)
        self._longest = max(self._longest, late)
        metrics.BLOCKS.observe(max(0.0, late))
        if late > LONG_BLOCK and now - self._warned >= WINDOW:
            self._warned = now
            log.warning("the event loop was blocked", milliseconds=round(late * 1000))

    def behind(self) -> bool:
        """Return whether input may have waited for the loop. This is certain only if the last two
        heartbeats were fast.
        """
        if self._period > PERIOD:
            self.wake()
        return self._now() - self._read_before > BEHIND

    def longest(self) -> float:
        """Return the longest block of the last one to two minutes."""
        self._turn_window(self._now())
        return max(self._longest, self._longest_before)

    def _turn_window(self, now: float) -> None:
        if now - self._window_began >= WINDOW:
            is_next = now - self._window_began < 2 * WINDOW
            self._longest_before, self._longest = self._longest if is_next else 0.0, 0.0
            self._window_began = now


def watch_of(loop: asyncio.AbstractEventLoop) -> LoopWatch | None:
    """Return the watch of a steady loop; None: it is another loop."""
    return getattr(loop, "watch", None)
