"""Luggage: a client's socket and what goes with it to another process of this machine."""

import asyncio
import socket
from typing import NamedTuple

from botdrome.server.network.peer import Origin, Peer


class Luggage(NamedTuple):
    socket: socket.socket
    rest: bytes
    """Input that was read and not delivered, as the client sent it."""
    origin: Origin


def pause_reading(transport: asyncio.Transport | None, paused: bool) -> None:
    if transport is not None and not transport.is_closing() and transport.is_reading() == paused:
        transport.pause_reading() if paused else transport.resume_reading()


def pack_up(transport: asyncio.Transport | None, rest: bytes) -> Luggage | None:
    """Reading has paused. Return None if the socket cannot be passed on now: it has unsent output, or is closing."""
    if transport is None or transport.is_closing() or transport.get_write_buffer_size():
        return None
    peer, connection = transport.get_extra_info("peername"), transport.get_extra_info("socket")
    if not peer:
        return None
    held = transport.held if isinstance(transport, Peer) else b""
    return Luggage(connection, rest + held, Origin(str(peer[0]), int(peer[1]), bool(transport.get_extra_info("proxied"))))
