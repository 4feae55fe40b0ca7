"""Socket.IO's packets, in protocol 4 (clients 2.x) and 5 (3.x and 4.x): type, attachments, namespace, id and JSON."""

import re
from typing import Any, NamedTuple

import msgspec

from botdrome.games.reading import TooManyValues, bounded
from botdrome.wire.framing.engineio import BadPacket

CONNECT, DISCONNECT, EVENT, ACK, ERROR, BINARY_EVENT, BINARY_ACK = "0123456"
DEFAULT = "/"
MOST_ATTACHMENTS = 32
MOST_ATTACHED = 1_000_000
"""Bytes of all attachments of a packet."""
PLAIN = re.compile(r"([0-4])()(?:(/[^,]*)(?:,|$))?[0-9]*(.*)", re.DOTALL)
BINARY = re.compile(r"([56])([0-9]{1,4})-(?:(/[^,]*)(?:,|$))?[0-9]*(.*)", re.DOTALL)
NAMED = re.compile(r'\s*\[\s*"([^"\\]*)"')
"""The beginning of an event, with its name."""
ENCODER, DECODER = msgspec.json.Encoder(), msgspec.json.Decoder()


class SocketPacket(NamedTuple):
    """The id for an acknowledgement is ignored: the server sends none."""

    kind: str
    namespace: str = DEFAULT
    data: Any = None
    attachments: int = 0


def read_packet(text: str) -> SocketPacket:
    found = PLAIN.fullmatch(text) or BINARY.fullmatch(text)
    if found is None:
        raise BadPacket("a packet begins with its type, 0 to 6; 5 and 6 with the number of their attachments and a dash")
    kind, attachments, namespace, json = found.groups()
    packet = SocketPacket(kind, (namespace or DEFAULT).partition("?")[0], _value(json), int(attachments or 0))
    if kind in (EVENT, BINARY_EVENT) and not _is_event(packet.data):
        raise BadPacket("an event is a list that begins with its name")
    if packet.attachments > MOST_ATTACHMENTS:
        raise BadPacket(f"an event has {MOST_ATTACHMENTS} attachments at most")
    return packet


def _value(json: str) -> Any:
    try:
        return DECODER.decode(bounded(json.encode())) if json else None
    except (RecursionError, TooManyValues):
        return _name_alone(json)
    except msgspec.DecodeError:
        raise BadPacket("the data of a packet is not JSON") from None


def _name_alone(json: str) -> Any:
    """An event that is too large or nested too deeply to be parsed: its name is enough to answer with an error."""
    found = NAMED.match(json)
    if found is None:
        raise BadPacket("the data of a packet is too large or nested too deeply")
    return [found[1], None]


def _is_event(data: Any) -> bool:
    return isinstance(data, list) and bool(data) and isinstance(data[0], str)


class Assembly:
    """A binary packet that waits for its attachments."""

    def __init__(self, packet: SocketPacket) -> None:
        self._packet = packet
        self._attachments: list[str] = []
        self._size = 0
        self._used: set[int] = set()

    def add(self, attachment: bytes) -> SocketPacket | None:
        """The packet, once its last attachment is here. Attachments become base64 text."""
        self._size += len(attachment)
        if self._size > MOST_ATTACHED:
            raise BadPacket(f"the attachments of an event have {MOST_ATTACHED} bytes at most")
        self._attachments.append(msgspec.to_builtins(attachment))
        if len(self._attachments) < self._packet.attachments:
            return None
        try:
            return self._packet._replace(data=self._filled(self._packet.data))
        except RecursionError:
            raise BadPacket("the data of a packet is nested too deeply") from None

    def _filled(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self._filled(each) for each in value]
        if not isinstance(value, dict):
            return value
        if value.get("_placeholder") is True:
            return self._attachment(value.get("num"))
        return {key: self._filled(each) for key, each in value.items()}

    def _attachment(self, number: Any) -> str:
        if type(number) is not int or not 0 <= number < len(self._attachments):
            raise BadPacket("a placeholder names no attachment")
        if number in self._used:
            raise BadPacket("two placeholders name the same attachment")
        self._used.add(number)
        return self._attachments[number]


def event(name: str, payload: Any) -> bytes:
    """An event as a packet of Engine.IO."""
    return b"42" + ENCODER.encode((name, payload))


def connected(version: int, sid: str) -> bytes:
    """The client is connected to the default namespace. Clients of Engine.IO 3 know their id already."""
    return b"40" if version == 3 else b"40" + ENCODER.encode({"sid": sid})


DISCONNECTED = b"41"


def refusal(version: int, words: str, namespace: str = DEFAULT) -> bytes:
    """An error, which the client passes to its handler for `error` or `connect_error`."""
    where = "" if namespace == DEFAULT else namespace + ","
    return b"44" + where.encode() + ENCODER.encode(words if version == 3 else {"message": words})
