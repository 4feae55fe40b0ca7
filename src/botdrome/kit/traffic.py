"""Conditions on the wire: the kinds of unusual traffic that a bot must cope with, and what it means
if it does not. Pure.
"""

import json
import re
from collections.abc import Callable
from typing import Any, Literal, NamedTuple

from botdrome.wire.framing.websocket import CONTINUATION, LAST, TEXT, WHOLE_TEXT, packed

ProtocolName = Literal["battlebot", "duel", "boats", "bomber", "battlecube"]
PROTOCOL_NAMES: tuple[ProtocolName, ...] = ("battlebot", "duel", "boats", "bomber", "battlecube")

MOST_SINGLE = 200
"""Bytes of a message that are sent one by one; the rest follows in one piece."""
UNKNOWN = "xUnknown"
"""The unknown key."""
BOT_NAME = "checked"
OPPONENTS = "Opponent", "Rival"
"""They take turns, since duel arena lets a player wait rather than meet its last opponent again."""
EMOJI_NAME, OWN_EMOJI_NAME = "Zoë🚀", "Lía🐢"
"""Eight bytes each, since names of boat games have at most ten."""
LONG_NAMES: dict[ProtocolName, str] = {"boats": "TenLetters"}
LONG_NAME = "Opponent-with-a-name-of-32-chars"


def whole(message: bytes) -> list[bytes]:
    return [message]


def halves(message: bytes) -> list[bytes]:
    middle = (len(message) + 1) // 2
    return [part for part in (message[:middle], message[middle:]) if part]


def single_bytes(message: bytes) -> list[bytes]:
    singles = [message[at : at + 1] for at in range(min(MOST_SINGLE, len(message)))]
    return [*singles, message[MOST_SINGLE:]] if len(message) > MOST_SINGLE else singles


def with_unknown_keys(value: Any) -> Any:
    """Add a key to the message, and to its `state`.

    Objects further inside may be keyed by names, so they stay as they are.
    """
    if not isinstance(value, dict):
        return value
    inside = (
        {"state": with_unknown_keys(value["state"])} if isinstance(value.get("state"), dict) else {}
    )
    return {UNKNOWN: {"unknown": [1, None, "key"]}, **value, **inside}


def in_other_order(value: Any) -> Any:
    """Reverse the order of the keys of all objects."""
    if isinstance(value, dict):
        return {key: in_other_order(value[key]) for key in reversed(value)}
    return [in_other_order(one) for one in value] if isinstance(value, list) else value


class WireCondition(NamedTuple):
    name: str
    diagnosis: str
    """What is wrong with a bot that fails here and plays well otherwise."""
    protocols: tuple[ProtocolName, ...] = PROTOCOL_NAMES
    pieces: Callable[[bytes], list[bytes]] = whole
    """Cuts the bytes of a message into the pieces that are sent."""
    most: int = 60
    """Messages that are treated, so that a trial does not take long."""
    slow: bool = False
    """There is a pause between two pieces."""
    rewrite: Callable[[Any], Any] | None = None
    """Changes a message in JSON."""
    escaped: bool | None = None
    """Whether JSON has escapes for characters that are not ASCII. None: as the server writes it."""
    fragments: bool = False
    """Each message comes in several frames of the WebSocket."""
    joined: bool = False
    """Messages that need no answer wait for the next that does, and come together with it."""
    bot: str = BOT_NAME
    """The name of the bot."""
    opponent: str = ""
    """The name of the opponent; empty: any."""
    silent: bool = False
    """Nothing comes for some seconds: there is no opponent yet, or the game rests."""
    drop: bool = False
    """The connection is lost in the middle of the second question."""
    repeat: bool = False
    """Each question comes twice."""
    after: str = ""
    """The trial that a bot must have passed before this one says more."""


JSON: tuple[ProtocolName, ...] = ("battlebot", "duel", "bomber", "battlecube")
STREAMS: tuple[ProtocolName, ...] = ("battlebot", "duel", "boats")
HTTP: tuple[ProtocolName, ...] = ("bomber", "battlecube")
COUNTS = "counts characters instead of bytes, or cannot read UTF-8"

CONDITIONS = (
    WireCondition("plain", "cannot play a plain match"),
    WireCondition("two pieces", "cannot read a message that comes in two pieces", pieces=halves),
    WireCondition(
        "single bytes", "cannot read a message that comes byte by byte", pieces=single_bytes
    ),
    WireCondition(
        "joined messages", "cannot read several messages that come at once", STREAMS, joined=True
    ),
    WireCondition(
        "fragments",
        "cannot read a WebSocket message in several frames",
        ("battlebot",),
        fragments=True,
    ),
    WireCondition("slow HTTP", "gives up on slow HTTP", HTTP, pieces=halves, slow=True, most=4),
    WireCondition("unknown keys", "fails on unknown keys", JSON, rewrite=with_unknown_keys),
    WireCondition("key order", "depends on the order of keys", JSON, rewrite=in_other_order),
    WireCondition("long name", "fails on long names", opponent=LONG_NAME),
    WireCondition(
        "emoji name", "fails on names that are not ASCII", opponent=EMOJI_NAME, escaped=True
    ),
    WireCondition(
        "emoji in UTF-8", COUNTS, JSON, opponent=EMOJI_NAME, escaped=False, after="emoji name"
    ),
    WireCondition("own emoji name", "fails if its own name is not ASCII", bot=OWN_EMOJI_NAME),
    WireCondition("long wait", "gives up when nothing comes for some seconds", silent=True),
    WireCondition("lost connection", "does not recover from a lost connection", drop=True),
    WireCondition(
        "repeated question",
        "fails on a repeated question",
        ("battlebot", "duel", "battlecube"),
        repeat=True,
    ),
)


def conditions_of(protocol: ProtocolName, together: bool) -> list[WireCondition]:
    """The conditions of a protocol. `together`: players of the game move at the same time.

    Battlebot repeats a question only in such games: each move of another player brings a new state.
    """
    never = {"repeated question"} if protocol == "battlebot" and not together else set()
    return [one for one in CONDITIONS if protocol in one.protocols and one.name not in never]


def opponent_of(condition: WireCondition, protocol: ProtocolName, number: int) -> str:
    """The name of the opponent in a trial."""
    name = condition.opponent or OPPONENTS[number % len(OPPONENTS)]
    return LONG_NAMES.get(protocol, name) if name == LONG_NAME else name


def rewritten(body: bytes, condition: WireCondition) -> bytes:
    """Return a message in JSON with its changes; anything else as it is."""
    if condition.rewrite is None and condition.escaped is None:
        return body
    try:
        value = json.loads(body)
    except ValueError:
        return body
    escaped = body.isascii() if condition.escaped is None else condition.escaped
    return json.dumps(
        condition.rewrite(value) if condition.rewrite else value, ensure_ascii=escaped
    ).encode()


# The kinds of messages for a bot: which of them ask for a move, and which need no answer. Pure.

Kind = Literal["question", "news", "other"]
"""A question asks for a move, news need no answer, and others may need one."""
DUEL_NEWS = ("starting_game", "win", "lose", "draw", "invalid_move")
BOATS_NEWS = frozenset(b"JBSHKMYLFRN")
PREFIX = 4
"""Bytes of the length before a message of duel arena."""


def kind_of(body: bytes, protocol: ProtocolName, name: str) -> Kind:
    """`name`: the name of the bot."""
    if protocol == "battlecube":
        return "question"
    if protocol == "boats":
        if body.strip() == f"N|{name}".encode():
            return "question"
        return "news" if body[:1] and body[0] in BOATS_NEWS and body[1:2] == b"|" else "other"
    message = _object(body)
    if protocol == "bomber":
        return "question" if "response" in message and "user_id" not in message else "other"
    return _duel_kind(message) if protocol == "duel" else _battlebot_kind(message, name)


def _duel_kind(message: dict[str, Any]) -> Kind:
    event = message.get("event")
    if event == "get_move":
        return "question"
    return "news" if event in DUEL_NEWS or message.get("status") == "ok" else "other"


def _battlebot_kind(message: dict[str, Any], name: str) -> Kind:
    state = state_of(message)
    if message.get("authentication") == "OK":
        return "news"
    if not state or state.get("result"):
        return "other"
    return "question" if name in state.get("waitingFor", [name]) else "news"


def state_of(message: dict[str, Any]) -> dict[str, Any]:
    """The state in a message of Battlebot; empty: there is none.

    Bumblebots has it without a key around it.
    """
    state = message.get("state", message if "turnNumber" in message else {})
    return state if isinstance(state, dict) else {}


def may_repeat(body: bytes, protocol: ProtocolName, name: str) -> bool:
    """Whether a message may come twice.

    Battlebot sends a state again only while it waits for several players.
    """
    if kind_of(body, protocol, name) != "question":
        return False
    return protocol != "battlebot" or len(state_of(_object(body)).get("waitingFor", ())) > 1


def _object(body: bytes) -> dict[str, Any]:
    try:
        message = json.loads(body)
    except ValueError:
        return {}
    return message if isinstance(message, dict) else {}


def miscounted(said: bytes) -> str:
    """Say how the first message of a bot of duel arena has more bytes than it announces; empty: it
    has not.
    """
    size, body = int.from_bytes(said[:PREFIX], "big"), said[PREFIX:]
    if size >= len(body) or _object(body[:size]) or not _object(body):
        return ""
    return (
        f"its first message announces {size} bytes and has {len(body)}: it counts characters "
        "instead of bytes"
    )


# Framing: cuts the bytes for a bot into messages, and writes messages as bytes. Pure.

LENGTH = re.compile(rb"(?i)(\r\ncontent-length:[ \t]*)(\d+)")
HEAD_END = b"\r\n\r\n"
"""Bytes of the length before a message of duel arena."""


class WireMessage(NamedTuple):
    """A message for the bot. Bytes without a body, such as a handshake, are sent as they are."""

    head: bytes
    body: bytes = b""


class LineFraming:
    """Lines, as in Xterm Boat Sinker."""

    def cut(self, buffer: bytearray) -> WireMessage | None:
        """Remove the first message from the buffer. None: it is not complete."""
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


MessageFraming = LineFraming | LengthFraming | HttpFraming | SocketFraming


def fragmented(body: bytes) -> bytes:
    """Return a text as three frames. The cuts may fall inside a character."""
    third = max(1, len(body) // 3)
    parts = body[:third], body[third : 2 * third], body[2 * third :]
    kinds = TEXT, CONTINUATION, LAST | CONTINUATION
    return b"".join(text_frame(kind, part) for kind, part in zip(kinds, parts, strict=True))


def text_frame(kind: int, body: bytes) -> bytes:
    return bytes((kind,)) + packed([body])[1:]


def _taken(buffer: bytearray, size: int) -> bytes:
    taken = bytes(buffer[:size])
    del buffer[:size]
    return taken
