"""Relay: gives whole connections to another node, because what they ask for is there.

On one machine the socket itself goes to the other process; otherwise its bytes are relayed over the
link, both ways. A connection moves before its first byte is answered, or between two HTTP requests.
One that is relayed moves on from its front, so that no byte passes more than two nodes. A node that
gets a connection and is not the home any more places it again.
"""

import asyncio
import socket
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from itertools import count
from typing import Any, cast

import msgspec
import structlog
from msgspec import Struct

from botdrome.server.network.listening import MakeProtocol
from botdrome.server.network.peer import Origin, Peer, pause_reading
from botdrome.server.nodes.cluster import Cluster, Key, NodeId, rooms_of
from botdrome.server.nodes.moving import Mover
from botdrome.server.nodes.rooms import RoomsHere

# The messages by which nodes relay whole connections, byte by byte.
#
# The front is the node that has the client's socket.
#
# The front numbers the connections. One ends with ClientLost or EndRelay, or with the link. It
# returns to the front if its next request is for a third node, or if the home has changed: Recall,
# then Recalled, which is the last message from the front, then GiveBack.

TOPIC = "relay"


class RelayMessage(Struct, frozen=True, array_like=True):
    number: int


# From the front.


class OpenRelay(RelayMessage, frozen=True, tag="o"):
    port: str
    """The name of the port on which the client came."""
    key: Key
    """What it needs."""
    address: str
    client_port: int
    proxied: bool
    tls: bool


class Input(RelayMessage, frozen=True, tag="i"):
    data: bytes


class InputEnded(RelayMessage, frozen=True, tag="e"):
    pass


class OutputPaused(RelayMessage, frozen=True, tag="p"):
    """The client reads too slowly, or again."""

    paused: bool


class ClientLost(RelayMessage, frozen=True, tag="l"):
    pass


class Recalled(RelayMessage, frozen=True, tag="r"):
    """Input is held from now on."""


# To the front.


class Output(RelayMessage, frozen=True, tag="w"):
    data: bytes


class OutputEnded(RelayMessage, frozen=True, tag="f"):
    pass


class PauseInput(RelayMessage, frozen=True, tag="d"):
    paused: bool


class EndRelay(RelayMessage, frozen=True, tag="s"):
    """Close the connection; `abort`: without the output that is not sent yet."""

    abort: bool


class Recall(RelayMessage, frozen=True, tag="c"):
    """Hold input."""


class GiveBack(RelayMessage, frozen=True, tag="b"):
    key: Key
    """What it needs now."""
    data: bytes
    """Input that counts anew."""


FromFront = OpenRelay | Input | InputEnded | OutputPaused | ClientLost | Recalled
ToFront = Output | OutputEnded | PauseInput | EndRelay | Recall | GiveBack
encode = msgspec.msgpack.Encoder().encode
decode = msgspec.msgpack.Decoder(FromFront | ToFront).decode


# RelayedTransport: a connection whose socket is at another node, as an asyncio transport.

RELAYED = "relayed"
"""The extra information of a transport that is one of these."""


class RelayedTransport(asyncio.Transport):
    """The front counts what the client leaves unread, and says when that is too much."""

    def __init__(
        self,
        opening: OpenRelay,
        send: Callable[[RelayMessage], None],
        forget: Callable[[], None],
    ) -> None:
        super().__init__()
        self._opening, self._send, self._forget = opening, send, forget
        self._protocol: asyncio.Protocol
        self._early: list[FromFront] | None = []
        """Messages that came before the protocol; None: it is here."""
        self._closing = self._reading_paused = False
        self._returning: tuple[Key, list[bytes]] | None = None
        """What the client needs from another node, and its input for it."""

    def begin(self, make: Callable[[], asyncio.BaseProtocol]) -> None:
        """Start the protocol, unless the client is lost by now."""
        if self._closing:
            return
        protocol = self._protocol = cast(asyncio.Protocol, make())
        protocol.connection_made(self)
        early, self._early = self._early or [], None
        for message in early:
            self.receive(message)

    # Called by the protocol.

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        if name == "peername":
            return self._opening.address, self._opening.client_port
        if name == "sslcontext":
            return self._opening.tls or default
        if name == RELAYED:
            return self
        return default

    def set_protocol(self, protocol: asyncio.BaseProtocol) -> None:
        assert isinstance(protocol, asyncio.Protocol) or hasattr(protocol, "data_received")
        self._protocol = protocol  # type: ignore[assignment]

    def get_protocol(self) -> asyncio.Protocol:
        return self._protocol

    def is_closing(self) -> bool:
        return self._closing

    def is_reading(self) -> bool:
        return not self._closing and not self._reading_paused

    def pause_reading(self) -> None:
        self._pause_input(True)

    def resume_reading(self) -> None:
        self._pause_input(False)

    def _pause_input(self, paused: bool) -> None:
        if not self._closing and paused != self._reading_paused:
            self._reading_paused = paused
            self._send(PauseInput(self._opening.number, paused))

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        """The limits of the front hold."""

    def get_write_buffer_size(self) -> int:
        return 0

    def get_write_buffer_limits(self) -> tuple[int, int]:
        return 0, 0

    def write(self, data: bytes | bytearray | memoryview) -> None:
        if not self._closing and data:
            self._send(Output(self._opening.number, bytes(data)))

    def writelines(self, list_of_data: Iterable[bytes | bytearray | memoryview]) -> None:
        self.write(b"".join(list_of_data))

    def can_write_eof(self) -> bool:
        return not self._opening.tls

    def write_eof(self) -> None:
        if not self._closing:
            self._send(OutputEnded(self._opening.number))

    def close(self) -> None:
        self._end(abort=False)

    def abort(self) -> None:
        self._end(abort=True)

    def _end(self, abort: bool) -> None:
        if not self._closing:
            self._closing = True
            self._send(EndRelay(self._opening.number, abort))
            asyncio.get_running_loop().call_soon(self._lose)

    def _lose(self) -> None:
        self._forget()
        if self._early is None:
            self._protocol.connection_lost(None)

    def give_back(self, key: Key, seen: bytes) -> None:
        """Let the front bring the connection to the home of a key.

        `seen` counts anew, and what comes meanwhile.
        """
        early = self._early or []
        if self._closing or any(isinstance(message, ClientLost) for message in early):
            return self.lost()
        seen += b"".join([message.data for message in early if isinstance(message, Input)])
        self._closing, self._returning = True, (key, [seen])
        return self._send(Recall(self._opening.number))

    # Called by the front.

    def receive(self, message: FromFront) -> None:
        if self._returning is not None:
            return self._return(message, *self._returning)
        if self._closing:
            return None
        if self._early is not None:
            return self._early.append(message)
        match message:
            case Input():
                self._protocol.data_received(message.data)
            case InputEnded():
                if not self._protocol.eof_received():
                    self.close()
            case OutputPaused():
                if message.paused:
                    self._protocol.pause_writing()
                else:
                    self._protocol.resume_writing()
            case ClientLost():
                self.lost()
        return None

    def _return(self, message: FromFront, key: Key, seen: list[bytes]) -> None:
        if isinstance(message, Input):
            seen.append(message.data)
        elif isinstance(message, Recalled):
            self._send(GiveBack(self._opening.number, key, b"".join(seen)))
            self._returning = None
            self._lose()
        elif isinstance(message, ClientLost):
            self.lost()

    def lost(self) -> None:
        """The client is gone, or its node."""
        if not self._closing or self._returning is not None:
            self._closing, self._returning = True, None
            self._lose()


log = structlog.get_logger()

MOST_HELD = 64 << 10
"""Bytes that a client may send while it is not known yet where its connection goes."""
MakePeer = Callable[[MakeProtocol, Origin], MakeProtocol]


class PassedOn(asyncio.Protocol):
    """Gives a connection that was passed on its protocol, and then what was read of it."""

    def __init__(self, make: MakeProtocol, seen: bytes) -> None:
        self._make, self._seen = make, seen

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        protocol = cast(asyncio.Protocol, self._make())
        transport.set_protocol(protocol)
        protocol.connection_made(transport)
        if self._seen:
            protocol.data_received(self._seen)


class RelayFront(asyncio.Protocol):
    """A connection here whose protocol is at another node."""

    def __init__(self, to: "Relay", port: str, key: Key, sent_here: bool = False) -> None:
        """`key` is what the client needs. `sent_here`: another node takes this one for its home."""
        self._relay, self.port, self.key, self.sent_here = to, port, key, sent_here
        self.seen = b""
        self._ended = self._output_paused = False
        self.transport: asyncio.Transport | None = None
        self.home: NodeId | None = None
        """None: not known yet."""
        self.returning: NodeId | None = None
        """The node that gives it back."""
        self._number = 0

    def take(self, transport: asyncio.Transport, seen: bytes) -> None:
        """Take over a connection of which this much was read."""
        transport.set_protocol(self)
        self.seen = seen
        self.connection_made(transport)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Behind a proxy, the first input is delivered only after this."""
        self.transport = cast(asyncio.Transport, transport)
        asyncio.get_running_loop().call_soon(self._relay.place, self)

    def open(self, home: NodeId, number: int) -> None:
        """The home is known."""
        transport = self.transport
        assert transport is not None
        self.home, self._number = home, number
        peer, proxied = (
            transport.get_extra_info("peername"),
            bool(transport.get_extra_info("proxied")),
        )
        tls = transport.get_extra_info("sslcontext") is not None
        self._tell(OpenRelay(number, self.port, self.key, str(peer[0]), int(peer[1]), proxied, tls))
        seen, self.seen = self.seen, b""
        if seen:
            self._tell(Input(number, seen))
        if self._output_paused:
            self.pause_writing()
        if self._ended:
            self._tell(InputEnded(number))
        pause_reading(transport, False)

    def stay(self, protocol: asyncio.Protocol) -> None:
        """What it needs is at this node."""
        transport, self.transport = self.transport, None
        assert transport is not None
        transport.set_protocol(protocol)
        protocol.connection_made(transport)
        if self._output_paused:
            protocol.pause_writing()
        if self.seen:
            protocol.data_received(self.seen)
        if self._ended and not protocol.eof_received():
            transport.close()
        pause_reading(transport, False)

    def _tell(self, message: FromFront) -> None:
        if self.home is not None:
            self._relay.send(self.home, message)

    def abort(self) -> None:
        if self.transport is not None:
            self.transport.abort()

    # Called by the transport.

    def data_received(self, data: bytes) -> None:
        if self.home is not None:
            return self._tell(Input(self._number, data))
        self.seen += data
        if len(self.seen) > MOST_HELD:
            pause_reading(self.transport, True)
        return None

    def eof_received(self) -> bool:
        self._ended = True
        self._tell(InputEnded(self._number))
        return True

    def pause_writing(self) -> None:
        self._output_paused = True
        self._tell(OutputPaused(self._number, True))

    def resume_writing(self) -> None:
        self._output_paused = False
        self._tell(OutputPaused(self._number, False))

    def connection_lost(self, exc: Exception | None) -> None:
        self.transport, self.home = None, self.home or self.returning
        self._tell(ClientLost(self._number))
        self._relay.forget(self._number)

    # Called by the home.

    def receive(self, message: ToFront) -> None:
        transport = self.transport
        if transport is None:
            return
        match message:
            case Output():
                transport.write(message.data)
            case OutputEnded():
                transport.write_eof()
            case PauseInput():
                transport.pause_reading() if message.paused else transport.resume_reading()
            case EndRelay():
                transport.abort() if message.abort else transport.close()
            case Recall():
                self._tell(Recalled(self._number))
                self.returning, self.home = self.home, None
            case GiveBack():
                self._relay.forget(self._number)
                refused = message.key == self.key
                self.returning, self.key, self.seen = None, message.key, message.data + self.seen
                self._relay.place(self, refused)


class Relay:
    def __init__(
        self, cluster: Cluster, rooms: Mapping[Key, RoomsHere], mover: Mover, make_peer: MakePeer
    ) -> None:
        """`make_peer` makes the layer between a connection that came from another node and its
        protocol.
        """
        self._cluster, self._rooms, self._mover, self._make_peer = cluster, rooms, mover, make_peer
        mover.take_port = self._take
        self.ports: dict[str, MakeProtocol] = {}
        """The protocols of the ports, by their names, for connections that come from other nodes.
        """
        self._numbers = count(1)
        self._fronts: dict[int, RelayFront] = {}
        self._homes: dict[tuple[NodeId, int], RelayedTransport] = {}
        cluster.links.on(TOPIC, self._receive)
        cluster.links.on_lost.append(self._link_lost)

    def routed(self, make: MakeProtocol, port: str, game: str) -> MakeProtocol:
        """Return the protocol factory of a port whose clients meet in the rooms of a game; empty:
        they do not.
        """
        self.ports[port] = make
        return self._for(port, rooms_of(game)) if game else make

    def _for(self, port: str, key: Key, sent_here: bool = False) -> MakeProtocol:
        rooms, make = self._rooms[key], self.ports[port]
        return lambda: make() if rooms.open else RelayFront(self, port, key, sent_here)

    def forward(self, transport: asyncio.Transport, seen: bytes, port: str, key: Key) -> None:
        """Give a connection to the home of a key. `seen` is what was read of it and counts anew."""
        relayed: RelayedTransport | None = transport.get_extra_info(RELAYED)
        if relayed is None:
            RelayFront(self, port, key).take(transport, seen)
        else:
            relayed.give_back(key, seen + (transport.held if isinstance(transport, Peer) else b""))

    def place(self, front: RelayFront, refused: bool = False) -> None:
        """Find the home of a connection, unless it is lost by now.

        `refused`: the node that was taken for it is not.
        """
        if front.transport is None:
            return
        if front.sent_here:
            self._open(front, self._cluster.here)
        else:
            self._cluster.with_home(front.key, partial(self._open, front), anew=refused)

    def _open(self, front: RelayFront, home: NodeId) -> None:
        if front.transport is None:
            return None
        front.sent_here = False
        if home == self._cluster.here:
            return self._rooms[front.key].when_open(
                partial(self._stay, front), partial(self.place, front)
            )
        if self._mover.give_port(front.transport, home, front.port, front.key, front.seen):
            return None
        number = next(self._numbers)
        self._fronts[number] = front
        return front.open(home, number)

    def _take(
        self, client: socket.socket, port: str, key: Key, origin: Origin, seen: bytes
    ) -> None:
        """A process of this machine has passed on the socket of a client."""
        if not self._serves(port, key):
            return client.close()
        taken = partial(PassedOn, self._for(port, key, sent_here=True), seen)
        return self._mover.accept(client, self._make_peer(taken, origin))

    def _serves(self, port: str, key: Key) -> bool:
        known = port in self.ports and key in self._rooms
        if not known:
            log.error(
                "a connection came from another node for a port that this node has not",
                port=port,
                key=key,
            )
        return known

    def _stay(self, front: RelayFront) -> None:
        if front.transport is not None:
            front.stay(cast(asyncio.Protocol, self.ports[front.port]()))

    def send(self, node: NodeId, message: RelayMessage) -> None:
        self._cluster.links.send(node, TOPIC, encode(message))

    def forget(self, number: int) -> None:
        self._fronts.pop(number, None)

    # Messages of other nodes.

    def _receive(self, sender: NodeId, payload: bytes) -> None:
        message = decode(payload)
        if isinstance(message, OpenRelay):
            self._accept(sender, message)
        elif isinstance(message, ToFront):
            front = self._fronts.get(message.number)
            if front is not None and sender in (front.home, front.returning):
                front.receive(message)
        elif (transport := self._homes.get((sender, message.number))) is not None:
            transport.receive(message)

    def _accept(self, front: NodeId, message: OpenRelay) -> None:
        if not self._serves(message.port, message.key):
            return self.send(front, EndRelay(message.number, True))
        place = front, message.number
        transport = RelayedTransport(
            message, partial(self.send, front), partial(self._forget_home, place)
        )
        self._homes[place] = transport
        origin = Origin(message.address, message.client_port, message.proxied)
        begin = partial(transport.begin, self._make_peer(self.ports[message.port], origin))
        return self._rooms[message.key].when_open(
            begin, partial(transport.give_back, message.key, b"")
        )

    def _forget_home(self, place: tuple[NodeId, int]) -> None:
        self._homes.pop(place, None)

    def _link_lost(self, node: NodeId) -> None:
        for front in [one for one in self._fronts.values() if node in (one.home, one.returning)]:
            front.abort()
        for transport in [one for (front, _), one in self._homes.items() if front == node]:
            transport.lost()
