"""Relay: gives whole connections to another node, because what they ask for is there.

On one machine the socket itself goes to the other process; otherwise its bytes are relayed over the
link, both ways. A connection moves before its first byte is answered, or between two HTTP requests.
One that is relayed moves on from its front, so that no byte passes more than two nodes. A node that
gets a connection and is not the home any more places it again.
"""

import asyncio
import socket
from collections.abc import Callable, Mapping
from functools import partial
from itertools import count
from typing import cast

import structlog

from botdrome.server.network.listening import MakeProtocol
from botdrome.server.network.peer import Origin, Peer, pause_reading
from botdrome.server.nodes import relay_messages as relay
from botdrome.server.nodes.cluster import Cluster, rooms_of
from botdrome.server.nodes.moving import Mover
from botdrome.server.nodes.node import Key, NodeId
from botdrome.server.nodes.relayed_transport import RELAYED, RelayedTransport
from botdrome.server.nodes.rooms import RoomsHere

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
        self._tell(
            relay.OpenRelay(number, self.port, self.key, str(peer[0]), int(peer[1]), proxied, tls)
        )
        seen, self.seen = self.seen, b""
        if seen:
            self._tell(relay.Input(number, seen))
        if self._output_paused:
            self.pause_writing()
        if self._ended:
            self._tell(relay.InputEnded(number))
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

    def _tell(self, message: relay.FromFront) -> None:
        if self.home is not None:
            self._relay.send(self.home, message)

    def abort(self) -> None:
        if self.transport is not None:
            self.transport.abort()

    # Called by the transport.

    def data_received(self, data: bytes) -> None:
        if self.home is not None:
            return self._tell(relay.Input(self._number, data))
        self.seen += data
        if len(self.seen) > MOST_HELD:
            pause_reading(self.transport, True)
        return None

    def eof_received(self) -> bool:
        self._ended = True
        self._tell(relay.InputEnded(self._number))
        return True

    def pause_writing(self) -> None:
        self._output_paused = True
        self._tell(relay.OutputPaused(self._number, True))

    def resume_writing(self) -> None:
        self._output_paused = False
        self._tell(relay.OutputPaused(self._number, False))

    def connection_lost(self, exc: Exception | None) -> None:
        self.transport, self.home = None, self.home or self.returning
        self._tell(relay.ClientLost(self._number))
        self._relay.forget(self._number)

    # Called by the home.

    def receive(self, message: relay.ToFront) -> None:
        transport = self.transport
        if transport is None:
            return
        match message:
            case relay.Output():
                transport.write(message.data)
            case relay.OutputEnded():
                transport.write_eof()
            case relay.PauseInput():
                transport.pause_reading() if message.paused else transport.resume_reading()
            case relay.EndRelay():
                transport.abort() if message.abort else transport.close()
            case relay.Recall():
                self._tell(relay.Recalled(self._number))
                self.returning, self.home = self.home, None
            case relay.GiveBack():
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
        cluster.links.on(relay.TOPIC, self._receive)
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

    def send(self, node: NodeId, message: relay.RelayMessage) -> None:
        self._cluster.links.send(node, relay.TOPIC, relay.encode(message))

    def forget(self, number: int) -> None:
        self._fronts.pop(number, None)

    # Messages of other nodes.

    def _receive(self, sender: NodeId, payload: bytes) -> None:
        message = relay.decode(payload)
        if isinstance(message, relay.OpenRelay):
            self._accept(sender, message)
        elif isinstance(message, relay.ToFront):
            front = self._fronts.get(message.number)
            if front is not None and sender in (front.home, front.returning):
                front.receive(message)
        elif (transport := self._homes.get((sender, message.number))) is not None:
            transport.receive(message)

    def _accept(self, front: NodeId, message: relay.OpenRelay) -> None:
        if not self._serves(message.port, message.key):
            return self.send(front, relay.EndRelay(message.number, True))
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
