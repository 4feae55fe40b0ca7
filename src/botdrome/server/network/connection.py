"""The connection to a client, independent of the transport, and its measurements."""

import os
import socket
import struct
from asyncio import BaseTransport
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache
from ipaddress import IPv4Address, ip_address, ip_network
from time import monotonic
from typing import Protocol, cast

from botdrome.wire.framing.websocket import GOING, INTERNAL, MALFORMED, NORMAL, POLICY, TRY_LATER

# Traffic of a connection: the number of messages, and the response time of the client.


class Traffic:
    """Message counts and response times.

    An answer is the first message after one from the server.
    """

    __slots__ = ("answers", "asked", "others", "sent", "waited")

    def __init__(self) -> None:
        self.others = self.sent = self.answers = 0
        """`others`: received messages that are no answers."""
        self.waited = 0.0
        """Total seconds of all answers."""
        self.asked = 0.0
        """The time of the last message sent; 0: it is answered."""

    def went(self, messages: int) -> None:
        self.sent += messages
        self.asked = monotonic()

    def came(self) -> None:
        if self.asked:
            self.answers += 1
            self.waited += monotonic() - self.asked
            self.asked = 0.0
        else:
            self.others += 1

    @property
    def received(self) -> int:
        return self.answers + self.others

    @property
    def answer_time(self) -> float | None:
        """Return the average seconds per answer; None: no answer yet."""
        return self.waited / self.answers if self.answers else None


__all__ = (
    "GOING",
    "INTERNAL",
    "MALFORMED",
    "NORMAL",
    "POLICY",
    "TRY_LATER",
    "Connection",
    "Receiver",
)
"""WebSocket close codes. Other transports do not send them."""


class Connection(Protocol):
    """The connection to a client.

    No method waits or raises. A client that reads too slowly is dropped.
    """

    @property
    def address(self) -> str:
        """The address of the client."""

    @property
    def traffic(self) -> Traffic: ...

    def send(self, messages: list[bytes]) -> None: ...

    def close(self, code: int = NORMAL, reason: str = "") -> None: ...

    def network_time(self) -> float:
        """Return the seconds that a message and its answer are on the way; 0: unknown."""

    def delay(self) -> float:
        """Return the seconds since the last input arrived at this machine; 0: unknown."""


class Receiver(Protocol):
    """Receives the messages of one client."""

    def received(self, message: bytes) -> None: ...

    def lost(self) -> None:
        """Handle the loss of the connection."""


# The address of the client whose request is being handled, so that clients can share resources
# fairly.

NETWORK = 64
"""The prefix length of an IPv6 subscriber network: all addresses with the same prefix count as one
client.
"""


@lru_cache(10_000)
def source_of(address: str) -> tuple[str, bool]:
    """Return the address, or the network of an IPv6 address, and whether it is a
    loopback address.
    """
    try:
        found = ip_address(address.partition("%")[0])
    except ValueError:
        return address, False
    plain = found if isinstance(found, IPv4Address) else found.ipv4_mapped or found
    if plain.is_loopback or isinstance(plain, IPv4Address):
        return str(plain), plain.is_loopback
    return str(ip_network((plain, NETWORK), strict=False)), False


# Immediate TCP acknowledgement of half a message.
#
# With Nagle's algorithm a client sends the other half after the acknowledgement, which could
# otherwise take 40 ms.

QUICK_ACK: int | None = getattr(socket, "TCP_QUICKACK", None)
"""None on systems without this option."""


def acknowledge(connection: socket.socket | None) -> None:
    if QUICK_ACK is not None and connection is not None:
        with suppress(OSError):
            connection.setsockopt(socket.IPPROTO_TCP, QUICK_ACK, 1)


# Network meter: how long a message to a client and its answer are on the way, measured by the
# server alone.
#
# The system's measurement of a TCP connection counts, except behind a proxy, where it ends at the
# proxy. A ping of the server counts where the client can answer one; none is sent while the system
# measures less than a millisecond. The minimum of the recent measurements counts, so a client that
# delays some of its answers gains nothing.

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


PIPE = "piped"
"""The extra information of a transport whose socket is at another node; it measures itself."""


def tcp_round_trip(transport: BaseTransport) -> float | None:
    """Return the system's shortest recent round trip, in seconds; None: unknown."""
    if (piped := transport.get_extra_info(PIPE)) is not None:
        return cast(float | None, piped.round_trip())
    info = tcp_info(transport)
    if not info:
        return None
    least: int = NUMBER.unpack_from(info, LEAST_ROUND_TRIP)[0]
    usual: int = NUMBER.unpack_from(info, ROUND_TRIP)[0]
    return min(least, usual) / 1e6 if usual else None if least == UNKNOWN else least / 1e6


def unread_for(transport: BaseTransport) -> float:
    """Return the seconds since the last input arrived at this machine; 0: unknown."""
    if (piped := transport.get_extra_info(PIPE)) is not None:
        return cast(float, piped.unread_for())
    info = tcp_info(transport)
    since: int = NUMBER.unpack_from(info, LAST_DATA)[0] if info else 0
    return since / 1000


def is_local(transport: BaseTransport, address: str) -> bool:
    """Whether the client is on this machine, so that there is nothing to measure."""
    return source_of(address)[1] and not (
        transport.get_extra_info("proxied") or transport.get_extra_info(PIPE)
    )


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
