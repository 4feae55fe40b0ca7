"""A node of the cluster, and the parts of the cluster as the rest of the server sees them."""

from collections.abc import Callable
from hashlib import blake2b
from typing import Protocol

from msgspec import Struct

NodeId = str
"""The name and the epoch of a node, as in `ant.7`: a node that comes back has another id."""
MESSAGES = 1
"""The version of the messages between nodes. Nodes with different versions do not work together."""
Key = str
"""What has to happen in one place: a group of equal wishes, or a room."""


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
    """Tables, connections, waiting clients, CPU time; for people."""

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

    def room_home(self, key: Key) -> NodeId | None:
        """Return the node that has claimed a room; None: none has, as far as this node knows."""

    async def claim(self, key: Key) -> NodeId:
        """Return the home of a room; if it has none, claim it for the node that `choose` names."""


class Links(Protocol):
    """Ordered messages to other nodes. Nothing here waits or raises; what a link loses is reported on both sides."""

    def send(self, to: NodeId, topic: str, payload: bytes) -> None:
        """All messages of one loop turn to one node leave together."""

    def broadcast(self, topic: str, payload: bytes) -> None:
        """Send to all other live nodes."""

    def on(self, topic: str, receive: Callable[[NodeId, bytes], None]) -> None:
        """Set the receiver of a topic."""

    on_lost: list[Callable[[NodeId], None]]
    """Called when a node is dead or when messages from or to it were lost: whatever hangs on this link ends."""


def choose(key: Key, nodes: list[Node]) -> Node:
    """Return the home of a key by rendezvous hashing: when a node leaves, only its own keys move."""
    able = [node for node in nodes if not node.draining] or nodes
    return max(able, key=lambda node: blake2b(f"{key} {node.id}".encode(), digest_size=8).digest())
