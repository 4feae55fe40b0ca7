"""The kinds of messages for a bot: which of them ask for a move, and which need no answer. Pure."""

import json
from typing import Any, Literal

from botdrome.doctor.ailments import ProtocolName

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
