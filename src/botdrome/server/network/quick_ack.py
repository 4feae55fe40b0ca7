"""Half a message is acknowledged at once: many a client holds back the other half until then, which may take 40 ms."""

import socket
from contextlib import suppress

QUICK_ACK: int | None = getattr(socket, "TCP_QUICKACK", None)
"""Where the system knows it."""


def acknowledge(connection: socket.socket | None) -> None:
    if QUICK_ACK is not None and connection is not None:
        with suppress(OSError):
            connection.setsockopt(socket.IPPROTO_TCP, QUICK_ACK, 1)
