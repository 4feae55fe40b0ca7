"""Immediate TCP acknowledgement of half a message.

With Nagle's algorithm a client sends the other half after the acknowledgement, which could otherwise take 40 ms.
"""

import socket
from contextlib import suppress

QUICK_ACK: int | None = getattr(socket, "TCP_QUICKACK", None)
"""None on systems without this option."""


def acknowledge(connection: socket.socket | None) -> None:
    if QUICK_ACK is not None and connection is not None:
        with suppress(OSError):
            connection.setsockopt(socket.IPPROTO_TCP, QUICK_ACK, 1)
