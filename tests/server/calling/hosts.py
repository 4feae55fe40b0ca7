"""Hosts: HTTP servers for tests, which send given bytes."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from msgspec import Struct

from botdrome.protocols import load_settings
from botdrome.server.calling.bot_caller import BotCaller
from botdrome.server.network.listening import stop


class Asked(Struct, frozen=True):
    """A request, as it came."""

    line: str
    headers: dict[str, str]
    body: bytes
    connection: int
    """The number of the connection on which it came, from 0."""


Say = Callable[[asyncio.StreamWriter, Asked], Awaitable[None]]


def answer(
    body: bytes = b"[]", status: str = "200 OK", version: str = "1.1", **headers: str
) -> bytes:
    lines = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in headers.items())
    length = (
        ""
        if "content_length" in headers or "transfer_encoding" in headers
        else f"content-length: {len(body)}\r\n"
    )
    return f"HTTP/{version} {status}\r\n{lines}{length}\r\n".encode() + body


class Host:
    """Remembers its requests and counts its connections."""

    def __init__(self, say: bytes | Say) -> None:
        self._say = say
        self.asked: list[Asked] = []
        self.connections = 0
        self.heard = asyncio.Event()
        """Set with each request."""
        self.left = asyncio.Event()
        """Set when a connection ends."""
        self.port = 0
        self.scheme = "http"

    @property
    def url(self) -> str:
        return f"{self.scheme}://127.0.0.1:{self.port}/"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        number, self.connections = self.connections, self.connections + 1
        try:
            while not writer.is_closing():
                asked = await _request(reader, number)
                self.asked.append(asked)
                self.heard.set()
                if isinstance(self._say, bytes):
                    writer.write(self._say)
                else:
                    await self._say(writer, asked)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        except asyncio.CancelledError:
            writer.transport.abort()
        finally:
            writer.close()
            await asyncio.gather(writer.wait_closed(), return_exceptions=True)
            self.left.set()


async def _request(reader: asyncio.StreamReader, number: int) -> Asked:
    head = (await reader.readuntil(b"\r\n\r\n")).decode()
    line, *lines = head.rstrip("\r\n").split("\r\n")
    headers = {name.lower(): value for name, _, value in (entry.partition(": ") for entry in lines)}
    body = await reader.readexactly(int(headers.get("content-length", 0)))
    return Asked(line, headers, body, number)


@asynccontextmanager
async def host(say: bytes | Say = b"", tls: ssl.SSLContext | None = None) -> AsyncIterator[Host]:
    one = Host(say or answer())
    tasks: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        await one.serve(reader, writer)
        tasks.discard(task)

    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=tls)
    one.port, one.scheme = server.sockets[0].getsockname()[1], "https" if tls else "http"
    try:
        yield one
    finally:
        stop(server)
        for task in tuple(tasks):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


@asynccontextmanager
async def callers(
    names: dict[str, list[str]] | None = None, **settings: Any
) -> AsyncIterator[BotCaller]:
    """BotCaller that know these names, and no others but localhost."""

    async def lookup(name: str) -> list[str]:
        return (names or {}).get(name, [])

    one = BotCaller(load_settings(settings), lookup)
    try:
        yield one
    finally:
        one.close()
        await asyncio.sleep(0)
