"""Waits until a bot on this machine has read what was sent to it, as far as the system tells."""

import asyncio
import socket
import struct
import sys

LOOK = 0.0005
"""Seconds between two questions."""
GUESS = 0.02
"""Seconds after which the bytes count as read where the system does not tell."""
LONGEST = 3.0
"""Seconds after which a bot counts as too busy to read."""
SOCK_DIAG, SOCK_DIAG_BY_FAMILY, REQUEST = 4, 20, 1
HEADER, ANY = struct.Struct("=IHHII"), 0xFFFFFFFF
QUEUES = HEADER.size + 56
"""Where an answer has the number of unread bytes."""


async def until_read(writer: asyncio.StreamWriter) -> None:
    loop = asyncio.get_running_loop()
    until = loop.time() + LONGEST
    left = unread(writer)
    if left is None:
        return await asyncio.sleep(GUESS)
    while left and loop.time() < until:
        await asyncio.sleep(LOOK)
        left = unread(writer)
    return None


def unread(writer: asyncio.StreamWriter) -> int | None:
    """Return the bytes that the program at the other end of a connection has not read.

    None: the system does not tell.
    """
    here, there = writer.get_extra_info("sockname"), writer.get_extra_info("peername")
    if sys.platform != "linux" or not here or not there:
        return None
    family = socket.AF_INET6 if ":" in here[0] else socket.AF_INET
    addresses = [socket.inet_pton(family, one[0]).ljust(16, b"\0") for one in (there, here)]
    ask = struct.pack("=BBBBI", family, socket.IPPROTO_TCP, 0, 0, ANY)
    ask += struct.pack(">HH16s16s", there[1], here[1], *addresses) + struct.pack(
        "=III", 0, ANY, ANY
    )
    try:
        with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, SOCK_DIAG) as kernel:
            kernel.send(
                HEADER.pack(HEADER.size + len(ask), SOCK_DIAG_BY_FAMILY, REQUEST, 1, 0) + ask
            )
            answer = kernel.recv(4096)
    except OSError:
        return None
    known = len(answer) >= QUEUES + 4 and HEADER.unpack_from(answer)[1] == SOCK_DIAG_BY_FAMILY
    return int(struct.unpack_from("=I", answer, QUEUES)[0]) if known else None
