"""Watching: what a spectator of a match is sent, on whatever kind of connection.

A match that runs is shown from its present position on; one that is over is played again from its record. What a
spectator has not taken yet waits in a backlog that is bounded: who is too slow is cut off, and nobody else notices.
"""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Coroutine, Iterator
from contextlib import aclosing
from itertools import islice
from typing import Any, Literal

import msgspec
from anyio import CapacityLimiter, to_thread

from botdrome.api.problems import Problem, no_match
from botdrome.api.replays import performance
from botdrome.games.game import View
from botdrome.server.arena import Arena, Tables
from botdrome.store.store import MatchEntry

BACKLOG_BYTES = 1 << 20
BACKLOG_MESSAGES = 256
AT_A_TIME = 32
"""Messages of a replay that are made in one go."""
CHANGEOVER = 1.0
"""Seconds within which a match that is over gets from its table into the store."""
TOO_SLOW = "too slow: more than 1 MiB or 256 messages were waiting"


class TooSlow(Exception):
    """The spectator did not take what it was shown."""


class Backlog:
    """A spectator that takes what it was shown when it can."""

    def __init__(self) -> None:
        self.cut = asyncio.Event()
        """Set when the spectator turned out to be too slow."""
        self._messages: deque[bytes] = deque()
        self._size = 0
        self._over = False
        self._news = asyncio.Event()

    def show(self, message: bytes) -> None:
        if self.cut.is_set():
            return
        self._size += len(message)
        self._messages.append(message)
        if self._size > BACKLOG_BYTES or len(self._messages) > BACKLOG_MESSAGES:
            self._messages.clear()
            self.cut.set()
        self._news.set()

    def end(self) -> None:
        self._over = True
        self._news.set()

    async def take(self) -> bytes | None:
        """The next message; None when all was taken and the match is over."""
        while not self._messages:
            if self.cut.is_set():
                raise TooSlow(TOO_SLOW)
            if self._over:
                return None
            self._news.clear()
            await self._news.wait()
        message = self._messages.popleft()
        self._size -= len(message)
        return message


Ending = Literal["over", "cut", "gone"]


class Viewing:
    """One spectator's visit to one match: enter, then `attend` or `messages`, and leave in any case."""

    def __init__(self, arena: Arena, match_id: str, workers: CapacityLimiter) -> None:
        """`workers` bounds how many replays are played at once."""
        self._arena, self._match_id, self._workers = arena, match_id, workers
        self._backlog = Backlog()
        self._entry: MatchEntry | None = None
        self._record = b""
        self._live = False

    @property
    def cut(self) -> asyncio.Event:
        return self._backlog.cut

    async def enter(self) -> None:
        """Problem, with the words for the spectator, where there is nothing to see."""
        if "\0" in self._match_id:
            raise no_match(self._match_id)
        if not (await self._found() or await self._found_after_a_change()):
            raise Problem(f"match {self._match_id} cannot be shown: it does not go on", 404)

    async def _found(self) -> bool:
        """Whether it is known what to show. False: the match is neither at a table nor over, as between the two."""
        self._live = self._arena.tables.watch(self._match_id, self._backlog)
        if self._live:
            return True
        entry = await self._arena.store.match(self._match_id)
        if entry is None:
            raise no_match(self._match_id)
        if entry.status == "running":
            return False
        record = await self._arena.store.record(self._match_id)
        if record is None:
            raise Problem(f"match {entry.id} cannot be shown: it was {entry.status}, and nothing was recorded", 404)
        self._entry, self._record = entry, record
        return True

    async def _found_after_a_change(self) -> bool:
        changed = asyncio.Event()
        forget = self._arena.tables.on_change(changed.set)
        try:
            async with asyncio.timeout(CHANGEOVER):
                await changed.wait()
        except TimeoutError:
            pass
        finally:
            forget()
        return await self._found()

    async def messages(self) -> AsyncGenerator[bytes, None]:
        """JSON messages: a snapshot, then everything that happens. TooSlow where the spectator does not keep up."""
        if self._entry is not None:
            async for scene in self._replay(performance(self._entry, self._record)):
                yield scene
            return
        while (message := await self._backlog.take()) is not None:
            yield message

    async def _replay(self, scenes: Iterator[bytes]) -> AsyncIterator[bytes]:
        while some := await to_thread.run_sync(lambda: list(islice(scenes, AT_A_TIME)), limiter=self._workers):
            for message in some:
                yield message

    async def attend(self, write: Callable[[bytes], Awaitable[None]], gone: Callable[[], Coroutine[Any, Any, None]]) -> Ending:
        """Write every message until the match is over, the spectator is cut off, or `gone` says that it went."""
        tasks = [asyncio.create_task(way) for way in (self._play(write), gone(), self._cut_off())]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            played, *_ = await asyncio.gather(*tasks, return_exceptions=True)
        if isinstance(played, Problem):
            raise played
        if played is None:
            return "over"
        return "cut" if self.cut.is_set() else "gone"

    async def _play(self, write: Callable[[bytes], Awaitable[None]]) -> None:
        async with aclosing(self.messages()) as messages:
            async for message in messages:
                await write(message)

    async def _cut_off(self) -> None:
        await self.cut.wait()
        self.leave()

    def leave(self) -> None:
        if self._live:
            self._arena.tables.unwatch(self._match_id, self._backlog)


class _Glance:
    """A spectator that looks once."""

    def __init__(self) -> None:
        self.view: View | None = None

    def show(self, message: bytes) -> None:
        if self.view is None:
            self.view = msgspec.json.decode(message)["view"]

    def end(self) -> None:
        pass


def glance(tables: Tables, match_id: str) -> dict[str, Any] | None:
    """The present public position of a match that runs."""
    one = _Glance()
    if tables.watch(match_id, one):
        tables.unwatch(match_id, one)
    return one.view
