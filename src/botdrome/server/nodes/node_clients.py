"""NodeClients: brings clients of this node to other nodes, and those of other nodes here."""

import asyncio
from collections.abc import Awaitable, Callable

from botdrome.server.lobby.desk import Desk
from botdrome.server.network.dispatcher import Forwarding
from botdrome.server.nodes.cluster import Cluster
from botdrome.server.nodes.moving import Mover
from botdrome.server.nodes.node import Links, Members
from botdrome.server.nodes.relay import MakePeer, Relay
from botdrome.server.nodes.rooms import RoomsHere
from botdrome.server.nodes.shared_desk import SharedDesk

OF_ROOMS = (b"/api/v1/", b"/bomber/", b"/boats/", b"/connect", b"/duel/", b"/graphql", b"/socket.io/")
"""Targets, by their beginnings, whose answers depend on rooms, contests or the operator."""
OF_ALL = (b"/api/v1/docs", b"/api/v1/games", b"/api/v1/matches", b"/api/v1/nodes", b"/api/v1/openapi.json", b"/api/v1/ratings")
"""Those among them that every node answers from the store."""


class NodeClients:
    def __init__(
        self, desk: Desk, members: Members, links: Links, open_rooms: Callable[[], Awaitable[None]], make_peer: MakePeer
    ) -> None:
        self.cluster = Cluster(members, links, desk.tasks.start)
        self.rooms = RoomsHere(self.cluster, open_rooms, desk.tasks.start)
        self.relay = Relay(self.cluster, self.rooms, make_peer)
        self.mover = Mover(members, links)
        desk.shared = SharedDesk(desk, self.cluster, self.mover)

    def forwarding(self, port: str) -> Forwarding:
        """Which connections of an HTTP port go to the home of the rooms."""

        def forward(transport: asyncio.Transport, seen: bytes) -> None:
            self.relay.forward(transport, seen, port)

        return Forwarding(self._leaves, forward)

    def _leaves(self, target: bytes) -> bool:
        return not self.rooms.open and target.startswith(OF_ROOMS) and not target.startswith(OF_ALL)
