"""Relay: gives whole connections to another node before anything was answered, because what they ask for is there.

On one machine the socket itself goes to the other process; otherwise its bytes are relayed over the link, both ways.
"""

import asyncio
import socket
from collections.abc import Callable
from functools import partial
from itertools import count
from typing import cast

import structlog

from botdrome.server.network.listening import MakeProtocol
from botdrome.server.network.peer import Origin
from botdrome.server.nodes import relay_messages as relay
from botdrome.server.nodes.cluster import Cluster
from botdrome.server.nodes.moving import Mover
from botdrome.server.nodes.node import NodeId
from botdrome.server.nodes.relayed_transport import RelayedTransport
from botdrome.server.nodes.rooms import RoomsHere

log = structlog.get_logger()

HTTP = "http"
"""The port whose requests tell where they are answered."""
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

    def __init__(self, to: "Relay", port: str) -> None:
        self._relay, self.port = to, port
        self.seen = b""
        self.transport: asyncio.Transport | None = None
        self.home: NodeId | None = None
        """None: not known yet."""
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
        peer, proxied = transport.get_extra_info("peername"), bool(transport.get_extra_info("proxied"))
        tls = transport.get_extra_info("sslcontext") is not None
        self._tell(relay.OpenRelay(number, self.port, str(peer[0]), int(peer[1]), proxied, tls))
        seen, self.seen = self.seen, b""
        if seen:
            self._tell(relay.Input(number, seen))

    def stay(self, protocol: asyncio.BaseProtocol) -> None:
        """The rooms have come to this node."""
        transport, self.transport = self.transport, None
        assert transport is not None
        transport.set_protocol(protocol)
        protocol.connection_made(transport)
        if self.seen:
            cast(asyncio.Protocol, protocol).data_received(self.seen)

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
        if len(self.seen) > MOST_HELD and self.transport is not None:
            self.transport.abort()
        return None

    def eof_received(self) -> bool:
        self._tell(relay.InputEnded(self._number))
        return self.home is not None

    def pause_writing(self) -> None:
        self._tell(relay.OutputPaused(self._number, True))

    def resume_writing(self) -> None:
        self._tell(relay.OutputPaused(self._number, False))

    def connection_lost(self, exc: Exception | None) -> None:
        self.transport = None
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


class Relay:
    def __init__(self, cluster: Cluster, rooms: RoomsHere, mover: Mover, make_peer: MakePeer) -> None:
        """`make_peer` makes the layer between a connection that came from another node and its protocol."""
        self._cluster, self._rooms, self._mover, self._make_peer = cluster, rooms, mover, make_peer
        mover.take_port = self._take
        self.ports: dict[str, MakeProtocol] = {}
        """The protocols of the ports, by their names, for connections that come from other nodes."""
        self._numbers = count(1)
        self._fronts: dict[int, RelayFront] = {}
        self._homes: dict[tuple[NodeId, int], RelayedTransport] = {}
        cluster.links.on(relay.TOPIC, self._receive)
        cluster.links.on_lost.append(self._link_lost)

    def routed(self, make: MakeProtocol, port: str) -> MakeProtocol:
        """Return the protocol factory of a port. Clients of all but HTTP meet in the rooms."""
        self.ports[port] = make
        return make if port == HTTP else lambda: make() if self._rooms.open else RelayFront(self, port)

    def forward(self, transport: asyncio.Transport, seen: bytes, port: str) -> None:
        """Give a connection to the home of the rooms. `seen` is what was read of it and counts anew."""
        RelayFront(self, port).take(transport, seen)

    def place(self, front: RelayFront) -> None:
        """Find the home of a connection, unless it is lost by now."""
        if front.transport is not None:
            self._cluster.with_rooms(partial(self._open, front))

    def _open(self, front: RelayFront, home: NodeId) -> None:
        if front.transport is None:
            return None
        if home == self._cluster.here:
            return self._rooms.when_open(partial(self._stay, front), front.abort)
        if self._mover.give_port(front.transport, home, front.port, front.seen):
            return None
        number = next(self._numbers)
        self._fronts[number] = front
        return front.open(home, number)

    def _take(self, client: socket.socket, port: str, origin: Origin, seen: bytes) -> None:
        """A process of this machine has passed on the socket of a client."""
        make = self.ports.get(port)
        if make is None:
            log.error("a connection came from another node for a port that this node has not", port=port)
            return client.close()
        taken = partial(PassedOn, make, seen)
        begin = partial(self._mover.accept, client, self._make_peer(taken, origin))
        return self._rooms.when_open(begin, client.close)

    def _stay(self, front: RelayFront) -> None:
        if front.transport is not None:
            front.stay(self.ports[front.port]())

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
            if front is not None and front.home == sender:
                front.receive(message)
        elif (transport := self._homes.get((sender, message.number))) is not None:
            transport.receive(message)

    def _accept(self, front: NodeId, message: relay.OpenRelay) -> None:
        make, key = self.ports.get(message.port), (front, message.number)
        if make is None:
            log.error("a connection came from another node for a port that this node has not", port=message.port)
            return self.send(front, relay.EndRelay(message.number, True))
        transport = RelayedTransport(message, partial(self.send, front), partial(self._forget_home, key))
        self._homes[key] = transport
        peer = self._make_peer(make, Origin(message.address, message.client_port, message.proxied))
        return self._rooms.when_open(lambda: transport.begin(cast(asyncio.Protocol, peer())), transport.abort)

    def _forget_home(self, key: tuple[NodeId, int]) -> None:
        self._homes.pop(key, None)

    def _link_lost(self, node: NodeId) -> None:
        for front in [one for one in self._fronts.values() if one.home == node]:
            front.abort()
        for transport in [one for (front, _), one in self._homes.items() if front == node]:
            transport.lost()
