"""The nodes of a cluster, and the homes of what happens at one node."""

from collections.abc import Callable, Iterable, Sequence
from hashlib import blake2b

from botdrome.catalogue import CATALOGUE
from botdrome.store.nodes import Node as Node

NodeId = str
"""The name and the epoch of a node, as in `ant.7`: a node that comes back has another id."""
MESSAGES = 7
"""The version of the messages between nodes. Nodes with different versions do not work together."""
Key = str
"""What has to happen in one place: a group of equal wishes, or the rooms and contests of a game."""


Choice = Callable[[Key, Iterable[Node]], Node]
"""Chooses the home of a key among live nodes."""


def choose(key: Key, nodes: Iterable[Node]) -> Node:
    """Return the home of a key by rendezvous hashing: when a node leaves, only its own
    keys move.
    """
    return max(
        able(nodes), key=lambda node: blake2b(f"{key} {node.id}".encode(), digest_size=8).digest()
    )


def spread(keys: Sequence[Key], nodes: Iterable[Node]) -> dict[Key, Node]:
    """Choose a home for each key so that all nodes have about as many: hashing alone spreads few
    keys unevenly.
    """
    homes: dict[Key, Node] = {}
    all_nodes = able(nodes)
    left: list[Node] = []
    for key in keys:
        left = left or all_nodes
        homes[key] = choose(key, left)
        left = [node for node in left if node is not homes[key]]
    return homes


def able(nodes: Iterable[Node]) -> list[Node]:
    """The nodes that take matches; if none does, all."""
    found = list(nodes)
    return [node for node in found if not node.draining] or found


def rooms_of(game: str) -> Key:
    """The rooms and contests of a game, which share bots: they have one home, claimed
    in the store.
    """
    return f"rooms {game}"


PLACES: tuple[Key, ...] = tuple(map(rooms_of, CATALOGUE))
"""The keys whose homes are claimed, in the order in which they are spread over the nodes."""
