"""Loop watch: measures how long the event loop is blocked, for the metrics and the log."""

import asyncio
from collections.abc import Callable
from time import monotonic
from typing import Final

import structlog

from botdrome.server import metrics

log = structlog.get_logger()

PERIOD = 0.01
"""Seconds between two checks. A block may be measured as shorter by up to this time."""
WINDOW = 60.0
"""Seconds for which the longest block is kept, and between two warnings."""
WORTH_LOGGING = 0.1
"""Seconds."""
BEHIND: Final = 0.02
"""Seconds by which a check is late while the loop is behind with its work."""


class LoopWatch:
    """A timer that measures its own lateness."""

    def __init__(self, now: Callable[[], float] = monotonic) -> None:
        self._now, self._loop = now, asyncio.get_running_loop()
        self._longest = self._longest_before = 0.0
        self._window_began, self._warned = now(), now() - WINDOW
        self._due = self._late = 0.0
        self._timer: asyncio.TimerHandle
        self._set_timer()
        metrics.LONGEST_BLOCK.set_function(self.longest)

    def _set_timer(self) -> None:
        self._due = self._now() + PERIOD
        self._timer = self._loop.call_later(PERIOD, self._look)

    def _look(self) -> None:
        self._late = self._now() - self._due
        self.note(self._late)
        self._set_timer()

    def note(self, late: float) -> None:
        now = self._now()
        self._turn_window(now)
        self._longest = max(self._longest, late)
        metrics.BLOCKS.observe(max(0.0, late))
        if late > WORTH_LOGGING and now - self._warned >= WINDOW:
            self._warned = now
            log.warning("the event loop was blocked", milliseconds=round(late * 1000))

    def behind(self) -> bool:
        """Return whether input may have waited for the loop: the last check was late, or the next one is."""
        return self._late > BEHIND or self._now() - self._due > BEHIND

    def longest(self) -> float:
        """Return the longest block of the last one to two minutes."""
        self._turn_window(self._now())
        return max(self._longest, self._longest_before)

    def _turn_window(self, now: float) -> None:
        if now - self._window_began >= WINDOW:
            is_next = now - self._window_began < 2 * WINDOW
            self._longest_before, self._longest = self._longest if is_next else 0.0, 0.0
            self._window_began = now

    def close(self) -> None:
        self._timer.cancel()
