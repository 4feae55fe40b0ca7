"""A clock that pauses while the process is stalled. See `steady_loop.py`."""

from collections.abc import Callable
from time import monotonic
from typing import Final

import structlog

from botdrome.server import metrics

log = structlog.get_logger()

HEARTBEAT = 0.05
"""Seconds between two heartbeats of an idle loop."""
STALL: Final = 0.15
"""A gap of this many seconds is a stall. More than a heartbeat, since a busy machine may wake the process late."""
WORTH_LOGGING = 1.0
"""Seconds."""


class SteadyClock:
    """A clock that leaves out stalls of the loop. It must be read at least every HEARTBEAT seconds."""

    __slots__ = ("_read", "_seen", "left_out")

    def __init__(self, read: Callable[[], float] = monotonic) -> None:
        self._read, self._seen = read, read()
        self.left_out = 0.0
        """Seconds of all stalls."""

    def now(self) -> float:
        now = self._read()
        gap, self._seen = now - self._seen, now
        if gap > STALL:
            self.left_out += gap
            metrics.STALLED.inc(gap)
            if gap > WORTH_LOGGING:
                log.warning("the process was stalled; no player's clock ran meanwhile", seconds=round(gap, 1))
        return now - self.left_out
