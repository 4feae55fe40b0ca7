"""Engine.IO 3, as clients 2.x of socket.io speak it: payloads that count their packets in UTF-16 code units."""

from collections.abc import Iterator

from botdrome.wire.framing.engineio import KINDS, MESSAGE, BadPacket, Packet, base64, counted, read_text

LONGEST_NUMBER = 10
"""Digits of a length: more is not meant seriously."""
TEXT, BINARY, END_OF_LENGTH = 0, 1, 255


class EngineIo3:
    version = 3

    def read_frame(self, frame: bytes) -> Packet:
        return _binary(frame)

    def read_payload(self, payload: str) -> list[Packet]:
        """`6:4hello2:4€`: each packet after its length; `b` marks one in base64."""
        if not payload:
            raise BadPacket("a payload has at least one packet")
        return [_packet(text) for text in _split(payload) if text]

    def read_bytes(self, payload: bytes) -> list[Packet]:
        """A byte for text or binary, the digits of the length, 255, the packet: as browsers send what has bytes in it."""
        if not payload:
            raise BadPacket("a payload has at least one packet")
        return list(_split_bytes(payload))

    def write_payload(self, packets: list[str]) -> str:
        return "".join([f"{units(packet)}:{packet}" for packet in packets])


def units(text: str) -> int:
    """The length of a text as JavaScript counts it."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le")) // 2


def _packet(text: str) -> Packet:
    if text[0] != "b":
        return read_text(text)
    return _of_type(text[1:2], base64(text[2:]))


def _binary(frame: bytes) -> Packet:
    if not frame or frame[0] >= len(KINDS):
        raise BadPacket("a packet begins with its type, 0 to 6")
    return _of_type(KINDS[frame[0]], frame[1:])


def _of_type(kind: str, data: bytes) -> Packet:
    if kind != MESSAGE:
        raise BadPacket("only a message can be binary")
    return Packet(kind, data)


def _split(payload: str) -> Iterator[str]:
    """The packets, without their lengths. Where a character takes two units, both are counted."""
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
        counted(number := number + 1)
        found = payload.find(colon, at, at + (LONGEST_NUMBER + 1) * width)
        if found < 0 or (found - at) % width:
            raise BadPacket("a packet begins with its length and a colon")
        start = found + width
        end = start + _number(payload[at:found:width]) * width
        if end > len(payload):
            raise BadPacket("a packet is shorter than its length says")
        yield payload[start:end]
        at = end


def _number(digits: str) -> int:
    if not (digits.isascii() and digits.isdecimal()):
        raise BadPacket("the length of a packet is a number")
    return int(digits)


def _split_bytes(payload: bytes) -> Iterator[Packet]:
    at = number = 0
    while at < len(payload):
        counted(number := number + 1)
        kind, end_of_length = payload[at], payload.find(END_OF_LENGTH, at, at + LONGEST_NUMBER + 2)
        if kind not in (TEXT, BINARY) or end_of_length < 0:
            raise BadPacket("a binary payload begins with 0 or 1, a length and 255")
        start = end_of_length + 1
        end = start + _digits(payload[at + 1 : end_of_length])
        if end > len(payload):
            raise BadPacket("a packet is shorter than its length says")
        yield _binary(payload[start:end]) if kind == BINARY else _text(payload[start:end])
        at = end


def _digits(digits: bytes) -> int:
    if not digits or max(digits) > 9:
        raise BadPacket("the length of a packet is a number")
    return int("".join(map(str, digits)))


def _text(data: bytes) -> Packet:
    try:
        return read_text(data.decode())
    except UnicodeDecodeError:
        raise BadPacket("a packet is not UTF-8 text") from None
