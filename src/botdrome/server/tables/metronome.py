"""Metronome: the timers of all tables that tick. Ticks go before messages that wait to be read.

The event loop reads from every ready connection before it looks at its timers again. With a
thousand bots that takes long, so a table that gets a message runs the ticks that are due first.
"""

import asyncio
from collections.abc import Callable
from heapq import heappop, heappush
from itertools import count
from math import ceil
from typing import Protocol

import structlog

log = structlog.get_logger()


class Timer(Protocol):
    def cancel(self) -> None: ...


class Timers(Protocol):
    """The loop, or a metronome."""

    def call_later(self, delay: float, callback: Callable[[], None], /) -> Timer: ...


class Beat:
    __slots__ = ("ring",)

    def __init__(self, ring: Callable[[], None] | None) -> None:
        self.ring = ring

    def cancel(self) -> None:
        self.ring = None


class Metronome:
    def __init__(self, now: Callable[[], float] | None = None) -> None:
        """`now` is a clock; None: the loop's."""
        self._beats: list[tuple[float, int, Beat]] = []
        """A heap. The number orders beats that are due at the same time."""
        self._numbers = count()
        self._loop = asyncio.get_running_loop()
        self._now = now or self._loop.time
        self._alarm: asyncio.TimerHandle | None = None
        self._alarm_due = 0.0
        self._ringing = False

    def call_later(self, delay: float, ring: Callable[[], None]) -> Beat:
        beat, due = Beat(ring), self._now() + delay
        heappush(self._beats, (due, next(self._numbers), beat))
        if not self._ringing:
            self._set_alarm()
        return beat

    def catch_up(self) -> None:
        """Run the beats that are due."""
        if self._beats and self._beats[0][0] <= self._now() and not self._ringing:
            self._ring()

    def _ring(self) -> None:
        """Beats that fall due meanwhile wait for the next call, so that the loop serves others in
        between.
        """
        self._ringing = True
        beats, now = self._beats, self._now()
        while beats and beats[0][0] <= now:
            ring = heappop(beats)[2].ring
            if ring is not None:
                try:
                    ring()
                except Exception:
                    log.exception("a tick failed")
        self._ringing = False
        self._set_alarm()

    def _set_alarm(self) -> None:
        """Set one timer for all beats.

        If it rings too early, it is set again. The loop's timers count whole milliseconds.
        """
        if not self._beats:
            return
        due = self._beats[0][0]
        if self._alarm is not None:
            if self._alarm_due <= due:
                return
            self._alarm.cancel()
        self._alarm_due = due
        self._alarm = self._loop.call_later(
            max(0, ceil((due - self._now()) * 1000)) / 1000, self._go_off
        )

    def _go_off(self) -> None:
        self._alarm = None
        self.catch_up()
        self._set_alarm()
