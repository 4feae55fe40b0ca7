"""Mover: moves the connection of a client to another node.

Theory of operation. The session ends without closing its connection. What moves is a header, and
then either the socket itself, to a process of this machine and without TLS, or the bytes of the
client, through a pipe (`pipes.py`). The header has what was read and not delivered, and what the
nodes know of a client that has logged in. The receiving node makes a protocol and a session from
header and transport, and does not know which way they came. A connection that came through a pipe
and moves on returns to its front first, so that no byte passes more than two nodes.
"""

import asyncio
import shutil
import socket
import tempfile
from collections.abc import Callable, Coroutine
from contextlib import suppress
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Any, NamedTuple, cast

import msgspec
import structlog
from msgspec.structs import replace

from botdrome.server import metrics
from botdrome.server.network.client_connection import ClientConnection
from botdrome.server.network.connection import (
    PIPE,
    TRY_LATER,
    Connection,
    is_local,
    tcp_round_trip,
    unread_for,
)
from botdrome.server.network.limits import ConnectionLimits
from botdrome.server.network.listening import MakeProtocol
from botdrome.server.network.peer import (
    Origin,
    Peer,
    origin_of,
    pause_reading,
    was_held,
)
from botdrome.server.network.steady_loop import watch_of
from botdrome.server.network.tcp import StreamReceiver, Tcp
from botdrome.server.network.websocket import READING, Socket, end_writing
from botdrome.server.nodes.cluster import NodeId
from botdrome.server.nodes.membership import Membership
from botdrome.server.nodes.pipes import (
    UNKNOWN,
    Header,
    Pipe,
    PipedTransport,
    PipePort,
    encode,
    read_return,
)
from botdrome.server.session import AdmittedClient, Session, Transfer
from botdrome.server.settings import Settings
from botdrome.wire.framing import websocket as wire
from botdrome.wire.framing.streams import BadFrame, Framing
from botdrome.wire.pipe import DATA, END, EOF, GIVE_BACK, HELD, HOLD, NETWORK, OPEN, SECONDS, STOPS

log = structlog.get_logger()

# Handover: passes the sockets of clients to other processes of this machine, and takes those that
# they pass.
#
# A socket goes over a Unix socket (SCM_RIGHTS) in one packet with what the other process has to
# know. The queue of such a socket holds some 170 of them. When a process ends, the system closes
# the sockets that are on the way to it.

LONGEST = 60_000
"""Bytes of a header."""
BACKLOG = 64
AT_ONCE = 16
"""Headers taken in one turn of the loop from one node."""
CLOSE_ON_EXEC: int = getattr(socket, "MSG_CMSG_CLOEXEC", 0)
"""0 on systems without this flag."""


TakeSocket = Callable[[socket.socket, Header], None]
DECODER = msgspec.msgpack.Decoder(Header)


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
                "connections are piped between the nodes of this machine", problem=str(problem)
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

    def give(self, path: str, client: socket.socket, header: Header) -> bool:
        """Pass a socket on.

        Return False if the queue is full. Raise CannotPass if that node takes no sockets.
        """
        data = encode(header)
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


# Arriving: takes up the connection of a client that comes from another node.

MakeArrival = Callable[[Connection, Transfer, AdmittedClient | None], StreamReceiver]


class Arrival(NamedTuple):
    """How this node goes on with connections of a protocol."""

    make_session: MakeArrival
    make_framing: Callable[[], Framing] | None = None
    """The framing of its TCP streams; None: it is on WebSockets."""


class Arriving(asyncio.Protocol):
    """Gives the connection its protocol.

    The input that came with it is delivered before more is read.
    """

    def __init__(self, mover: "Mover", header: Header, arrival: Arrival) -> None:
        self._mover, self._header, self._make_framing = mover, header, arrival.make_framing
        self._make_session = lambda connection: arrival.make_session(
            connection, header.transfer, header.client
        )

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        stream = cast(asyncio.Transport, transport)
        connection = (
            self._websocket(stream)
            if self._make_framing is None
            else self._tcp(stream, self._make_framing)
        )
        if connection is not None:
            piped: PipedTransport | None = transport.get_extra_info(PIPE)
            if piped is not None:
                piped.front_stops = partial(self._mover.let_return, connection)
            connection.replay(self._header.messages)
            if self._header.rest:
                connection.data_received(self._header.rest)

    def _tcp(self, transport: asyncio.Transport, make_framing: Callable[[], Framing]) -> Tcp:
        connection = Tcp(make_framing, self._make_session, self._mover.limits)
        transport.set_protocol(cast(asyncio.Protocol, connection))
        connection.connection_made(transport)
        return connection

    def _websocket(self, transport: asyncio.Transport) -> Socket | None:
        address, limits = self._header.origin.address, self._mover.limits
        if refusal := limits.admit(address):
            metrics.REFUSED.labels("crowd").inc()
            transport.write(wire.close(TRY_LATER, refusal))
            limits.close_timeouts.begin(transport)
            end_writing(transport)
            return None
        connection = Socket(self._mover.longest, limits.close_timeouts, limits.leave, address)
        transport.set_protocol(connection)
        connection.open(transport, b"", self._make_session)
        return connection

    def data_received(self, data: bytes) -> None:
        """The connection was refused."""


WAITS = (0.0, 0.0, 0.002, 0.005, 0.01, 0.02, 0.05)
"""Seconds between attempts to pass a socket on: its output may be unsent, or the queue full."""
UNREACHED, LONGEST_SEARCH = 0.1, 10.0
"""Seconds until a connection whose node cannot be reached tries again, and until it is closed."""
FORGOTTEN = 1.0
"""Seconds without an attempt after which a node counts as not tried before."""
STOPPING = 2.0
"""Seconds for the clients of pipes to be told that this node stops."""
NODE_STOPS = "this node stops; connect again, and log in with the id of your match"
PORT = "port"
"""The transfer of a connection that only its port tells apart; its target is the name of
the port.
"""
ShareArriving = Callable[[MakeProtocol, Origin], MakeProtocol]


class HeldInput:
    """Holds what a client sends while its connection moves."""

    def __init__(self) -> None:
        self.messages: list[bytes] = []
        self.ended = self.gone = False

    def received(self, message: bytes) -> None:
        self.messages.append(message)

    def unreadable(self, why: str) -> bool:
        """The next session reads it again."""
        return True

    def cut_off(self) -> None:
        """The loss that follows says enough."""

    def heard_all(self) -> bool:
        self.ended = True
        return True

    def lost(self) -> None:
        self.gone = True


def connection_of(session: Session) -> ClientConnection:
    return cast(ClientConnection, session.connection)


def front_of(session: Session) -> NodeId | None:
    """Return the node of the client's socket; None: this one."""
    transport = connection_of(session).transport
    piped = None if transport is None else transport.get_extra_info(PIPE)
    return None if piped is None else cast(PipedTransport, piped).front


def is_secure(session: Session) -> bool:
    """Whether the connection has TLS, whose state cannot be passed on."""
    transport = connection_of(session).transport
    return transport is not None and transport.get_extra_info("sslcontext") is not None


def admitted(session: Session) -> AdmittedClient | None:
    """Return what spares the client a second login at another node; None: it has to log in."""
    login = session.transfer_login
    if login is None:
        return None
    return AdmittedClient(login, session.name, session.owner, session.version, session.registered)


# FrontConnection: a connection that is on its way to another node, or whose protocol is there.


LOOK = 1.0
"""Seconds between two looks at a client's network time."""
MOST_HELD = 64 << 10
"""Bytes that a client may send while its connection is on the way."""


class FrontConnection(asyncio.Protocol):
    def __init__(
        self, mover: "Mover", transport: asyncio.Transport, header: Header, to: NodeId = ""
    ) -> None:
        """Take over a connection. `to` is the node to which it goes; empty: not known yet."""
        self._mover, self.header, self.to = mover, header, to
        self.transport: asyncio.Transport | None = transport
        """None: the client is gone, or another protocol has the connection."""
        self._seen = [header.rest] if header.rest else []
        self.ended = self._holding = False
        self.pipe: Pipe | None = None
        self._next_look, self._network = 0.0, UNKNOWN
        self._task: asyncio.Task[None] | None = None
        self._slow: asyncio.TimerHandle | None = None
        transport.set_protocol(self)

    @property
    def seen(self) -> bytes:
        """The input that was read and not delivered."""
        return b"".join(self._seen)

    def go(self, waits: tuple[float, ...] = ()) -> None:
        """Bring the connection to the other node. Wait, if its socket cannot be passed now."""
        if self.transport is None:
            return
        pause_reading(self.transport, True)
        self._holding = True
        departed = self._mover.depart(self)
        if departed is False and waits:
            asyncio.get_running_loop().call_later(waits[0], self.go, waits[1:])
        elif not departed:
            self._mover.fronts.add(self)
            self._task = asyncio.ensure_future(self._open())

    async def _open(self) -> None:
        try:
            pipe = await self._mover.dial(self.to)
            if pipe.transport.is_closing():
                raise ConnectionError("it closed the pipe")
        except (OSError, TimeoutError) as problem:
            return self._not_reached(problem)
        if self.transport is None:
            return pipe.transport.abort()
        self.pipe, pipe.user, transport = pipe, self, self.transport
        self._network = _network_of(transport)
        header = replace(self.header, rest=self.seen)
        pipe.send(OPEN, self._mover.opening(self._network, header))
        self._seen, self._holding = [], False
        if self.ended:
            pipe.send(EOF)
        transport.set_write_buffer_limits()
        return pause_reading(transport, False)

    def _not_reached(self, problem: Exception) -> None:
        """The node may have died a moment ago, and the others do not know it yet."""
        if self._mover.unreached(self.to) > LONGEST_SEARCH:
            log.warning("a node cannot be reached", node=self.to, problem=str(problem))
            self.abort()
        else:
            asyncio.get_running_loop().call_later(UNREACHED, self._mover.find_again, self)

    def leave(self) -> asyncio.Transport:
        """Give the connection to another protocol, or to another process."""
        transport, self.transport = self.transport, None
        self._mover.fronts.discard(self)
        assert transport is not None
        return transport

    def stop(self) -> None:
        """This node stops."""
        if self.pipe is not None:
            self.pipe.send(STOPS)

    def abort(self) -> None:
        if self.transport is not None:
            self.transport.abort()

    # Called by the transport of the client.

    def data_received(self, data: bytes) -> None:
        transport = self.transport
        if self.pipe is None or self._holding or transport is None:
            self._seen.append(data)
            if sum(map(len, self._seen)) > MOST_HELD:
                pause_reading(transport, True)
            return
        now = monotonic()
        if now >= self._next_look:
            self._next_look, network = now + LOOK, _network_of(transport)
            if network != self._network:
                self._network = network
                self.pipe.send(NETWORK, SECONDS.pack(network))
        late = self._mover.behind() or was_held()
        at = now - unread_for(transport) if late else now
        self.pipe.send(DATA, SECONDS.pack(at) + data)

    def eof_received(self) -> bool:
        self.ended = True
        if self.pipe is not None and not self._holding:
            self.pipe.send(EOF)
        return True

    def pause_writing(self) -> None:
        self._slow = asyncio.get_running_loop().call_later(READING, self.abort)
        if self.pipe is not None:
            pause_reading(self.pipe.transport, True)

    def resume_writing(self) -> None:
        if self._slow is not None:
            self._slow.cancel()
        if self.pipe is not None:
            pause_reading(self.pipe.transport, False)

    def connection_lost(self, exc: Exception | None) -> None:
        self.transport = None
        self._close_pipe()

    def _close_pipe(self) -> None:
        pipe, self.pipe = self.pipe, None
        self._mover.fronts.discard(self)
        if pipe is not None:
            pipe.user = None
            pipe.transport.close()

    # Called by the pipe.

    def pipe_full(self, full: bool) -> None:
        if not self._holding:
            pause_reading(self.transport, full)

    def pipe_frame(self, kind: int, body: bytes) -> None:
        transport = self.transport
        if transport is None or self.pipe is None:
            return
        if kind == DATA:
            transport.write(body)
        elif kind == EOF:
            if transport.can_write_eof():
                transport.write_eof()
        elif kind == END:
            self._close_pipe()
            transport.close()
        elif kind == HOLD:
            self._holding = True
            pause_reading(transport, True)
            self.pipe.send(HELD)
        elif kind == GIVE_BACK:
            back = read_return(body)
            self._close_pipe()
            self._seen.insert(0, back.header.rest)
            self.header, self.to = back.header, back.to
            self.go(WAITS)

    def pipe_lost(self) -> None:
        self._mover.fronts.discard(self)
        self.pipe = None
        self.abort()


def _network_of(transport: asyncio.Transport) -> float:
    if is_local(transport, str(transport.get_extra_info("peername")[0])):
        return 0.0
    found = None if transport.get_extra_info("proxied") else tcp_round_trip(transport)
    return UNKNOWN if found is None else found


def never() -> bool:
    return False


class Mover:
    limits: ConnectionLimits
    longest: int
    place: Callable[[FrontConnection], None]
    """Finds the node for a connection of which only the port is known."""
    make_port: Callable[[Header], MakeProtocol]
    """Makes the protocol of a connection that only its port tells apart. Raises KeyError if this
    node does not have the port.
    """
    _shared: ShareArriving

    def __init__(self, members: Membership, secret: str) -> None:
        self._members = members
        self.arrivals: dict[str, Arrival] = {}
        """By protocol."""
        watch = watch_of(asyncio.get_running_loop())
        self.behind = never if watch is None else watch.behind
        self.before_loss: Callable[[Session], None] = lambda _: None
        """Called with a session here whose client is about to be lost, because the node of its
        socket stops.
        """
        self.fronts: set[FrontConnection] = set()
        """The connections that are piped to other nodes, or will be."""
        self._unreached: dict[NodeId, tuple[float, float]] = {}
        """The first and the last failure to reach a node."""
        self._pipes = PipePort(members.here.id, secret, self._accept_pipe)
        self.opening = self._pipes.opening
        self._handover: Handover | None = None

    async def open(
        self, settings: Settings, limits: ConnectionLimits, shared: ShareArriving
    ) -> str:
        """Take connections of other nodes, and return where. Raise BadSetting.

        `shared` wraps the protocol of a client that another node accepted.
        """
        self.limits, self.longest, self._shared = limits, settings.message.longest, shared
        self._handover = Handover(self._accept_socket)
        self._members.on_change.append(self._follow)
        return f"{await self._pipes.open(settings)} {self._handover.open()}"

    def close(self) -> None:
        for front in list(self.fronts):
            front.abort()
        self._pipes.close()
        if self._handover is not None:
            self._handover.close()

    @property
    def piped(self) -> int:
        """The number of connections that are piped, from here or to here."""
        return len(self.fronts) + len(self._pipes.piped)

    @property
    def players(self) -> list[FrontConnection]:
        """The clients of pipes that have logged in: they may play at other nodes."""
        return [one for one in self.fronts if one.pipe and one.header.transfer.protocol != PORT]

    async def stop_piping(self) -> None:
        """This node stops: let the clients whose sessions are at other nodes connect again."""
        for front in self.players:
            front.stop()
        with suppress(TimeoutError):
            async with asyncio.timeout(STOPPING):
                while self.players:
                    await asyncio.sleep(0.01)

    def let_return(self, connection: ClientConnection) -> None:
        """The front of a client stops."""
        if isinstance(session := connection.session, Session):
            self.before_loss(session)
        cast(Tcp | Socket, connection).close(TRY_LATER, NODE_STOPS)

    def _follow(self) -> None:
        live = self._members.nodes.keys()
        self._pipes.drop(live)
        for front in list(self.fronts):
            if front.pipe is not None and front.to not in live:
                front.abort()

    # Connections that go.

    def can_hand_over(self, session: Session, to: NodeId) -> bool:
        """Whether a node can have the client's socket."""
        front = front_of(session)
        return front == to if front else not is_secure(session) and self._handover_of(to) != ""

    def hold(self, session: Session, to: NodeId) -> HeldInput | None:
        """Hold what the client sends until its socket is handed over; None: that cannot be."""
        if front_of(session) or not self.can_hand_over(session, to):
            return None
        held, connection = HeldInput(), connection_of(session)
        connection.redirect(held)
        pause_reading(connection.transport, True)
        return held

    def move(
        self, session: Session, to: NodeId, transfer: Transfer, held: HeldInput | None = None
    ) -> None:
        """End the session without closing its connection. The node `to` makes a new session on it,
        and gives it what was held.
        """
        if session.closed:
            return
        metrics.MOVED.inc()
        connection = connection_of(session)
        if held is None:
            held = HeldInput()
            connection.redirect(held)
        client = admitted(session)
        session.let_go(held.received)
        pause_reading(connection.transport, True)
        # All input of this turn of the loop is delivered first.
        asyncio.get_running_loop().call_soon(self._send, connection, held, to, transfer, client)

    def _send(
        self,
        connection: ClientConnection,
        held: HeldInput,
        to: NodeId,
        transfer: Transfer,
        client: AdmittedClient | None,
    ) -> None:
        transport = connection.transport
        if held.gone or transport is None or not transport.get_extra_info("peername"):
            return
        header = header_of(transport, transfer, connection.unread())
        header = replace(header, messages=held.messages, client=client)
        connection.abandon()
        front = FrontConnection(self, transport, header, to)
        front.ended = held.ended
        front.go(WAITS)

    def depart(self, front: FrontConnection) -> bool | None:
        """Bring a connection away without a pipe, or let it stay.

        Return False if that cannot be done now, None if it never can.
        """
        transport, to = front.transport, front.to
        assert transport is not None
        if to == self._members.here.id:
            self.stay(front)
            return True
        header = replace(front.header, rest=front.seen + _held(transport))
        piped: PipedTransport | None = transport.get_extra_info(PIPE)
        if piped is not None:
            front.leave()
            piped.give_back(to, header)
            return True
        path = self._handover_of(to)
        if not path or header.tls or self._handover is None:
            return None
        if transport.is_closing() or transport.get_write_buffer_size():
            return False
        try:
            passed = self._handover.give(path, transport.get_extra_info("socket"), header)
        except CannotPass as problem:
            log.debug("a connection is piped on this machine", node=to, problem=str(problem))
            return None
        if passed:
            front.leave().abort()
        return passed

    def stay(self, front: FrontConnection) -> None:
        """Serve a connection here."""
        header, ended, transport = (
            replace(front.header, rest=front.seen),
            front.ended,
            front.leave(),
        )
        protocol = self._protocol(header)()
        transport.set_protocol(protocol)
        protocol.connection_made(transport)
        if ended and isinstance(transport, Peer) and not transport.eof_received():
            transport.close()
        pause_reading(transport, False)

    async def dial(self, to: NodeId) -> Pipe:
        """Open a pipe to a node. Raise OSError or TimeoutError."""
        if (node := self._members.nodes.get(to)) is None or not node.pipes:
            raise ConnectionError("it has left")
        return await self._pipes.dial(node.pipes)

    def _handover_of(self, to: NodeId) -> str:
        """Return where a node takes sockets from this one; empty: it does not."""
        there = self._members.nodes.get(to)
        same = there is not None and there.machine == self._members.here.machine
        return there.handover if same and there is not None else ""

    def find_again(self, front: FrontConnection) -> None:
        """Find another node for a connection. A client that has logged in goes on here."""
        if front.transport is None:
            return
        if front.header.transfer.protocol != PORT:
            self.stay(front)
        else:
            self.place(front)

    def unreached(self, node: NodeId) -> float:
        """Note that a node cannot be reached, and return for how many seconds now.

        A client that has logged in is brought anew each time, so its connection does not know.
        """
        now = monotonic()
        first, last = self._unreached.get(node, (now, now))
        first = first if now - last < FORGOTTEN else now
        self._unreached[node] = first, now
        return now - first

    # Connections that come.

    def _protocol(self, header: Header) -> MakeProtocol:
        """Raise BadFrame if this node does not serve it."""
        kind = header.transfer.protocol
        try:
            if kind == PORT:
                return self.make_port(header)
            return partial(Arriving, self, header, self.arrivals[kind])
        except KeyError as unknown:
            raise BadFrame(f"a connection of another node needs {unknown}") from None

    def _accept_pipe(self, piped: PipedTransport, header: Header) -> None:
        piped.begin(self._shared(self._protocol(header), header.origin))

    def _accept_socket(self, client: socket.socket, header: Header) -> None:
        make = self._shared(self._protocol(header), header.origin)
        work = asyncio.get_running_loop().connect_accepted_socket(make, client)
        # It waits once, until the protocol has its transport. A task for that would cost 7 us.
        work.send(None).add_done_callback(partial(_end_waiting, work))


def header_of(transport: asyncio.Transport, transfer: Transfer, rest: bytes) -> Header:
    secure = transport.get_extra_info("sslcontext") is not None
    return Header(transfer, origin_of(transport), rest=rest, tls=secure)


def _held(transport: asyncio.Transport) -> bytes:
    return transport.held if isinstance(transport, Peer) else b""


def _end_waiting(work: Coroutine[Any, Any, object], _: object) -> None:
    with suppress(StopIteration):
        work.send(None)
