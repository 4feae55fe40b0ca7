"""ServerLink: a bot's connection to a server in the native protocol."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed


class ServerMessage(NamedTuple):
    data: dict[str, Any]
    raw: str
    """As it came."""


class ConnectionLost(Exception):
    """The connection has ended; the text is the server's reason, where it gave one."""

    def __init__(self, code: int, words: str, complete: bool) -> None:
        """`code` is that of the close. `complete`: the contest is over for this bot."""
        super().__init__(words or f"the connection was lost (code {code})")
        self.code, self.complete = code, complete


class ServerLink:
    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket
        self._unread: list[ServerMessage] = []
        self._changed = asyncio.Event()
        self._ended, self._complete = asyncio.Event(), False
        self._error = ""
        """The server's last notice of an error."""

    def wake(self) -> None:
        """Let `take` return at once, with or without messages."""
        self._changed.set()

    async def take(self) -> list[ServerMessage]:
        """Wait for messages or `wake`, and return all messages that have come.

        Raise ConnectionLost after the last one.
        """
        await self._changed.wait()
        self._changed.clear()
        messages, self._unread = self._unread, []
        if self._ended.is_set():
            self._changed.set()
            if not messages:
                raise self._lost()
        return messages

    async def take_one(self) -> ServerMessage:
        """Wait for the next message alone."""
        first, *others = await self.take()
        self._unread[:0] = others
        if others:
            self._changed.set()
        return first

    async def send(self, message: Any) -> None:
        """Send a value, or a text as it is."""
        try:
            await self._socket.send(message if isinstance(message, str) else json.dumps(message))
        except ConnectionClosed:
            await self._ended.wait()  # the reason may not have been read yet
            raise self._lost() from None

    def _lost(self) -> ConnectionLost:
        socket = self._socket
        return ConnectionLost(
            socket.close_code or 1006, self._error or socket.close_reason or "", self._complete
        )

    async def _read(self) -> None:
        """Read all the time, so that no message waits in the server while the bot thinks."""
        try:
            async for text in self._socket:
                raw = text if isinstance(text, str) else text.decode()
                self._sort(ServerMessage(json.loads(raw), raw))
        except ConnectionClosed:
            pass
        finally:
            self._ended.set()
            self._changed.set()

    def _sort(self, message: ServerMessage) -> None:
        """Notices are for the link; all other messages are for the bot."""
        data = message.data
        if "error" in data:
            self._error = str(data["error"])
        elif data.get("complete") is True:
            self._complete = True
        else:
            self._unread.append(message)
            self._changed.set()


@asynccontextmanager
async def linked(url: str) -> AsyncIterator[ServerLink]:
    """Connect to a server. Raise OSError, InvalidHandshake or InvalidURI if that fails."""
    async with connect(url, max_size=None, compression=None) as socket:
        link = ServerLink(socket)
        reading = asyncio.create_task(link._read())
        try:
            yield link
        finally:
            reading.cancel()
