"""Rate limits on the real clock."""

import asyncio
from collections import OrderedDict
from time import monotonic

from botdrome.server.workers.limits import SharedSlots
from botdrome.wire.conversation import TokenBucket

REMEMBERED = 10_000
"""Maximum number of buckets kept. The least recently used is dropped first."""


class Bucket:
    """A token bucket on the real clock."""

    __slots__ = ("_tokens",)

    def __init__(self, rate: float, size: int) -> None:
        self._tokens = TokenBucket(rate, size, monotonic())

    def take(self) -> bool:
        """Return whether another message is allowed, and count it if so."""
        return self._tokens.take(monotonic())

    def dry_for(self) -> float:
        """Return the seconds until the next message is allowed; 0 if it is allowed now."""
        return self._tokens.wait(monotonic())


class Buckets:
    """A rate limit for each client."""

    def __init__(self, rate: float, size: int) -> None:
        self._rate, self._size = rate, size
        self._buckets: OrderedDict[str, Bucket] = OrderedDict()

    def too_fast(self, client: str) -> float:
        """Count a message and return 0, or return the seconds until the client may send it."""
        bucket = self._buckets.get(client)
        if bucket is None:
            bucket = self._buckets[client] = Bucket(self._rate, self._size)
            if len(self._buckets) > REMEMBERED:
                self._buckets.popitem(last=False)
        self._buckets.move_to_end(client)
        return 0.0 if bucket.take() else bucket.dry_for()

    def dry_for(self, client: str) -> float:
        """Return the seconds until the client may send a message, without counting one."""
        bucket = self._buckets.get(client)
        return 0.0 if bucket is None else bucket.dry_for()


# Connection timeouts of equal length, with one timer for all connections.


class ConnectionTimeouts:
    """Aborts connections that take too long."""

    __slots__ = ("_awaited", "_looking", "_seconds")

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._awaited: dict[asyncio.Transport, float] = {}
        """The start of each wait, oldest first."""
        self._looking = False
        """Whether the timer runs."""

    def begin(self, transport: asyncio.Transport) -> None:
        loop = asyncio.get_running_loop()
        self._awaited[transport] = loop.time()
        if not self._looking:
            self._looking = True
            loop.call_later(self._seconds, self._look)

    def end(self, transport: asyncio.Transport) -> None:
        self._awaited.pop(transport, None)

    def _look(self) -> None:
        """Abort overdue connections.

        The loop stops at the first that has time left, since there may be thousands.
        """
        loop = asyncio.get_running_loop()
        now, overdue = loop.time(), list[asyncio.Transport]()
        self._looking = False
        for transport, since in self._awaited.items():
            left = since + self._seconds - now
            if left > 0:
                self._looking = True
                loop.call_later(left, self._look)
                break
            overdue.append(transport)
        for transport in overdue:
            del self._awaited[transport]
            transport.abort()


# Memory limit for incomplete request bodies.

UNIT = 16 << 10
"""Bytes counted at a time.

Smaller bodies are not counted, since the number of connections is limited.
"""
TOTAL = 64 << 20
"""Bytes for all connections. One address can use half of it."""


def body_units() -> SharedSlots:
    return SharedSlots(TOTAL // UNIT)


class BodyBudget:
    """The share of one connection."""

    __slots__ = ("_owner", "_size", "_taken", "_units")

    def __init__(self, units: SharedSlots) -> None:
        self._units, self._owner = units, ""
        self._size = self._taken = 0

    def add(self, size: int, owner: str) -> bool:
        """Reserve memory. Return False if none is left."""
        self._size, self._owner = self._size + size, owner
        while self._size > UNIT * (self._taken + 1):
            if not self._units.take(owner):
                return False
            self._taken += 1
        return True

    def drop(self) -> None:
        for _ in range(self._taken):
            self._units.release(self._owner)
        self._size = self._taken = 0
