"""Jobs: the messages between the server and its worker processes, and limits shared by clients."""

import asyncio
import os
import pickle
import struct
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from itertools import count
from typing import Any, NamedTuple, Protocol, TypeVar

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


# Limits shared by clients: slots, and the memory of unread results. No client can use all of it.


class Client(Protocol):
    """The client that the server is working for."""

    @property
    def source(self) -> str:
        """See `source_of`."""

    @property
    def peer(self) -> object:
        """Its connection; None: it has none here."""


class Requester(NamedTuple):
    """A client known by its source, such as one behind a proxy or at another node."""

    source: str = ""
    peer: object = None


NO_CLIENT = Requester()
CLIENT: ContextVar[Client] = ContextVar("client", default=NO_CLIENT)
"""The client of the current request. Tasks that the request starts inherit it."""


def set_source(source: str) -> None:
    """Set the source of the current request, which came over the same connection."""
    CLIENT.set(Requester(source, CLIENT.get().peer))


MOST_WAITING = 400
"""The queue limit of jobs that read the store. One client can have half of these slots."""
TOO_MANY_QUERIES = "Too many queries are waiting already; try again in a moment."


class SharedSlots:
    """Slots for clients.

    A client never holds more slots than are free, so a new client usually finds one.
    """

    def __init__(self, slots: int) -> None:
        self._free = slots
        self._taken: Counter[str] = Counter()

    def take(self, client: str) -> bool:
        """Take a slot. Return False if none is free for this client."""
        if self._taken[client] >= self._free:
            if not self._taken[client]:
                del self._taken[client]
            return False
        self._free -= 1
        self._taken[client] += 1
        return True

    def release(self, client: str) -> None:
        self._free += 1
        self._taken[client] -= 1
        if not self._taken[client]:
            del self._taken[client]

    @contextmanager
    def held(self, client: str, refusal: str) -> Iterator[None]:
        """Hold a slot. Raise WorkersBusy with the message `refusal` if none is free."""
        if not self.take(client):
            raise WorkersBusy(refusal)
        try:
            yield
        finally:
            self.release(client)


class UnreadResults:
    """Large results in a worker process that slow clients have not read yet."""

    def __init__(self, most: int) -> None:
        """`most` is the limit in bytes for all clients together."""
        self._most = most
        self._kept: dict[int, tuple[str, int]] = {}
        """The client and the size of each job's result, oldest first."""

    def add(self, job: int, client: str, size: int) -> list[int]:
        """Keep a result, and return the jobs whose results must be dropped to make room.

        These are the oldest results of clients that keep more bytes than this one. Raise
        WorkersBusy if there are none.
        """
        kept, gone = dict(self._kept), list[int]()
        while sum(size for _, size in kept.values()) + size > self._most:
            greediest, most = self._greediest(kept)
            if most <= sum(size for other, size in kept.values() if other == client) + size:
                raise WorkersBusy("Too many large answers are being sent; try again in a moment.")
            gone.append(next(job for job, (other, _) in kept.items() if other == greediest))
            del kept[gone[-1]]
        self._kept = kept | {job: (client, size)}
        return gone

    def remove(self, job: int) -> None:
        self._kept.pop(job, None)

    @staticmethod
    def _greediest(kept: dict[int, tuple[str, int]]) -> tuple[str, int]:
        sizes = Counter[str]()
        for client, size in kept.values():
            sizes[client] += size
        return sizes.most_common(1)[0] if sizes else ("", 0)
