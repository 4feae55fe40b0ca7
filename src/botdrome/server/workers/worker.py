"""Worker: a process that runs jobs for the server, and exits when the server exits.

Started as `python -m botdrome.server.workers.worker FILE_DESCRIPTOR`.
"""

import asyncio
import importlib
import os
import resource
import signal
import socket
import sys
from collections.abc import Callable, MutableMapping
from functools import cache, partial
from inspect import iscoroutinefunction
from itertools import count
from threading import Thread
from time import process_time
from typing import Any

import structlog

from botdrome.server.workers.jobs import JobFailed, MessageReader, PiecewiseResult, frame, portable
from botdrome.server.workers.limits import UnreadResults

NICENESS = 5
"""Gives workers a lower priority than the server's event loop."""
MEMORY = 1 << 30
"""The memory limit of a worker, in bytes."""
MOST_UNREAD = 256 << 20
"""The limit of results that slow clients have not read yet, in bytes."""
TOO_SLOW = "the answer was read too slowly, and other clients need the memory"
AHEAD = 4
"""The number of pieces that are sent before the server takes the first."""


class _JobCaller:
    """The ServerCaller of one job."""

    def __init__(self, worker: "Worker", job: int) -> None:
        self._worker, self._job = worker, job

    async def call(self, name: str, *args: Any, waits: bool = False) -> Any:
        return await self._worker.call(self._job, name, args, waits)


class Worker:
    def __init__(self, connection: socket.socket) -> None:
        self._connection, self._loop = connection, asyncio.get_running_loop()
        self._jobs: dict[int, asyncio.Task[None]] = {}
        self._calls: dict[int, asyncio.Future[Any]] = {}
        self._numbers = count()
        self._taken: dict[int, asyncio.Semaphore] = {}
        self._unread = UnreadResults(MOST_UNREAD)

    def listen(self) -> None:
        """Receive messages.

        This runs in its own thread, so that the process exits at once when the server is gone.
        """
        reader = MessageReader()
        try:
            while data := self._connection.recv(1 << 16):
                for message in reader.feed(data):
                    self._loop.call_soon_threadsafe(self._received, message)
        finally:
            os._exit(0)

    def send(self, *message: Any) -> None:
        self._connection.sendall(frame(*message))

    def _received(self, message: tuple[Any, ...]) -> None:
        match message:
            case "job", job, client, target, args:
                self._jobs[job] = task = self._loop.create_task(
                    self._run(job, client, target, args)
                )
                task.add_done_callback(lambda _: self._jobs.pop(job))
            case "answer", number, answer:
                _resolve(self._calls.pop(number), answer)
            case "taken", job if job in self._taken:
                self._taken[job].release()
            case "drop", job if job in self._jobs:
                self._jobs[job].cancel()

    async def call(self, job: int, name: str, args: tuple[Any, ...], waits: bool) -> Any:
        """Call a function of the server."""
        number = next(self._numbers)
        answer = self._calls[number] = self._loop.create_future()
        self.send("call", job, number, name, args, waits)
        return await answer

    async def _run(self, job: int, client: str, target: str, args: tuple[Any, ...]) -> None:
        began = process_time()
        try:
            function = _found(target)
            result = (
                await function(_JobCaller(self, job), *args)
                if iscoroutinefunction(function)
                else function(*args)
            )
            if isinstance(result, PiecewiseResult):
                return await self._deliver(job, client, result, process_time() - began)
            self.send("done", job, result, process_time() - began, False)
        except MemoryError:
            self.send(
                "done",
                job,
                JobFailed("the job needs more memory than a worker may have"),
                process_time() - began,
                False,
            )
        except Exception as problem:
            self.send("done", job, portable(problem), process_time() - began, False)

    async def _deliver(self, job: int, client: str, result: PiecewiseResult, cost: float) -> None:
        for other in self._unread.add(job, client, sum(map(len, result.pieces))):
            self._jobs[other].cancel()
            self.send("piece", other, JobFailed(TOO_SLOW))
        taken = self._taken[job] = asyncio.Semaphore(AHEAD)
        try:
            self.send("done", job, result.head, cost, True)
            for piece in result.pieces:
                await taken.acquire()
                self.send("piece", job, piece)
            self.send("piece", job, None)
        finally:
            self._unread.remove(job)
            del self._taken[job]


@cache
def _found(target: str) -> Callable[..., Any]:
    module, _, name = target.partition(":")
    function: Callable[..., Any] = getattr(importlib.import_module(module), name)
    return function


def _resolve(future: asyncio.Future[Any], answer: Any) -> None:
    if future.done():
        return
    if isinstance(answer, Exception):
        future.set_exception(answer)
    else:
        future.set_result(answer)


def _log_in_server(worker: Worker, _: Any, level: str, event: MutableMapping[str, Any]) -> str:
    structlog.processors.format_exc_info(None, level, event)
    worker.send(
        "log",
        level,
        {key: value if isinstance(value, str) else repr(value) for key, value in event.items()},
    )
    raise structlog.DropEvent


def _limit_process() -> None:
    for number in (
        signal.SIGINT,
        signal.SIGTERM,
    ):  # the server stops its workers after their running jobs
        signal.signal(number, signal.SIG_IGN)
    os.nice(NICENESS)
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))


async def _work(connection: socket.socket) -> None:
    worker = Worker(connection)
    structlog.configure(processors=[partial(_log_in_server, worker)])
    Thread(target=worker.listen, daemon=True).start()
    await asyncio.get_running_loop().create_future()


if __name__ == "__main__":
    _limit_process()
    asyncio.run(_work(socket.socket(fileno=int(sys.argv[1]))))
