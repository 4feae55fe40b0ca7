"""Placement: chooses the node of each table, so that tables spread evenly and few connections have
to move or be carried.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from botdrome.server.nodes.node import Members, Node, NodeId, able

SLACK = 1 / 8
"""A node with so much more tables than the least busy one is about as busy: connections do not move
for less.
"""
SETTLING = 2.0
"""Seconds after which what a node tells counts as much as what was known of it. Short matches begin
and end between two beats, so the number of tables in one beat says little, and tables would follow
it from node to node.
"""


class ClientPlace(NamedTuple):
    """Where a client is."""

    session: NodeId
    socket: NodeId
    """If this is another node than that of the session, the client's messages are carried."""
    fixed: bool = False
    """Its socket cannot be handed to another process."""


class Placement:
    """The nodes know each other's number of tables from their beats.

    Between beats, the tables that are placed count.
    """

    def __init__(self, members: Members, clock: Callable[[], float]) -> None:
        """`clock` returns seconds."""
        self._members, self._clock, self._last = members, clock, clock()
        self._nodes: dict[NodeId, Node] = {}
        self._able: dict[NodeId, Node] = {}
        self._groups: dict[str, set[NodeId]] = {}
        """By machine: the nodes that take sockets, and know the same games as this one."""
        self._tables: dict[NodeId, float] = {}
        """An estimate for each node.

        Each table that is placed there adds one, and beats correct it.
        """

    def choose(self, clients: Sequence[ClientPlace | None]) -> NodeId:
        """Return the node for a table of these clients: among those with few tables the one with
        the least work for connections.

        That is a node of one of the clients, or another one to which all sockets can be handed.
        None: a client cannot leave this node.
        """
        self._read()
        found = [client for client in clients if client is not None]
        nodes = self._candidates(found) if len(found) == len(clients) else set()
        chosen = self._best(nodes, found) if nodes else self._members.here.id
        self._tables[chosen] += 1
        return chosen

    def _read(self) -> None:
        nodes = self._members.nodes
        if nodes is self._nodes:
            return
        now, told = self._clock(), {node.id: node.load.get("tables", 0) for node in nodes.values()}
        passed, self._last = now - self._last, now
        weight, known = (
            passed / (passed + SETTLING),
            {one: self._tables.get(one, number) for one, number in told.items()},
        )
        self._nodes, self._tables = (
            nodes,
            {one: known[one] + weight * (told[one] - known[one]) for one in told},
        )
        self._able, self._groups = {node.id: node for node in able(list(nodes.values()))}, {}
        for node in self._able.values():
            if node.handover and node.version == self._members.here.version:
                self._groups.setdefault(node.machine, set()).add(node.id)

    def _candidates(self, clients: list[ClientPlace]) -> set[NodeId]:
        own = {
            node for client in clients for node in (client.session, client.socket)
        } & self._able.keys()
        machines = {None if client.fixed else self._machine(client.socket) for client in clients}
        return own | self._groups.get(machines.pop() or "", set()) if len(machines) == 1 else own

    def _best(self, nodes: set[NodeId], clients: list[ClientPlace]) -> NodeId:
        tables = self._tables
        least = min(tables[node] for node in nodes)
        few = [node for node in nodes if tables[node] < least + 1 + least * SLACK]

        def work(node: NodeId) -> tuple[int, int, float, NodeId]:
            carried = sum(self._is_carried(client, node) for client in clients)
            return carried, sum(client.session != node for client in clients), tables[node], node

        return min(few, key=work)

    def _is_carried(self, client: ClientPlace, node: NodeId) -> bool:
        """Whether a client's messages would be carried to a table at that node."""
        if client.socket == node:
            return False
        there = self._nodes[node]
        return client.fixed or not there.handover or self._machine(client.socket) != there.machine

    def _machine(self, node: NodeId) -> str | None:
        return None if (found := self._nodes.get(node)) is None else found.machine
