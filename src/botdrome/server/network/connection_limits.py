"""Limits on the open connections, in total and per address."""

import asyncio
import sys
from time import monotonic

import structlog

from botdrome.server import metrics
from botdrome.server.network.connection import source_of
from botdrome.server.network.rate_limit import ConnectionTimeouts
from botdrome.server.settings import Settings

# The limit of open files. Each connection uses one.

log = structlog.get_logger()

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
        self._settings = settings
        self._most = min(settings.limits.connections, for_clients())
        self._told = -TELL_AGAIN
        self._by_address: dict[str, int] = {}
        self._inside = 0
        self.head_timeouts, self.close_timeouts = (
            ConnectionTimeouts(HEAD_TIMEOUT),
            ConnectionTimeouts(CLOSE_TIMEOUT),
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
        if here >= self._settings.limits.connections_per_address:
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
