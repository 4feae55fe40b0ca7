"""Nodes that come and go as a test says."""

from collections.abc import Callable

from botdrome.server.nodes.cluster import Choice, Key, Node, NodeId, choose
from botdrome.server.nodes.membership import Membership


def node(name: str, epoch: int = 1) -> Node:
    return Node(name, epoch, machine="here", handover="", version="1")


class FixedMembers(Membership):
    def __init__(self, here: Node, *others: Node) -> None:
        self.here = here
        self.nodes = {one.id: one for one in (here, *others)}
        self._homes: dict[Key, NodeId] = {}
        self.on_change: list[Callable[[], None]] = []
        self._leaving = False

    @property
    def leaving(self) -> bool:
        return self._leaving

    @leaving.setter
    def leaving(self, leaving: bool) -> None:
        self._leaving = leaving

    def change(self, *others: Node) -> None:
        """These are all others now."""
        self.nodes = {one.id: one for one in (self.here, *others)}
        for call in self.on_change:
            call()

    def room_home(self, key: Key) -> NodeId | None:
        return self._homes.get(key)

    async def claim(self, key: Key, choice: Choice | None = None) -> NodeId:
        return self._homes.setdefault(key, (choice or choose)(key, list(self.nodes.values())).id)

    async def give(self, key: Key, to: NodeId) -> NodeId:
        self._homes[key] = to
        return to
