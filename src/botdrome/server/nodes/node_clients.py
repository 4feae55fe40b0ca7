"""NodeClients: brings clients of this node to other nodes, and those of other nodes here."""

import asyncio
from collections.abc import Awaitable, Callable

from botdrome.server.lobby.desk import Desk
from botdrome.server.network.dispatcher import Forwarding
from botdrome.server.nodes.cluster import Cluster
from botdrome.server.nodes.moving import Mover
from botdrome.server.nodes.relay import MakePeer, Relay
from botdrome.server.nodes.rooms import RoomsHere

OpenRooms = Callable[[], Awaitable[None]]
OF_ROOMS = (b"/api/v1/", b"/bomber/", b"/boats/", b"/connect", b"/duel/", b"/graphql", b"/socket.io/")
"""Targets, by their beginnings, whose answers depend on rooms, contests or the operator."""
OF_ALL = (b"/api/v1/docs", b"/api/v1/games", b"/api/v1/matches", b"/api/v1/nodes", b"/api/v1/openapi.json", b"/api/v1/ratings")
"""Those among them that every node answers from the store."""


class NodeClients:
    def __init__(self, desk: Desk, cluster: Cluster, mover: Mover, open_rooms: OpenRooms, make_peer: MakePeer) -> None:
        self._rooms = RoomsHere(cluster, open_rooms, desk.tasks.start)
        self.relay = Relay(cluster, self._rooms, mover, make_peer)

    def forwarding(self, port: str) -> Forwarding:
        """Which connections of an HTTP port go to the home of the rooms."""

        def forward(transport: asyncio.Transport, seen: bytes) -> None:
            self.relay.forward(transport, seen, port)

        return Forwarding(self._leaves, forward)

    def _leaves(self, target: bytes) -> bool:
        return not self._rooms.open and target.startswith(OF_ROOMS) and not target.startswith(OF_ALL)
