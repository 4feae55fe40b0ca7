"""NodeClients: brings clients of this node to other nodes, and those of other nodes here."""

import asyncio
from collections.abc import Iterable, Mapping

from botdrome.server.lobby.desk import Desk
from botdrome.server.network.dispatcher import Forwarding
from botdrome.server.nodes.cluster import Cluster, rooms_of
from botdrome.server.nodes.moving import Mover
from botdrome.server.nodes.relay import MakePeer, Relay
from botdrome.server.nodes.rooms import Rooms, RoomsHere
from botdrome.server.nodes.routing import Routing

SETTLE, LOOK = 0.5, 0.01
"""Seconds for what happened in rooms to be stored, in which this node does not beat, and between
two looks at them.
"""


class NodeClients:
    def __init__(
        self,
        desk: Desk,
        cluster: Cluster,
        mover: Mover,
        rooms: Mapping[str, Rooms],
        targets: Iterable[tuple[str, str]],
        make_peer: MakePeer,
    ) -> None:
        """`rooms` are those of each game, and `targets` as in `Routing`."""
        places = {rooms_of(game): one for game, one in rooms.items()}
        self.rooms = {
            key: RoomsHere(cluster, key, one, desk.tasks.start) for key, one in places.items()
        }
        cluster.rooms = self.rooms
        self.relay = Relay(cluster, self.rooms, mover, make_peer)
        self._routing = Routing(targets)
        self._store, self._members = desk.store, cluster.members
        self._settling: asyncio.Task[None] | None = None
        """Goes on from beat to beat, as a busy store may take longer than one of them."""
        cluster.members.on_change.append(self._look)

    def forwarding(self, port: str) -> Forwarding:
        """Which connections of an HTTP port go to another node."""

        def forward(transport: asyncio.Transport, seen: bytes, target: bytes) -> None:
            key = self._routing.key_of(target)
            assert key is not None
            self.relay.forward(transport, seen, port, key)

        return Forwarding(self._leaves, forward)

    def _leaves(self, target: bytes) -> bool:
        key = self._routing.key_of(target)
        return key is not None and not self.rooms[key].open

    async def settle(self) -> bool:
        """Wait until what happened in the rooms is stored, but not for long.

        Return whether it is.
        """
        settling = self._settling or asyncio.ensure_future(self._all_stored())
        done, _ = await asyncio.wait([settling], timeout=SETTLE)
        self._settling = None if done else settling
        if done:
            settling.result()
        return bool(done)

    async def _all_stored(self) -> None:
        while not all(one.settled for one in self.rooms.values()):
            await asyncio.sleep(LOOK)
        await self._store.probe()  # all changes that were made before it are on disk

    def _look(self) -> None:
        if not self._members.leaving and self._settling is not None:
            self._settling.cancel()
            self._settling = None

    def stop(self) -> None:
        """The server stops: give no rooms away any more."""
        for one in self.rooms.values():
            one.stop()
