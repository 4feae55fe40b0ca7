"""A node of the cluster, and the parts of the cluster as the rest of the server sees them."""

from collections.abc import Callable, Sequence
from hashlib import blake2b
from typing import Protocol

from msgspec import Struct

NodeId = str
"""The name and the epoch of a node, as in `ant.7`: a node that comes back has another id."""
MESSAGES = 2
"""The version of the messages between nodes. Nodes with different versions do not work together."""
Key = str
"""What has to happen in one place: a group of equal wishes, or the rooms and contests of a game."""


class Node(Struct, frozen=True):
    """A live node."""

    name: str
    epoch: int
    machine: str
    """Nodes with the same value can pass sockets to each other."""
    handover: str
    """The Unix socket on which it takes connections; empty: it takes none."""
    version: str
    url: str = ""
    """Its own HTTP address, for people."""
    draining: bool = False
    """It takes no new matches, because it is about to stop."""
    load: dict[str, float] = {}
    """Tables, connections, waiting clients, CPU time.

    `placement.py` reads the tables, people the rest.
    """

    @property
    def id(self) -> NodeId:
        return f"{self.name}.{self.epoch}"


class Members(Protocol):
    """The live nodes."""

    here: Node

    @property
    def nodes(self) -> dict[NodeId, Node]:
        """All live nodes, this one too."""

    on_change: list[Callable[[], None]]
    """Called after nodes came or went, or homes of rooms changed."""
    on_draining: list[Callable[[], None]]
    """Called when this node is drained, before it gives up its rooms."""
    leaving: bool
    """Whether this node is drained, so that other nodes get its rooms, because one of them takes
    matches.
    """

    def room_home(self, key: Key) -> NodeId | None:
        """Return the node that has claimed rooms; None: none has, as far as this node knows."""

    async def claim(self, key: Key, choice: "Choice | None" = None) -> NodeId:
        """Return the home of rooms; if they have none, claim them for the node of the choice."""

    async def give(self, key: Key, to: NodeId) -> NodeId:
        """Make another node the home of rooms that are here.

        Return their home, which is still here if that node is dead.
        """


class Links(Protocol):
    """Ordered messages to other nodes.

    Nothing here waits or raises; what a link loses is reported on both sides.
    """

    @property
    def connected(self) -> bool:
        """Whether any other node can be reached."""

    def send(self, to: NodeId, topic: str, payload: bytes) -> None:
        """All messages of one loop turn to one node leave together."""

    def broadcast(self, topic: str, payload: bytes) -> None:
        """Send to all other live nodes."""

    def on(self, topic: str, receive: Callable[[NodeId, bytes], None]) -> None:
        """Set the receiver of a topic."""

    on_lost: list[Callable[[NodeId], None]]
    """Called when a node is dead or when messages from or to it were lost: whatever hangs on this
    link ends.
    """


Choice = Callable[[Key, list[Node]], Node]
"""Chooses the home of a key among live nodes."""


def choose(key: Key, nodes: list[Node]) -> Node:
    """Return the home of a key by rendezvous hashing: when a node leaves, only its own
    keys move.
    """
    return max(
        able(nodes), key=lambda node: blake2b(f"{key} {node.id}".encode(), digest_size=8).digest()
    )


def spread(keys: Sequence[Key], nodes: list[Node]) -> dict[Key, Node]:
    """Choose a home for each key so that all nodes have about as many: hashing alone spreads few
    keys unevenly.
    """
    homes: dict[Key, Node] = {}
    left: list[Node] = []
    for key in keys:
        left = left or able(nodes)
        homes[key] = choose(key, left)
        left = [node for node in left if node is not homes[key]]
    return homes


def able(nodes: list[Node]) -> list[Node]:
    """The nodes that take matches; if none does, all."""
    return [node for node in nodes if not node.draining] or nodes
