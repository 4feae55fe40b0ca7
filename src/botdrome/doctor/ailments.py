"""Ailments: the kinds of unusual traffic that a bot must cope with, and what it means if it does not. Pure."""

import json
from collections.abc import Callable
from typing import Any, Literal, NamedTuple

ProtocolName = Literal["battlebot", "duel", "boats", "bomber", "battlecube"]
PROTOCOL_NAMES: tuple[ProtocolName, ...] = ("battlebot", "duel", "boats", "bomber", "battlecube")

MOST_SINGLE = 200
"""Bytes of a message that are sent one by one; the rest follows in one piece."""
UNKNOWN = "xDoctor"
"""The unknown key."""
OPPONENT = "Opponent"
LONG_NAME = "Opponent-with-a-name-of-32-chars"
EMOJI_NAME = "Zoë🚀"
"""Eight bytes, since names of boat games have at most ten."""


def whole(message: bytes) -> list[bytes]:
    return [message]


def halves(message: bytes) -> list[bytes]:
    middle = (len(message) + 1) // 2
    return [part for part in (message[:middle], message[middle:]) if part]


def single_bytes(message: bytes) -> list[bytes]:
    singles = [message[at : at + 1] for at in range(min(MOST_SINGLE, len(message)))]
    return [*singles, message[MOST_SINGLE:]] if len(message) > MOST_SINGLE else singles


def with_unknown_keys(value: Any) -> Any:
    """Add a key to the message, and to its `state`. Objects further inside may be keyed by names, so they stay as they are."""
    if not isinstance(value, dict):
        return value
    inside = {"state": with_unknown_keys(value["state"])} if isinstance(value.get("state"), dict) else {}
    return {UNKNOWN: {"unknown": [1, None, "key"]}, **value, **inside}


def in_other_order(value: Any) -> Any:
    """Reverse the order of the keys of all objects."""
    if isinstance(value, dict):
        return {key: in_other_order(value[key]) for key in reversed(value)}
    return [in_other_order(one) for one in value] if isinstance(value, list) else value


class Ailment(NamedTuple):
    name: str
    diagnosis: str
    """What is wrong with a bot that fails here and plays well otherwise."""
    protocols: tuple[ProtocolName, ...] = PROTOCOL_NAMES
    pieces: Callable[[bytes], list[bytes]] = whole
    """Cuts the bytes of a message into the pieces that are sent."""
    pause: float = 0.0
    """Seconds between two pieces."""
    rewrite: Callable[[Any], Any] | None = None
    """Changes a message in JSON."""
    fragments: bool = False
    """Each message comes in several frames of the WebSocket."""
    joined: bool = False
    """Messages wait for those that follow, and come together."""
    opponent: str = OPPONENT
    silent: bool = False
    """Nothing comes for some seconds: there is no opponent yet, or the game rests."""
    drop: bool = False
    """The connection is lost in the middle of a message after the bot's first move."""
    repeat: bool = False
    """Each question comes twice."""


JSON: tuple[ProtocolName, ...] = ("battlebot", "duel", "bomber", "battlecube")
STREAMS: tuple[ProtocolName, ...] = ("battlebot", "duel", "boats")

AILMENTS = (
    Ailment("plain", "cannot play a plain match"),
    Ailment("two pieces", "cannot read a message that comes in two pieces", pieces=halves, pause=0.02),
    Ailment("single bytes", "cannot read a message that comes byte by byte", pieces=single_bytes),
    Ailment("joined messages", "cannot read several messages that come at once", STREAMS, joined=True),
    Ailment("fragments", "cannot read a WebSocket message in several frames", ("battlebot",), fragments=True),
    Ailment("slow HTTP", "gives up on slow HTTP", ("bomber", "battlecube"), pieces=halves, pause=0.7),
    Ailment("unknown keys", "fails on unknown keys", JSON, rewrite=with_unknown_keys),
    Ailment("key order", "depends on the order of keys", JSON, rewrite=in_other_order),
    Ailment("long name", "fails on long names", JSON, opponent=LONG_NAME),
    Ailment("emoji name", "fails on names that are not ASCII", opponent=EMOJI_NAME),
    Ailment("long wait", "gives up when nothing comes for some seconds", silent=True),
    Ailment("lost connection", "does not recover from a lost connection", drop=True),
    Ailment("repeated question", "fails on a repeated question", ("battlebot", "duel", "battlecube"), repeat=True),
)


def ailments_of(protocol: ProtocolName, together: bool) -> list[Ailment]:
    """The ailments of a protocol. `together`: players of the game move at the same time.

    Battlebot repeats a question only in such games: each move of another player brings a new state.
    """
    never = {"repeated question"} if protocol == "battlebot" and not together else set()
    return [one for one in AILMENTS if protocol in one.protocols and one.name not in never]


def rewritten(body: bytes, rewrite: Callable[[Any], Any]) -> bytes:
    """Return a message in JSON with its changes; anything else as it is."""
    try:
        value = json.loads(body)
    except ValueError:
        return body
    return json.dumps(rewrite(value), ensure_ascii=body.isascii()).encode()


def asks(body: bytes, protocol: ProtocolName) -> bool:
    """Whether a message may be sent twice: it asks a question that is still open."""
    if protocol == "duel":
        return b'"get_move"' in body
    try:
        message = json.loads(body)
    except ValueError:
        return False
    state = message.get("state", message) if isinstance(message, dict) else {}
    return isinstance(state, dict) and not state.get("result") and len(state.get("waitingFor") or ()) > 1
