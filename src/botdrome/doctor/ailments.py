"""Ailments: the kinds of unusual traffic that a bot must cope with, and what it means if it does
not. Pure.
"""

import json
from collections.abc import Callable
from typing import Any, Literal, NamedTuple

ProtocolName = Literal["battlebot", "duel", "boats", "bomber", "battlecube"]
PROTOCOL_NAMES: tuple[ProtocolName, ...] = ("battlebot", "duel", "boats", "bomber", "battlecube")

MOST_SINGLE = 200
"""Bytes of a message that are sent one by one; the rest follows in one piece."""
UNKNOWN = "xDoctor"
"""The unknown key."""
PATIENT = "patient"
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


class Ailment(NamedTuple):
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
    patient: str = PATIENT
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

AILMENTS = (
    Ailment("plain", "cannot play a plain match"),
    Ailment("two pieces", "cannot read a message that comes in two pieces", pieces=halves),
    Ailment("single bytes", "cannot read a message that comes byte by byte", pieces=single_bytes),
    Ailment(
        "joined messages", "cannot read several messages that come at once", STREAMS, joined=True
    ),
    Ailment(
        "fragments",
        "cannot read a WebSocket message in several frames",
        ("battlebot",),
        fragments=True,
    ),
    Ailment("slow HTTP", "gives up on slow HTTP", HTTP, pieces=halves, slow=True, most=4),
    Ailment("unknown keys", "fails on unknown keys", JSON, rewrite=with_unknown_keys),
    Ailment("key order", "depends on the order of keys", JSON, rewrite=in_other_order),
    Ailment("long name", "fails on long names", opponent=LONG_NAME),
    Ailment("emoji name", "fails on names that are not ASCII", opponent=EMOJI_NAME, escaped=True),
    Ailment("emoji in UTF-8", COUNTS, JSON, opponent=EMOJI_NAME, escaped=False, after="emoji name"),
    Ailment("own emoji name", "fails if its own name is not ASCII", patient=OWN_EMOJI_NAME),
    Ailment("long wait", "gives up when nothing comes for some seconds", silent=True),
    Ailment("lost connection", "does not recover from a lost connection", drop=True),
    Ailment(
        "repeated question",
        "fails on a repeated question",
        ("battlebot", "duel", "battlecube"),
        repeat=True,
    ),
)


def ailments_of(protocol: ProtocolName, together: bool) -> list[Ailment]:
    """The ailments of a protocol. `together`: players of the game move at the same time.

    Battlebot repeats a question only in such games: each move of another player brings a new state.
    """
    never = {"repeated question"} if protocol == "battlebot" and not together else set()
    return [one for one in AILMENTS if protocol in one.protocols and one.name not in never]


def opponent_of(ailment: Ailment, protocol: ProtocolName, number: int) -> str:
    """The name of the opponent in a trial."""
    name = ailment.opponent or OPPONENTS[number % len(OPPONENTS)]
    return LONG_NAMES.get(protocol, name) if name == LONG_NAME else name


def rewritten(body: bytes, ailment: Ailment) -> bytes:
    """Return a message in JSON with its changes; anything else as it is."""
    if ailment.rewrite is None and ailment.escaped is None:
        return body
    try:
        value = json.loads(body)
    except ValueError:
        return body
    escaped = body.isascii() if ailment.escaped is None else ailment.escaped
    return json.dumps(
        ailment.rewrite(value) if ailment.rewrite else value, ensure_ascii=escaped
    ).encode()
