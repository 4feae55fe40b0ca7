"""Second memory: another node keeps the inputs of this node's matches in its memory until
PostgreSQL has them.
"""

import asyncio
from collections import deque
from collections.abc import Callable

import msgspec
import structlog

from botdrome.server.nodes.cluster import Links, Members, NodeId, choose
from botdrome.server.nodes.held_inputs import ACKNOWLEDGED, TOPIC, Batch, Drop, Hold, encode

log = structlog.get_logger()

PATIENCE = 0.5
"""Seconds in which the other node acknowledges a batch."""
MOST = 8 << 20
"""Bytes that PostgreSQL does not have yet. More are not kept."""

_decode = msgspec.msgpack.Decoder(int).decode


class SecondMemory:
    """See `OtherMemory`.

    If the node is lost, the next one gets all that PostgreSQL does not have yet.
    """

    def __init__(self, members: Members, links: Links) -> None:
        self._members, self._links = members, links
        self._loop = asyncio.get_running_loop()
        self._node: NodeId | None = None
        self._up = False
        """Whether the node has acknowledged something."""
        self._asked: float | None = None
        """When the last progress was made with what is not acknowledged; None: everything is."""
        self._unstored: deque[Batch] = deque()
        self._former: dict[NodeId, int] = {}
        """Nodes that were chosen before, and the last batches that they may have."""
        self._bytes = self._last = self._stored = 0
        self.acknowledge: Callable[[int], None] = lambda _: None
        links.on(ACKNOWLEDGED, self._receive)
        links.on_lost.append(self._lose)
        members.on_change.append(self._choose)
        self._choose()

    @property
    def answers(self) -> bool:
        return (
            self._up
            and not self.full
            and (self._asked is None or self._loop.time() - self._asked < PATIENCE)
        )

    @property
    def full(self) -> bool:
        return self._bytes > MOST

    def keep(self, number: int, data: bytes) -> None:
        self._unstored.append((number, data))
        self._bytes += len(data)
        self._last = number
        self._send(number, data)

    def stored(self, number: int) -> None:
        self._stored = number
        while self._unstored and self._unstored[0][0] <= number:
            self._bytes -= len(self._unstored.popleft()[1])
        if self._former:
            self._release_former()

    def close(self) -> None:
        """All matches are over."""
        if self._node is not None:
            self._links.send(self._node, TOPIC, encode(Drop()))

    def _release_former(self) -> None:
        """Let nodes that were chosen before forget what PostgreSQL has by now."""
        for node in [node for node, last in self._former.items() if last <= self._stored]:
            del self._former[node]
            if node in self._members.nodes:
                self._links.send(node, TOPIC, encode(Drop()))

    def _send(self, number: int, data: bytes) -> None:
        if self._node is not None:
            self._links.send(self._node, TOPIC, encode(Hold(number, self._stored, data)))
            if self._asked is None:
                self._asked = self._loop.time()

    def _receive(self, node: NodeId, payload: bytes) -> None:
        if node == self._node:
            self._up, number = True, _decode(payload)
            self._asked = None if number == self._last else self._loop.time()
            self.acknowledge(number)

    def _lose(self, node: NodeId) -> None:
        if node == self._node:
            self._choose(node)

    def _choose(self, lost: NodeId | None = None) -> None:
        """Choose the node. One whose link was lost is chosen if there is no other."""
        here = self._members.here
        others = [node for node in self._members.nodes.values() if node.id != here.id]
        able = [node for node in others if node.id != lost] or others
        chosen = choose(f"inputs {here.name}", able).id if able else None
        if chosen == self._node and lost is None:
            return
        if chosen is None:
            log.warning("no other node can keep inputs in its memory: news waits for PostgreSQL")
        if self._node is not None:
            self._former[self._node] = self._last
        self._former.pop(chosen or "", None)
        self._node, self._up, self._asked = chosen, False, None
        self._release_former()
        for number, data in self._unstored:
            self._send(number, data)
