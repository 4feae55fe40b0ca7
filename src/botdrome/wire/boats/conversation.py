"""Xterm Boat Sinker's conversation: the offer, joining, chat and shots, goodbye."""

from typing import Any

import msgspec
from msgspec import Struct

from botdrome.games.reading import UNREADABLE, bounded
from botdrome.match.events import Player
from botdrome.wire.boats.lines import (
    BOOTED,
    COMM_ERROR,
    LONGEST_LINE,
    NOT_STARTED,
    PROTOCOL_ERROR,
    BoatWriter,
    RefusedShot,
    Taunts,
    fields_of,
    name_problem,
    plain,
    retry,
    said,
    text_of,
    value,
)
from botdrome.wire.conversation import (
    Admit,
    Admitted,
    BadLogin,
    Close,
    Command,
    Conversation,
    Dismissed,
    EndOfInput,
    LoginRefused,
    Outs,
    ReadsTooSlowly,
    RecordMessage,
    Redeliver,
    Removed,
    Reply,
    Seated,
    Seconds,
    Submit,
    TokenBucket,
    TokenChanged,
    read_version,
    refuse,
)

# Commands of Xterm Boat Sinker's conversation to its room, and the replies.

GAME = "battleship"


class LookAtRoom(Struct, Command, frozen=True):
    """Show the room with this title, or the room that the client looks at.

    Answered by RoomShown or Refused.
    """

    title: bytes = b""
    arriving: bool = False


class CheckBlacklist(Struct, Command, frozen=True):
    """Answered by NameAllowed or Refused."""

    name: bytes


class JoinRoom(Struct, Command, frozen=True):
    """Take a seat in the next game, or return to one. Answered by Joined or Refused."""

    name: bytes
    board: bytes
    secret: bytes
    version: bytes = b""


class ReturnToSeat(Struct, Command, frozen=True):
    """Return to the seat of a guest whose name is now a registered bot's.

    Otherwise refuse the name with these words.
    """

    request: JoinRoom
    words: bytes


class Say(Struct, Command, frozen=True):
    """Pass a message on, to one player or to all."""

    to: bytes
    text: bytes


class Depart(Struct, Command, frozen=True):
    """The client is about to leave; the other players get the reason."""

    reason: bytes


class RoomShown(Struct, Reply, frozen=True):
    """The room that the client looks at: its line G, and how long names may be."""

    line: bytes
    longest_name: int


class NameAllowed(Struct, Reply, frozen=True):
    """The name is not on the room's blacklist."""


class Joined(Struct, Reply, frozen=True):
    """The client has a seat, with the taunts that belong to it."""

    taunts: Taunts


class JoinRefused(Struct, Reply, frozen=True):
    """The client cannot have this name, and may try another one."""

    words: bytes


class Kicked(Struct, Reply, frozen=True):
    """The room disconnects the client.

    The last message may be empty; the other players get the reason.
    """

    words: bytes
    reason: bytes = b""


class GameStarts(Struct, Reply, frozen=True):
    """The game that the client waited for starts, or it returns to one."""

    writer: BoatWriter


CHAT_RATE, CHAT_BURST = 2.0, 20
"""Messages to others a second in the long run, and at once.

A player may also send one for each turn that it had.
"""
LONGEST_REASON = 200
"""Bytes of a reason that the others are told."""
TOO_LATE = b"you did not join in time"
TOO_MANY = b"too many messages"
NOT_STORED = b"the result could not be stored"
NAMES_AWAY = b"the names cannot be read"
TALKS_TOO_MUCH = b"you talk too much, that was not passed on"


class BoatConversation:
    def __init__(
        self, join_limit: Seconds, message_rate: float, message_burst: int, now: Seconds
    ) -> None:
        self.deadline: Seconds | None = now + join_limit if join_limit else None
        self._limit = TokenBucket(message_rate, message_burst, now)
        self._chat_limit = TokenBucket(CHAT_RATE, CHAT_BURST, now)
        self._most_held = message_burst
        self._longest_name = 0
        self._request: JoinRoom | None = None
        self._held: list[bytes] | None = None
        """Lines that came during the login; None: no login is under way."""
        self._input_ended = self._over = False
        self._taunts: Taunts | None = None
        """Those of the client's seat; None: it has not joined."""
        self._player: Player = 0
        self._writer: BoatWriter | None = None
        self._turns_at_chat = 0
        """Turns that the client had had at its last message to others."""

    def begin(self, now: Seconds) -> Outs:
        return (LookAtRoom(arriving=True),)

    # What the client sends.

    def receive(self, message: bytes, now: Seconds) -> Outs:
        writer = self._writer
        if writer is not None and (outs := writer.plain_shot(self._player, message)) is not None:
            return outs
        if self._over:
            return ()
        if self._held is not None:
            return self._hold(message)
        fields = fields_of(message)
        if fields == [b""] and b"|" not in message:
            return self._go(b"")
        if fields[0] in (b"G", b"P", b"L"):
            return self._anybody(fields, now)
        return (
            self._stranger(fields) if self._taunts is None else self._member(fields, message, now)
        )

    def _anybody(self, fields: list[bytes], now: Seconds) -> Outs:
        text = value(fields, 1)
        if fields[0] == b"L":
            return self._go(text, text[:LONGEST_REASON])
        if fields[0] == b"P" and not text:
            return self._go(PROTOCOL_ERROR)
        if not self._limit.take(now):
            return self._flood()
        return (LookAtRoom(text),) if fields[0] == b"G" else ((b"P|" + text)[:LONGEST_LINE],)

    def _stranger(self, fields: list[bytes]) -> Outs:
        name = value(fields, 1)
        if fields[0] != b"J" or not name:
            return self._go(PROTOCOL_ERROR)
        self._request = JoinRoom(name, value(fields, 2), value(fields, 3), value(fields, 4))
        return (CheckBlacklist(name),)

    def _member(self, fields: list[bytes], line: bytes, now: Seconds) -> Outs:
        match fields[0]:
            case b"S" | b"K":
                return self._move(fields, line, now)
            case b"M":
                return self._say(value(fields, 1), value(fields, 2), now)
            case b"T" | b"J" if not self._limit.take(now):
                return self._flood()
            case b"T":
                assert self._taunts is not None
                self._taunts.set(value(fields, 1), value(fields, 2))
            case b"J":
                pass
            case _:
                return (PROTOCOL_ERROR,) if self._limit.take(now) else self._flood()
        return ()

    def _move(self, fields: list[bytes], line: bytes, now: Seconds) -> Outs:
        writer = self._writer
        try:
            if writer is None:
                raise RefusedShot(NOT_STARTED)
            if fields[0] == b"S":
                return (Submit(writer.shot(self._player, fields), line),)
            writer.check_turn(self._player)
        except RefusedShot as refusal:
            return self._refuse(refusal, line, now)
        writer.roster.skip_reason = value(fields, 1)[:LONGEST_REASON]
        return (Submit({"skip": True}, line),)

    def _refuse(self, refusal: RefusedShot, line: bytes, now: Seconds) -> Outs:
        """Announce the turn again to a player whose turn it still is: some clients would wait for
        that forever.
        """
        lines, writer = [said(b"", refusal.words)], self._writer
        if writer is not None and writer.is_asked(self._player):
            lines.append(b"N|" + writer.roster.names[self._player])
        limit = () if self._limit.take(now) else self._flood()
        return RecordMessage(line, f"refused: {refusal}"), *lines, *limit

    def _say(self, to: bytes, text: bytes, now: Seconds) -> Outs:
        turns = 0 if self._writer is None else self._writer.turns_of(self._player)
        free = turns > self._turns_at_chat
        if not free and not self._limit.take(now):
            return self._flood()
        if not text:
            return ()
        if not free and not self._chat_limit.take(now):
            return (said(b"", TALKS_TOO_MUCH),)
        self._turns_at_chat = turns
        return (Say(to, text),)

    # How it joins.

    def _log_in(self, now: Seconds) -> Outs:
        request = self._request
        assert request is not None
        if not self._limit.take(now):
            return self._flood()
        problem = name_problem(request.name, self._longest_name)
        if problem:
            return (retry(problem),)
        try:
            version = read_version(text_of(request.version))
        except BadLogin as bad:
            return (retry(plain(str(bad))),)
        self._held = []
        return (
            Admit(
                text_of(request.name),
                request.secret.decode("latin-1") or None,
                GAME,
                version=version,
            ),
        )

    def _hold(self, line: bytes) -> Outs:
        assert self._held is not None
        self._held.append(line)
        return self._go(TOO_MANY) if len(self._held) > self._most_held else ()

    def _logged_in(self, reply: Admitted | LoginRefused) -> Outs:
        """A guest whose name was registered while it was away may return to its seat, and to
        nothing else.
        """
        request, held = self._request, self._held or []
        assert request is not None
        self._held = None
        if isinstance(reply, Admitted):
            return request, Redeliver(tuple(held))
        if reply.banned or reply.try_later:
            return self._go(NAMES_AWAY if reply.try_later else plain(reply.words))
        return ReturnToSeat(request, plain(reply.words)), Redeliver(tuple(held))

    # What the server decides.

    def answer(self, reply: Reply, now: Seconds) -> Outs:
        if self._over:
            return ()
        match reply:
            case GameStarts():
                self._writer = reply.writer
            case Seated():
                assert self._writer is not None
                self._player = reply.player
                reply.writers.join(reply.player, self._writer.for_match)
            case Joined():
                self.deadline, self._taunts = None, reply.taunts
            case RoomShown():
                self._longest_name = reply.longest_name
                return (reply.line,)
            case NameAllowed():
                return self._log_in(now)
            case JoinRefused():
                return (retry(reply.words),)
            case Admitted() | LoginRefused():
                return self._logged_in(reply)
            case _:
                return self._leave_for(reply)
        return ()

    def _leave_for(self, reply: Reply) -> Outs:
        match reply:
            case Kicked():
                return self._go(reply.words, reply.reason)
            case Dismissed():
                return self._go(NOT_STORED if reply.failed else b"")
            case Removed():
                return self._go(plain(reply.words), BOOTED)
            case TokenChanged():
                return self._go(b"")
            case ReadsTooSlowly():
                return (Depart(COMM_ERROR),)
            case EndOfInput():
                self._input_ended = True
        if self._input_ended and self._held is None:
            return self._go(b"")
        return ()

    # What happens at the table, and what does not happen in time.

    def wake(self, now: Seconds) -> Outs:
        self.deadline = None
        return self._go(TOO_LATE)

    # How it ends.

    def _flood(self) -> Outs:
        self._over, self._writer = True, None
        return TOO_MANY, Close(refused="flood")

    def _go(self, words: bytes, reason: bytes = b"") -> Outs:
        """Say goodbye, if there is anything to say, and close. The others are told the reason."""
        self._over, self._writer = True, None
        departing = (Depart(reason),) if reason else ()
        return *departing, *((words,) if words else ()), Close()


# The conversation with the host of a boat room (`botdrome boats host`), in JSON.

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
