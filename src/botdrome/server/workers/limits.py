"""Limits shared by clients: slots, and the memory of unread results.

No client can use all of it.
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from botdrome.server.workers.jobs import WorkersBusy

CLIENT_SOURCE: ContextVar[str] = ContextVar("client_source", default="")
"""The source (see `source_of`) of the current request. Tasks that the request starts inherit it."""


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
