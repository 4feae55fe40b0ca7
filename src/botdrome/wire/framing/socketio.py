"""A conversation in Socket.IO over Engine.IO: handshake, heartbeat, rate limit, the default
namespace and its events.

A protocol on top of it subclasses it and reads the events. The transport may change from polling to
a WebSocket meanwhile.
"""

import re
from base64 import b64decode
from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec
from msgspec import Struct

from botdrome.games.reading import TooManyValues, bounded
from botdrome.wire.conversation import (
    CannotPlay,
    Close,
    Command,
    Conversation,
    Outs,
    Removed,
    Reply,
    Seconds,
    TokenBucket,
    Unreadable,
)
from botdrome.wire.framing.websocket import MALFORMED, NORMAL, NOT_UTF8, POLICY

# Engine.IO: how its packets are framed on HTTP and on WebSockets, in version 3 (socket.io 2.x) and
# 4 (3.x and 4.x).
#
# Here a packet is bytes in both versions: a digit for its type and UTF-8 text, or `b` and a binary
# message.

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


class EngineIo3:
    """Payloads give the length of each packet in UTF-16 code units.

    The server sends text only; clients may send text and bytes.
    """

    version = 3

    def read_frame(self, frame: bytes) -> bytes:
        """The packet in a binary WebSocket message."""
        if not frame or frame[0] >= len(KINDS):
            raise BadPacket(BAD_TYPE)
        return _binary_message(KINDS[frame[0]], frame[1:])

    def read_payload(self, payload: str) -> list[bytes]:
        """The packets in the body of a POST.

        `6:4hello2:4€`: each packet after its length; `b` marks one in base64.
        """
        if not payload:
            raise BadPacket("a payload has at least one packet")
        return [self._packet(text) for text in _split(payload) if text]

    def _packet(self, text: str) -> bytes:
        return (
            _binary_message(text[1:2], _decoded(text[2:])) if text[0] == "b" else _text_packet(text)
        )

    def read_binary_payload(self, payload: bytes) -> list[bytes]:
        """The packets in the body of a POST with bytes: for each packet a byte for text or binary,
        the digits of the length, 255, the packet.
        """
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
        """The answer to a GET."""
        return "".join([f"{units(text)}:{text}" for text in map(bytes.decode, packets)])


class EngineIo4:
    """A separator stands between the packets of a payload."""

    version = 4

    def read_frame(self, frame: bytes) -> bytes:
        return BINARY + frame

    def read_payload(self, payload: str) -> list[bytes]:
        _check_count(payload.count(SEPARATOR) + 1)
        return [
            BINARY + _decoded(text[1:]) if text[:1] == "b" else _text_packet(text)
            for text in payload.split(SEPARATOR)
        ]

    def read_binary_payload(self, payload: bytes) -> list[bytes]:
        raise BadPacket("a payload is text")

    def write_payload(self, packets: list[bytes]) -> str:
        return SEPARATOR.join(map(bytes.decode, packets))


Engine = EngineIo3 | EngineIo4


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
    text = (
        msgspec.json.encode(payload)
        .decode()
        .replace("\u2028", "\\u2028")
        .replace("\u2029", "\\u2029")
    )
    return f"___eio[{index}]({text});"


def from_jsonp(form: str) -> str:
    """The payload in a form field, where a line break is `\\n` and a backslash before `n` is
    doubled.
    """
    return re.sub(r"(\\)?\\n", lambda found: "\\n" if found[1] else "\n", form)


# Socket.IO's packets, in protocol 4 (clients 2.x) and 5 (3.x and 4.x): type, attachments,
# namespace, id and JSON.

CONNECT, DISCONNECT, EVENT, ACK, ERROR, BINARY_EVENT, BINARY_ACK = "0123456"
DEFAULT = "/"
MOST_ATTACHMENTS = 32
MOST_ATTACHED = 1_000_000
"""Bytes of all attachments of a packet."""
PLAIN = re.compile(r"([0-4])()(?:(/[^,]*)(?:,|$))?[0-9]*(.*)", re.DOTALL)
WITH_ATTACHMENTS = re.compile(r"([56])([0-9]{1,4})-(?:(/[^,]*)(?:,|$))?[0-9]*(.*)", re.DOTALL)
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
    found = PLAIN.fullmatch(text) or WITH_ATTACHMENTS.fullmatch(text)
    if found is None:
        raise BadPacket(
            "a packet begins with its type, 0 to 6; 5 and 6 with the number of their attachments "
            "and a dash"
        )
    kind, attachments, namespace, json = found.groups()
    packet = SocketPacket(
        kind, (namespace or DEFAULT).partition("?")[0], _value(json), int(attachments or 0)
    )
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
    """An event that is too large or nested too deeply to be parsed: its name is enough to answer
    with an error.
    """
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


AN_EVENT = (MESSAGE + EVENT).encode()
"""The beginning of an event as a packet of Engine.IO: a list of its name and its payload follows.
"""


def connected(version: int, sid: str) -> bytes:
    """The client is connected to the default namespace.

    Clients of Engine.IO 3 know their id already.
    """
    return b"40" if version == 3 else b"40" + ENCODER.encode({"sid": sid})


DISCONNECTED = b"41"


def refusal(version: int, words: str, namespace: str = DEFAULT) -> bytes:
    """An error, which the client passes to its handler for `error` or `connect_error`."""
    where = "" if namespace == DEFAULT else namespace + ","
    return b"44" + where.encode() + ENCODER.encode(words if version == 3 else {"message": words})


class SocketIoLimits(Struct, frozen=True, kw_only=True):
    ping_interval: Seconds = 25.0
    ping_timeout: Seconds = 60.0
    patience: Seconds = 10.0
    """For a client to connect to the namespace, to complete a body or an event, and to change its
    transport.
    """
    longest: int = 100_000
    """Bytes of one message, or of one POST."""
    rate: float = 200.0
    burst: int = 400
    """Packets per second in the long run, and at once."""

    @property
    def silence(self) -> Seconds:
        """A client that sends nothing for so long is gone."""
        return self.ping_interval + self.ping_timeout


class Handshake(Struct, frozen=True):
    """What the server tells a new client.

    `sid` is secret, since it gives access to the session; `socket_id` is not.
    """

    sid: str
    socket_id: str
    version: int
    upgrades: tuple[str, ...] = ()
    """Transports to which the client may change."""


class SocketConnected(Struct, Command, frozen=True):
    """The client has joined the default namespace, and is called `sid` there."""

    sid: str


class SocketDisconnected(Struct, Command, frozen=True):
    """The client has left the namespace, and will close its connection."""


class SocketIoConversation(Conversation):
    def __init__(self, handshake: Handshake, limits: SocketIoLimits, now: Seconds) -> None:
        self._handshake, self._version, self._limits = handshake, handshake.version, limits
        self._rate = TokenBucket(limits.rate, limits.burst, now)
        self._connected = self._over = False
        self._joined = 0
        self._assembly: Assembly | None = None
        self._heard = now
        self._next_check = now + limits.silence
        self._next_ping = now + limits.ping_interval if self._version > 3 else None
        self.deadline: Seconds | None = None
        self._expected: tuple[Seconds, str] | None = None
        """What the client must do soon: until when, and the error if it does not."""

    def _planned(self, outs: Outs) -> Outs:
        """Set the deadline before the commands are executed."""
        due = (
            self._next_check if self._expected is None else min(self._next_check, self._expected[0])
        )
        due = due if self._next_ping is None else min(due, self._next_ping)
        self.deadline = None if self._over else due
        return outs

    def begin(self, now: Seconds) -> Outs:
        """Clients of Engine.IO 3 are connected to the default namespace without asking."""
        limits = self._limits
        greeting: dict[str, Any] = {
            "sid": self._handshake.sid,
            "upgrades": self._handshake.upgrades,
            "pingInterval": round(limits.ping_interval * 1000),
            "pingTimeout": round(limits.ping_timeout * 1000),
        }
        if self._version > 3:
            greeting["maxPayload"] = limits.longest
        opened = OPEN.encode() + msgspec.json.encode(greeting)
        if self._version == 3:
            return self._planned((opened, *self._join()))
        self._expect("the client did not connect to a namespace", now)
        return self._planned((opened,))

    # What the client sends.

    def receive(self, message: bytes, now: Seconds) -> Outs:
        return () if self._over else self._planned(self._received(message, now))

    def _received(self, message: bytes, now: Seconds) -> Outs:
        self._heard = now
        if not self._rate.take(now):
            return self._fail("too many messages", POLICY)
        try:
            if message[:1] == BINARY:
                return self._act(self._attach(message[1:]), now)
            return self._read(message.decode(), now)
        except UnicodeDecodeError:
            return self._fail("text is UTF-8", NOT_UTF8)
        except BadPacket as problem:
            return self._fail(str(problem))

    def _read(self, text: str, now: Seconds) -> Outs:
        kind = text[:1]
        if kind == MESSAGE:
            return self._act(self._packet(text[1:], now), now)
        if kind == PING and self._version == 3:
            return ((PONG + text[1:]).encode(),)
        if kind == CLOSE:
            return self._close()
        if kind in (OPEN, PING):
            raise BadPacket("that is for the server to send")
        if not kind or kind not in KINDS:
            raise BadPacket(BAD_TYPE)
        return ()

    def _packet(self, text: str, now: Seconds) -> SocketPacket | None:
        """The packet, unless it waits for attachments."""
        if self._assembly is not None:
            raise BadPacket("an event came before the attachments of the last one")
        packet = read_packet(text)
        if not packet.attachments:
            return packet
        self._assembly = Assembly(packet)
        self._expect("the attachments of an event did not come", now)
        return None

    def _attach(self, data: bytes) -> SocketPacket | None:
        if self._assembly is None:
            raise BadPacket("an attachment came without its event")
        packet = self._assembly.add(data)
        if packet is not None:
            self._assembly = self._expected = None
        return packet

    def _act(self, packet: SocketPacket | None, now: Seconds) -> Outs:
        if packet is None:
            return ()
        if packet.kind == CONNECT:
            return self._connect(packet.namespace)
        if packet.namespace != DEFAULT or not self._connected:
            raise BadPacket(f"not connected to the namespace {packet.namespace}")
        if packet.kind in (EVENT, BINARY_EVENT):
            name, *args = packet.data
            return self.on_event(name, args)
        if packet.kind == DISCONNECT:
            self._connected = False
            self._expect("the client has disconnected", now)
            return (SocketDisconnected(),)
        if packet.kind == ERROR:
            raise BadPacket("that is for the server to send")
        return ()

    def _connect(self, namespace: str) -> Outs:
        if namespace != DEFAULT:
            return (refusal(self._version, "Invalid namespace", namespace),)
        if self._connected:
            return ()
        self._expected = None
        return self._join()

    def _join(self) -> Outs:
        """Clients of Engine.IO 3 use the id of the session as their own, others get a new one each
        time.
        """
        self._connected = True
        self._joined += 1
        sid = (
            self._handshake.sid
            if self._version == 3
            else f"{self._handshake.socket_id}{self._joined}"
        )
        return connected(self._version, sid), SocketConnected(sid)

    def on_event(self, name: str, args: list[Any]) -> Outs:
        """The client sent an event."""
        raise NotImplementedError

    # What the server decides, and what does not happen in time.

    def answer(self, reply: Reply, now: Seconds) -> Outs:
        return () if self._over else self._planned(self._answered(reply))

    def _answered(self, reply: Reply) -> Outs:
        if isinstance(reply, Unreadable):
            return self._fail(reply.why)
        if isinstance(reply, Removed):
            return DISCONNECTED, *self._close()
        if isinstance(reply, CannotPlay):
            return self._close(reply.code, reply.message["error"])
        return ()

    def wake(self, now: Seconds) -> Outs:
        return () if self._over else self._planned(self._woken(now))

    def _woken(self, now: Seconds) -> Outs:
        if self._expected is not None and now >= self._expected[0]:
            return self._fail(self._expected[1])
        self._next_check = self._heard + self._limits.silence
        if now >= self._next_check:
            return self._close(reason="ping timeout")
        if self._next_ping is not None and now >= self._next_ping:
            self._next_ping = now + self._limits.ping_interval
            return (PING.encode(),)
        return ()

    def _expect(self, otherwise: str, now: Seconds) -> None:
        self._expected = now + self._limits.patience, otherwise

    # How it ends.

    def _fail(self, words: str, code: int = MALFORMED) -> Outs:
        """A connected client of Engine.IO 4 gets no error packet: it would never connect again."""
        told = (refusal(self._version, words),) if self._version == 3 or not self._connected else ()
        return *told, *self._close(code, words, "socketio")

    def _close(self, code: int = NORMAL, reason: str = "", refused: str = "") -> Outs:
        self._over = True
        return (Close(code, reason, refused),)
