"""Engine.IO: how its packets are framed on HTTP and on WebSockets, in version 3 (socket.io 2.x) and 4 (3.x and 4.x).

Here a packet is bytes in both versions: a digit for its type and UTF-8 text, or `b` and a binary message.
"""

import re
from base64 import b64decode
from collections.abc import Iterator
from typing import Protocol

import msgspec

OPEN, CLOSE, PING, PONG, MESSAGE, UPGRADE, NOOP = KINDS = "0123456"
BINARY = b"b"
PROBE = "probe"
MOST_PACKETS = 1000
"""In one payload."""
LONGEST_NUMBER = 10
"""Digits of a length in a payload."""
TEXT_PACKET, BINARY_PACKET, END_OF_LENGTH = 0, 1, 255
SEPARATOR = "\x1e"
BAD_TYPE = "a packet begins with its type, 0 to 6"


class BadPacket(Exception):
    """The client broke the rules of Engine.IO or Socket.IO."""


class Engine(Protocol):
    """One version. The server sends text only; clients may send text and bytes."""

    @property
    def version(self) -> int: ...

    def read_frame(self, frame: bytes) -> bytes:
        """The packet in a binary WebSocket message."""

    def read_payload(self, payload: str) -> list[bytes]:
        """The packets in the body of a POST."""

    def read_binary_payload(self, payload: bytes) -> list[bytes]:
        """The packets in the body of a POST with bytes."""

    def write_payload(self, packets: list[bytes]) -> str:
        """The answer to a GET."""


class EngineIo3:
    """Payloads give the length of each packet in UTF-16 code units."""

    version = 3

    def read_frame(self, frame: bytes) -> bytes:
        if not frame or frame[0] >= len(KINDS):
            raise BadPacket(BAD_TYPE)
        return _binary_message(KINDS[frame[0]], frame[1:])

    def read_payload(self, payload: str) -> list[bytes]:
        """`6:4hello2:4€`: each packet after its length; `b` marks one in base64."""
        if not payload:
            raise BadPacket("a payload has at least one packet")
        return [self._packet(text) for text in _split(payload) if text]

    def _packet(self, text: str) -> bytes:
        return _binary_message(text[1:2], _decoded(text[2:])) if text[0] == "b" else _text_packet(text)

    def read_binary_payload(self, payload: bytes) -> list[bytes]:
        """For each packet: a byte for text or binary, the digits of the length, 255, the packet."""
        if not payload:
            raise BadPacket("a payload has at least one packet")
        return [self._either(kind, data) for kind, data in _split_binary(payload)]

    def _either(self, kind: int, data: bytes) -> bytes:
        if kind == BINARY_PACKET:
            return self.read_frame(data)
        try:
            return _text_packet(data.decode())
        except UnicodeDecodeError:
            raise BadPacket("a packet is not UTF-8 text") from None

    def write_payload(self, packets: list[bytes]) -> str:
        return "".join([f"{units(text)}:{text}" for text in map(bytes.decode, packets)])


class EngineIo4:
    """A separator stands between the packets of a payload."""

    version = 4

    def read_frame(self, frame: bytes) -> bytes:
        return BINARY + frame

    def read_payload(self, payload: str) -> list[bytes]:
        _check_count(payload.count(SEPARATOR) + 1)
        return [BINARY + _decoded(text[1:]) if text[:1] == "b" else _text_packet(text) for text in payload.split(SEPARATOR)]

    def read_binary_payload(self, payload: bytes) -> list[bytes]:
        raise BadPacket("a payload is text")

    def write_payload(self, packets: list[bytes]) -> str:
        return SEPARATOR.join(map(bytes.decode, packets))


def units(text: str) -> int:
    """The length of a text in UTF-16 code units, as JavaScript counts it."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le")) // 2


def _check_count(packets: int) -> None:
    if packets > MOST_PACKETS:
        raise BadPacket(f"a payload has {MOST_PACKETS} packets at most")


def _text_packet(text: str) -> bytes:
    if not text or text[0] not in KINDS:
        raise BadPacket(BAD_TYPE)
    return text.encode()


def _binary_message(kind: str, data: bytes) -> bytes:
    if kind != MESSAGE:
        raise BadPacket("only a message can be binary")
    return BINARY + data


def _decoded(text: str) -> bytes:
    try:
        return b64decode(text + "=" * (-len(text) % 4), validate=True)
    except ValueError:
        raise BadPacket("a binary packet is not base64") from None


def _split(payload: str) -> Iterator[str]:
    """The packets without their lengths. Characters outside the BMP count as two units."""
    if units(payload) == len(payload):
        yield from _split_units(payload, 1)
        return
    wide = payload.encode("utf-16-le").decode("latin-1")
    for text in _split_units(wide, 2):
        try:
            yield text.encode("latin-1").decode("utf-16-le")
        except UnicodeDecodeError:
            raise BadPacket("a packet ends in the middle of a character") from None


def _split_units(payload: str, width: int) -> Iterator[str]:
    colon, at, number = ":\0"[:width], 0, 0
    while at < len(payload):
        _check_count(number := number + 1)
        found = payload.find(colon, at, at + (LONGEST_NUMBER + 1) * width)
        if found < 0 or (found - at) % width:
            raise BadPacket("a packet begins with its length and a colon")
        digits, start = payload[at:found:width], found + width
        if not (digits.isascii() and digits.isdecimal()):
            raise BadPacket("the length of a packet is a number")
        at = start + int(digits) * width
        if at > len(payload):
            raise BadPacket("a packet is shorter than its length says")
        yield payload[start:at]


def _split_binary(payload: bytes) -> Iterator[tuple[int, bytes]]:
    at = number = 0
    while at < len(payload):
        _check_count(number := number + 1)
        kind, end_of_length = payload[at], payload.find(END_OF_LENGTH, at, at + LONGEST_NUMBER + 2)
        if kind not in (TEXT_PACKET, BINARY_PACKET) or end_of_length < 0:
            raise BadPacket("a binary payload begins with 0 or 1, a length and 255")
        digits, start = payload[at + 1 : end_of_length], end_of_length + 1
        if not digits or max(digits) > 9:
            raise BadPacket("the length of a packet is a number")
        at = start + int("".join(map(str, digits)))
        if at > len(payload):
            raise BadPacket("a packet is shorter than its length says")
        yield kind, payload[start:at]


def jsonp(index: str, payload: str) -> str:
    """An answer for a client that polls with script elements."""
    text = msgspec.json.encode(payload).decode().replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
    return f"___eio[{index}]({text});"


def from_jsonp(form: str) -> str:
    """The payload in a form field, where a line break is `\\n` and a backslash before `n` is doubled."""
    return re.sub(r"(\\)?\\n", lambda found: "\\n" if found[1] else "\n", form)
