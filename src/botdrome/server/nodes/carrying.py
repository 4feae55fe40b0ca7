"""Carried connections: the client's socket is at one node, its front, and the session
at another.
"""

from collections.abc import Callable, Sequence
from contextvars import copy_context
from time import monotonic
from typing import Protocol

import structlog

from botdrome.server.network.connection import (
    CLIENT_SOURCE,
    INTERNAL,
    NORMAL,
    TRY_LATER,
    Connection,
    Traffic,
    source_of,
)
from botdrome.server.network.peer import PEER, Luggage
from botdrome.server.network.tcp import StreamReceiver
from botdrome.server.nodes import carry_messages as carry
from botdrome.server.nodes.carry_messages import CarryMessage
from botdrome.server.nodes.link_delay import LinkDelay
from botdrome.server.nodes.node import NodeId
from botdrome.server.session import AdmittedClient, Errand

log = structlog.get_logger()

LOOK = 1.0
"""Seconds between two looks at a client's network time."""
NODE_STOPS = "this node stops; connect again, and log in with the id of your match"

Send = Callable[[CarryMessage], None]
Forget = Callable[[], bool]
"""Removes a channel from the list. Returns whether it was there."""


class MovingConnection(Connection, Protocol):
    """A connection whose receiver can be exchanged."""

    def redirect(self, receiver: StreamReceiver) -> None: ...

    def replay(self, messages: Sequence[bytes]) -> None:
        """Deliver messages as if the client had sent them now."""


class FrontConnection(MovingConnection, Protocol):
    """A connection that has its socket here."""

    @property
    def secure(self) -> bool:
        """Whether it has TLS, whose state cannot be passed on."""

    def pause(self, paused: bool) -> None:
        """Read no more, or read again."""

    def pack_up(self) -> Luggage | None:
        """Return what another process needs to go on; None: not possible at present.

        Reading has paused.
        """

    def abandon(self) -> None:
        """Forget the connection without a word to the client: another process has it."""


class HeldInput:
    """Holds what a client sends while its connection moves."""

    def __init__(
        self, messages: Sequence[bytes] = (), invalid: str | None = None, ended: bool = False
    ) -> None:
        self.messages = list(messages)
        self.invalid, self.ended, self.gone = invalid, ended, False
        self.on_lost: Callable[[], None] | None = None
        self.client: AdmittedClient | None = None  # goes with the socket
        self._onward: Callable[[bytes], None] = self.messages.append

    def received(self, message: bytes) -> None:
        self._onward(message)

    def unreadable(self, why: str) -> bool:
        self.invalid = why
        return True

    def cut_off(self) -> None:
        """The loss that follows says enough."""

    def heard_all(self) -> bool:
        self.ended = True
        return True

    def lost(self) -> None:
        self.gone = True
        if self.on_lost is not None:
            self.on_lost()

    def hand_to(self, connection: MovingConnection, receiver: StreamReceiver) -> None:
        """Let the receiver take over. It has got the messages."""
        self._onward = receiver.received
        connection.redirect(receiver)
        pending = (
            receiver.unreadable(self.invalid)
            if self.invalid is not None
            else not self.ended or receiver.heard_all()
        )
        if self.gone or not pending:
            receiver.lost()
            connection.close()


class Carrier:
    """The front's end of a channel. It takes the place of a session."""

    def __init__(
        self,
        connection: FrontConnection,
        number: int,
        home: NodeId,
        send: Send,
        behind: Callable[[], bool],
        forget: Forget,
    ) -> None:
        self.connection, self.number, self.home = connection, number, home
        self._send, self._behind, self.forget = send, behind, forget
        self._network, self._next_look = connection.network_time(), 0.0
        self.held: HeldInput | None = None
        """Holds the input while the session is about to move on."""
        self._invalid: str | None = None
        self._ended = self._closed = False

    def open(self, errand: Errand, messages: list[bytes]) -> None:
        self._send(
            carry.OpenChannel(self.number, errand, self.connection.address, self._network, messages)
        )

    def received(self, message: bytes) -> None:
        now = monotonic()
        if now >= self._next_look:
            self._look(now)
        self._send(
            carry.Heard(
                self.number, now - self.connection.delay() if self._behind() else now, message
            )
        )

    def _look(self, now: float) -> None:
        self._next_look, network = now + LOOK, self.connection.network_time()
        if network != self._network:
            self._network = network
            self._send(carry.Measured(self.number, network))

    def unreadable(self, why: str) -> bool:
        self._invalid = why
        self._send(carry.InvalidInput(self.number, why))
        return True

    def cut_off(self) -> None:
        self._send(carry.TooSlow(self.number))

    def heard_all(self) -> bool:
        if not self._ended and not self._closed:
            self._ended = True
            self._send(carry.HeardAll(self.number))
        return not self._closed

    def lost(self) -> None:
        if self.forget():
            self._send(carry.LostClient(self.number))

    def stop(self) -> None:
        """This node stops: the client connects again, to another one."""
        if self.forget():
            self._send(carry.FrontStops(self.number))
        self.close(TRY_LATER, NODE_STOPS)

    def close(self, code: int, reason: str) -> None:
        self._closed = True
        self.forget()
        self.connection.close(code, reason)

    def hold(self) -> None:
        self.held = HeldInput((), self._invalid, self._ended)
        self.connection.redirect(self.held)
        self.connection.pause(True)
        self._send(carry.InputHeld(self.number))


def do_nothing(_: StreamReceiver) -> None:
    return None


class CarriedConnection:
    """The session's end of a channel. It takes the place of a client's connection."""

    def __init__(
        self, front: NodeId, opened: carry.OpenChannel, send: Send, delay: LinkDelay, forget: Forget
    ) -> None:
        self.front, self.address, self.traffic = front, opened.address, Traffic()
        self._number, self._network, self._delay, self._late = (
            opened.channel,
            opened.network,
            delay,
            0.0,
        )
        self._send, self.forget = send, forget
        self._receiver: StreamReceiver | None = None
        self.before_loss: Callable[[StreamReceiver], None] = do_nothing
        """Called with the session when the front stops."""
        self._open = True
        self._going: tuple[NodeId, Errand, HeldInput] | None = None
        self._context = copy_context()
        self._context.run(CLIENT_SOURCE.set, source_of(self.address)[0])
        self._context.run(PEER.set, None)

    # Called by the session.

    def send(self, messages: list[bytes]) -> None:
        if messages and self._open:
            self.traffic.went(len(messages))
            self._send(carry.Write(self._number, messages))

    def close(self, code: int = NORMAL, reason: str = "") -> None:
        if self._open:
            self._end()
            self._send(carry.ShutChannel(self._number, code, reason))

    def network_time(self) -> float:
        return self._network

    def delay(self) -> float:
        return self._late

    # Called to move the connection.

    def redirect(self, receiver: StreamReceiver) -> None:
        self._receiver = receiver

    def replay(self, messages: Sequence[bytes]) -> None:
        for message in messages:
            self._deliver(message)

    def move_on(self, held: HeldInput, to: NodeId, errand: Errand) -> None:
        """Let the front move the connection, after all input that is on the way."""
        self._going = to, errand, held
        self._send(carry.HoldInput(self._number))

    # Called by the mover.

    def run(self, work: Callable[[], object]) -> None:
        """Work for this client, as if its input had come over a socket of this node."""
        try:
            self._context.run(work)
        except Exception:
            log.exception("a session failed")
            self._conclude(False, INTERNAL)

    def heard(self, message: carry.Heard) -> None:
        self._late = self._delay.of(message.at, monotonic())
        try:
            self._context.run(self._deliver, message.message)
        except Exception:
            log.exception("a session failed")
            self._conclude(False, INTERNAL)

    def _deliver(self, message: bytes) -> None:
        if self._receiver is not None and self._open:
            self.traffic.came()
            self._receiver.received(message)

    def receive(self, message: carry.FromFront) -> None:
        receiver = self._receiver
        if receiver is None:
            return
        match message:
            case carry.Measured():
                self._network = message.network
            case carry.InvalidInput():
                self._conclude(receiver.unreadable(message.why))
            case carry.TooSlow():
                receiver.cut_off()
            case carry.HeardAll():
                self._conclude(receiver.heard_all())
            case carry.FrontStops():
                self.before_loss(receiver)
                self.lose()
            case carry.LostClient():
                self.lose()
            case carry.InputHeld() if self._going is not None:
                self._end()
                to, errand, held = self._going
                self._send(carry.MoveOn(self._number, to, errand, held.messages))

    def _conclude(self, pending: bool, code: int = NORMAL) -> None:
        """Close the connection, unless an answer is pending, after which the session closes it."""
        if not pending:
            self.close(code)
            self._tell_lost()

    def lose(self) -> None:
        if self._open:
            self._end()
            self._tell_lost()

    def _tell_lost(self) -> None:
        receiver, self._receiver = self._receiver, None
        if receiver is not None:
            try:
                receiver.lost()
            except Exception:
                log.exception("a session failed while closing")

    def _end(self) -> None:
        self._open = False
        self.forget()
