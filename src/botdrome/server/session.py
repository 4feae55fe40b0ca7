"""Session: connects a conversation to its client and to its table, whatever the protocol and the
transport.
"""

import asyncio
from collections.abc import Callable, Sequence
from time import time
from typing import Any, Protocol

import structlog
from msgspec import Struct

from botdrome.contest.lobby import Seeker
from botdrome.match.events import Player
from botdrome.server import metrics
from botdrome.server.failures import STORE_AWAY, log_failure
from botdrome.server.lobby.clients import NOBODY, End, bot_owner, no_login
from botdrome.server.lobby.desk import Desk
from botdrome.server.lobby.registry import Banned, Denied, admission_of
from botdrome.server.lobby.tokens import TooMany
from botdrome.server.network.connection import NORMAL, Connection, Traffic
from botdrome.server.network.limits import Timeouts
from botdrome.server.tables.table import Table
from botdrome.store.entries import BotEntry, StoreUnavailable
from botdrome.wire.conversation import (
    Admit,
    AdmitGuest,
    Admitted,
    Authenticate,
    CannotPlay,
    Close,
    Command,
    ContestComplete,
    Conversation,
    Dismissed,
    EndOfInput,
    LoginRefused,
    NoMatchNow,
    Out,
    ReadsTooSlowly,
    RecordMessage,
    Redeliver,
    Redelivered,
    Removed,
    Reply,
    Resign,
    Seated,
    Seconds,
    Submit,
    TokenChanged,
    Unreadable,
    WaitLimit,
)
from botdrome.wire.writers import MatchWriters

# Transfer: why a connection comes to another node, and what the nodes know of its client.


class AdmittedClient(Struct, frozen=True, array_like=True):
    """What the nodes know of a client that has logged in.

    A node believes it of other nodes alone.
    """

    login: bytes
    name: str
    owner: str
    version: str
    registered: bool


class Transfer(Struct, frozen=True, array_like=True):
    """Plain data that travels with the connection."""

    protocol: str
    """The name of the protocol, as in `protocols.py`, or of another kind of WebSocket."""
    target: str = ""
    """The target of the request that opened the WebSocket, or the name of the TCP port."""
    key: str = ""
    """What the client of a port needs from that node."""
    waited: float = 0.0
    """The seconds for which the client has sought a new match; 0: it does what its login says."""
    avoids: str | None = None
    """The name of a player that it should not meet at once."""
    match: str = ""
    """The match to which the client returns; empty: it does what its login says."""
    player: Player | None = None
    """Its seat there, if it knows how the match stands: that was released by its former node."""


# ProtocolServer: the part of the server that the clients of one protocol meet.


class ProtocolServer(Protocol):
    """Executes the commands of its protocol alone."""

    protocol: str
    """Its name in the list of clients."""

    def act(self, session: "Session", command: Command) -> None: ...


log = structlog.get_logger()


MOST_LENGTHS = 16
"""The different times of sessions for which there are shared timers."""


class Session:
    """Executes what its conversation asks for. To the desk and the tables it is the client, and to
    the operator too.
    """

    __slots__ = (
        "__dict__", "__weakref__", "_desk", "_due", "_logging_in", "_loop", "_server", "_timer",
        "closed", "connection", "conversation", "game", "name", "number", "on_seat", "owner",
        "player", "registered", "release", "seeker", "since", "stays", "table", "tell",
        "transfer_login", "version",
    )  # fmt: skip

    # Set only on few sessions, so kept in `__dict__`.

    transfer: Transfer | None = None
    """Why the connection came here from another node; None: the client connected here."""
    _onward: Callable[[bytes], None] | None = None
    """Takes messages for the session on another node that follows this one."""
    successor: "Session | None" = None
    """Has this session's seat now."""

    def __init__(
        self,
        connection: Connection,
        conversation: Conversation,
        server: ProtocolServer,
        desk: Desk,
        now: Seconds | None = None,
    ) -> None:
        """`now` is the loop's time, if the caller has just read it."""
        self.connection, self.conversation = connection, conversation
        self.tell = connection.send  # not a method: a call less for each message
        self._server, self._desk = server, desk
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | Timeouts[Session] | None = None
        self._due: Seconds | None = None
        self.name, self.owner, self.version, self.game = "", NOBODY, "", ""
        self.number = self.since = 0
        """Its number in the list of clients, and when it logged in; 0: it is not listed."""
        self.closed = self.registered = self._logging_in = self.stays = False
        """`stays`: the client keeps its connection for the next match; the protocol sets it."""
        self.transfer_login: bytes | None = None
        """The message by which the client has logged in, if it can go on at another node; the
        protocol sets it.
        """
        self.table: Table | None = None
        self.player: Player = 0
        self.seeker: Seeker | None = None
        self.on_seat: Callable[[], None] | None = None
        self.release = no_login
        """The protocol may set `on_seat`, which is called when the client gets a seat, and
        `release`, when the session is over.
        """
        now = self._loop.time() if now is None else now
        outs = conversation.begin(now)
        if outs:
            self._run(outs, now)
        elif (due := conversation.deadline) is not None:
            timeouts = desk.deadlines.get(int((due - now) * 1000 + 0.5))
            if timeouts is not None:  # nearly always
                self._timer, self._due = timeouts, due
                timeouts.begin(self, now)
            else:
                self._set_timer(due, now)

    # What the network does.

    def received(self, message: bytes) -> None:
        """Most messages are moves, and take the short way."""
        if self.closed:
            if self._onward is not None:
                self._onward(message)
            return
        now = self._loop.time()
        outs = self.conversation.receive(message, now)
        if len(outs) == 1 and type(move := outs[0]) is Submit:
            if (table := self.table) is not None and table.open:
                table.submit(self.player, move.raw, move.message, at=now)
        else:
            self._run(outs, now)

    def unreadable(self, why: str) -> bool:
        self.answer(Unreadable(why))
        return False

    def cut_off(self) -> None:
        self.answer(ReadsTooSlowly())

    def heard_all(self) -> bool:
        """The client sends no more.

        Return whether an answer is under way, after which the session closes.
        """
        if self._logging_in:
            self.answer(EndOfInput())
        return self._logging_in

    def lost(self) -> None:
        if not self.closed:
            self._end()

    # What the conversation asks for.

    def answer(self, reply: Reply, now: Seconds | None = None) -> None:
        """`now`: the loop's time, if the caller has just read it."""
        if self.closed:
            return
        if now is None:
            now = self._loop.time()
        outs = self.conversation.answer(reply, now)
        if outs:
            self._run(outs, now)
        elif (due := self.conversation.deadline) != self._due:
            self._set_timer(due, now)

    def _run(self, outs: Sequence[Out], now: Seconds) -> None:
        unsent: list[bytes] = []
        for out in outs:
            if isinstance(out, bytes):
                unsent.append(out)
                continue
            if unsent and self._onward is None:
                self.tell(unsent)
                unsent = []
            execute = EXECUTE.get(type(out))
            if execute is None:
                self._server.act(self, out)
            else:
                execute(self, out, now)
        if unsent and self._onward is None:  # otherwise the session that follows sends them
            self.tell(unsent)
        if (due := self.conversation.deadline) != self._due:
            self._set_timer(due, now)

    def _submit(self, move: Submit, now: Seconds) -> None:
        if (table := self.table) is not None and table.open:
            table.submit(self.player, move.raw, move.message)

    def _resign(self, command: Resign, now: Seconds) -> None:
        if (table := self.table) is not None and table.open:
            table.note(self.player, command.message, "resigned")
            table.expel(self.player, "resigned", command.reason)

    def _redeliver(self, command: Redeliver, now: Seconds) -> None:
        for message in command.messages:
            self.received(message)
        self.answer(Redelivered())

    def _record(self, command: RecordMessage, now: Seconds) -> None:
        self.record(command.message, command.verdict)

    def record(self, message: bytes, verdict: str) -> None:
        if (table := self.table) is not None and table.open:
            table.note(self.player, message, verdict)

    def _set_timer(self, due: Seconds | None, now: Seconds) -> None:
        """Sessions with the same time left share a timer of the loop: few deadlines ever come."""
        timer, self._timer, self._due = self._timer, None, due
        if timer is not None:
            timer.end(self) if isinstance(timer, Timeouts) else timer.cancel()
        if due is None or self.closed:
            return
        length, shared = int((due - now) * 1000 + 0.5), self._desk.deadlines
        timeouts = shared.get(length)
        if timeouts is None:
            if len(shared) == MOST_LENGTHS:
                for unused in [one for one, others in shared.items() if not others]:
                    del shared[unused]
            if len(shared) == MOST_LENGTHS:
                self._timer = self._loop.call_at(due, self.wake)
                return
            timeouts = shared[length] = Timeouts(length / 1000, Session.wake)
        self._timer = timeouts
        timeouts.begin(self, now)

    def wake(self) -> None:
        self._timer = self._due = None
        if not self.closed:
            now = self._loop.time()
            self._run(self.conversation.wake(now), now)

    # Login.

    def _log_in(self, command: Authenticate | Admit | AdmitGuest, now: Seconds) -> None:
        if isinstance(command, Authenticate):
            self.version = command.version
            bot = self._desk.registry.recognised(command.name, command.token)
            if bot is not None and command.game in ("", bot.game):
                return self._admitted(bot.name, bot, bot_owner(bot), bot.game, now)
        else:
            self.version = "" if isinstance(command, AdmitGuest) else command.version
        self._logging_in = True
        return self._desk.tasks.start(self._look_up(command))

    async def _look_up(self, command: Authenticate | Admit | AdmitGuest) -> None:
        try:
            admission = await admission_of(self._desk.registry, command)
            self._logging_in = False
        except (Denied, TooMany) as problem:
            self._logging_in = False
            return self.answer(LoginRefused(str(problem), banned=isinstance(problem, Banned)))
        except StoreUnavailable:
            return self.answer(LoginRefused(STORE_AWAY, try_later=True))
        except Exception:
            log_failure("a bot could not be looked up")
            return self.answer(LoginRefused("the name cannot be looked up", try_later=True))
        name, bot, game = admission.name, admission.bot, command.game
        if bot is not None:
            self._desk.registry.note_protocol(name, self.protocol)
            game = bot.game
        return None if self.closed else self._admitted(name, bot, admission.owner, game)

    def _admitted(
        self, name: str, bot: BotEntry | None, owner: str, game: str, now: Seconds | None = None
    ) -> None:
        self.name, self.owner, self.registered = name, owner, bot is not None
        self.enlist(game)
        self.answer(Admitted(name, game), now)

    # What the operator sees.

    def enlist(self, game: str) -> None:
        """Put the client on the list of the operator."""
        if self.number:
            self.unlist()
        self.game, self.since = game, int(time() * 1000)
        self._desk.registry.clients.add(self)

    def unlist(self) -> None:
        if self.number:
            self._desk.registry.clients.leave(self.number)
            self.number = 0

    @property
    def protocol(self) -> str:
        return self._server.protocol

    @property
    def address(self) -> str:
        return self.connection.address

    @property
    def traffic(self) -> Traffic:
        return self.connection.traffic

    def match(self) -> str | None:
        return None if self.table is None else self.table.entry.id

    def remove(self, words: str) -> None:
        self.answer(Removed(words))

    @property
    def end(self) -> End | None:
        return self._lose_token if self.registered else None

    def _lose_token(self) -> None:
        self.answer(TokenChanged())

    # What the desk decides.

    def wait_at_most(self, seconds: float, words: str) -> None:
        self.answer(WaitLimit(seconds, words))

    def contest_complete(self, contest: str) -> None:
        self.answer(ContestComplete(contest))

    def turn_away(self, words: dict[str, Any], code: int = NORMAL) -> None:
        self.answer(CannotPlay(words, code))

    def postpone(self, words: dict[str, Any], code: int) -> None:
        self.answer(NoMatchNow(words, code))

    def sit_down(self, table: Table, player: Player) -> None:
        self.table, self.player = table, player
        if self.on_seat is not None:
            self.on_seat()

    # What the table does.

    @property
    def present(self) -> bool:
        """Whether anybody is at this session's seat.

        There may be thousands of successors, so none asks the next.
        """
        last = self
        while last.successor is not None:
            last = last.successor
        return not last.closed

    def hand_over(self, successor: "Session") -> None:
        """Give the seat to another session of the same client."""
        table, self.table, self.successor = self.table, None, successor
        assert table is not None
        successor.sit_down(table, self.player)
        table.seat(self.player, successor)

    def take_seat(self, player: Player, writers: MatchWriters) -> None:
        self.answer(Seated(player, writers))

    def network_time(self) -> float:
        return self.connection.network_time()

    def delay(self) -> float:
        return self.connection.delay()

    def dismiss(self, failed: bool) -> None:
        self.table = None
        self.answer(Dismissed(failed, self._desk.closing))

    # The end.

    def close(self) -> None:
        """Close the connection without a message."""
        self._close(Close())

    def _close(self, close: Close, now: Seconds = 0.0) -> None:
        if not self.closed:
            if close.refused:
                metrics.REFUSED.labels(close.refused).inc()
            if close.refused and close.reason:
                log.info(
                    "a client is cut off",
                    protocol=self._server.protocol,
                    client=self.name,
                    why=close.reason,
                )
            self._end()
            self.connection.close(close.code, close.reason)

    def let_go(self, onward: Callable[[bytes], None]) -> None:
        """End without closing the connection, which moves to another node.

        `onward` gets messages that are delivered again.
        """
        self._onward = onward
        self._end()

    def _end(self) -> None:
        """Leave the table or the queue."""
        self.closed, self._logging_in = True, False
        if self._timer is not None:
            self._set_timer(None, 0.0)
        table, self.table = self.table, None
        if table is not None and table.open:
            table.leave(self.player)
        if self.seeker is not None:
            self._desk.give_up(self)
        self.release()
        self.unlist()


EXECUTE: dict[type[Command], Callable[[Session, Any, Seconds], None]] = {
    Submit: Session._submit,
    Close: Session._close,
    RecordMessage: Session._record,
    Resign: Session._resign,
    Redeliver: Session._redeliver,
    **dict.fromkeys((Authenticate, Admit, AdmitGuest), Session._log_in),
}
"""The commands that all protocols share, with the time of what led to them."""
