"""Links between nodes of one process."""

import asyncio
from collections.abc import Callable

from botdrome.server.nodes.cluster import NodeId


class Network:
    def __init__(self) -> None:
        self.links: dict[NodeId, MemoryLinks] = {}

    def cut(self, one: NodeId, other: NodeId) -> None:
        """Both are told that messages between them were lost."""
        for here, there in ((one, other), (other, one)):
            for tell in self.links[here].on_lost:
                tell(there)


class MemoryLinks:
    """What is sent in one turn of the loop arrives in the next one."""

    connected = True

    def __init__(self, network: Network, here: NodeId) -> None:
        self.network, self._here = network, here
        self._receivers: dict[str, Callable[[NodeId, bytes], None]] = {}
        self.on_lost: list[Callable[[NodeId], None]] = []
        self.sent = 0
        network.links[here] = self

    def send(self, to: NodeId, topic: str, payload: bytes) -> None:
        self.sent += 1
        asyncio.get_running_loop().call_soon(
            self.network.links[to]._receivers[topic], self._here, payload
        )

    def broadcast(self, topic: str, payload: bytes) -> None:
        for to in self.network.links.keys() - {self._here}:
            self.send(to, topic, payload)

    def on(self, topic: str, receive: Callable[[NodeId, bytes], None]) -> None:
        self._receivers[topic] = receive
