"""A gate at which a job in a worker process waits for its test."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from tempfile import TemporaryDirectory


class Gate:
    """`path` is for `chores.wait_at`; `reached` is set when a job waits there."""

    def __init__(self, path: str) -> None:
        self.path, self.reached = path, asyncio.Event()
        self._writers: list[asyncio.StreamWriter] = []

    async def wait(self, _: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.append(writer)
        self.reached.set()

    def open(self) -> None:
        for writer in self._writers:
            writer.write(b"open")
            writer.close()
        self._writers.clear()


@asynccontextmanager
async def gate() -> AsyncIterator[Gate]:
    with TemporaryDirectory() as folder:
        made = Gate(f"{folder}/gate")
        server = await asyncio.start_unix_server(made.wait, made.path)
        try:
            yield made
        finally:
            made.open()
            server.close()
