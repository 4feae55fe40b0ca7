"""Who vanishes without a word is noticed: the system itself asks the other side of a quiet connection whether it is there.

Clients see nothing of it. The protocols do not help: in the native one the server never pings, and waiting has no end.
"""

import asyncio
import socket
from contextlib import suppress

QUIET, BETWEEN, TIMES = 60, 15, 4
"""Seconds until the first question, and from one to the next; and how many may be unanswered. Two minutes in all."""
OPTIONS = {
    "TCP_KEEPIDLE": QUIET,
    "TCP_KEEPALIVE": QUIET,
    "TCP_KEEPINTVL": BETWEEN,
    "TCP_KEEPCNT": TIMES,
    "TCP_USER_TIMEOUT": (QUIET + BETWEEN * TIMES) * 1000,
}
"""By the names that systems have for them: each knows some. The last is for those who are being told something."""


def keep_alive(server: asyncio.Server) -> None:
    """For all connections that will come in: they take it over from the socket that listens, which costs them nothing."""
    for listening in server.sockets:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for name, value in OPTIONS.items():
            with suppress(AttributeError, OSError):
                listening.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
