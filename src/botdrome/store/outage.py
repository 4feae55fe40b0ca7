"""Outage: a time in which the store fails, told to the log at its beginning, at intervals and at its end."""

from collections.abc import Callable
from time import monotonic

import structlog

log = structlog.get_logger()

INTERVAL = 30.0
"""Seconds between two lines about the same outage."""


class Outage:
    def __init__(self, verb: str, clock: Callable[[], float] = monotonic) -> None:
        """`verb` is what the store cannot be: "written" or "read"."""
        self.trouble = ""
        """Why it fails at present, in a sentence for the operator; empty: it does not."""
        self._verb, self._clock = verb, clock
        self._began = self._logged = 0.0

    def failed(self, problem: str, **figures: int) -> None:
        now = self._clock()
        if not self.trouble:
            self._began = now
        elif now - self._logged < INTERVAL:
            return
        self.trouble, self._logged = problem, now
        log.error(f"the store cannot be {self._verb}", problem=problem, seconds=round(now - self._began), **figures)

    def worked(self, **figures: int) -> None:
        if self.trouble:
            self.trouble = ""
            log.warning(f"the store can be {self._verb} again", seconds=round(self._clock() - self._began), **figures)
