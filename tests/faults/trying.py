"""Clients that reconnect until they have their results."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from typing import Any, Protocol

import httpx
from websockets.exceptions import WebSocketException

PAUSE = 0.01
"""Seconds before a client comes back."""
BREAKS = (OSError, EOFError, WebSocketException, httpx.HTTPError)
"""The errors that a client may see when a server fails or is killed."""


class Address(Protocol):
    """Where the server is now: it may come back elsewhere."""

    @property
    def url(self) -> str: ...

    @property
    def ports(self) -> dict[str, int]: ...


class Group:
    """Clients that play one another until each has this number of results."""

    def __init__(self, results: int, *names: str) -> None:
        self.missing = dict.fromkeys(names, results)
        self._enough = asyncio.Event()

    def told(self, name: str) -> None:
        self.missing[name] -= 1
        if all(missing <= 0 for missing in self.missing.values()):
            self._enough.set()

    async def play(self, *visits: Callable[[], Awaitable[None]]) -> None:
        """Each visit is one client's from the connection on."""
        tasks = [asyncio.ensure_future(_again_and_again(visit)) for visit in visits]
        enough = asyncio.ensure_future(self._enough.wait())
        try:
            done, _ = await asyncio.wait({enough, *tasks}, return_when=asyncio.FIRST_COMPLETED)
            for task in done - {enough}:
                await task
        finally:
            await ended(enough, *tasks)


async def ended(*tasks: asyncio.Future[Any]) -> None:
    """Cancel them. More than once: `wait_for` of Python 3.11 may lose a cancellation."""
    pending = set(tasks)
    while pending:
        for task in pending:
            task.cancel()
        _, pending = await asyncio.wait(pending, timeout=0.1)


async def _again_and_again(visit: Callable[[], Awaitable[None]]) -> None:
    while True:
        with contextlib.suppress(*BREAKS):
            await visit()
        await asyncio.sleep(PAUSE)


async def until_it_works(ask: Callable[[], Awaitable[bool]]) -> None:
    """Ask until the answer is yes."""
    while True:
        try:
            if await ask():
                return
        except BREAKS:
            pass
        await asyncio.sleep(PAUSE)
