"""A scripted line server."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from botdrome.server.network.listening import stop
from tests.patience import PATIENCE as PATIENCE

GAME = "G|1.2.0|A game|N|2|2|0|17|10|10|5|A5|B4|C3|D3|E2"
RUNNING = GAME.replace("|N|", "|Y|")
BLANK = "." * 100
FLEET = ".........................B..EE.....B....CCC..B.........B....................DDD............AAAAA...."


class Caller:
    """One connection, seen from the server."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer

    def say(self, *lines: str) -> None:
        self._writer.write("".join(f"{line}\n" for line in lines).encode())

    async def hear(self) -> str:
        """The next line; empty: the caller is gone."""
        line = await asyncio.wait_for(self._reader.readline(), PATIENCE)
        return line.decode().removesuffix("\n")

    async def hang_up(self) -> None:
        self._writer.close()
        with suppress(ConnectionError):
            await self._writer.wait_closed()


class LineServer:
    def __init__(self) -> None:
        self._callers: asyncio.Queue[Caller] = asyncio.Queue()
        self._all: list[Caller] = []
        self.port = 0
        self.listener: asyncio.Server | None = None
        self._closed = False

    async def on_call(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._closed:
            return writer.transport.abort()
        self._all.append(Caller(reader, writer))
        return await self._callers.put(self._all[-1])

    async def close(self) -> None:
        """Stop listening, and cut all connections."""
        assert self.listener is not None
        self._closed = True
        stop(self.listener)
        for caller in self._all:
            await caller.hang_up()

    async def caller(self) -> Caller:
        return await asyncio.wait_for(self._callers.get(), PATIENCE)


@asynccontextmanager
async def line_server() -> AsyncIterator[LineServer]:
    server = LineServer()
    server.listener = await asyncio.start_server(server.on_call, "127.0.0.1", 0)
    server.port = server.listener.sockets[0].getsockname()[1]
    try:
        yield server
    finally:
        await server.close()


def start(*names: str) -> list[str]:
    """The lines to all players when the game starts, in this order of turns."""
    return [*(f"B|{name}||{BLANK}|0|0" for name in names), "|".join(["S", *names]), f"N|{names[0]}"]
