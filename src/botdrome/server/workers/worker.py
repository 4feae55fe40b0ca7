"""Worker: a process that does heavy jobs for the server. It ends when the server does, however that ends.

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

from botdrome.server.workers.jobs import Frames, JobFailed, Reply, frame, portable
from botdrome.server.workers.unread_results import UnreadResults

LESS_URGENT = 5
"""By so much a worker is less urgent than the server's event loop, as `nice` counts."""
MEMORY = 1 << 30
"""Bytes that a worker may have."""
MOST_UNREAD = 256 << 20
"""Bytes of results that slow clients have not read yet."""
TOO_SLOW = "the answer was read too slowly, and others need the room"
AHEAD = 4
"""Pieces that are sent before the first of them was taken."""


class _Errands:
    """Home, as one job sees it."""

    def __init__(self, worker: "Worker", job: int) -> None:
        self._worker, self._job = worker, job

    async def ask(self, errand: str, *args: Any, waits: bool = False) -> Any:
        return await self._worker.ask(self._job, errand, args, waits)


class Worker:
    def __init__(self, connection: socket.socket) -> None:
        self._connection, self._loop = connection, asyncio.get_running_loop()
        self._jobs: dict[int, asyncio.Task[None]] = {}
        self._asked: dict[int, asyncio.Future[Any]] = {}
        self._numbers = count()
        self._taken: dict[int, asyncio.Semaphore] = {}
        self._unread = UnreadResults(MOST_UNREAD)

    def listen(self) -> None:
        """In a thread of its own: when the server is gone, the process ends, whatever it is doing."""
        frames = Frames()
        try:
            while data := self._connection.recv(1 << 16):
                for message in frames.feed(data):
                    self._loop.call_soon_threadsafe(self._hear, message)
        finally:
            os._exit(0)

    def say(self, *message: Any) -> None:
        self._connection.sendall(frame(*message))

    def _hear(self, message: tuple[Any, ...]) -> None:
        match message:
            case "job", job, guest, target, args:
                self._jobs[job] = task = self._loop.create_task(self._do(job, guest, target, args))
                task.add_done_callback(lambda _: self._jobs.pop(job))
            case "answer", number, answer:
                _resolve(self._asked.pop(number), answer)
            case "taken", job if job in self._taken:
                self._taken[job].release()
            case "drop", job if job in self._jobs:
                self._jobs[job].cancel()

    async def ask(self, job: int, errand: str, args: tuple[Any, ...], waits: bool) -> Any:
        number = next(self._numbers)
        answer = self._asked[number] = self._loop.create_future()
        self.say("ask", job, number, errand, args, waits)
        return await answer

    async def _do(self, job: int, guest: str, target: str, args: tuple[Any, ...]) -> None:
        began = process_time()
        try:
            function = _found(target)
            result = await function(_Errands(self, job), *args) if iscoroutinefunction(function) else function(*args)
            if isinstance(result, Reply):
                return await self._deliver(job, guest, result, process_time() - began)
            self.say("done", job, result, process_time() - began, False)
        except MemoryError:
            self.say("done", job, JobFailed("the job needs more memory than a worker may have"), process_time() - began, False)
        except Exception as problem:
            self.say("done", job, portable(problem), process_time() - began, False)

    async def _deliver(self, job: int, guest: str, reply: Reply, cost: float) -> None:
        for other in self._unread.add(job, guest, sum(map(len, reply.pieces))):
            self._jobs[other].cancel()
            self.say("piece", other, JobFailed(TOO_SLOW))
        taken = self._taken[job] = asyncio.Semaphore(AHEAD)
        try:
            self.say("done", job, reply.head, cost, True)
            for piece in reply.pieces:
                await taken.acquire()
                self.say("piece", job, piece)
            self.say("piece", job, None)
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


def _to_the_server(worker: Worker, _: Any, level: str, event: MutableMapping[str, Any]) -> str:
    """What is logged here is logged there."""
    structlog.processors.format_exc_info(None, level, event)
    worker.say("log", level, {key: value if isinstance(value, str) else repr(value) for key, value in event.items()})
    raise structlog.DropEvent


def _give_way() -> None:
    for number in (signal.SIGINT, signal.SIGTERM):  # meant for the server, which lets running jobs end
        signal.signal(number, signal.SIG_IGN)
    os.nice(LESS_URGENT)
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))


async def _work(connection: socket.socket) -> None:
    worker = Worker(connection)
    structlog.configure(processors=[partial(_to_the_server, worker)])
    Thread(target=worker.listen, daemon=True).start()
    await asyncio.get_running_loop().create_future()


if __name__ == "__main__":
    _give_way()
    asyncio.run(_work(socket.socket(fileno=int(sys.argv[1]))))
