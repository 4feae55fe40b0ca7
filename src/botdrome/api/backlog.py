"""Backlog: the messages that wait for one spectator, within limits."""

import asyncio
from collections import deque

BACKLOG_BYTES, BACKLOG_MESSAGES = 1 << 20, 256
TOO_SLOW = "too slow: more than 1 MiB or 256 messages were waiting"


class TooSlow(Exception):
    """The spectator did not read what it was sent."""


class Backlog:
    """Messages that a spectator has not taken yet."""

    def __init__(self) -> None:
        self.cut = asyncio.Event()
        """Set when the spectator was too slow."""
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

    async def begun(self) -> bool:
        """Wait for the first message. False: there is none, and the backlog can be used again."""
        while not self._messages and not self._over and not self.cut.is_set():
            self._news.clear()
            await self._news.wait()
        self._over = self._over and bool(self._messages)
        return bool(self._messages) or self.cut.is_set()

    async def take(self) -> bytes | None:
        """The next message; None when the match is over and all was taken."""
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
