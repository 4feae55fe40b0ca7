"""The polling transport: packets wait in a queue until the client fetches them."""

import asyncio
from collections import deque
from collections.abc import Callable

from botdrome.api.socketio.query import BAD_REQUEST, EngineError
from botdrome.wire.framing.socketio import CLOSE, NOOP

CLOSED, NOTHING = CLOSE.encode(), NOOP.encode()

LONGEST_ANSWER = 1 << 20
"""Bytes, roughly: the rest goes with the next answer."""
PROBING = 0.1
"""Seconds that a poll may take while the client tries a WebSocket."""
CLOSE_TIMEOUT = 10.0
"""Seconds for the client to fetch the last packets."""


class PollingTransport:
    def __init__(self) -> None:
        self.unsent = 0
        self.on_read: Callable[[], None] | None = None
        self._packets: deque[bytes] = deque()
        self._poll: asyncio.Future[None] | None = None
        self._probing = self._retired = False
        self._done: Callable[[], None] | None = None
        self._timer: asyncio.TimerHandle | None = None

    def send(self, packets: list[bytes]) -> None:
        self._packets.extend(packets)
        self.unsent += sum(map(len, packets))
        self._wake()

    def close(self, done: Callable[[], None]) -> None:
        """`done` is called when the client has fetched all packets, or has taken too long."""
        self._done = done
        self._timer = asyncio.get_running_loop().call_later(CLOSE_TIMEOUT, self._finish)
        self.send([CLOSED])

    def drop(self) -> None:
        self._packets.clear()
        self._packets.append(CLOSED)
        self.unsent = 0
        self._wake()

    def probe(self, probing: bool) -> None:
        """The client can change to the WebSocket only when none of its polls waits."""
        self._probing = probing
        self._wake()

    def retire(self) -> list[bytes]:
        """The packets that are left, for the WebSocket."""
        rest = list(self._packets)
        self._packets.clear()
        self.unsent, self._retired = 0, True
        self._wake()
        return rest

    async def fetch(self) -> list[bytes]:
        """Wait for packets. Only one poll may wait."""
        if self._poll is not None:
            raise EngineError(BAD_REQUEST, "there is a poll already")
        if not self._packets and not self._retired:
            await self._wait()
        return self._take() or [NOTHING]

    async def _wait(self) -> None:
        loop = asyncio.get_running_loop()
        self._poll = loop.create_future()
        timer = loop.call_later(PROBING, self._wake) if self._probing else None
        try:
            await self._poll
        finally:
            self._poll = None
            if timer is not None:
                timer.cancel()

    def _take(self) -> list[bytes]:
        """The close goes alone: some clients ignore packets that come with it."""
        taken: list[bytes] = []
        length = 0
        while (
            self._packets and length < LONGEST_ANSWER and not (taken and self._packets[0] == CLOSED)
        ):
            packet = self._packets.popleft()
            length += len(packet)
            taken.append(packet)
        self.unsent -= min(length, self.unsent)
        if not self._packets:
            self._finish()
        if self.on_read is not None:
            self.on_read()
        return taken

    def _wake(self) -> None:
        if self._poll is not None and not self._poll.done():
            self._poll.set_result(None)

    def _finish(self) -> None:
        done, self._done = self._done, None
        if done is not None:
            done()
        if self._timer is not None:
            self._timer.cancel()
