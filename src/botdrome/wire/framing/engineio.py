"""Engine.IO, as far as its versions 3 and 4 agree: packets, and what it takes to carry them."""

import re
from typing import NamedTuple, Protocol

import msgspec

OPEN, CLOSE, PING, PONG, MESSAGE, UPGRADE, NOOP = KINDS = "0123456"
PROBE = "probe"
MOST_PACKETS = 1000
"""Of one payload: no client has so much to say at once."""


class BadPacket(Exception):
    """What came is not Engine.IO or not Socket.IO, with the reason."""


def counted(packets: int) -> None:
    """BadPacket where a payload has more than it may have."""
    if packets > MOST_PACKETS:
        raise BadPacket(f"a payload has {MOST_PACKETS} packets at most")


class Packet(NamedTuple):
    kind: str
    data: str | bytes = ""


class Engine(Protocol):
    """One version: how packets travel. Only text is ever sent; text and bytes are read."""

    @property
    def version(self) -> int: ...

    def read_frame(self, frame: bytes) -> Packet:
        """A binary WebSocket message; those of text are read by `read_text`."""

    def read_payload(self, payload: str) -> list[Packet]:
        """The body of a POST."""

    def read_bytes(self, payload: bytes) -> list[Packet]:
        """The body of a POST that says that it is no text."""

    def write_payload(self, packets: list[str]) -> str:
        """The answer to a GET."""


def read_text(text: str) -> Packet:
    """A packet that is text, in either version."""
    if not text or text[0] not in KINDS:
        raise BadPacket("a packet begins with its type, 0 to 6")
    return Packet(text[0], text[1:])


def base64(text: str) -> bytes:
    try:
        return msgspec.convert(text + "=" * (-len(text) % 4), bytes)
    except msgspec.ValidationError:
        raise BadPacket("a binary packet is not base64") from None


def jsonp(index: str, payload: str) -> str:
    """An answer that is a script."""
    text = msgspec.json.encode(payload).decode().replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
    return f"___eio[{index}]({text});"


def from_jsonp(form: str) -> str:
    """A payload as a form carried it: its line breaks came as `\\n`, and what looked like that as `\\\\n`."""
    return re.sub(r"(\\)?\\n", lambda found: "\\n" if found[1] else "\n", form)
