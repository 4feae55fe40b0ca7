"""Signals that stop the server."""

import asyncio
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


@asynccontextmanager
async def stop_signal() -> AsyncIterator[asyncio.Event]:
    """Yield an event that the first SIGTERM or SIGINT sets. A second signal ends the process at once."""
    wanted, loop = asyncio.Event(), asyncio.get_running_loop()
    signals = (signal.SIGTERM, signal.SIGINT)

    def stop(number: signal.Signals) -> None:
        if wanted.is_set():
            signal.signal(number, signal.SIG_DFL)
            signal.raise_signal(number)
        wanted.set()

    for number in signals:
        loop.add_signal_handler(number, stop, number)
    try:
        yield wanted
    finally:
        for number in signals:
            loop.remove_signal_handler(number)
