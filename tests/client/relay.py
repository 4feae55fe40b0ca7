"""A relay between a client and a server, whose connections can be cut."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from botdrome.server.network.listening import stop


class Relay:
    def __init__(self, port: int) -> None:
        self._port, self._writers = port, set[asyncio.StreamWriter]()
        self._waiting, self._closed = set[asyncio.StreamWriter](), False
        self._tasks = set[asyncio.Task[None]]()
        self.url = ""
        self.passing = asyncio.Event()
        """New connections reach the server while this is set."""
        self.passing.set()

    def cut(self) -> None:
        """Reset all connections."""
        for writer in self._writers:
            writer.transport.abort()
        self._writers.clear()

    def close(self) -> None:
        self._closed = True
        self.cut()
        for writer in self._waiting:
            writer.transport.abort()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._closed:
            return writer.transport.abort()
        self._waiting.add(writer)
        await self.passing.wait()
        theirs, ours = await asyncio.open_connection("127.0.0.1", self._port)
        if self._closed:
            return ours.transport.abort()
        self._waiting.discard(writer)
        self._writers |= {writer, ours}
        for source, target in ((reader, ours), (theirs, writer)):
            task = asyncio.create_task(self._pump(source, target))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        return None

    async def _pump(self, source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
        try:
            while data := await source.read(1 << 16):
                target.write(data)
                await target.drain()
        except OSError:
            pass
        finally:
            target.close()


@asynccontextmanager
async def relay(port: int) -> AsyncIterator[Relay]:
    one = Relay(port)
    server = await asyncio.start_server(one.serve, "127.0.0.1", 0)
    one.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield one
    finally:
        stop(server)
        one.close()
