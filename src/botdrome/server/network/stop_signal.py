"""Signals that stop the server."""

import asyncio
import signal
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from typing import Any, TypeVar

T = TypeVar("T")


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


async def unless(wanted: asyncio.Event, work: Coroutine[Any, Any, T]) -> T | None:
    """Do something, and give it up when the event is set: a node may wait for PostgreSQL and NATS."""
    doing, waiting = asyncio.create_task(work), asyncio.create_task(wanted.wait())
    await asyncio.wait((doing, waiting), return_when=asyncio.FIRST_COMPLETED)
    waiting.cancel()
    if not doing.done():
        doing.cancel()
        await asyncio.wait((doing,))
    return None if doing.cancelled() else doing.result()
