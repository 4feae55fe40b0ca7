"""The connection to a client, independent of the transport."""

import socket
from contextlib import suppress
from functools import lru_cache
from ipaddress import IPv4Address, ip_address, ip_network
from time import monotonic
from typing import Protocol

from botdrome.wire.framing.websocket import GOING, INTERNAL, MALFORMED, NORMAL, POLICY, TRY_LATER

# Traffic of a connection: the number of messages, and the response time of the client.


class Traffic:
    """Message counts and response times.

    An answer is the first message after one from the server.
    """

    __slots__ = ("answers", "asked", "received", "sent", "waited")

    def __init__(self) -> None:
        self.received = self.sent = self.answers = 0
        self.waited = 0.0
        """Total seconds of all answers."""
        self.asked = 0.0
        """The time of the last message sent; 0: it is answered."""

    def went(self, messages: int) -> None:
        self.sent += messages
        self.asked = monotonic()

    def came(self) -> None:
        self.received += 1
        if self.asked:
            self.answers += 1
            self.waited += monotonic() - self.asked
            self.asked = 0.0

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
