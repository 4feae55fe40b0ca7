"""Worker: a process that runs jobs for the server, and exits when the server exits.

Started as `python -m botdrome.server.workers.worker FILE_DESCRIPTOR`, or as a fork of the server.
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
from threading import Thread
from time import process_time
from typing import Any, NoReturn

import structlog

from botdrome.server.workers.jobs import (
    JobFailed,
    MessageReader,
    PiecewiseResult,
    ServerCaller,
    UnreadResults,
    at_low_priority,
    frame,
    portable,
)

MEMORY = 1 << 30
"""The memory limit of a worker, in bytes."""
MOST_UNREAD = 256 << 20
"""The limit of results that slow clients have not read yet, in bytes."""
TOO_SLOW = "the answer was read too slowly, and other clients need the memory"
AHEAD = 4
"""The number of pieces that are sent before the server takes the first."""


class Worker:
    def __init__(self, connection: socket.socket) -> None:
        self._connection, self._loop = connection, asyncio.get_running_loop()
        self._jobs: dict[int, asyncio.Task[None]] = {}
        self._calls: dict[int, asyncio.Future[Any]] = {}
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

    async def _run(self, job: int, client: str, target: str, args: tuple[Any, ...]) -> None:
        began = process_time()

        def end(outcome: Any) -> None:
            self.send("done", job, outcome, process_time() - began, False)

        try:
            function = found(target)
            result = (
                await function(ServerCaller(job, self.send, self._calls), *args)
                if iscoroutinefunction(function)
                else await at_low_priority(function, *args)
            )
            if isinstance(result, PiecewiseResult):
                return await self._deliver(job, client, result, process_time() - began)
            end(result)
        except MemoryError:
            end(JobFailed("the job needs more memory than a worker may have"))
        except Exception as problem:
            end(portable(problem))

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
def found(target: str) -> Callable[..., Any]:
    """Import a `module:function`."""
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
    os.environ["OPENBLAS_NUM_THREADS"] = "1"  # numpy would use all cores
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))


async def _work(connection: socket.socket) -> None:
    worker = Worker(connection)
    structlog.configure(processors=[partial(_log_in_server, worker)])
    Thread(target=worker.listen, daemon=True).start()
    await asyncio.get_running_loop().create_future()


def run_forked(connection: socket.socket, preload: str) -> NoReturn:
    """Work in a fork of the server, with no file of the server's but standard error."""
    try:
        nothing = os.open(os.devnull, os.O_RDWR)
        os.dup2(nothing, 0)
        os.dup2(nothing, 1)
        os.closerange(3, connection.fileno())
        os.closerange(connection.fileno() + 1, os.sysconf("SC_OPEN_MAX"))
        _limit_process()
        found(preload)()
        asyncio.run(_work(connection))
    except Exception:
        sys.excepthook(*sys.exc_info())
    finally:
        os._exit(1)


if __name__ == "__main__":
    _limit_process()
    asyncio.run(_work(socket.socket(fileno=int(sys.argv[1]))))
