"""The timers of a loop: a heap, and one alarm of the loop for the earliest. A timer of uvloop costs several times as much."""

from collections.abc import Callable
from contextvars import Context, copy_context
from heapq import heapify, heappop, heappush
from math import inf
from typing import Any, Final, Protocol

EARLY: Final = 0.0005
"""Seconds by which a timer may ring early, since alarms count whole milliseconds."""
MOST_CANCELLED: Final = 1000
"""Cancelled timers that the heap may keep, even if they are more than half of it."""


class Alarm(Protocol):
    def cancel(self) -> None: ...


class AlarmLoop(Protocol):
    """A loop for which these timers are."""

    def time(self) -> float: ...

    def set_alarm(self, delay: float) -> Alarm:
        """Call `LoopTimers.ring` once after so many seconds."""

    def call_exception_handler(self, context: dict[str, Any]) -> None: ...


class LoopTimer:
    """A timer, in the place of asyncio.TimerHandle."""

    __slots__ = ("_args", "_callback", "_context", "_timers", "_when")

    def __init__(
        self, timers: "LoopTimers", when: float, callback: Callable[..., object], args: tuple[Any, ...], context: Context
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

    def set(self, when: float, callback: Callable[..., object], args: tuple[Any, ...], context: Context | None) -> LoopTimer:
        """Set a timer that is due later than EARLY from now."""
        timer = LoopTimer(self, when, callback, args, copy_context() if context is None else context)
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
        self._alarm = self._loop.set_alarm(self._alarm_at - self._loop.time())
