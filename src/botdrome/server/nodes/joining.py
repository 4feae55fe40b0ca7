"""JoinedNode: a server as a node of a cluster, from joining to leaving."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from time import monotonic, process_time, time
from typing import TypeVar

import structlog

from botdrome.catalogue import CATALOGUE
from botdrome.server import metrics
from botdrome.server.battlebot import NATIVE
from botdrome.server.calling.tunnels import Tunnels
from botdrome.server.lobby.desk import Desk
from botdrome.server.lobby.url_bots import Invitations
from botdrome.server.network.dispatcher import Forwarding
from botdrome.server.network.limits import ConnectionLimits
from botdrome.server.nodes import membership
from botdrome.server.nodes.asking import Asking, NodeAsking
from botdrome.server.nodes.cluster import Node, NodeId, rooms_of
from botdrome.server.nodes.forwarding import Forwarder
from botdrome.server.nodes.links import Links, NatsRefused, NatsUnavailable
from botdrome.server.nodes.moving import Arrival, MakeArrival, Mover
from botdrome.server.nodes.rooms import Cluster, Rooms
from botdrome.server.nodes.shared_bots import SharedRegistry, SharedTunnels
from botdrome.server.nodes.shared_desk import SharedDesk
from botdrome.server.nodes.shared_tables import SharedTables
from botdrome.server.nodes.takeover import PAUSE, Release, Takeover, keep_matches
from botdrome.server.protocol import Ports, ServedProtocol
from botdrome.server.session import Session
from botdrome.server.settings import BadSetting, Settings
from botdrome.server.tables.audience import Tables
from botdrome.server.tables.kept_table import KeptTable
from botdrome.store.entries import StoreUnavailable
from botdrome.store.nodes import CannotJoin
from botdrome.store.store import Store

log = structlog.get_logger()
T = TypeVar("T")

NOT_ALONE = (
    "another server is using this store: contests and ratings that both count will be "
    "wrong; --db takes another"
)
NO_POSTGRESQL = (
    "nodes need a PostgreSQL that all of them use; db is {db}, but should be "
    "postgresql://USER:PASSWORD@HOST/DATABASE"
)

ANNOUNCING = 2.0
"""Seconds for telling the other nodes that this one stops."""
SOONEST, LATEST = 0.1, 2.0
"""Seconds before the first and between the last attempts to reach PostgreSQL and NATS at the start.
"""
COMING = ("08", "53", "57")
"""Classes of SQLSTATE of a PostgreSQL that will soon take connections: lost, too many, starting up.
"""


class SingleServer:
    """A server that is no node."""

    forwarding: Forwarding | None = None

    cluster: Cluster | None = None

    def __init__(self, store: Store) -> None:
        self._store, self.asking = store, Asking()

    def serve(self, desk: Desk, connections: ConnectionLimits) -> None:
        """Do nothing: the desk is alone."""

    def share_tables(self, tables: Tables) -> Tables:
        return tables

    def share_tunnels(self, tunnels: Tunnels, arrived: Callable[[str], None]) -> None:
        """Do nothing: no bot has a tunnel to another node."""

    def nodes(self) -> list[Node]:
        return []

    def games_at(self, node: Node) -> list[str]:
        return []

    async def set_draining(self, name: str, draining: bool) -> bool:
        return False

    def bring(self, connect: MakeArrival) -> None:
        """Do nothing: no client comes from another node."""

    async def recover(self, desk: Desk, invitations: Invitations) -> None:
        """Close the matches of a server that crashed, unless another server uses the store as well.

        This happens before any port opens, so all matches that run later are this server's.
        """
        if not await self._store.claim():
            log.warning(NOT_ALONE)
            return
        aborted = await self._store.abort_running(
            "the server ended without notice", int(time() * 1000)
        )
        if aborted:
            log.warning("matches were running when the server last ended", aborted=aborted)

    async def open_rooms(
        self, rooms: Mapping[str, Rooms], served: Sequence[ServedProtocol], ports: Ports
    ) -> None:
        for one in rooms.values():
            await one.open()

    async def announce(self, url: str, ports: Ports) -> None:
        """Do nothing: there is no other node."""

    async def serve_until(self, wanted: asyncio.Event) -> None:
        await wanted.wait()

    async def drain(self) -> None:
        """Do nothing: the desk is closed next."""

    async def let_clients_go(self) -> None:
        """Do nothing: no client is piped to another node."""

    async def leave(self) -> None:
        """Do nothing: the store has released its claim."""


class JoinedNode:
    forwarding: Forwarding | None = None

    def __init__(self, members: membership.Membership, links: Links) -> None:
        self.members, self.links, self.mover = members, links, Mover(members, members.secret)
        self._takeover: Takeover | None = None
        self._forwarder: Forwarder | None = None
        self._release: Release | None = None
        self._until = 0.0
        """The end of the time that matches get, in seconds of the loop."""
        self._began = self._looked = monotonic()
        here = members.here
        metrics.NODE.labels(here.name, str(here.epoch), here.version).set(1)
        self._spent = process_time()

    def serve(self, desk: Desk, connections: ConnectionLimits) -> None:
        """Make the desk one with those of the other nodes."""
        self._desk, self._connections = desk, connections
        self.cluster = Cluster(self.members, desk.tasks.start)
        desk.others = SharedDesk(desk, self.cluster, self.links, self.mover)
        self.asking = NodeAsking(self.links)
        self.mover.before_loss = partial(_await_return, grace=desk.settings.cluster.grace)
        SharedRegistry(desk, self.links, self.asking)

        def load() -> dict[str, float]:
            return {
                "tables": desk.tables.count(),
                "connections": connections.open,
                "waiting": len(desk.waiting_clients),
                "cpu": self._cpu(),
                "seconds": round(monotonic() - self._began),
            }

        self.members.load = load

    def share_tables(self, tables: Tables) -> Tables:
        """Return the tables of all nodes, as spectators see them. `tables` are those here."""
        desk, members = self._desk, self.members

        async def owner(match_id: str) -> NodeId:
            entry = await desk.store.match(match_id)
            if entry is None or entry.status != "running" or entry.node == members.here.id:
                return ""
            return entry.node if entry.node in members.nodes else ""

        self._tables = SharedTables(tables, self.links, owner, desk.tasks.start)
        return self._tables

    def share_tunnels(self, tunnels: Tunnels, arrived: Callable[[str], None]) -> None:
        """Let all nodes call bots with a tunnel. `arrived` is told the names of those elsewhere."""
        SharedTunnels(tunnels, self.links, self.asking, arrived)

    def nodes(self) -> list[Node]:
        return list(self.members.nodes.values())

    def games_at(self, node: Node) -> list[str]:
        """Return the games whose rooms and contests a node has."""
        homes = {game: self.members.room_home(rooms_of(game)) for game in CATALOGUE}
        return [game for game, home in homes.items() if home == node.id]

    async def set_draining(self, name: str, draining: bool) -> bool:
        """Have a node take no new matches, or take them again; False: there is no such node."""
        return await self.members.drain(name, draining)

    def bring(self, connect: MakeArrival) -> None:
        """`connect` makes the session of a native client that comes from another node."""
        self.mover.arrivals[NATIVE] = Arrival(connect)

    def _cpu(self) -> float:
        """Return the share of a core since the last call."""
        now, spent = monotonic(), process_time()
        share = (spent - self._spent) / max(now - self._looked, 0.001)
        self._looked, self._spent = now, spent
        return round(share, 3)

    async def open_rooms(
        self, rooms: Mapping[str, Rooms], served: Sequence[ServedProtocol], ports: Ports
    ) -> None:
        """Open the rooms of a game whenever they are at this node.

        Otherwise, clients that need them go where they are.
        """
        self.cluster.room_games |= {one.game for one in served if one.game}
        targets = [(target, one.game) for one in served for target in one.targets]
        found = self._forwarder = Forwarder(self._desk, self.cluster, rooms, targets, self.mover)
        ports.route, self.forwarding = found.routed, found.forwarding

    async def recover(self, desk: Desk, invitations: Invitations) -> None:
        """Store the inputs of all matches from now on, and take over those of dead nodes."""
        self._takeover = await keep_matches(desk, self.members, invitations)
        self._release = Release(
            desk, self.cluster, self.mover, self._takeover, self._tables, self.asking
        )
        desk.tables.release = self._let_matches_go
        await self.members.recover()

    async def announce(self, url: str, ports: Ports) -> None:
        """Take matches from now on."""
        workers = self._desk.workers

        def tell_front() -> None:
            ports.set_avoided(self.members.here.draining or not workers.warm)

        self.members.on_change.append(tell_front)
        places = await self.mover.open(self._desk.settings, self._connections, ports.arriving)
        await self.members.announce(url, places)
        workers.on_warm = tell_front
        tell_front()

    async def serve_until(self, wanted: asyncio.Event) -> None:
        """Wait for the event. Raise Fenced as soon as other nodes have declared this one dead."""
        self.members.on_fenced = wanted.set
        await wanted.wait()
        if self.members.fenced is not None:
            raise self.members.fenced

    async def drain(self) -> None:
        """Take no new matches, and give up the rooms."""
        self._until = asyncio.get_running_loop().time() + self._desk.settings.drain
        if self._forwarder is not None:
            self._forwarder.stop()
        with suppress(StoreUnavailable, TimeoutError):  # the others notice when it leaves
            async with asyncio.timeout(ANNOUNCING):
                await self.members.announce(self.members.here.url, draining=True)

    async def _let_matches_go(self) -> None:
        """Release the matches that are left.

        Clients that this node pipes may play on at other nodes as long as matches here.
        """
        while self.mover.players and asyncio.get_running_loop().time() < self._until:
            await asyncio.sleep(PAUSE)
        if self._release is not None:
            await self._release.finish()

    async def let_clients_go(self) -> None:
        """Let the clients that this node pipes connect again. Their matches wait for them."""
        await self.mover.stop_piping()

    async def leave(self) -> None:
        """Leave, after everything is stored."""
        if self._release is not None:
            await self._release.close()
        self.mover.close()
        await self.links.close()
        await self.members.leave()
        if self._takeover is not None:
            await self._takeover.close()


AnyNode = JoinedNode | SingleServer


def _await_return(session: Session, grace: float) -> None:
    """Let the match wait for a player that is about to be lost because the node of its socket
    stops.
    """
    table = session.table
    if isinstance(table, KeptTable) and table.wait_for(session.player, grace):
        session.table = None


async def join_cluster(store: Store, settings: Settings) -> JoinedNode:
    """Raise BadSetting if this server cannot be a node."""
    if store.source.kind != "postgresql":
        raise BadSetting(f"nats: {NO_POSTGRESQL.format(db=settings.store_shown)}")
    # It takes 0.15 s of CPU time: a single server does not import it, and a node before it beats.
    from botdrome.server.nodes.nats import NatsLinks

    try:
        members = await once_reached(
            lambda: membership.join(store, settings.cluster), settings.cluster.wait
        )
    except CannotJoin as problem:
        raise BadSetting(f"cluster: {problem}") from None
    except StoreUnavailable as problem:
        raise BadSetting(f"db: {problem}") from None
    try:
        links = NatsLinks(settings.nats, members, members.cluster, settings.cluster.open_nats)
        await once_reached(links.open, settings.cluster.wait)
    except NatsUnavailable as problem:
        await members.leave()
        raise BadSetting(f"nats: {problem}") from None
    except BaseException:
        await members.leave()
        raise
    return JoinedNode(members, links)


async def once_reached(attempt: Callable[[], Awaitable[T]], seconds: float) -> T:
    """Try to reach PostgreSQL or NATS, with growing pauses: they may be about to start.

    Raise what is wrong in the end.
    """
    loop = asyncio.get_running_loop()
    until, pause = loop.time() + seconds, SOONEST
    while True:
        try:
            return await attempt()
        except (NatsUnavailable, StoreUnavailable) as problem:
            if not _may_come(problem) or loop.time() + pause > until:
                raise
            if pause == SOONEST:
                log.warning(
                    "this node waits for what it needs", seconds=seconds, problem=str(problem)
                )
        await asyncio.sleep(pause)
        pause = min(2 * pause, LATEST)


def _may_come(problem: NatsUnavailable | StoreUnavailable) -> bool:
    """Whether waiting helps. A wrong password needs a person."""
    if isinstance(problem, NatsUnavailable):
        return not isinstance(problem, NatsRefused)
    cause = problem.__cause__
    return isinstance(cause, OSError) or str(getattr(cause, "sqlstate", ""))[:2] in COMING
