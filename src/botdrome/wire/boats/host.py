"""The conversation with the host of a boat room (`botdrome boats host`), in JSON."""

from typing import Any

import msgspec
from msgspec import Struct

from botdrome.games.reading import UNREADABLE, bounded
from botdrome.wire.conversation import (
    Admitted,
    Command,
    Conversation,
    LoginRefused,
    Outs,
    Redeliver,
    Reply,
    Seconds,
    refuse,
)

REDRAW = 0.1
"""Seconds between two views of the room."""
NO_ORDER = "an order is a JSON object"


class EnterAsHost(Struct, Command, frozen=True):
    """Log in as the host of the room with this title. Answered by Admitted or LoginRefused."""

    token: Any
    room: Any


class GiveOrder(Struct, Command, frozen=True):
    """Answered by HostTold. None: show the room after a change."""

    order: dict[str, Any] | None = None


class HostTold(Struct, Reply, frozen=True):
    message: dict[str, Any]


class RoomChanged(Struct, Reply, frozen=True):
    """Something happened in the room."""


class HostConversation(Conversation):
    """The first message is `{"token": ..., "room": TITLE}`, each later one an order. The room is
    shown after each change.
    """

    def __init__(self, login_limit: Seconds, message_burst: int, now: Seconds) -> None:
        self.deadline: Seconds | None = now + login_limit
        self._most_held, self._entered = message_burst, False
        self._held: list[bytes] | None = None
        """Messages that came during the login; None: no login is under way."""

    def receive(self, message: bytes, now: Seconds) -> Outs:
        if self._held is not None:
            self._held.append(message)
            return (
                refuse("too many messages", refused="flood")
                if len(self._held) > self._most_held
                else ()
            )
        try:
            value = msgspec.json.decode(bounded(message), type=dict[str, Any])
        except UNREADABLE:
            return (
                (msgspec.json.encode({"error": NO_ORDER}),) if self._entered else refuse(NO_ORDER)
            )
        if self._entered:
            return (GiveOrder(value),)
        self._held = []
        return (EnterAsHost(value.get("token"), value.get("room") or ""),)

    def answer(self, reply: Reply, now: Seconds) -> Outs:
        match reply:
            case HostTold(message):
                return (msgspec.json.encode(message),)
            case LoginRefused(words):
                return refuse(words)
            case Admitted():
                held, self._held = self._held or [], None
                self.deadline, self._entered = None, True
                return GiveOrder(), Redeliver(tuple(held))
            case RoomChanged() if self.deadline is None:  # several changes are shown together
                self.deadline = now + REDRAW
        return ()

    def wake(self, now: Seconds) -> Outs:
        self.deadline = None
        return (GiveOrder(),) if self._entered else refuse("no token came")
