"""Jobs: the messages between the server and its worker processes."""

import asyncio
import os
import pickle
import struct
from collections.abc import Awaitable, Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import count
from typing import Any, TypeVar

from msgspec import Struct

from botdrome.bots.house import HouseBot
from botdrome.games.chance import Chance
from botdrome.games.game import Raw, View

WARM_UP = "botdrome.server.workers.jobs:warm_up"
_LENGTH = struct.Struct("!I")
_numbers = count()
T = TypeVar("T")

NICENESS = 5
"""Gives background work a lower priority than the server's event loop."""


@cache
def _background() -> ThreadPoolExecutor:
    """Several threads, since each game may be rated beside the jobs."""
    return ThreadPoolExecutor(8, "background", os.nice, (NICENESS,))


async def at_low_priority(function: Callable[..., T], *args: Any) -> T:
    """Run a function of a job for which no person waits.

    On Linux each thread has its own priority, so the process itself keeps that of the server.
    """
    return await asyncio.get_running_loop().run_in_executor(_background(), function, *args)


class PiecewiseResult(Struct, frozen=True):
    """A large result: the server fetches the pieces one by one."""

    head: Any
    pieces: Sequence[bytes]


class ServerCaller:
    """Calls functions in the server from a job in a worker process."""

    def __init__(
        self, job: int, send: Callable[..., None], calls: dict[int, asyncio.Future[Any]]
    ) -> None:
        """`calls` has the calls without an answer, by number."""
        self._job, self._send, self._calls = job, send, calls

    async def call(
        self, function: Callable[..., Awaitable[T]], *args: Any, waits: bool = False
    ) -> T:
        """Call a coroutine function of a module; its first argument is the pool's `server`.

        With `waits` the call is slow, and the worker runs other jobs meanwhile.
        """
        number = next(_numbers)
        answer: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._calls[number] = answer
        self._send("call", self._job, number, function, args, waits)
        return await answer


class JobFailed(Exception):
    """A job failed. The message gives the reason."""


class WorkersBusy(JobFailed):
    """Too many jobs, calls or unread results at once."""


class WorkersClosed(JobFailed):
    """The server is stopping."""

    def __init__(self, words: str = "The server is stopping.") -> None:
        super().__init__(words)


def frame(*message: Any) -> bytes:
    data = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
    return _LENGTH.pack(len(data)) + data


def portable(problem: Exception) -> Exception:
    """Return an exception that can be pickled and unpickled."""
    try:
        list(MessageReader().feed(frame(problem)))
    except Exception:
        return JobFailed(f"{type(problem).__name__}: {problem}")
    return problem


class MessageReader:
    """Cuts a stream of bytes into messages."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, data: bytes) -> Iterator[tuple[Any, ...]]:
        buffer = self._buffer
        buffer += data
        start = 0
        while len(buffer) - start >= _LENGTH.size:
            end = start + _LENGTH.size + _LENGTH.unpack_from(buffer, start)[0]
            if len(buffer) < end:
                break
            yield pickle.loads(memoryview(buffer)[start + _LENGTH.size : end].tobytes())
            start = end
        del buffer[:start]


def warm_up() -> bool:
    """Run as a job: when it is done, the process has started."""
    return True


def house_bot_move(bot: HouseBot, view: View, chance: Chance) -> tuple[Raw, Chance]:
    """Run as a job: return the move of a house bot, and the chance after its draws."""
    return bot(view, chance), chance
