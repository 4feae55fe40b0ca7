"""Limits on the real clock: rates, timeouts, memory, and open connections per address."""

import asyncio
import sys
from collections import OrderedDict
from collections.abc import Callable, Hashable
from operator import methodcaller
from time import monotonic
from typing import Generic, TypeVar

import structlog

from botdrome.server import metrics
from botdrome.server.network.connection import source_of
from botdrome.server.network.steady_loop import EARLY
from botdrome.server.settings import Settings
from botdrome.server.workers.jobs import SharedSlots
from botdrome.wire.conversation import TokenBucket

log = structlog.get_logger()

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
        self.known: OrderedDict[str, Bucket] = OrderedDict()
        """The buckets of the clients that have sent a message."""

    def too_fast(self, client: str) -> float:
        """Count a message and return 0, or return the seconds until the client may send it."""
        bucket = self.known.get(client)
        if bucket is None:
            bucket = self.known[client] = Bucket(self._rate, self._size)
            if len(self.known) > REMEMBERED:
                self.known.popitem(last=False)
        self.known.move_to_end(client)
        return 0.0 if bucket.take() else bucket.dry_for()

    def dry_for(self, client: str) -> float:
        """Return the seconds until the client may send a message, without counting one."""
        bucket = self.known.get(client)
        return 0.0 if bucket is None else bucket.dry_for()


# Timeouts of equal length, with one timer for all that wait.

Waiter = TypeVar("Waiter", bound=Hashable)


LEAST_PAUSE = 0.002
"""Least seconds between two looks; a timeout may be late by this."""
ROUNDING = 1e-6
"""Seconds. A rest this short counts as none."""


class Timeouts(Generic[Waiter]):
    """Calls a function for each waiter that takes too long."""

    __slots__ = ("_awaited", "_expire", "_looking", "_seconds")

    def __init__(self, seconds: float, expire: Callable[[Waiter], None]) -> None:
        self._seconds, self._expire = seconds, expire
        self._awaited: dict[Waiter, float] = {}
        """The start of each wait, oldest first."""
        self._looking = False
        """Whether the timer runs."""

    def __len__(self) -> int:
        return len(self._awaited)

    def begin(self, waiter: Waiter, now: float | None = None) -> None:
        """A waiter that waits already begins again. `now`: the loop's time, if it is known."""
        if waiter in self._awaited:
            del self._awaited[waiter]
        self._awaited[waiter] = asyncio.get_running_loop().time() if now is None else now
        if not self._looking:
            self._looking = True
            asyncio.get_running_loop().call_later(self._seconds, self._look)

    def end(self, waiter: Waiter) -> None:
        self._awaited.pop(waiter, None)

    def _look(self) -> None:
        """Take out all that are overdue.

        The loop stops at the first that has time left, since there may be thousands.
        """
        loop = asyncio.get_running_loop()
        now, overdue = loop.time() + EARLY, list[Waiter]()
        self._looking = False
        for waiter, since in self._awaited.items():
            left = since + self._seconds - now
            if left > ROUNDING:
                self._looking = True
                loop.call_later(max(left, LEAST_PAUSE), self._look)
                break
            overdue.append(waiter)
        for waiter in overdue:
            if self._awaited.pop(waiter, None) is not None:
                try:
                    self._expire(waiter)
                except Exception:
                    log.exception("a timeout failed")


ConnectionTimeouts = Timeouts[asyncio.Transport]
"""Aborts connections."""


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


# The limit of open files. Each connection uses one.

UNLIMITED = 1 << 20
"""The limit on systems that set none."""
OWN = 128
"""Files reserved for the store, workers, listening sockets and calls to bots."""


def for_clients() -> int:
    """Raise the limit as far as the system allows, and return the maximum number of clients."""
    return max(OWN, _raised() - OWN)


def _raised() -> int:
    if sys.platform == "win32":
        return UNLIMITED
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    except (OSError, ValueError) as problem:  # macOS allows less than it reports
        log.warning(
            "the limit of open files cannot be raised",
            limit=soft,
            wanted=hard,
            problem=str(problem),
        )
        return soft
    return UNLIMITED if hard == resource.RLIM_INFINITY else hard


RESERVED = 8
"""One in this many connections is reserved for players."""
TELL_AGAIN = 60.0
"""Seconds between two log lines about refused connections."""
HEAD_TIMEOUT = 10.0
"""Seconds for the head of the first request."""
CLOSE_TIMEOUT = 2.0
"""Seconds for the client to answer a close frame."""


def address_of(transport: asyncio.BaseTransport) -> str:
    """Return the address of the client; empty if it has already disconnected."""
    peer = transport.get_extra_info("peername")
    return str(peer[0]) if peer else ""


class ConnectionLimits:
    """The open connections, counted in total and per address."""

    def __init__(self, settings: Settings) -> None:
        self._most = min(settings.limits.connections, for_clients())
        self._most_here = settings.limits.connections_per_address
        self._told = -TELL_AGAIN
        self._by_address: dict[str, int] = {}
        self._inside = 0
        self.head_timeouts, self.close_timeouts = (
            ConnectionTimeouts(HEAD_TIMEOUT, methodcaller("abort")),
            ConnectionTimeouts(CLOSE_TIMEOUT, methodcaller("abort")),
        )
        """The timeout for connections that are not counted yet, and for those being closed."""
        metrics.CONNECTIONS.set_function(lambda: self._inside)

    @property
    def open(self) -> int:
        """The number of open connections."""
        return self._inside

    def admit(self, address: str, player: bool = True) -> str:
        """Count a connection and return an empty text, or return the reason to refuse it."""
        if self._inside >= (self._most if player else self._most - self._most // RESERVED):
            self._report(player)
            return "too many connections"
        address = source_of(address)[0]
        here = self._by_address.get(address, 0)
        if here >= self._most_here:
            return "too many connections from your address"
        self._inside += 1
        self._by_address[address] = here + 1
        return ""

    def _report(self, player: bool) -> None:
        now = monotonic()
        if now - self._told >= TELL_AGAIN:
            self._told = now
            log.warning(
                "connections are refused: see the setting limits.connections, and the limit of "
                "open files (ulimit -n)",
                connections=self._inside, most=self._most, players_too=player,
            )  # fmt: skip

    def leave(self, address: str) -> None:
        self._inside -= 1
        address = source_of(address)[0]
        others = self._by_address[address] - 1
        if others:
            self._by_address[address] = others
        else:
            del self._by_address[address]
