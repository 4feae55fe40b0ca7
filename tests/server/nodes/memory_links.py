"""Links between nodes of one process."""

import asyncio

from botdrome.server.nodes.cluster import NodeId
from botdrome.server.nodes.links import Links, NotAnswered
from botdrome.server.nodes.membership import Membership


class Network:
    def __init__(self) -> None:
        self.links: dict[NodeId, MemoryLinks] = {}
        self.silent = False
        """Whether messages are lost."""


class MemoryLinks(Links):
    """What is sent in one turn of the loop arrives in the next one."""

    def __init__(self, network: Network, members: Membership) -> None:
        super().__init__(members)
        self.network = network
        network.links[members.here.id] = self

    def _publish(self, to: NodeId | None, data: bytes) -> None:
        others = self.network.links.keys() - {self.members.here.id}
        for node in others if to is None else others & {to}:
            if not self.network.silent:
                asyncio.get_running_loop().call_soon(self.network.links[node]._deliver, data)

    async def ask(self, to: NodeId, question: bytes, seconds: float) -> bytes:
        if self.network.silent:
            raise NotAnswered("NATS cannot be reached at present")
        message = self.network.links[to]._unpacked(self._packed("", question))
        assert message is not None
        return await self.network.links[to].answer(message.body)
