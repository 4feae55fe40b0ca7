"""Framing: cuts the bytes for a bot into messages, and writes messages as bytes. Pure."""

import re
from typing import NamedTuple, Protocol

from botdrome.wire.framing.websocket import CONTINUATION, LAST, SHORT, TEXT, WHOLE_TEXT

LENGTH = re.compile(rb"(?i)(\r\ncontent-length:[ \t]*)(\d+)")
HEAD_END = b"\r\n\r\n"
PREFIX = 4
"""Bytes of the length before a message of duel arena."""


class WireMessage(NamedTuple):
    """A message for the bot. Bytes without a body, such as a handshake, are sent as they are."""

    head: bytes
    body: bytes = b""


class MessageFraming(Protocol):
    def cut(self, buffer: bytearray) -> WireMessage | None:
        """Remove the first message from the buffer. None: it is not complete."""

    def write(self, message: WireMessage) -> bytes: ...


class LineFraming:
    """Lines, as in Xterm Boat Sinker."""

    def cut(self, buffer: bytearray) -> WireMessage | None:
        end = buffer.find(b"\n")
        return None if end < 0 else WireMessage(b"", _taken(buffer, end + 1)[:-1])

    def write(self, message: WireMessage) -> bytes:
        return message.body + b"\n"


class LengthFraming:
    """Four bytes with the length, then the message, as in duel arena."""

    def cut(self, buffer: bytearray) -> WireMessage | None:
        length = PREFIX + int.from_bytes(buffer[:PREFIX], "big")
        return (
            None
            if len(buffer) < max(length, PREFIX)
            else WireMessage(b"", _taken(buffer, length)[PREFIX:])
        )

    def write(self, message: WireMessage) -> bytes:
        return len(message.body).to_bytes(PREFIX, "big") + message.body


class HttpFraming:
    """Requests or responses of HTTP whose length is in their head."""

    def cut(self, buffer: bytearray) -> WireMessage | None:
        end = buffer.find(HEAD_END)
        if end < 0:
            return None
        head_size = end + len(HEAD_END)
        found = LENGTH.search(buffer, 0, end)
        size = head_size + (int(found[2]) if found else 0)
        if len(buffer) < size:
            return None
        taken = _taken(buffer, size)
        return WireMessage(taken[:head_size], taken[head_size:])

    def write(self, message: WireMessage) -> bytes:
        size = b"%d" % len(message.body)
        return LENGTH.sub(lambda found: found[1] + size, message.head) + message.body


class SocketFraming:
    """A WebSocket: the answer to the handshake, then the frames of the server, of which texts are
    messages.
    """

    def __init__(self) -> None:
        self._open = False

    def cut(self, buffer: bytearray) -> WireMessage | None:
        if not self._open:
            end = buffer.find(HEAD_END)
            self._open = end >= 0
            return WireMessage(_taken(buffer, end + len(HEAD_END))) if self._open else None
        if len(buffer) < 2:
            return None
        more = {126: 2, 127: 8}.get(buffer[1], 0)
        start = 2 + more
        size = start + (int.from_bytes(buffer[2:start], "big") if more else buffer[1])
        if len(buffer) < size:
            return None
        frame = _taken(buffer, size)
        return WireMessage(b"", frame[start:]) if frame[0] == WHOLE_TEXT else WireMessage(frame)

    def write(self, message: WireMessage) -> bytes:
        return message.head or text_frame(WHOLE_TEXT, message.body)


def fragmented(body: bytes) -> bytes:
    """Return a text as three frames. The cuts may fall inside a character."""
    third = max(1, len(body) // 3)
    parts = body[:third], body[third : 2 * third], body[2 * third :]
    kinds = TEXT, CONTINUATION, LAST | CONTINUATION
    return b"".join(text_frame(kind, part) for kind, part in zip(kinds, parts, strict=True))


def text_frame(kind: int, body: bytes) -> bytes:
    size = len(body)
    if size <= SHORT:
        return bytes((kind, size)) + body
    return (
        bytes((kind, 126)) + size.to_bytes(2, "big") + body
        if size < 1 << 16
        else bytes((kind, 127)) + size.to_bytes(8, "big") + body
    )


def _taken(buffer: bytearray, size: int) -> bytes:
    taken = bytes(buffer[:size])
    del buffer[:size]
    return taken
