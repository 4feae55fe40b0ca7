"""Watching: what a spectator of a match is sent, on whatever kind of connection.

A match that runs is shown from its present position on; one that is over is played again from its record. What a
spectator has not taken yet waits in a backlog that is bounded: who is too slow is cut off, and nobody else notices.
"""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine
from contextlib import aclosing
from typing import Any, Literal

import msgspec

from botdrome.api.away import Away
from botdrome.api.problems import Problem, no_match
from botdrome.server.workers.worker_link import Result

BACKLOG_BYTES = 1 << 20
BACKLOG_MESSAGES = 256
CHANGEOVER = 1.0
"""Seconds within which a match that is over gets from its table into the store."""
TOO_SLOW = "too slow: more than 1 MiB or 256 messages were waiting"


_messages = msgspec.msgpack.Decoder(list[bytes])


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

    def __init__(self, away: Away, match_id: str) -> None:
        """Matches that are over are played again `away`."""
        self._away, self._arena, self._match_id = away, away.arena, match_id
        self._backlog = Backlog()
        self._replay: Result | None = None
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
        self._replay = await self._away.have_done("botdrome.api.replays:perform", self._match_id)
        return bool(self._replay.value)

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
        if self._replay is not None:
            async with aclosing(self._replay.pieces()) as scenes:
                async for scene in scenes:
                    for message in _messages.decode(scene):
                        yield message
                        await asyncio.sleep(0)  # a client that reads fast must not keep all others waiting
            return
        while (shown := await self._backlog.take()) is not None:
            yield shown

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
        if self._replay is not None:
            self._replay.drop()
        if self._live:
            self._arena.tables.unwatch(self._match_id, self._backlog)
