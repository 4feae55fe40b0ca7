"""Carried connections: the client's socket is at one node, its front, and the session
at another.
"""

from collections.abc import Callable, Sequence
from contextvars import copy_context
from math import inf
from time import monotonic
from typing import Protocol, cast

import msgspec
import structlog
from msgspec import Struct

from botdrome.server.network.connection import (
    INTERNAL,
    NORMAL,
    TRY_LATER,
    Connection,
    Traffic,
    source_of,
)
from botdrome.server.network.peer import PEER, DetachedSocket, was_held
from botdrome.server.network.tcp import StreamReceiver
from botdrome.server.nodes.cluster import NodeId
from botdrome.server.session import AdmittedClient, Session, Transfer
from botdrome.server.workers.limits import CLIENT_SOURCE

# The messages by which nodes carry connections.
#
# The front is the node that has the client's socket; the session is elsewhere.
#
# The front numbers the channels. A channel ends with LostClient or ShutChannel, or with the link.
# To move on, the node of the session asks the front to hold the client's input, and then names the
# node to which the front opens the next channel.

TOPIC = "carry"


class CarryMessage(Struct, frozen=True, array_like=True):
    channel: int


# From the front to the session.


class OpenChannel(CarryMessage, frozen=True, tag="o"):
    transfer: Transfer
    address: str
    network: float
    """The network time of the client, in seconds."""
    messages: list[bytes]


class Heard(CarryMessage, frozen=True, tag="h"):
    at: float
    """When the message arrived, in seconds on the clock of the front."""
    message: bytes


class Measured(CarryMessage, frozen=True, tag="m"):
    """The network time of the client has changed."""

    network: float


class InvalidInput(CarryMessage, frozen=True, tag="i"):
    why: str


class ClientTooSlow(CarryMessage, frozen=True, tag="t"):
    """The client reads too slowly and is about to be lost."""


class HeardAll(CarryMessage, frozen=True, tag="e"):
    """The client has sent EOF."""


class LostClient(CarryMessage, frozen=True, tag="l"):
    pass


class FrontStops(CarryMessage, frozen=True, tag="f"):
    """The node of the client's socket stops. The client can connect to another one."""


class InputHeld(CarryMessage, frozen=True, tag="d"):
    """The front holds the client's input from now on."""


# From the session to the front.


class Write(CarryMessage, frozen=True, tag="w"):
    messages: list[bytes]


class ShutChannel(CarryMessage, frozen=True, tag="s"):
    """Close the connection."""

    code: int
    reason: str


class HoldInput(CarryMessage, frozen=True, tag="p"):
    """The session is about to move on."""


class MoveOn(CarryMessage, frozen=True, tag="n"):
    """Move the connection. The messages go before the input that the front holds."""

    to: NodeId
    transfer: Transfer
    messages: list[bytes]


FromFront = (
    OpenChannel
    | Heard
    | Measured
    | InvalidInput
    | ClientTooSlow
    | HeardAll
    | LostClient
    | FrontStops
    | InputHeld
)
FromSession = Write | ShutChannel | HoldInput | MoveOn
encode = msgspec.msgpack.Encoder().encode
decode = msgspec.msgpack.Decoder(FromFront | FromSession).decode


# LinkDelay: how late the messages of another node are.

WINDOW = 30.0
"""Seconds. The shortest way of a message in this and in the previous window counts as no delay."""


class LinkDelay:
    """How long messages from another node take beyond the shortest time.

    The clocks of two nodes differ, and drift.
    """

    def __init__(self) -> None:
        self._least = self._next = inf
        self._turn = 0.0

    def of(self, sent: float, now: float) -> float:
        if now >= self._turn:
            self._least, self._next, self._turn = self._next, inf, now + WINDOW
        took = now - sent
        if took < self._next:
            self._next = took
            self._least = min(self._least, took)
        return took - self._least


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

    def pack_up(self) -> DetachedSocket | None:
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

    def open(self, transfer: Transfer, messages: list[bytes]) -> None:
        self._send(
            OpenChannel(self.number, transfer, self.connection.address, self._network, messages)
        )

    def received(self, message: bytes) -> None:
        now = monotonic()
        if now >= self._next_look:
            self._look(now)
        late = self._behind() or was_held()
        self._send(Heard(self.number, now - self.connection.delay() if late else now, message))

    def _look(self, now: float) -> None:
        self._next_look, network = now + LOOK, self.connection.network_time()
        if network != self._network:
            self._network = network
            self._send(Measured(self.number, network))

    def unreadable(self, why: str) -> bool:
        self._invalid = why
        self._send(InvalidInput(self.number, why))
        return True

    def cut_off(self) -> None:
        self._send(ClientTooSlow(self.number))

    def heard_all(self) -> bool:
        if not self._ended and not self._closed:
            self._ended = True
            self._send(HeardAll(self.number))
        return not self._closed

    def lost(self) -> None:
        if self.forget():
            self._send(LostClient(self.number))

    def stop(self) -> None:
        """This node stops: the client connects again, to another one."""
        if self.forget():
            self._send(FrontStops(self.number))
        self.close(TRY_LATER, NODE_STOPS)

    def close(self, code: int, reason: str) -> None:
        self._closed = True
        self.forget()
        self.connection.close(code, reason)

    def hold(self) -> None:
        self.held = HeldInput((), self._invalid, self._ended)
        self.connection.redirect(self.held)
        self.connection.pause(True)
        self._send(InputHeld(self.number))


def do_nothing(_: StreamReceiver) -> None:
    return None


class CarriedConnection:
    """The session's end of a channel. It takes the place of a client's connection."""

    def __init__(
        self, front: NodeId, opened: OpenChannel, send: Send, delay: LinkDelay, forget: Forget
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
        self._going: tuple[NodeId, Transfer, HeldInput] | None = None
        self._context = copy_context()
        self._context.run(CLIENT_SOURCE.set, source_of(self.address)[0])
        self._context.run(PEER.set, None)

    # Called by the session.

    def send(self, messages: list[bytes]) -> None:
        if messages and self._open:
            self.traffic.went(len(messages))
            self._send(Write(self._number, messages))

    def close(self, code: int = NORMAL, reason: str = "") -> None:
        if self._open:
            self._end()
            self._send(ShutChannel(self._number, code, reason))

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

    def move_on(self, held: HeldInput, to: NodeId, transfer: Transfer) -> None:
        """Let the front move the connection, after all input that is on the way."""
        self._going = to, transfer, held
        self._send(HoldInput(self._number))

    # Called by the mover.

    def run(self, work: Callable[[], object]) -> None:
        """Work for this client, as if its input had come over a socket of this node."""
        try:
            self._context.run(work)
        except Exception:
            log.exception("a session failed")
            self._conclude(False, INTERNAL)

    def heard(self, message: Heard) -> None:
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

    def receive(self, message: FromFront) -> None:
        receiver = self._receiver
        if receiver is None:
            return
        match message:
            case Measured():
                self._network = message.network
            case InvalidInput():
                self._conclude(receiver.unreadable(message.why))
            case ClientTooSlow():
                receiver.cut_off()
            case HeardAll():
                self._conclude(receiver.heard_all())
            case FrontStops():
                self.before_loss(receiver)
                self.lose()
            case LostClient():
                self.lose()
            case InputHeld() if self._going is not None:
                self._end()
                to, transfer, held = self._going
                self._send(MoveOn(self._number, to, transfer, held.messages))

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


# Resumed: a moved connection as its new session sees it until it has caught up; and the
# connections of sessions that move.

MakeArrival = Callable[[Connection, Transfer, AdmittedClient | None], StreamReceiver]


def connection_of(session: Session) -> MovingConnection:
    shown = session.connection
    return cast(MovingConnection, shown.connection if isinstance(shown, Resumed) else shown)


def admitted(session: Session) -> AdmittedClient | None:
    """Return what spares the client a second login at another node; None: it has to log in."""
    if session.transfer_login is None:
        return None
    _, (login,) = session.transfer_login
    return AdmittedClient(login, session.name, session.owner, session.version, session.registered)


def arrive(
    connection: MovingConnection,
    make: MakeArrival,
    transfer: Transfer,
    client: AdmittedClient | None = None,
) -> StreamReceiver:
    """Make the session of a connection that comes from another node.

    Without a client, it is about to log in again.
    """
    if client is not None:
        return make(connection, transfer, client)
    shown = Resumed(connection, transfer.told) if transfer.told else connection
    receiver = make(shown, transfer, None)
    if isinstance(receiver, Session):
        receiver.transfer = transfer
        if isinstance(shown, Resumed):
            shown.session = receiver
    return receiver


class Resumed:
    """Leaves out the messages that the client has already."""

    def __init__(self, connection: Connection, told: int) -> None:
        self.connection, self._told = connection, told
        self.session: Session | None = None

    @property
    def address(self) -> str:
        return self.connection.address

    @property
    def traffic(self) -> Traffic:
        return self.connection.traffic

    def send(self, messages: list[bytes]) -> None:
        told, self._told = self._told, max(0, self._told - len(messages))
        if len(messages) > told:
            if self.session is not None:  # it has caught up: from now on it needs no layer
                self.session.connection, self.session.tell = self.connection, self.connection.send
            self.connection.send(messages[told:])

    def close(self, code: int = NORMAL, reason: str = "") -> None:
        self.connection.close(code, reason)

    def network_time(self) -> float:
        return self.connection.network_time()

    def delay(self) -> float:
        return self.connection.delay()
