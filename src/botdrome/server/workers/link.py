"""The link to a worker process: start and stop it, send jobs and receive results."""

import asyncio
import contextvars
import os
import socket
import subprocess
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any, Protocol, cast

import structlog

from botdrome.server.workers.jobs import JobFailed, MessageReader, frame

log = structlog.get_logger()

ServerCalls = Mapping[str, Callable[..., Awaitable[Any]]]
"""Functions of the server that a job may call, by name."""


MOST_REPEATS = 3
"""Times that a job is done again after its worker was lost."""

RETRY = 1.0
"""Seconds until the server tries again to start its first worker."""


class WorkerProcess:
    """A worker process, and the server's end of its socket."""

    def __init__(self, process: subprocess.Popen[bytes], connection: socket.socket) -> None:
        self.process, self.connection = process, connection
        self.idle = False
        """True if the worker had no job when the link was closed."""


def start_process() -> WorkerProcess:
    ours, theirs = socket.socketpair()
    handle = theirs.fileno()
    path = os.pathsep.join(filter(None, sys.path))
    command = [sys.executable, "-m", "botdrome.server.workers.worker", str(handle)]
    with theirs:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            env=os.environ | {"PYTHONPATH": path},
            pass_fds=[handle],
        )
    return WorkerProcess(process, ours)


def stop_process(worker: WorkerProcess) -> None:
    worker.connection.close()
    worker.process.kill()
    worker.process.wait()


class JobResult:
    """The value of a job, and the pieces of a large result. Fetch the pieces, or `drop` them."""

    def __init__(self, job: "Job", value: Any) -> None:
        self._job, self.value = job, value

    async def pieces(self) -> AsyncGenerator[bytes, None]:
        try:
            while (piece := await self._job.pieces.get()) is not None:
                if isinstance(piece, Exception):
                    raise piece
                self._job.send("taken")
                yield piece
        finally:
            self.drop()

    def drop(self) -> None:
        self._job.drop()


class Job:
    def __init__(
        self,
        number: int,
        client: str,
        target: str,
        args: tuple[Any, ...],
        calls: ServerCalls,
        long: bool,
        limit: float,
    ) -> None:
        self.number, self.client, self.target, self.args = number, client, target, args
        self.calls, self.long, self.limit = calls, long, limit
        self.result: asyncio.Future[JobResult] = asyncio.get_running_loop().create_future()
        self.pieces: asyncio.Queue[bytes | Exception | None] = asyncio.Queue()
        self.context = contextvars.copy_context()
        self.charged = 0.0
        """Seconds of processor time that the job's turn was charged."""
        self.timer: asyncio.TimerHandle | None = None
        self.link: WorkerLink | None = None
        self.orders: list[asyncio.Task[Any]] = []
        """The calls that change something.

        If the worker is lost, the job is done again, but its orders are not.
        """
        self._ordered = 0
        self._repeats = 0

    def call(self, name: str, args: tuple[Any, ...], order: bool) -> "asyncio.Task[Any]":
        """Call a function of the server, on behalf of the client."""
        if order and self._ordered < len(self.orders):
            task = self.orders[self._ordered]
        else:
            task = asyncio.get_running_loop().create_task(
                self._call(name, args), context=self.context
            )
            self.orders += [task] * order
        self._ordered += order
        return task

    async def _call(self, name: str, args: tuple[Any, ...]) -> Any:
        return await self.calls[name](*args)

    def stop_timer(self) -> None:
        if self.timer is not None:
            self.timer.cancel()

    def repeat(self) -> bool:
        """Get ready to be done again. False: there is no need, or it was done too often."""
        self.link, self._ordered, self._repeats = None, 0, self._repeats + 1
        return bool(self.orders) and not self.result.done() and self._repeats <= MOST_REPEATS

    def send(self, word: str) -> None:
        if self.link is not None:
            self.link.send(word, self.number)

    def drop(self) -> None:
        """Discard the pieces."""
        if self.link is not None and self.link.jobs.pop(self.number, None) is not None:
            self.send("drop")
            self.link.owner.job_ended()

    def end(self, outcome: Any) -> None:
        if not self.result.done():
            if isinstance(outcome, Exception):
                self.result.set_exception(outcome)
            else:
                self.result.set_result(JobResult(self, outcome))
        elif isinstance(outcome, Exception):
            self.pieces.put_nowait(outcome)
        else:
            self.drop()  # the request was cancelled


class LinkOwner(Protocol):
    """The pool that owns a worker."""

    def received(self, link: "WorkerLink", kind: str, rest: list[Any]) -> None: ...

    def lost(self, link: "WorkerLink") -> None: ...

    def job_ended(self) -> None: ...


class WorkerLink(asyncio.Protocol):
    """The connection to one worker."""

    def __init__(self, owner: LinkOwner, worker: WorkerProcess) -> None:
        self.owner, self.worker = owner, worker
        self._reader = MessageReader()
        self._transport: asyncio.Transport
        self.jobs: dict[int, Job] = {}
        """Running jobs, and jobs whose pieces are still being fetched."""
        self.running: set[int] = set()
        self.ended = False
        self._first: Job | None = None
        self.why = "a worker process has ended unexpectedly: try again"

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(
            asyncio.Transport, transport
        )  # uvloop's transports are not subclasses

    def data_received(self, data: bytes) -> None:
        for kind, *rest in self._reader.feed(data):
            if kind == "log":
                _log_for_worker(*rest)
            else:
                self.owner.received(self, kind, rest)

    def connection_lost(self, exc: Exception | None) -> None:
        self.ended = True
        if self._first is not None:
            self._first.end(JobFailed(self.why))
        self.owner.lost(self)

    async def warm_up(self, job: Job) -> None:
        """Run the first job of the process, until it is done or the process ends."""
        job.link, self._first = self, job
        if not self.ended:
            self.begin(job)
            with suppress(Exception):  # if the store is away, another job opens it
                await job.result

    def begin(self, job: Job) -> None:
        self.jobs[job.number] = job
        self.send("job", job.number, job.client, job.target, job.args)

    def send(self, *message: Any) -> None:
        if not self._transport.is_closing():
            self._transport.write(frame(*message))

    def close(self, why: str = "") -> None:
        self.why = why or self.why
        self.worker.idle = not self.jobs
        self._transport.abort()


def _log_for_worker(level: str, fields: dict[str, Any]) -> None:
    getattr(log, level, log.error)(fields.pop("event", ""), **fields)
