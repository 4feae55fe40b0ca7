"""Forwarder: brings connections to the node that has the rooms that they need.

A connection moves before its first byte is answered, or between two HTTP requests. A node that
gets a connection and is not the home any more places it again.
"""

import asyncio
from collections.abc import Iterable, Mapping
from functools import partial
from typing import cast
from urllib.parse import unquote_to_bytes

from botdrome.server.lobby.desk import Desk
from botdrome.server.network.dispatcher import Forwarding
from botdrome.server.network.listening import MakeProtocol
from botdrome.server.nodes.cluster import Key, NodeId, rooms_of
from botdrome.server.nodes.moving import PORT, WAITS, FrontConnection, Mover, header_of
from botdrome.server.nodes.pipes import Header
from botdrome.server.nodes.rooms import Cluster, Rooms, RoomsHere
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


class Routing:
    """Which node answers an HTTP request, by its target."""

    def __init__(self, targets: Iterable[tuple[str, str]]) -> None:
        """`targets` are beginnings of targets, with the game in whose rooms they are answered."""
        self._games = [(target.encode(), rooms_of(game)) for target, game in targets]

    def key_of(self, target: bytes) -> Key | None:
        """Return what a request needs; None: any node answers it."""
        # The path as the application reads it; the query may follow.
        path = unquote_to_bytes(target) if b"%" in target else target
        return next((key for beginning, key in self._games if path.startswith(beginning)), None)


class Forwarder:
    def __init__(
        self,
        desk: Desk,
        cluster: Cluster,
        rooms: Mapping[str, Rooms],
        targets: Iterable[tuple[str, str]],
        mover: Mover,
    ) -> None:
        """`rooms` are those of each game, and `targets` as in `Routing`."""
        self.rooms = {
            rooms_of(game): RoomsHere(
                cluster, rooms_of(game), one, desk.tasks.start, desk.store.probe
            )
            for game, one in rooms.items()
        }
        cluster.rooms = self.rooms
        self._cluster, self._mover = cluster, mover
        mover.make_port, mover.place = self._make, self._place
        self.ports: dict[str, MakeProtocol] = {}
        """The protocols of the ports, by their names, for connections that come from other nodes.
        """
        self._key_of = Routing(targets).key_of
        self.forwarding = Forwarding(self._leaves, self._forward)
        """Which connections of the HTTP port go to another node."""

    def stop(self) -> None:
        """The server stops: give no rooms away any more."""
        for one in self.rooms.values():
            one.stop()

    def routed(self, make: MakeProtocol, port: str, game: str) -> MakeProtocol:
        """Return the protocol factory of a port whose clients meet in the rooms of a game; empty:
        they do not.
        """
        self.ports[port] = make
        return self._for(port, rooms_of(game)) if game else make

    def _for(self, port: str, key: Key, sent_here: bool = False) -> MakeProtocol:
        rooms, make = self.rooms[key], self.ports[port]
        return lambda: make() if rooms.open else Unplaced(self, port, key, sent_here)

    def _make(self, header: Header) -> MakeProtocol:
        transfer = header.transfer
        return partial(PassedOn, self._for(transfer.target, transfer.key, True), header.rest)

    def _leaves(self, target: bytes) -> bool:
        key = self._key_of(target)
        return key is not None and not self.rooms[key].open

    def _forward(self, transport: asyncio.Transport, seen: bytes, target: bytes) -> None:
        key = self._key_of(target)
        assert key is not None
        self.forward(transport, seen, "http", key)

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
            rooms = self.rooms[front.header.transfer.key]
            rooms.when_open(partial(self._stay, front), partial(self._place, front))
        else:
            front.to = home
            front.go(WAITS)

    def _stay(self, front: FrontConnection) -> None:
        if front.transport is not None:
            self._mover.stay(front)
