"""Jobs: the messages between the server and its worker processes."""

import pickle
import struct
from collections.abc import Iterator, Sequence
from typing import Any, Protocol

from msgspec import Struct

from botdrome.bots.house import HouseBot
from botdrome.games.chance import Chance
from botdrome.games.game import Raw, View

WARM_UP = "botdrome.server.workers.jobs:warm_up"
_LENGTH = struct.Struct("!I")


class PiecewiseResult(Struct, frozen=True):
    """A large result: the server fetches the pieces one by one."""

    head: Any
    pieces: Sequence[bytes]


class ServerCaller(Protocol):
    """Calls functions of the server from a job in a worker process."""

    async def call(self, name: str, *args: Any, waits: bool = False) -> Any:
        """Call a function of the server.

        With `waits` the call is slow, and the worker runs other jobs meanwhile.
        """


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
