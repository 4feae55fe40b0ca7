"""Bulletins: the list of the running tables, made once for all who have asked for it in the same words.

Theory of operation. A bulletin has followers. Whoever joins is given the latest issue, or a new one if that is old. When tables
have opened or closed a new issue is made, and the followers are told in small groups. All of this is done by turns, with a rest
after each that is as long as the work was: bots that move come first, however many follow.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from functools import partial
from math import inf
from typing import TypeVar

from botdrome.api import live
from botdrome.server.arena import Tables

T = TypeVar("T")
Make = Callable[[], Awaitable[bytes]]

GROUP = 16
"""Followers that are told at a time: what else the server has to do waits for a millisecond or so."""


class Turn:
    """One works, then everybody rests."""

    def __init__(self) -> None:
        self._lock = asyncio.Lock()

    async def take(self, work: Callable[[], Awaitable[T]]) -> T:
        loop = asyncio.get_running_loop()
        async with self._lock:
            began = loop.time()
            try:
                return await work()
            finally:
                await asyncio.sleep(loop.time() - began)


class Bulletin:
    def __init__(self, make: Make, tables: Tables, turn: Turn) -> None:
        self._make, self._turn = make, turn
        self._latest, self._made, self._number = b"", -inf, 0
        """The latest issue, when it was made, and how many were made because something had changed."""
        self._problem: Exception | None = None
        """Why there is no other issue."""
        self._followers = 0
        self._waiting: list[asyncio.Future[None]] = []
        self._changed = asyncio.Event()
        self._forget = tables.on_change(self._changed.set)
        self._publishing = asyncio.create_task(self._publish())

    async def issues(self) -> AsyncGenerator[bytes, None]:
        """The latest, and then each that differs from the one before. Who is slow misses some."""
        number, told = self._number, self._latest if self._is_new() else await self._turn.take(self._fresh)
        yield told
        while True:
            if number == self._number and self._problem is None:
                await self._news()
            if self._problem is not None:
                raise self._problem
            number = self._number
            if self._latest != told:
                told = self._latest
                yield told

    async def _news(self) -> None:
        news: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(news)
        await news

    def _is_new(self) -> bool:
        return asyncio.get_running_loop().time() - self._made < live.PAUSE

    async def _fresh(self) -> bytes:
        if not self._is_new():
            await self._renew()
        return self._latest

    async def _renew(self) -> None:
        self._latest = await self._make()
        self._made = asyncio.get_running_loop().time()

    async def _publish(self) -> None:
        try:
            while True:
                await asyncio.sleep(live.PAUSE)
                await self._changed.wait()
                self._changed.clear()
                await self._turn.take(self._renew)
                await self._tell_all()
        except Exception as problem:
            self._problem = problem
            await self._tell_all()

    async def _tell_all(self) -> None:
        self._number += 1
        waiting, self._waiting = self._waiting, []
        for start in range(0, len(waiting), GROUP):
            await self._turn.take(partial(_tell, waiting[start : start + GROUP]))

    # Who follows.

    def join(self) -> None:
        self._followers += 1

    def leave(self) -> bool:
        """Whether it was the last."""
        self._followers -= 1
        if not self._followers:
            self._forget()
            self._publishing.cancel()
        return not self._followers


async def _tell(waiting: list[asyncio.Future[None]]) -> None:
    """They have done what they have to when this is over, unless they have to wait for something themselves."""
    for news in waiting:
        if not news.done():
            news.set_result(None)
    await asyncio.sleep(0)


class Bulletins:
    def __init__(self, tables: Tables) -> None:
        self._tables = tables
        self._turn = Turn()
        self._bulletins: dict[bytes, Bulletin] = {}

    async def follow(self, words: bytes, make: Make) -> AsyncGenerator[bytes, None]:
        """`make` makes an issue: the same for all who say the same words."""
        bulletin = self._bulletins.get(words)
        if bulletin is None:
            bulletin = self._bulletins[words] = Bulletin(make, self._tables, self._turn)
        bulletin.join()
        try:
            async for issue in bulletin.issues():
                yield issue
        finally:
            if bulletin.leave():
                del self._bulletins[words]
