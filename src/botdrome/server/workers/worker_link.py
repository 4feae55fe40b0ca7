"""The link to a worker process: how it is started, what it is told, and what comes back."""

import asyncio
import contextvars
import os
import socket
import subprocess
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from typing import Any, Protocol, cast

from botdrome.server.workers.jobs import Frames, frame

Errands = Mapping[str, Callable[..., Awaitable[Any]]]
"""What a job may have the server do."""


class Hired:
    """A worker process, and the server's end of the socket to it."""

    def __init__(self, process: subprocess.Popen[bytes], connection: socket.socket) -> None:
        self.process, self.connection = process, connection
        self.fit = False
        """It was let go when it had nothing to do, and could go on working."""


def hire() -> Hired:
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
    return Hired(process, ours)


def dismiss(hired: Hired) -> None:
    """The worker is needed no more, or does not do what it should."""
    hired.connection.close()
    hired.process.kill()
    hired.process.wait()


class Result:
    """What came of a job. Its pieces are fetched one by one; `drop` them if they are not wanted."""

    def __init__(self, job: "Job", value: Any) -> None:
        self._job, self.value = job, value

    async def pieces(self) -> AsyncGenerator[bytes, None]:
        try:
            while (piece := await self._job.pieces.get()) is not None:
                if isinstance(piece, Exception):
                    raise piece
                self._job.say("taken")
                yield piece
        finally:
            self.drop()

    def drop(self) -> None:
        self._job.drop()


class Job:
    def __init__(self, number: int, guest: str, target: str, args: tuple[Any, ...], errands: Errands, long: bool) -> None:
        self.number, self.guest, self.target, self.args, self.errands, self.long = number, guest, target, args, errands, long
        self.result: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        self.pieces: asyncio.Queue[bytes | Exception | None] = asyncio.Queue()
        self.context = contextvars.copy_context()
        self.taken = 0.0
        """What its turn was taken to cost."""
        self.timer: asyncio.TimerHandle | None = None
        self.link: Link | None = None

    def say(self, word: str) -> None:
        if self.link is not None:
            self.link.say(word, self.number)

    def drop(self) -> None:
        """Its pieces are not wanted, or were all taken."""
        if self.link is not None and self.link.jobs.pop(self.number, None) is not None:
            self.say("drop")
            self.link.owner.look()

    def end(self, outcome: Any) -> None:
        if not self.result.done():
            if isinstance(outcome, Exception):
                self.result.set_exception(outcome)
            else:
                self.result.set_result(Result(self, outcome))
        elif isinstance(outcome, Exception):
            self.pieces.put_nowait(outcome)
        else:
            self.drop()  # nobody wants to know any more


class Owner(Protocol):
    """The pool that a worker belongs to."""

    def hear(self, link: "Link", kind: str, rest: list[Any]) -> None: ...

    def lose(self, link: "Link") -> None: ...

    def look(self) -> None:
        """Something is over: there may be something else to do."""


class Link(asyncio.Protocol):
    """The connection to one worker."""

    def __init__(self, owner: Owner, hired: Hired) -> None:
        self.owner, self.hired = owner, hired
        self._frames = Frames()
        self._transport: asyncio.Transport
        self.jobs: dict[int, Job] = {}
        """Those that are not over, with those whose pieces are still being sent."""
        self.running: set[int] = set()
        self.lost = False
        self.why = "a worker process has ended unexpectedly: try again"

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)  # uvloop's are no subclass of it

    def data_received(self, data: bytes) -> None:
        for kind, *rest in self._frames.feed(data):
            self.owner.hear(self, kind, rest)

    def connection_lost(self, exc: Exception | None) -> None:
        self.lost = True
        self.owner.lose(self)

    def say(self, *message: Any) -> None:
        if not self._transport.is_closing():
            self._transport.write(frame(*message))

    def close(self, why: str = "") -> None:
        self.why = why or self.why
        self.hired.fit = not self.jobs
        self._transport.abort()
