"""Forwarder: brings connections to the node that has the rooms that they need.

A connection moves before its first byte is answered, or between two HTTP requests. A node that
gets a connection and is not the home any more places it again.
"""

import asyncio
from collections.abc import Mapping
from functools import partial
from typing import cast

from botdrome.server.network.listening import MakeProtocol
from botdrome.server.nodes.cluster import Cluster, Key, NodeId, rooms_of
from botdrome.server.nodes.moving import PORT, WAITS, FrontConnection, Mover, header_of
from botdrome.server.nodes.pipes import Header
from botdrome.server.nodes.rooms import RoomsHere
from botdrome.server.session import Transfer


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


class Unplaced(asyncio.Protocol):
    """A connection that needs rooms which are not open here."""

    def __init__(self, forwarder: "Forwarder", port: str, key: Key, sent_here: bool) -> None:
        """`sent_here`: another node takes this one for the home."""
        self._forwarder, self._port, self._key, self._sent = forwarder, port, key, sent_here

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        stream = cast(asyncio.Transport, transport)
        front = self._forwarder.forward(stream, b"", self._port, self._key, self._sent)
        self.data_received = front.data_received  # type: ignore[method-assign]


class Forwarder:
    def __init__(self, cluster: Cluster, rooms: Mapping[Key, RoomsHere], mover: Mover) -> None:
        self._cluster, self._rooms, self._mover = cluster, rooms, mover
        mover.make_port, mover.place = self._make, self._place
        self.ports: dict[str, MakeProtocol] = {}
        """The protocols of the ports, by their names, for connections that come from other nodes.
        """

    def routed(self, make: MakeProtocol, port: str, game: str) -> MakeProtocol:
        """Return the protocol factory of a port whose clients meet in the rooms of a game; empty:
        they do not.
        """
        self.ports[port] = make
        return self._for(port, rooms_of(game)) if game else make

    def _for(self, port: str, key: Key, sent_here: bool = False) -> MakeProtocol:
        rooms, make = self._rooms[key], self.ports[port]
        return lambda: make() if rooms.open else Unplaced(self, port, key, sent_here)

    def _make(self, header: Header) -> MakeProtocol:
        transfer = header.transfer
        return partial(PassedOn, self._for(transfer.target, transfer.key, True), header.rest)

    def forward(
        self,
        transport: asyncio.Transport,
        seen: bytes,
        port: str,
        key: Key,
        sent_here: bool = False,
    ) -> FrontConnection:
        """Give a connection to the home of a key. `seen` is what was read of it and counts anew."""
        header = header_of(transport, Transfer(PORT, port, key), seen)
        front = FrontConnection(self._mover, transport, header)
        # Behind a proxy, the first input is delivered only after this.
        asyncio.get_running_loop().call_soon(self._place, front, sent_here)
        return front

    def _place(self, front: FrontConnection, sent_here: bool = False) -> None:
        if sent_here:
            self._open(front, self._cluster.here)
        elif front.transport is not None:
            self._cluster.with_home(front.header.transfer.key, partial(self._open, front))

    def _open(self, front: FrontConnection, home: NodeId) -> None:
        if front.transport is None:
            return
        if home == self._cluster.here:
            rooms = self._rooms[front.header.transfer.key]
            rooms.when_open(partial(self._stay, front), partial(self._place, front))
        else:
            front.to = home
            front.go(WAITS)

    def _stay(self, front: FrontConnection) -> None:
        if front.transport is not None:
            self._mover.stay(front)
