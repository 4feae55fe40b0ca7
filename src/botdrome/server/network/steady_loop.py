"""An event loop whose clock stands still while the process does.

A process can be stopped, swapped out, or lie on a machine that is. Meanwhile its clients go on, but nothing that they send is
read. If the clock of the loop went on, then all limits would be over at once, before the first message is read. So the loop has
a heartbeat: when nothing ran for longer than that, the time is left out of the loop's clock, and with it out of all limits.
Everything in `server/` and `api/` that waits therefore asks the loop for the time, and not the system.
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
"""Seconds in which nothing ran: a stall. More than a heartbeat, since a busy machine may wake the process late."""
WORTH_LOGGING = 1.0
"""Seconds."""


class SteadyClock:
    """Counts seconds without those in which the loop did not run. It must be read at least every HEARTBEAT seconds."""

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
                log.warning("the server did not run for a while; no player is charged for that", seconds=round(gap, 1))
        return now - self._left_out


class Steady:
    """Gives a loop that inherits from it this clock, and a heartbeat."""

    def __init__(self) -> None:
        self._clock = SteadyClock()
        super().__init__()
        _beat(cast(asyncio.AbstractEventLoop, self))

    def time(self) -> float:
        return self._clock.now()


def _beat(loop: asyncio.AbstractEventLoop) -> None:
    loop.call_later(HEARTBEAT, _beat, loop)


class SteadyLoop(Steady, asyncio.SelectorEventLoop):
    """asyncio's own loop sets its timers by its clock, so that there is nothing more to do."""


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end, on uvloop where there is one."""
    try:
        from botdrome.server.network.steady_uvloop import SteadyUvLoop
    except ImportError:
        factory: Callable[[], asyncio.AbstractEventLoop] = SteadyLoop
    else:
        factory = SteadyUvLoop
    with asyncio.Runner(loop_factory=factory) as runner:
        return runner.run(work)
