"""SharedDesk: the desks of all nodes as one.

Each node pairs its own clients; `contest/local_first.py` decides which of them go to another node.
A client goes there as a whole: its connection moves, and its session there seeks in its place, with
the time that it has waited. So a match begins where all its players are, and no node waits for
another one. If a client is lost on the way, nobody else notices.
"""

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from time import time_ns
from typing import NamedTuple, TypeGuard

from msgspec.structs import replace

from botdrome.contest.lobby import Seeker, Wish
from botdrome.contest.local_first import MOST_ALIKE, MOST_TOLD, DeskBeat, LocalFirst, PlayedGame
from botdrome.server.lobby.desk import Desk, OtherNodes, WaitingClient
from botdrome.server.nodes.cluster import Key, Node, NodeId, able, choose
from botdrome.server.nodes.links import Beat, Links
from botdrome.server.nodes.membership import Membership
from botdrome.server.nodes.moving import Mover, front_of, is_secure
from botdrome.server.nodes.rooms import Cluster
from botdrome.server.session import Session, Transfer

# Placement: chooses the node of each table, so that tables spread evenly and few connections have
# to move or be piped.

SLACK = 2.0
"""Times the root of the tables of the least busy node: a node with so many more is about as busy.
The number of short matches varies by chance as much, and connections do not move for that.
"""
SETTLING = 2.0
"""Seconds after which what a node tells counts as much as what was known of it. Short matches begin
and end between two beats, so the number of tables in one beat says little, and tables would follow
it from node to node.
"""


class ClientPlace(NamedTuple):
    """Where a client of this node has its socket."""

    socket: NodeId
    """If this is another node, the client's bytes are piped."""
    fixed: bool = False
    """Its socket cannot be handed to another process."""


class Placement:
    """The nodes know each other's number of tables from their beats.

    Between beats, the tables that are placed there count, too.
    """

    def __init__(
        self, members: Membership, tables: Callable[[], int], clock: Callable[[], float]
    ) -> None:
        """`tables` returns the number of tables here, `clock` seconds."""
        self._members, self._here, self._clock, self._last = members, tables, clock, clock()
        self._nodes: dict[NodeId, Node] = {}
        self._able: dict[NodeId, Node] = {}
        self._groups: dict[str, set[NodeId]] = {}
        """By machine: the nodes that take sockets, and know the same games as this one."""
        self._tables: dict[NodeId, float] = {}
        """An estimate for each node.

        Each table that is placed there adds one, and beats correct it.
        """

    def choose(self, clients: Sequence[ClientPlace]) -> NodeId:
        """Return the node for a table of clients that are here: among those with few tables the one
        with the least work for connections.

        That is this node, one of the clients' sockets, or another one to which all sockets can be
        handed.
        """
        self._read()
        self._tables[self._members.here.id] = self._here()
        nodes = self._candidates(clients)
        chosen = self._best(nodes, clients) if nodes else self._members.here.id
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
        self._able, self._groups = {node.id: node for node in able(nodes.values())}, {}
        for node in self._able.values():
            if node.handover and node.version == self._members.here.version:
                self._groups.setdefault(node.machine, set()).add(node.id)

    def _candidates(self, clients: Sequence[ClientPlace]) -> set[NodeId]:
        own = {self._members.here.id, *(client.socket for client in clients)} & self._able.keys()
        machines = {None if client.fixed else self._machine(client.socket) for client in clients}
        return own | self._groups.get(machines.pop() or "", set()) if len(machines) == 1 else own

    def _best(self, nodes: set[NodeId], clients: Sequence[ClientPlace]) -> NodeId:
        tables, here = self._tables, self._members.here.id
        least = min(tables[node] for node in nodes)
        enough = least + max(1.0, SLACK * least**0.5)
        few = [node for node in nodes if tables[node] < enough]

        def work(node: NodeId) -> tuple[int, bool, float, NodeId]:
            piped = sum(self._is_piped(client, node) for client in clients)
            return piped, node != here, tables[node], node

        return min(few, key=work)

    def _is_piped(self, client: ClientPlace, node: NodeId) -> bool:
        """Whether a client's bytes would be piped to a table at that node."""
        if client.socket == node:
            return False
        there = self._nodes[node]
        return client.fixed or not there.handover or self._machine(client.socket) != there.machine

    def _machine(self, node: NodeId) -> str | None:
        return None if (found := self._nodes.get(node)) is None else found.machine


BEAT = 0.25
"""Seconds between two beats of the desk."""
MOVED = 0.001
"""Seconds that a client which moves has waited at least: more than none tells that it seeks."""

RETRY = 1.0
"""Seconds until a player tries again to go where it cannot get now."""


def can_move(client: WaitingClient) -> TypeGuard[Session]:
    """Whether its connection can move to another node."""
    return isinstance(client, Session) and client.transfer_login is not None


def is_new(client: Session) -> bool:
    """Whether it connects anew for each match."""
    return not client.stays


def seconds_since(seeker: Seeker) -> float:
    return (time_ns() - seeker.ticket) / 1e9


class SharedDesk(OtherNodes):
    alone = False

    def __init__(self, desk: Desk, cluster: Cluster, links: Links, mover: Mover) -> None:
        self._desk, self._cluster, self._links, self._mover = desk, cluster, links, mover
        self._loop = asyncio.get_running_loop()
        settings = desk.settings.cluster
        self._first = LocalFirst(settings.pairing, settings.repeats)
        self._placement = Placement(cluster.members, desk.tables.count, self._loop.time)
        desk.tickets = iter(time_ns, -1)
        self.on_change = cluster.members.on_change
        self.on_change.append(self._follow)
        self._told = DeskBeat()
        Beat(links, BEAT, DeskBeat, self._tell, self._hear)

    @property
    def draining(self) -> bool:
        return self._cluster.members.here.draining

    @property
    def drained(self) -> bool:
        return self._cluster.drained

    @property
    def connected(self) -> bool:
        return self._links.connected

    def has_rooms(self, game: str) -> bool:
        return self._cluster.has_rooms(game)

    def is_home(self, wish: Wish) -> bool:
        return self._cluster.home(self._cluster.key_of(wish)) == self._cluster.here

    # What the desk asks.

    def seek(self, client: WaitingClient, seeker: Seeker) -> bool:
        key = self._cluster.key_of(seeker.wish)
        if not can_move(client):
            return seeker.wish.contest is not None and self._wait_for_rooms(client, seeker, key)
        if self.drained:
            return self._leave(client, seeker, key)
        if seeker.wish.contest is None:
            node = self._first.arrive(key, seeker, self._loop.time(), is_new(client))
            return node is not None and self._go(client, seeker, node)
        home = self._cluster.home(key)
        if home == self._cluster.here:
            return self._wait_for_rooms(client, seeker, key)
        if home is None or seeker.moved or not self._go(client, seeker, home):
            self._desk.enqueue(seeker, client)
            # The node that sent it here may know better, or has heard less.
            self._cluster.with_home(key, partial(self._go_home, client, seeker), home is not None)
        return True

    def _go_home(self, client: Session, seeker: Seeker, home: NodeId) -> None:
        """Let a player of a contest seek at its home."""
        if self._desk.client_of(seeker) is client and not self._go(client, seeker, home):
            here = home == self._cluster.home(self._cluster.key_of(seeker.wish))
            self._loop.call_later(0.0 if here else RETRY, self._seek_again, client, seeker)

    def _wait_for_rooms(self, client: WaitingClient, seeker: Seeker, key: Key) -> bool:
        """Until its contest is read from the store, this node takes it for one without
        a document.
        """
        rooms = self._cluster.rooms.get(key)
        if rooms is None or rooms.open or self._cluster.home(key) != self._cluster.here:
            return False
        self._desk.enqueue(seeker, client)
        again = partial(self._seek_again, client, seeker)
        rooms.when_open(again, again)
        return True

    def left_over(self, client: WaitingClient, seeker: Seeker) -> bool:
        if not can_move(client):
            return False
        key = self._cluster.key_of(seeker.wish)
        stays = self._first.patience(key, seeker, is_new(client))
        if not stays and not seeker.moved:  # so that none is sent to and fro
            return self._offer(client, seeker)
        if self._desk.matchmaker.gathers(seeker):
            stays = max(stays, self._desk.matchmaker.wait)
        stays = stays or self._first.wait_of(key, is_new(client))
        self._loop.call_later(stays, self._offer, client, seeker)
        return False

    def open_elsewhere(self, seekers: Sequence[Seeker], clients: Sequence[WaitingClient]) -> bool:
        named = any(seeker.opponent is not None or seeker.wish.invite for seeker in seekers)
        sessions = [client for client in clients if can_move(client)]
        if named or len(sessions) < len(clients):
            return False
        key = self._cluster.key_of(seekers[0].wish)
        if len(seekers) == 2 and self._first.meets_too_often(key, seekers, self._loop.time()):
            to = self._cluster.home(key) or self._cluster.here
            names = [seeker.name for seeker in reversed(seekers)]
            seekers = [replace(one, avoids=name) for one, name in zip(seekers, names, strict=True)]
        elif all(seeker.moved for seeker in seekers):
            return False  # they were sent here, and would be sent to and fro
        else:
            to = self._placement.choose([place_of(one, self._cluster.here) for one in sessions])
            if not all(self._can_go(one, to) for one in sessions):
                return False
        for client, seeker in zip(sessions, seekers, strict=True):
            if not self._go(client, seeker, to):
                self._seek_again(client, seeker)
        return True

    def bring(self, client: WaitingClient, to: NodeId, match_id: str) -> bool:
        if (
            to not in self._cluster.members.nodes
            or to == self._cluster.here
            or not can_move(client)
        ):
            return False
        self._mover.move(client, to, Transfer(client.protocol, match=match_id))
        return True

    def learn(self, wish: Wish, one: str, two: str, points: float) -> None:
        self._first.played(PlayedGame(wish, one, two, points))

    # Clients that go to another node.

    def _offer(self, client: Session, seeker: Seeker, _: NodeId = "") -> bool:
        """Move a client that waits here, unless the home of its wish is here."""
        if self._desk.client_of(seeker) is not client:
            return False
        key = self._cluster.key_of(seeker.wish)
        home = self._cluster.home(key)
        if home is None:
            self._cluster.with_home(key, partial(self._offer, client, seeker))
        elif home != self._cluster.here:
            if self._go(client, seeker, home):
                return True
            self._loop.call_later(RETRY, self._offer, client, seeker)
        elif seeker.avoids is not None:
            self._desk.give_up(client)
            self._seek_again(client, replace(seeker, avoids=None))
        return False

    def _leave(self, client: Session, seeker: Seeker, key: Key) -> bool:
        """Move a client of a drained node, at best with its socket."""
        nodes = self._near(client) or self._cluster.members.nodes.values()
        return self._go(client, seeker, choose(key, nodes).id)

    def _near(self, client: Session) -> list[Node]:
        """Return the nodes that can have the socket of a client."""
        nodes = able(self._cluster.members.nodes.values())
        return [node for node in nodes if self._mover.can_hand_over(client, node.id)]

    def _can_go(self, client: Session, to: NodeId) -> bool:
        return not (client.closed or client.transfer_login is None or to == self._cluster.here)

    def _go(self, client: Session, seeker: Seeker, to: NodeId) -> bool:
        """Let a client seek at another node; False: it cannot get there."""
        if not self._can_go(client, to):
            return False
        self._desk.give_up(client)
        waited = max(seconds_since(seeker), MOVED)
        transfer = Transfer(client.protocol, waited=waited, avoids=seeker.avoids)
        self._mover.move(client, to, transfer)
        return True

    def _seek_again(self, client: WaitingClient, seeker: Seeker) -> None:
        """Let a client seek anew with the time that it has waited, unless it has gone."""
        if not client.present or client.seeker not in (None, seeker):
            return
        self._desk.give_up(client)
        self._desk.seek(
            client,
            seeker.name,
            seeker.wish,
            seeker.opponent,
            seeker.by_lot,
            seconds_since(seeker),
            all_contests=seeker.all_contests,
            avoids=seeker.avoids,
            moved=seeker.moved,
        )

    def _follow(self) -> None:
        """Nodes came or went, or homes have moved."""
        for client in self._desk.waiting_clients:
            seeker = client.seeker
            if seeker is None or not can_move(client):
                continue
            if not self.drained:
                wait = self._first.wait_of(self._cluster.key_of(seeker.wish), is_new(client))
                if seeker.wish.contest is not None or seconds_since(seeker) > wait:
                    self._offer(client, seeker)
                else:
                    self._loop.call_later(wait, self._offer, client, seeker)
            elif self._near(client):
                self._leave(client, seeker, self._cluster.key_of(seeker.wish))

    # Beats.

    def _tell(self) -> DeskBeat | None:
        beat = self._first.beat([] if self.draining else self._waiting(), self._loop.time())
        changed, self._told = beat != self._told, beat
        return beat if changed or beat.waiting or beat.played else None

    def _waiting(self) -> list[tuple[Key, Seeker]]:
        """Players that wait for clients of other nodes: at the desk, and in rooms."""
        found = [
            seeker
            for seeker in self._desk.seekers_in_turn(self._first.turn, MOST_TOLD, MOST_ALIKE)
            if seconds_since(seeker) > self._first.wait_of(self._cluster.key_of(seeker.wish))
        ]
        found += [one for tell in self._desk.gatherings if (one := tell()) is not None]
        return [(self._cluster.key_of(seeker.wish), seeker) for seeker in found]

    def _hear(self, node: NodeId, beat: DeskBeat | None) -> None:
        if beat is None:
            return self._first.forget(node)
        for game in self._first.hear(node, beat, self._loop.time()):
            self._desk.matchmaker.learn(game.wish, game.one, game.two, game.points, counted=False)
        return None


def place_of(session: Session, here: NodeId) -> ClientPlace:
    if front := front_of(session):
        return ClientPlace(front, fixed=True)
    return ClientPlace(here, is_secure(session))
