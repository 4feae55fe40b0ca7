"""Network meter: how long a message to a client and its answer are on the way, measured by the
server alone.

The system's measurement of a TCP connection counts, except behind a proxy, where it ends at the
proxy. A ping of the server counts where the client can answer one; none is sent while the system
measures less than a millisecond. The minimum of the recent measurements counts, so a client that
delays some of its answers gains nothing.
"""

import os
import socket
import struct
from asyncio import BaseTransport
from collections import deque
from collections.abc import Callable
from contextlib import suppress

from botdrome.server.network.connection import source_of

RECENT = 8
"""The number of pings that count."""
PERIOD = 1.0
"""Seconds between two measurements, at least."""
WORTH_A_PING = 0.001
"""Seconds."""

TCP_INFO: int | None = getattr(socket, "TCP_INFO", None)
"""None on systems without this option."""
SIZE, LAST_DATA, ROUND_TRIP, LEAST_ROUND_TRIP = 152, 52, 68, 148
"""The size of the part that is read of Linux's `tcp_info`, and the places of three numbers in it:
milliseconds since the last input, and the round trip time and its minimum, both in microseconds.
"""
UNKNOWN = 0xFFFFFFFF
NUMBER = struct.Struct("=I")


def tcp_info(transport: BaseTransport) -> bytes:
    """Return the system's measurements of the connection; empty: there are none."""
    if TCP_INFO is not None and (connection := transport.get_extra_info("socket")) is not None:
        with suppress(OSError, AttributeError):
            found: bytes = connection.getsockopt(socket.IPPROTO_TCP, TCP_INFO, SIZE)
            return found if len(found) == SIZE else b""
    return b""


def tcp_round_trip(transport: BaseTransport) -> float | None:
    """Return the system's shortest recent round trip, in seconds; None: unknown."""
    info = tcp_info(transport)
    if not info:
        return None
    least: int = NUMBER.unpack_from(info, LEAST_ROUND_TRIP)[0]
    usual: int = NUMBER.unpack_from(info, ROUND_TRIP)[0]
    return min(least, usual) / 1e6 if usual else None if least == UNKNOWN else least / 1e6


def unread_for(transport: BaseTransport) -> float:
    """Return the seconds since the last input arrived at this machine; 0: unknown."""
    info = tcp_info(transport)
    since: int = NUMBER.unpack_from(info, LAST_DATA)[0] if info else 0
    return since / 1000


def is_local(transport: BaseTransport, address: str) -> bool:
    """Whether the client is on this machine, so that there is nothing to measure."""
    return source_of(address)[1] and not transport.get_extra_info("proxied")


class NetworkMeter:
    __slots__ = ("_asked", "_known", "_next", "_ping", "_pings", "_tcp", "_transport", "_word")

    def __init__(
        self, transport: BaseTransport, ping: Callable[[bytes], None] | None = None
    ) -> None:
        """`ping` sends a ping with this word; None: the protocol has none."""
        self._transport, self._ping = transport, ping
        self._pings: deque[float] = deque(maxlen=RECENT)
        self._tcp: float | None = None
        self._word, self._asked = b"", 0.0
        """The word of the ping under way, and when it was sent."""
        self._next = self._known = 0.0

    def seconds(self, now: float) -> float:
        """Return the network time, and measure again if it is time to; 0: unknown."""
        if now >= self._next:
            self._next = now + PERIOD
            proxied = self._transport.get_extra_info("proxied")
            self._tcp = None if proxied else tcp_round_trip(self._transport)
            if self._ping is not None and (self._tcp is None or self._tcp >= WORTH_A_PING):
                self._word, self._asked = os.urandom(8), now
                self._ping(self._word)
            self._count()
        return self._known

    def pong(self, word: bytes, now: float) -> None:
        """Take an answer.

        It counts if it comes before the next ping and has the word of the last one.
        """
        if self._word and word == self._word:
            self._word = b""
            self._pings.append(now - self._asked)
            self._count()

    def _count(self) -> None:
        measured = self._pings if self._tcp is None else (*self._pings, self._tcp)
        self._known = min(measured, default=0.0)
