"""Held inputs: inputs of other nodes that this node keeps in memory until PostgreSQL has them.

If such a node dies, the nodes that take over its matches ask all others for what they hold. A node
that was asked for the inputs of another acknowledges nothing more to it: that node may be frozen,
and would tell its players of moves that are lost.
"""

import asyncio
from collections import deque
from contextlib import suppress

import msgspec
import structlog
from msgspec import Struct

from botdrome.server.nodes.cluster import Links, Members, NodeId

log = structlog.get_logger()

TOPIC, ACKNOWLEDGED = "inputs", "inputs held"
RETENTION = 60.0
"""Seconds for which the inputs of a dead node are held."""
ANSWER = 0.5
"""Seconds in which the others answer."""

Batch = tuple[int, bytes]
"""The number of a batch, in the order of all rows and batches of its node, and its chunks."""


class Hold(Struct, frozen=True, array_like=True, tag="h"):
    """Hold a batch. PostgreSQL has all batches up to `stored`."""

    number: int
    stored: int
    data: bytes


class Drop(Struct, frozen=True, array_like=True, tag="d"):
    """PostgreSQL has everything."""


class Ask(Struct, frozen=True, array_like=True, tag="a"):
    """To all: what do you hold of this dead node?"""

    node: NodeId


class Found(Struct, frozen=True, array_like=True, tag="f"):
    """The answer."""

    node: NodeId
    batches: list[Batch]


encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(Hold | Drop | Ask | Found).decode


class Search:
    """A question to all other nodes about a dead one."""

    def __init__(self, dead: NodeId, asked: set[NodeId]) -> None:
        self.dead, self.silent, self.found = dead, asked, list[Batch]()
        self.done = asyncio.Event()
        self.answered()

    def answered(self, by: NodeId | None = None) -> None:
        """This node has answered, or cannot."""
        self.silent.discard(by or "")
        if not self.silent:
            self.done.set()


class HeldInputs:
    def __init__(self, members: Members, links: Links) -> None:
        self._members, self._links = members, links
        self._loop = asyncio.get_running_loop()
        self._batches: dict[NodeId, deque[Batch]] = {}
        self._dead: set[NodeId] = set()
        """Live nodes to which nothing is acknowledged, because others know that they are dead."""
        self._gone: set[NodeId] = set()
        """Dead nodes whose inputs are dropped before long."""
        self._searches: set[Search] = set()
        """Two may be about the same node: one for matches of dead nodes, one for matches that move
        here.
        """
        links.on(TOPIC, self._receive)
        links.on_lost.append(self._lose)
        members.on_change.append(self._follow_members)

    async def of(self, node: NodeId) -> list[Batch]:
        """Return what the live nodes hold of a dead one, in any order, and some of it twice."""
        if node in self._members.nodes:
            return []  # it has given up a match
        search = Search(node, set(self._members.nodes) - {self._members.here.id, node})
        self._searches.add(search)
        self._links.broadcast(TOPIC, encode(Ask(node)))
        with suppress(TimeoutError):
            async with asyncio.timeout(ANSWER):
                await search.done.wait()
        self._searches.remove(search)
        if search.silent:
            log.warning(
                "nodes did not say which inputs of a dead node they hold",
                dead=node,
                silent=sorted(search.silent),
            )
        return [*search.found, *self._held_of(node)]

    def _receive(self, node: NodeId, payload: bytes) -> None:
        message = _decode(payload)
        if isinstance(message, Hold):
            self._hold(node, message)
        elif isinstance(message, Drop):
            self._batches.pop(node, None)
        elif isinstance(message, Ask):
            self._links.send(node, TOPIC, encode(Found(message.node, self._held_of(message.node))))
        else:
            for search in self._searches:
                if search.dead == message.node:
                    search.found += message.batches
                    search.answered(node)

    def _hold(self, node: NodeId, message: Hold) -> None:
        if node in self._dead or node not in self._members.nodes:
            return
        batches = self._batches.setdefault(node, deque())
        while batches and batches[0][0] <= message.stored:
            batches.popleft()
        batches.append((message.number, message.data))
        self._links.send(node, ACKNOWLEDGED, encode(message.number))

    def _held_of(self, dead: NodeId) -> list[Batch]:
        if dead in self._members.nodes:
            self._dead.add(dead)
        return list(self._batches.get(dead, ()))

    def _lose(self, node: NodeId) -> None:
        for search in self._searches:
            search.answered(node)

    def _follow_members(self) -> None:
        live = self._members.nodes.keys()
        gone = self._batches.keys() - live - self._gone
        self._gone |= gone
        self._dead &= live
        for node in gone:
            self._loop.call_later(RETENTION, self._forget, node)

    def _forget(self, node: NodeId) -> None:
        self._batches.pop(node, None)
        self._gone.discard(node)
