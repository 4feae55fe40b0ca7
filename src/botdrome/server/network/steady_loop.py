"""An event loop whose clock pauses while the process is stalled.

A process can be stopped or swapped out, or its machine can be suspended. Clients keep sending meanwhile, but the server reads
nothing. With an ordinary clock all timeouts would expire at once, before the first message is read. So the loop has a
heartbeat. A gap much longer than the heartbeat is left out of the loop's clock, and so out of all timeouts.
All timeouts in `server/` and `api/` therefore use the loop's clock, not the system's.
"""

import asyncio
from collections.abc import Callable, Coroutine
from time import monotonic
from typing import Any, TypeVar, cast

import structlog

from botdrome.server import metrics

log = structlog.get_logger()
T = TypeVar("T")

HEARTBEAT = 0.05
"""Seconds between two heartbeats of an idle loop."""
STALL = 0.15
"""A gap of this many seconds is a stall. More than a heartbeat, since a busy machine may wake the process late."""
WORTH_LOGGING = 1.0
"""Seconds."""


class SteadyClock:
    """A clock that leaves out stalls of the loop. It must be read at least every HEARTBEAT seconds."""

    __slots__ = ("_left_out", "_read", "_seen")

    def __init__(self, read: Callable[[], float] = monotonic) -> None:
        self._read, self._seen, self._left_out = read, read(), 0.0

    def now(self) -> float:
        now = self._read()
        gap, self._seen = now - self._seen, now
        if gap > STALL:
            self._left_out += gap
            metrics.STALLED.inc(gap)
            if gap > WORTH_LOGGING:
                log.warning("the process was stalled; no player's clock ran meanwhile", seconds=round(gap, 1))
        return now - self._left_out


class Steady:
    """Mixin that gives an event loop the steady clock and its heartbeat."""

    def __init__(self) -> None:
        self._clock = SteadyClock()
        super().__init__()
        _beat(cast(asyncio.AbstractEventLoop, self))

    def time(self) -> float:
        return self._clock.now()


def _beat(loop: asyncio.AbstractEventLoop) -> None:
    loop.call_later(HEARTBEAT, _beat, loop)


class SteadyLoop(Steady, asyncio.SelectorEventLoop):
    """asyncio's loop with the steady clock. Its timers use `time()`, so nothing else is needed."""


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end, on uvloop if installed."""
    try:
        from botdrome.server.network.steady_uvloop import SteadyUvLoop
    except ImportError:
        factory: Callable[[], asyncio.AbstractEventLoop] = SteadyLoop
    else:
        factory = SteadyUvLoop
    with asyncio.Runner(loop_factory=factory) as runner:
        return runner.run(work)
