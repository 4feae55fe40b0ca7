"""The running tables: a list of them, and the list again whenever it changes.

Theory of operation. All clients that subscribed to the list with the same query share one
`TableList`. A new subscriber is sent the latest version, or a new one if that is old. When tables
open or close, a worker process makes a new version, and the subscribers are notified in small
groups. A pause as long as the work follows each step, so that moves of bots come first.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from functools import partial
from math import inf
from typing import TypeVar

from botdrome.catalogue import CATALOGUE
from botdrome.server.tables.audience import LiveTable, Tables

MOST_TABLES = 200
PAUSE = 0.5
"""Seconds between two versions of a list."""


def live_tables(tables: Tables, game: str | None = None) -> tuple[list[LiveTable], int]:
    """The tables that run the longest, in this order, some of every game; and the number of all."""
    found = tables.live(game, MOST_TABLES)
    if game is None and len(found) == MOST_TABLES:
        share = MOST_TABLES // len(CATALOGUE)
        some = {table.id: table for name in CATALOGUE for table in tables.live(name, share)}
        found = list((some | {table.id: table for table in found}).values())[:MOST_TABLES]
    return sorted(found, key=lambda table: (table.started, table.id)), tables.count(game)


T = TypeVar("T")
Make = Callable[[], Awaitable[bytes]]

GROUP = 16
"""Subscribers that are notified at a time: all other work waits for a millisecond or so."""


class PacedWork:
    """Does one thing at a time, and pauses after each for as long as it took."""

    def __init__(self) -> None:
        self._lock = asyncio.Lock()

    async def do(self, work: Callable[[], Awaitable[T]]) -> T:
        loop = asyncio.get_running_loop()
        async with self._lock:
            began = loop.time()
            try:
                return await work()
            finally:
                await asyncio.sleep(loop.time() - began)


class TableList:
    """The list of the running tables as one query shows it."""

    def __init__(self, make: Make, tables: Tables, paced: PacedWork) -> None:
        self._make, self._paced = make, paced
        self._latest, self._made, self._version = b"", -inf, 0
        """The latest version, when it was made, and how often tables have changed."""
        self._problem: Exception | None = None
        """Why there is no newer version."""
        self._subscribers = 0
        self._waiting: list[asyncio.Future[None]] = []
        self._changed = asyncio.Event()
        self._forget = tables.on_change(self._changed.set)
        self._updating = asyncio.create_task(self._update())

    async def versions(self) -> AsyncGenerator[bytes, None]:
        """The latest version, then each that differs from the one before.

        A slow subscriber misses some.
        """
        version, told = (
            self._version,
            self._latest if self._is_new() else await self._paced.do(self._fresh),
        )
        yield told
        while True:
            if version == self._version and self._problem is None:
                change: asyncio.Future[None] = asyncio.get_running_loop().create_future()
                self._waiting.append(change)
                await change
            if self._problem is not None:
                raise self._problem
            version = self._version
            if self._latest != told:
                told = self._latest
                yield told

    def _is_new(self) -> bool:
        return asyncio.get_running_loop().time() - self._made < PAUSE

    async def _fresh(self) -> bytes:
        if not self._is_new():
            await self._renew()
        return self._latest

    async def _renew(self) -> None:
        self._latest = await self._make()
        self._made = asyncio.get_running_loop().time()

    async def _update(self) -> None:
        try:
            while True:
                await asyncio.sleep(PAUSE)
                await self._changed.wait()
                self._changed.clear()
                await self._paced.do(self._renew)
                await self._notify_all()
        except Exception as problem:
            self._problem = problem
            await self._notify_all()

    async def _notify_all(self) -> None:
        self._version += 1
        waiting, self._waiting = self._waiting, []
        for start in range(0, len(waiting), GROUP):
            await self._paced.do(partial(_notify, waiting[start : start + GROUP]))

    def join(self) -> None:
        self._subscribers += 1

    def leave(self) -> bool:
        """Whether it was the last subscriber."""
        self._subscribers -= 1
        if not self._subscribers:
            self._forget()
            self._updating.cancel()
        return not self._subscribers


async def _notify(waiting: list[asyncio.Future[None]]) -> None:
    """Returns after these subscribers have sent their message, unless they have to wait
    themselves.
    """
    for change in waiting:
        if not change.done():
            change.set_result(None)
    await asyncio.sleep(0)


class TableLists:
    def __init__(self, tables: Tables) -> None:
        self._tables = tables
        self._paced = PacedWork()
        self._lists: dict[bytes, TableList] = {}

    async def follow(self, query: bytes, make: Make) -> AsyncGenerator[bytes, None]:
        """All versions of the list. `make` makes one, the same for all that send the same query."""
        found = self._lists.get(query)
        if found is None:
            found = self._lists[query] = TableList(make, self._tables, self._paced)
        found.join()
        try:
            async for version in found.versions():
                yield version
        finally:
            if found.leave():
                del self._lists[query]
