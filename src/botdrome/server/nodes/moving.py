"""Mover: moves the connection of a client to another node.

Theory of operation. The session ends without closing its connection, and what the client sends is
held. If the other node runs on this machine, and nothing is encrypted, the socket itself is handed
to its process, with what was read and not delivered. Otherwise this node keeps the socket: it is
the front, and carries messages over a channel to the session and back. A session at the end of a
channel may move too: the front then opens another channel, so that no message passes more than two
nodes. The receiving node makes a new session. What the nodes know of a client that has logged in
comes with its socket, over a Unix socket that only this user can open. Over NATS, the session gets
the login as its first message, and checks it again.
"""

import asyncio
import shutil
import socket
import tempfile
from collections import defaultdict
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple, TypeVar, cast

import msgspec
import structlog
from msgspec import Struct

from botdrome.server import metrics
from botdrome.server.network.connection import TRY_LATER
from botdrome.server.network.limits import ConnectionLimits
from botdrome.server.network.listening import MakeProtocol
from botdrome.server.network.peer import Origin, pack_up
from botdrome.server.network.steady_loop import watch_of
from botdrome.server.network.tcp import StreamReceiver, Tcp
from botdrome.server.network.websocket import Socket, end_writing
from botdrome.server.nodes import carrying as carry
from botdrome.server.nodes.carrying import (
    CarriedConnection,
    Carrier,
    FrontConnection,
    HeldInput,
    LinkDelay,
    MakeArrival,
    MovingConnection,
    admitted,
    arrive,
    connection_of,
    do_nothing,
)
from botdrome.server.nodes.cluster import Key, Links, Members, NodeId
from botdrome.server.session import AdmittedClient, Session, Transfer
from botdrome.wire.framing import websocket as wire
from botdrome.wire.framing.streams import Framing

# Handover: passes the sockets of clients to other processes of this machine, and takes those that
# they pass.
#
# A socket goes over a Unix socket (SCM_RIGHTS) in one packet with what the other process has to
# know. The queue of such a socket holds some 170 of them. When a process ends, the system closes
# the sockets that are on the way to it.

log = structlog.get_logger()

LONGEST = 60_000
"""Bytes of a header."""
BACKLOG = 64
AT_ONCE = 16
"""Headers taken in one turn of the loop from one node."""
CLOSE_ON_EXEC: int = getattr(socket, "MSG_CMSG_CLOEXEC", 0)
"""0 on systems without this flag."""


class HandoverHeader(Struct, frozen=True, array_like=True):
    """What goes with a socket."""

    transfer: Transfer
    origin: Origin
    messages: list[bytes]
    """They go to the session first."""
    rest: bytes
    """Then comes this input, as the client sent it."""
    client: AdmittedClient | None = None
    """The client need not log in again; None: it has not logged in."""


TakeSocket = Callable[[socket.socket, HandoverHeader], None]
ENCODER = msgspec.msgpack.Encoder()
DECODER = msgspec.msgpack.Decoder(HandoverHeader)


class CannotPass(Exception):
    """The socket cannot be passed to that node, now or later."""


class Handover:
    def __init__(self, take: TakeSocket) -> None:
        self._take, self._loop = take, asyncio.get_running_loop()
        self._folder: str | None = None
        self._port: socket.socket | None = None
        self._from: set[socket.socket] = set()
        self._to: dict[str, socket.socket] = {}

    def open(self) -> str:
        """Take sockets, and return the path to which other nodes pass them; empty: this system
        cannot pass sockets.
        """
        if not hasattr(socket, "SOCK_SEQPACKET") or not hasattr(socket, "send_fds"):
            return ""
        self._folder = tempfile.mkdtemp(prefix="botdrome-")  # for this user alone
        path = str(Path(self._folder, "handover"))
        port = self._port = _unix_socket()
        try:
            port.bind(path)
            port.listen(BACKLOG)
        except OSError as problem:
            log.warning(
                "connections are carried between the nodes of this machine", problem=str(problem)
            )
            self.close()
            return ""
        self._loop.add_reader(port.fileno(), self._accept, port)
        return path

    def close(self) -> None:
        for one in (*self._from, *((self._port,) if self._port is not None else ())):
            self._loop.remove_reader(one.fileno())
            one.close()
        for other in self._to.values():
            other.close()
        self._from, self._to, self._port = set(), {}, None
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)

    # To other nodes.

    def give(self, path: str, client: socket.socket, header: HandoverHeader) -> bool:
        """Pass a socket on.

        Return False if the queue is full. Raise CannotPass if that node takes no sockets.
        """
        data = ENCODER.encode(header)
        if len(data) > LONGEST:
            raise CannotPass(f"{len(data)} bytes go with it, at most {LONGEST} can")
        try:
            socket.send_fds(self._to.get(path) or self._connect(path), [data], [client.fileno()])
        except BlockingIOError:
            return False
        except OSError as problem:
            if (line := self._to.pop(path, None)) is not None:
                line.close()
            raise CannotPass(str(problem)) from None
        return True

    def _connect(self, path: str) -> socket.socket:
        line = _unix_socket()
        try:
            line.connect(path)
        except OSError:
            line.close()
            raise
        self._to[path] = line
        return line

    # From other nodes.

    def _accept(self, port: socket.socket) -> None:
        with suppress(BlockingIOError):
            line = port.accept()[0]
            line.setblocking(False)
            self._from.add(line)
            self._loop.add_reader(line.fileno(), self._receive, line)

    def _receive(self, line: socket.socket) -> None:
        data = b""
        for _ in range(AT_ONCE):
            try:
                data, found, _, _ = socket.recv_fds(line, LONGEST, 1, CLOSE_ON_EXEC)
            except BlockingIOError:
                return None
            except ConnectionError:
                data = b""
            if not data:
                self._loop.remove_reader(line.fileno())
                self._from.discard(line)
                return line.close()
            self._unpack(data, [socket.socket(fileno=one) for one in found])
        return None

    def _unpack(self, data: bytes, found: list[socket.socket]) -> None:
        try:
            (client,) = found
            client.setblocking(False)
            self._take(client, DECODER.decode(data))
        except Exception:
            log.exception("a connection from another node was not understood")
            for one in found:
                one.close()


def _unix_socket() -> socket.socket:
    line = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    line.setblocking(False)
    return line


# Arriving: takes up a client's socket that another process has passed on.

MakeReceiver = Callable[[Tcp | Socket], StreamReceiver]


class Arriving(asyncio.Protocol):
    """Gives the connection its protocol.

    The input that came with it is delivered before the socket is read.
    """

    def __init__(
        self,
        header: HandoverHeader,
        make_framing: Callable[[], Framing] | None,
        longest: int,
        make_session: MakeReceiver,
        limits: ConnectionLimits,
    ) -> None:
        """`make_framing` is None for a WebSocket, whose messages have at most `longest` bytes."""
        self._header, self._make_framing, self._longest = header, make_framing, longest
        self._make_session, self._limits = make_session, limits

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        stream = cast(asyncio.Transport, transport)
        connection = (
            self._websocket(stream)
            if self._make_framing is None
            else self._tcp(stream, self._make_framing)
        )
        if connection is not None:
            connection.replay(self._header.messages)
            if self._header.rest:
                connection.data_received(self._header.rest)

    def _tcp(self, transport: asyncio.Transport, make_framing: Callable[[], Framing]) -> Tcp:
        connection = Tcp(make_framing, self._make_session, self._limits)
        transport.set_protocol(cast(asyncio.Protocol, connection))
        connection.connection_made(transport)
        return connection

    def _websocket(self, transport: asyncio.Transport) -> Socket | None:
        address = self._header.origin.address
        if refusal := self._limits.admit(address):
            metrics.REFUSED.labels("crowd").inc()
            transport.write(wire.close(TRY_LATER, refusal))
            self._limits.close_timeouts.begin(transport)
            end_writing(transport)
            return None
        connection = Socket(self._longest, self._limits.close_timeouts, self._limits.leave, address)
        transport.set_protocol(connection)
        connection.open(transport, b"", cast(Callable[..., StreamReceiver], self._make_session))
        return connection

    def data_received(self, data: bytes) -> None:
        """The connection was refused."""


WAITS = (0.0, 0.0, 0.002, 0.005, 0.01, 0.02, 0.05)
"""Seconds between attempts to pass a socket on: its output may be unsent, or the queue full."""
LINK_LOST = "the node of your session cannot be reached; connect again"
Channel = TypeVar("Channel")
ShareArriving = Callable[[MakeProtocol, Origin], MakeProtocol]


class Arrival(NamedTuple):
    """How this node goes on with connections of a protocol."""

    make_session: MakeArrival
    make_framing: Callable[[], Framing] | None = None
    """The framing of its TCP streams; None: it is on WebSockets."""


PORT = "port"
"""The transfer of a connection that only its port tells apart; its target is the name of
the port.
"""
TakePort = Callable[[socket.socket, str, Key, Origin, bytes], None]


def never() -> bool:
    return False


class Mover:
    def __init__(self, members: Members, links: Links) -> None:
        self._members, self._links = members, links
        self.arrivals: dict[str, Arrival] = {}
        """By protocol."""
        watch = watch_of(asyncio.get_running_loop())
        self.behind = never if watch is None else watch.behind
        """Whether this node is late with reading."""
        self.before_loss: Callable[[StreamReceiver], None] = do_nothing
        """Called with a session here whose client is about to be lost, because the node of its
        socket stops.
        """
        self._numbers = count(1)
        self._carriers: dict[int, Carrier] = {}
        self._carried: dict[tuple[NodeId, int], CarriedConnection] = {}
        self._delays: defaultdict[NodeId, LinkDelay] = defaultdict(LinkDelay)
        self._handover: Handover | None = None
        self.take_port: TakePort
        """Takes a client's socket whose input is not answered, with the name of its port and what
        it needs.
        """
        links.on(carry.TOPIC, self._receive)
        links.on_lost.append(self._link_lost)

    @property
    def channels(self) -> int:
        """The number of connections that are carried, from here or to here."""
        return len(self._carriers) + len(self._carried)

    @property
    def carries(self) -> bool:
        """Whether clients whose sockets are here have their sessions at other nodes."""
        return bool(self._carriers)

    def hold(self, session: Session, to: NodeId) -> HeldInput | None:
        """Hold what the client sends until its socket is handed over; None: that cannot be."""
        connection = connection_of(session)
        if isinstance(connection, CarriedConnection) or not self.can_hand_over(session, to):
            return None
        held = HeldInput()
        connection.redirect(held)
        cast(FrontConnection, connection).pause(True)
        return held

    def move(
        self,
        session: Session,
        to: NodeId,
        transfer: Transfer,
        messages: Sequence[bytes],
        held: HeldInput | None = None,
    ) -> None:
        """End the session without closing its connection. The node `to` makes a new session on it
        and gives it the messages, then those that were held.
        """
        if session.closed:
            return None
        connection = connection_of(session)
        if held is None:
            held = HeldInput()
            connection.redirect(held)
        held.messages[:0] = messages
        held.client = admitted(session) if transfer.told else None
        session.let_go(held.received)
        if isinstance(connection, CarriedConnection) and to != self._members.here.id:
            held.on_lost = partial(self._report_lost, connection.address, held, to, transfer)
            return held.on_lost() if held.gone else connection.move_on(held, to, transfer)
        return self._depart(cast(FrontConnection, connection), held, to, transfer)

    def can_hand_over(self, session: Session, to: NodeId) -> bool:
        """Whether a node can have the client's socket."""
        connection = connection_of(session)
        if isinstance(connection, CarriedConnection):
            return connection.front == to
        return not cast(FrontConnection, connection).secure and self._handover_of(to) != ""

    def _depart(
        self, connection: FrontConnection, held: HeldInput, to: NodeId, transfer: Transfer
    ) -> None:
        if to == self._members.here.id:
            receiver = self._arrive(connection, transfer, held.messages)
            if receiver is not None:
                held.hand_to(connection, receiver)
        elif not connection.secure and (path := self._handover_of(to)):
            connection.pause(True)
            asyncio.get_running_loop().call_soon(
                self._hand_over, path, WAITS, connection, held, to, transfer
            )
        else:
            self._carry(connection, held, to, transfer)

    def _handover_of(self, to: NodeId) -> str:
        """Return where a node takes sockets from this one; empty: it does not."""
        there = self._members.nodes.get(to)
        same = (
            self._handover is not None
            and there is not None
            and there.machine == self._members.here.machine
        )
        return there.handover if same and there is not None else ""

    def _hand_over(
        self,
        path: str,
        waits: tuple[float, ...],
        connection: FrontConnection,
        held: HeldInput,
        to: NodeId,
        transfer: Transfer,
    ) -> None:
        """Pass the socket on, now that all input of the last turn is delivered.

        If that fails for long, carry the messages.
        """
        detached, passed = connection.pack_up(), False
        if detached is not None and self._handover is not None:
            try:
                passed = self._handover.give(
                    path,
                    detached.socket,
                    HandoverHeader(
                        transfer,
                        detached.origin,
                        held.messages[held.client is not None :],  # it has the login
                        detached.rest,
                        held.client,
                    ),
                )
            except CannotPass as problem:
                waits = ()
                log.debug(
                    "a connection is carried to a node of this machine",
                    node=to,
                    problem=str(problem),
                )
        if passed:
            return connection.abandon()
        if not waits or held.gone:
            return self._carry(connection, held, to, transfer)
        again = partial(self._hand_over, path, waits[1:], connection, held, to, transfer)
        asyncio.get_running_loop().call_later(waits[0], again)
        return None

    def _carry(
        self, connection: FrontConnection, held: HeldInput, to: NodeId, transfer: Transfer
    ) -> None:
        number = next(self._numbers)
        forget = partial(_drop, self._carriers, number)
        carrier = self._carriers[number] = Carrier(
            connection, number, to, partial(self._send, to), self.behind, forget
        )
        carrier.open(transfer, held.messages)
        held.hand_to(connection, carrier)
        connection.pause(False)

    def _report_lost(self, address: str, held: HeldInput, to: NodeId, transfer: Transfer) -> None:
        """Tell the node that expects a client that it has left on the way."""
        number = next(self._numbers)
        self._send(to, carry.OpenChannel(number, transfer, address, 0.0, held.messages))
        self._send(to, carry.LostClient(number))

    def _send(self, to: NodeId, message: carry.CarryMessage) -> None:
        self._links.send(to, carry.TOPIC, carry.encode(message))

    # Connections that come.

    def _arrive(
        self, connection: MovingConnection, transfer: Transfer, messages: Sequence[bytes]
    ) -> StreamReceiver | None:
        """Make a session and give it the messages.

        Return None if it has closed or moved the connection by then.
        """
        arrival = self.arrivals.get(transfer.protocol)
        if arrival is None:
            log.error(
                "a connection of an unknown protocol came from another node",
                protocol=transfer.protocol,
            )
            connection.close(TRY_LATER)
            return None
        receiver = arrive(connection, arrival.make_session, transfer)
        if not getattr(receiver, "closed", False):
            connection.redirect(receiver)
        connection.replay(messages)
        return None if getattr(receiver, "closed", False) else receiver

    # Sockets from other processes of this machine.

    def open_handover(self, limits: ConnectionLimits, longest: int, shared: ShareArriving) -> str:
        """Pass sockets, and take them. Return the path for other nodes.

        WebSocket messages have at most `longest` bytes. `shared` wraps the protocol of a client
        that another node accepted.
        """
        self._limits, self._longest, self._shared = limits, longest, shared
        self._handover = Handover(self._take)
        return self._handover.open()

    def stop_carrying(self) -> None:
        """This node stops: let the clients whose sessions are at other nodes connect again."""
        for carrier in list(self._carriers.values()):
            carrier.stop()

    def close(self) -> None:
        if self._handover is not None:
            self._handover.close()

    def give_port(
        self, transport: asyncio.Transport, to: NodeId, port: str, key: Key, seen: bytes
    ) -> bool:
        """Pass the socket of a client to a process of this machine before `seen` was answered.

        Return False if that fails.
        """
        path, detached = self._handover_of(to), pack_up(transport, seen)
        secure = transport.get_extra_info("sslcontext") is not None
        if not path or self._handover is None or detached is None or secure:
            return False
        try:
            passed = self._handover.give(
                path,
                detached.socket,
                HandoverHeader(Transfer(PORT, port, key=key), detached.origin, [], detached.rest),
            )
        except CannotPass as problem:
            log.debug(
                "a connection is relayed to a node of this machine", node=to, problem=str(problem)
            )
            return False
        if passed:
            transport.abort()
        return passed

    def _take(self, client: socket.socket, header: HandoverHeader) -> None:
        if header.transfer.protocol == PORT:
            return self.take_port(
                client, header.transfer.target, header.transfer.key, header.origin, header.rest
            )
        arrival = self.arrivals[header.transfer.protocol]
        make_session = partial(
            arrive, make=arrival.make_session, transfer=header.transfer, client=header.client
        )
        make = partial(
            Arriving, header, arrival.make_framing, self._longest, make_session, self._limits
        )
        return self.accept(client, self._shared(make, header.origin))

    def accept(self, client: socket.socket, make: MakeProtocol) -> None:
        """Serve a client whose socket was passed on."""
        work = asyncio.get_running_loop().connect_accepted_socket(make, client)
        # It waits once, until the protocol has its transport. A task for that would cost 7 us.
        work.send(None).add_done_callback(partial(_end_waiting, work))

    # Messages of other nodes.

    def _receive(self, sender: NodeId, payload: bytes) -> None:
        message = carry.decode(payload)
        if isinstance(message, carry.Heard):
            if (carried := self._carried.get((sender, message.channel))) is not None:
                carried.heard(message)
        elif isinstance(message, carry.Write):
            if (carrier := self._carriers.get(message.channel)) is not None:
                carrier.connection.send(message.messages)
        elif isinstance(message, (carry.ShutChannel, carry.HoldInput, carry.MoveOn)):
            if (carrier := self._carriers.get(message.channel)) is not None:
                self._serve(carrier, message)
        elif isinstance(message, carry.OpenChannel):
            self._open(sender, message)
        elif (carried := self._carried.get((sender, message.channel))) is not None:
            carried.run(partial(carried.receive, message))

    def _serve(
        self, carrier: Carrier, message: carry.ShutChannel | carry.HoldInput | carry.MoveOn
    ) -> None:
        match message:
            case carry.ShutChannel():
                carrier.close(message.code, message.reason)
            case carry.HoldInput():
                carrier.hold()
            case carry.MoveOn() if carrier.held is not None:
                carrier.forget()
                carrier.held.messages[:0] = message.messages
                carrier.connection.pause(False)
                self._depart(carrier.connection, carrier.held, message.to, message.transfer)

    def _open(self, front: NodeId, message: carry.OpenChannel) -> None:
        forget = partial(_drop, self._carried, (front, message.channel))
        carried = CarriedConnection(
            front, message, partial(self._send, front), self._delays[front], forget
        )
        carried.before_loss = self.before_loss
        self._carried[front, message.channel] = carried
        carried.run(partial(self._arrive, carried, message.transfer, message.messages))

    def _link_lost(self, node: NodeId) -> None:
        self._delays.pop(node, None)
        for carrier in [one for one in self._carriers.values() if one.home == node]:
            carrier.close(TRY_LATER, LINK_LOST)
        for carried in [one for one in self._carried.values() if one.front == node]:
            carried.run(carried.lose)


def _end_waiting(work: Coroutine[Any, Any, object], _: object) -> None:
    with suppress(StopIteration):
        work.send(None)


def _drop(channels: dict[Channel, Any], key: Channel) -> bool:
    return channels.pop(key, None) is not None
