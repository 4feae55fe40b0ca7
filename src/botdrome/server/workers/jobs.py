"""Jobs: what the server and its worker processes say to each other."""

import pickle
import struct
from collections.abc import Iterator, Sequence
from typing import Any, Protocol

from msgspec import Struct

_LENGTH = struct.Struct("!I")


class Reply(Struct, frozen=True):
    """A result with a body that is too large for one message: it is sent piece by piece, as fast as it is taken."""

    head: Any
    pieces: Sequence[bytes]


class Home(Protocol):
    """The server, as a job in a worker sees it."""

    async def ask(self, errand: str, *args: Any, waits: bool = False) -> Any:
        """Have the server do something. `waits`: it takes long, and the worker does other jobs meanwhile."""


class JobFailed(Exception):
    """A job that came to no result, with the reason."""


class WorkersBusy(JobFailed):
    """More is being done than is allowed at once."""


class WorkersClosed(JobFailed):
    """The server is stopping."""

    def __init__(self, words: str = "The server is stopping.") -> None:
        super().__init__(words)


def frame(*message: Any) -> bytes:
    data = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
    return _LENGTH.pack(len(data)) + data


def portable(problem: Exception) -> Exception:
    """An exception that can be sent, and read at the other end."""
    try:
        list(Frames().feed(frame(problem)))
    except Exception:
        return JobFailed(f"{type(problem).__name__}: {problem}")
    return problem


class Frames:
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
