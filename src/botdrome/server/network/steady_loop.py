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

from botdrome.server.network.steady_clock import HEARTBEAT, SteadyClock

T = TypeVar("T")


class Steady:
    """Mixin that gives an event loop the steady clock and its heartbeat."""

    def __init__(self, read: Callable[[], float] = monotonic) -> None:
        self.clock = SteadyClock(read)
        self.time = self.clock.now  # not a method: a call less for each message
        super().__init__()
        _beat(cast(asyncio.AbstractEventLoop, self))


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
