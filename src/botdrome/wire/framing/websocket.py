"""WebSocket: the handshake and the frames of RFC 6455, on the server's side. Bytes in, bytes out.

Hand-written clients may differ in harmless ways: a key of any kind, frames without a mask, lengths
in more bytes than they need.

Theory of operation. `accepted` judges the headers of a request and gives the answer to it. Nearly
all that comes afterwards are short texts in ASCII, each in one frame in one piece: the function
that `text_reader` returns reads these, and nothing else. `whole` reads other frames in one piece.
All else is for a Reader: it is fed what comes, and gives one message, ping or close after the
other. A length is judged as soon as it is known, so that nothing is kept that will be refused.
`packed` and the rest write what a server sends.
"""

import re
from base64 import b64encode
from collections.abc import Callable, Mapping
from functools import cache
from hashlib import sha1

from botdrome.wire.safe_headers import plain_answer

CONTINUATION, TEXT, BINARY, CLOSE, PING, PONG = 0x0, 0x1, 0x2, 0x8, 0x9, 0xA
LAST = 0x80
"""The bit of a frame's first byte that ends a message."""
MASKED = 0x80
"""The mask bit of a frame's second byte."""
WHOLE_TEXT, WHOLE_BINARY = LAST | TEXT, LAST | BINARY
CONTROL = {LAST | CLOSE, LAST | PING, LAST | PONG}
WHOLE_MESSAGES = {WHOLE_TEXT, WHOLE_BINARY}
WHOLE = WHOLE_MESSAGES | CONTROL
"""First bytes of frames that hold a whole message or control frame."""
FIRST_BYTES = {CONTINUATION, TEXT, BINARY, LAST | CONTINUATION} | WHOLE
"""The first bytes that are allowed: there are no extensions, and control frames are never split."""

SHORT = 125
"""The longest payload whose length is in the second byte, and the longest of a control frame."""
MOST_PARTS = 4096
"""Frames of one message."""

NORMAL, GOING, MALFORMED, NOT_UTF8, POLICY, TOO_BIG, INTERNAL, TRY_LATER = (
    1000,
    1001,
    1002,
    1007,
    1008,
    1009,
    1011,
    1013,
)
"""Codes with which a server closes."""
CLOSE_CODES = {*range(1000, 1004), *range(1007, 1015), *range(3000, 5000)}
"""Codes that a client may send."""


# The handshake.

VERSIONS = {b"13", b"8", b"7"}
"""Versions 7 and 8 are drafts with the same frames."""
KEY = re.compile(rb"[!-~]+")
GUID = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
ANSWER = (
    b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Accept: %b\r\n%b\r\n"
)
SUBPROTOCOL = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+")


class BadHandshake(Exception):
    """A request that cannot become a WebSocket, with the reason."""

    def __init__(self, words: str, status: str = "400 Bad Request", field: str = "") -> None:
        super().__init__(words)
        self.answer = plain_answer(status, words, field)


def accepted(headers: Mapping[bytes, bytes], subprotocol: bytes | None = None) -> bytes:
    """Return the answer to a handshake with these headers, by lower-case name: its head, with the
    empty line.

    `subprotocol` is the one that was agreed on; empty: none was; None: the first that the client
    offers.
    """
    key = headers.get(b"sec-websocket-key", b"")
    if KEY.fullmatch(key) is None:
        raise BadHandshake("the field Sec-WebSocket-Key is missing, or not one word")
    offered = check_handshake(headers)
    return handshake_answer(key, offered if subprotocol is None else subprotocol)


def check_handshake(headers: Mapping[bytes, bytes]) -> bytes:
    """Check all fields but the key. Return the first subprotocol that the client offers; empty: it
    offers none.
    """
    if headers.get(b"upgrade", b"").lower() != b"websocket":
        raise BadHandshake("the field Upgrade is not 'websocket'")
    if headers.get(b"connection", b"").lower().find(b"upgrade") < 0:  # faster than `in`
        raise BadHandshake("the field Connection has no 'Upgrade'")
    if b"transfer-encoding" in headers or headers.get(b"content-length", b"").strip(b"0"):
        raise BadHandshake("a request for a WebSocket has no body")
    if headers.get(b"sec-websocket-version") not in VERSIONS:
        words = "the field Sec-WebSocket-Version is not 13"
        raise BadHandshake(
            words, "426 Upgrade Required", "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
        )
    # a client that offers subprotocols leaves unless one is accepted
    offered = headers.get(b"sec-websocket-protocol")
    found = SUBPROTOCOL.match(offered) if offered else None
    return found[0] if found else b""


def handshake_answer(key: bytes, agreed: bytes) -> bytes:
    """`agreed`: the subprotocol; empty: none."""
    more = b"Sec-WebSocket-Protocol: %b\r\n" % agreed if agreed else b""
    return ANSWER % (b64encode(sha1(key + GUID).digest()), more)


# Input from a client.


class Violation(Exception):
    """A violation of RFC 6455, with the close code and the reason. Nothing after it can be read."""

    def __init__(self, code: int, words: str) -> None:
        super().__init__(words)
        self.code = code


def unmasked(mask: bytes, payload: bytes) -> bytes:
    length = len(payload)
    masks = (mask * (length + 3 >> 2))[:length]
    return (int.from_bytes(payload) ^ int.from_bytes(masks)).to_bytes(length)


def whole(data: bytes, longest: int) -> bytes | None:
    """Return the payload of a whole frame, up to 64 KiB; None if a Reader is needed."""
    length = len(data) - 6
    if 0 <= length <= SHORT:
        if data[1] == MASKED | length and data[0] in WHOLE and length <= longest:
            return unmasked(data[2:6], data[6:])
        return None
    length -= 2
    if (
        SHORT < length <= longest
        and data[1] == MASKED | 126
        and int.from_bytes(data[2:4]) == length
        and data[0] in WHOLE_MESSAGES
    ):
        return unmasked(data[4:8], data[8:])
    return None


LONG_TEXT = bytes((WHOLE_TEXT, MASKED | 126))


def _shape(size: int) -> tuple[int, int, int, int, int]:
    """What it takes to read a short text with a payload of this size as one number: its head, the
    bits below the mask, a factor that repeats the mask, the bits that this is too long, and a one
    for each bit of the payload.
    """
    head, bits = (WHOLE_TEXT << 8 | MASKED | size) << 32, 8 * size
    words = (size + 3) // 4
    return head, bits, int.from_bytes(b"\0\0\0\1" * words), 32 * words - bits, (1 << bits) - 1


@cache
def text_reader(longest: int) -> Callable[[bytes], bytes | None]:
    """Return a function that reads a whole text message in ASCII, and returns None for all else."""
    most = min(longest, SHORT)
    shapes, number = [_shape(size) for size in range(most + 1)], int.from_bytes

    def read(data: bytes) -> bytes | None:
        size = len(data) - 6
        if 0 <= size <= most:
            head, bits, repeated, over, payload = shapes[size]
            frame = number(data)
            mask = frame >> bits ^ head
            if mask > 0xFFFFFFFF:
                return None  # it has another head
            text = ((frame ^ mask * repeated >> over) & payload).to_bytes(size)
        elif data[:2] == LONG_TEXT and SHORT < size - 2 == int.from_bytes(data[2:4]) <= longest:
            text = unmasked(data[4:8], data[8:])
        else:
            return None
        return text if text.isascii() else None

    return read


def check_text(payload: bytes) -> None:
    """Raise Violation unless a text message is UTF-8."""
    try:
        payload.decode()
    except UnicodeDecodeError:
        raise Violation(NOT_UTF8, "a text message is UTF-8") from None


class Reader:
    """Reads messages from bytes that come in any pieces."""

    __slots__ = ("_at", "_buffer", "_gathered", "_longest", "_opcode", "_parts")

    def __init__(self, longest: int) -> None:
        self._longest = longest
        """The limit for one message, in bytes."""
        self._buffer, self._at = bytearray(), 0
        """The bytes received, and how many of them are read."""
        self._opcode = CONTINUATION
        """The opcode of the message whose parts are being collected; CONTINUATION: none."""
        self._parts: list[bytes] = []
        self._gathered = 0
        """The size of these parts."""

    @property
    def idle(self) -> bool:
        """Whether the next byte begins a message."""
        return not self._buffer and not self._opcode

    @property
    def rest(self) -> bytes:
        """What another reader has to be fed to go on from here: the parts of a message as one part,
        and the bytes after them.
        """
        if not self._opcode:
            return bytes(self._buffer)
        return (
            bytes((self._opcode, 127))
            + self._gathered.to_bytes(8)
            + b"".join(self._parts)
            + self._buffer
        )

    def feed(self, data: bytes) -> None:
        self._buffer += data

    def next(self) -> tuple[int, bytes] | None:
        """Return the next message, ping, pong or close with its opcode; None if it is
        incomplete.
        """
        while (frame := self._frame()) is not None:
            first, payload = frame
            if first in CONTROL:
                return first & 0xF, payload
            opcode = first & 0xF or self._opcode
            if first & LAST and not self._opcode:
                return opcode, payload
            self._opcode = opcode
            self._parts.append(payload)
            self._gathered += len(payload)
            if first & LAST:
                message = b"".join(self._parts)
                self._opcode, self._parts, self._gathered = CONTINUATION, [], 0
                return opcode, message
            if len(self._parts) == MOST_PARTS:
                raise Violation(TOO_BIG, f"a message has at most {MOST_PARTS} parts")
        del self._buffer[: self._at]
        self._at = 0
        return None

    def _frame(self) -> tuple[int, bytes] | None:
        """Return the first byte of the next frame, and its payload."""
        buffer, at = self._buffer, self._at
        if len(buffer) < at + 2:
            return None
        first, masked, length = buffer[at], buffer[at + 1] & MASKED, buffer[at + 1] & ~MASKED
        self._check_head(first, length)
        start = at + 2
        if length > SHORT:
            start += 2 if length == 126 else 8
            if len(buffer) < start:
                return None
            length = int.from_bytes(buffer[at + 2 : start], "big")
        if masked:
            start += 4
        if length + self._gathered > self._longest and first not in CONTROL:
            raise Violation(TOO_BIG, f"a message has at most {self._longest} bytes")
        end = start + length
        if len(buffer) < end:
            return None
        self._at = end
        payload = bytes(buffer[start:end])
        return first, unmasked(bytes(buffer[start - 4 : start]), payload) if masked else payload

    def _check_head(self, first: int, length: int) -> None:
        if first not in FIRST_BYTES:
            raise Violation(MALFORMED, f"a frame cannot begin with {first:#04x}")
        if first in CONTROL:
            if length > SHORT:
                raise Violation(MALFORMED, f"a ping, a pong and a close have at most {SHORT} bytes")
        elif (first & 0xF == CONTINUATION) != (self._opcode != CONTINUATION):
            begun = (
                "before the last one is whole"
                if self._opcode
                else "with a part that is not its first"
            )
            raise Violation(MALFORMED, f"a message begins {begun}")


# Frames of a server.

CLOSE_HEAD, NORMAL_CODE = bytes((LAST | CLOSE, 2)), NORMAL.to_bytes(2)
SHORT_HEADS = [bytes((WHOLE_TEXT, length)) for length in range(SHORT + 1)]


def packed(messages: list[bytes]) -> bytes:
    """Return text messages, each as one frame."""
    if len(messages) == 1:  # the usual case, without a call
        (message,) = messages
        length = len(message)
        if SHORT < length < 1 << 16:
            return b"\x81\x7e%b%b" % (length.to_bytes(2, "big"), message)
        return _head(length) + message
    return b"".join(
        [
            (SHORT_HEADS[length] if (length := len(message)) <= SHORT else _head(length)) + message
            for message in messages
        ]
    )


def _head(length: int) -> bytes:
    if length <= SHORT:
        return SHORT_HEADS[length]
    return (
        b"\x81\x7e" + length.to_bytes(2, "big")
        if length < 1 << 16
        else b"\x81\x7f" + length.to_bytes(8, "big")
    )


def ping(payload: bytes) -> bytes:
    return bytes((LAST | PING, len(payload))) + payload


def pong(payload: bytes) -> bytes:
    return bytes((LAST | PONG, len(payload))) + payload


def close(code: int, reason: str = "") -> bytes:
    """Return a close frame. A reason that is too long is cut."""
    if not reason:
        return CLOSE_HEAD + code.to_bytes(2)
    words = reason.encode(errors="ignore")[: SHORT - 2].decode(errors="ignore").encode()
    return bytes((LAST | CLOSE, len(words) + 2)) + code.to_bytes(2, "big") + words


def close_answer(payload: bytes) -> bytes:
    """Return the answer to a close: its code, if it has one."""
    if not payload or payload == NORMAL_CODE:
        return CLOSE_HEAD + NORMAL_CODE
    code = int.from_bytes(payload[:2], "big") if len(payload) > 1 else 0
    if code not in CLOSE_CODES:
        raise Violation(MALFORMED, "a close has one of the codes that are meant for it")
    try:
        payload[2:].decode()
    except UnicodeDecodeError:
        raise Violation(NOT_UTF8, "the reason of a close is UTF-8") from None
    return bytes((LAST | CLOSE, 2)) + payload[:2]
