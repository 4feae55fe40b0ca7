"""Violations of the WebSocket protocol, as bytes, at every stage of a conversation."""

import asyncio
import socket
import struct
from contextlib import suppress
from itertools import product

KEY = b"dGhlIHNhbXBsZSBub25jZQ=="
TARGETS = (
    b"/graphql",
    b"/graphql/x",
    b"/watch/none",
    b"/watch/over",
    b"/watch/over?x=1",
    b"/watch/%00",
    b"/watch/",
    b"/nowhere",
)
HEADS = (
    b"sec-websocket-version: 13\r\nsec-websocket-key: " + KEY,
    b"sec-websocket-version: 13\r\nsec-websocket-protocol: graphql-transport-ws\r\n"
    b"sec-websocket-key: " + KEY,
    b"sec-websocket-version: 13\r\nsec-websocket-protocol: graphql-ws\r\nsec-websocket-key: " + KEY,
    b"sec-websocket-version: 8\r\nsec-websocket-key: " + KEY,
    b"sec-websocket-version: 13",
    b"sec-websocket-version: 13\r\nsec-websocket-key: short",
    b"sec-websocket-version: 13\r\nsec-websocket-extensions: permessage-deflate; x=\xff\r\n"
    b"sec-websocket-key: " + KEY,
    b"sec-websocket-version: 13\r\nsec-websocket-protocol: ,,\r\nsec-websocket-key: " + KEY,
    b"sec-websocket-version: 13\r\norigin: http://elsewhere.example\r\nsec-websocket-key: " + KEY,
)


def masked(first: int, payload: bytes = b"") -> bytes:
    """A frame of a client, with the mask 0."""
    size = len(payload)
    length = bytes([0x80 | size]) if size < 126 else bytes([0xFE]) + struct.pack("!H", size)
    return bytes([first]) + length + bytes(4) + payload


INIT = masked(0x81, b'{"type": "connection_init"}')
SAYINGS = (
    b"",
    INIT,
    INIT
    + masked(
        0x81,
        b'{"type": "subscribe", "id": "1", "payload": {"query": "subscription { liveTables { id } '
        b'}"}}',
    ),
    INIT
    + masked(
        0x81,
        b'{"type": "subscribe", "id": "1", "payload": {"query": "subscription { match(id: '
        b'\\"over\\") }"}}',
    ),
    INIT
    + masked(0x81, b'{"type": "start", "id": "1", "payload": {"query": "{ liveTables { id } }"}}'),
    INIT + INIT,
    masked(0x81, b"{"),
    masked(0x81, b"\xff\xfe"),
    masked(0x82, b"\x00\x01"),
    masked(0x01, b"half "),
    masked(0x80, b"nothing to go on with"),
    masked(0x01, b"half") + masked(0x81, b"another"),
    masked(0x83, b"reserved"),
    masked(0xC1, b"compressed?"),
    masked(0x09, b"a ping in pieces"),
    masked(0x89, b"x" * 125),
    masked(0x89, b"x" * 200),
    masked(0x88),
    masked(0x88, b"\x03"),
    masked(0x88, struct.pack("!H", 1005)),
    masked(0x88, struct.pack("!H", 1000) + b"\xff"),
    masked(0x88) + masked(0x81, b"after the close"),
    b"\x81\x05hello",
    b"\x81\xff" + b"\x7f" + b"\xff" * 7 + bytes(4),
    b"\x81",
    bytes(50),
)
ENDS = ("close", "reset", "half", "wait")
ALL = list(product(TARGETS, HEADS, SAYINGS, ENDS))


async def fall(port: int, target: bytes, head: bytes, saying: bytes, end: str, apart: bool) -> None:
    """Do one of these things; `apart`: wait for the answer to the handshake first."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    request = (
        b"GET "
        + target
        + b" HTTP/1.1\r\nhost: 127.0.0.1\r\nupgrade: websocket\r\nconnection: upgrade\r\n"
        + head
    )
    try:
        writer.write(request + b"\r\n\r\n")
        if apart:
            await reader.read(10_000)
        writer.write(saying)
        if end == "half":
            writer.write_eof()
        if end in ("half", "wait"):
            async with asyncio.timeout(0.05):
                await reader.read(10_000)
        if end == "reset":
            connection = writer.get_extra_info("socket")
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    except (OSError, TimeoutError):
        pass
    finally:
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()
