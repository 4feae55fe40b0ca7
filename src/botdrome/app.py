"""The composition root: puts a server together from its parts and protocols."""

import asyncio
import gc
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from functools import lru_cache, partial
from typing import NamedTuple, TypeVar

import structlog
from starlette.applications import Starlette
from starlette.routing import Mount

from botdrome.api.app import NO_SOCKET, PRELOAD, WARM_UP, Api
from botdrome.api.http_server import http_factory
from botdrome.api.probes import probe_routes
from botdrome.api.request_checks import RequestChecks, RequestRate
from botdrome.api.rest.matches import LARGEST_FILE
from botdrome.catalogue import CATALOGUE
from botdrome.protocols import PROTOCOLS
from botdrome.server.arena import Arena, ServerAddresses
from botdrome.server.battlebot import BattlebotServer, receive_tunnel
from botdrome.server.calling.address_filter import warn_of_loopback
from botdrome.server.calling.bot_caller import BotCaller
from botdrome.server.calling.webhooks import LoadWebhooks, Webhooks
from botdrome.server.contests.contest_desk import ContestDesk
from botdrome.server.contests.contests import ServerContests
from botdrome.server.lobby.desk import Desk
from botdrome.server.lobby.tokens import OperatorKeys
from botdrome.server.lobby.url_bots import UrlBots
from botdrome.server.network.dispatcher import SocketOptions
from botdrome.server.network.http_request import RequestHeaders
from botdrome.server.network.limits import ConnectionLimits
from botdrome.server.network.listening import (
    MakeProtocol,
    network_address,
    stop_signal,
    unless,
)
from botdrome.server.network.origins import Origins
from botdrome.server.network.websocket import MakeSession
from botdrome.server.nodes.joining import AnyNode, SingleServer, join_cluster, once_reached
from botdrome.server.nodes.rooms import Rooms
from botdrome.server.nodes.shared_ports import SharedPorts
from botdrome.server.operator.contest_orders import ContestOrders
from botdrome.server.operator.operator import Operator
from botdrome.server.protocol import (
    Ports,
    Protocol,
    ReceiveSocket,
    ServedProtocol,
    ServerParts,
)
from botdrome.server.rooms.boats import BoatRooms
from botdrome.server.rooms.cube import Organisers
from botdrome.server.rooms.duel import DuelRoom
from botdrome.server.settings import LARGEST_UPLOAD, BadSetting, Settings
from botdrome.server.tables.audience import Tables
from botdrome.server.tables.running_tables import RunningTables
from botdrome.server.workers.pool import WorkerProcess, fork_process, stop_process
from botdrome.store.entries import BadStoreUrl, StoreUnavailable, likeness
from botdrome.store.store import Store, check_store, open_store

# The rooms and contests of a game, of all protocols together. Of several nodes, one has them.


def rooms_by_game(
    served: Sequence[ServedProtocol], orders: ContestOrders, tables: RunningTables
) -> dict[str, Rooms]:
    return {
        game: _rooms(game, [one for one in served if one.game == game], orders, tables)
        for game in CATALOGUE
    }


def _rooms(
    game: str, served: Sequence[ServedProtocol], orders: ContestOrders, tables: RunningTables
) -> Rooms:
    async def open_() -> None:
        for one in served:
            await one.open_rooms()
        await orders.open(game)

    def leave() -> None:
        for one in served:
            one.leave_rooms()
        orders.leave(game)

    def in_use() -> bool:
        return any(one.in_use() for one in served) or orders.in_use(game) or tables.bound(game)

    def settled() -> bool:
        return (
            all(one.settled() for one in served)
            and orders.settled(game)
            and not tables.ending_in_contests(game)
        )

    return Rooms(open_, leave, in_use, settled)


log = structlog.get_logger()

COLLECTIONS = 3000, -1, 700
"""The thresholds of the garbage collector. A low first one keeps a collection of young objects far
below 10 ms, which is what the default takes with 100 duels. The second makes each of them one of
both young generations, so that nothing that stays is looked at twice. A high last one makes full
collections rare: each takes 100 ms with 500 matches, and finds little.
"""

AnyServer = TypeVar("AnyServer")


class Parts(NamedTuple):
    """The parts of a server, put together."""

    server: ServerParts
    served: Sequence[tuple[Protocol, ServedProtocol]]
    arena: Arena
    api: Api
    url_bots: UrlBots
    contests: ServerContests
    orders: ContestOrders
    rate: RequestRate
    node: AnyNode

    def server_of(self, kind: type[AnyServer]) -> AnyServer:
        return server_of(self.served, kind)


class RunningServer:
    """A running server."""

    def __init__(self, parts: Parts, ports: Ports) -> None:
        self._parts, self._ports = parts, ports
        self.settings, self.arena, self.desk = parts.server.settings, parts.arena, parts.server.desk
        self.contests, self.node = parts.contests, parts.node
        self.new_operator_token = ""
        """The operator's token, if it was made at this start. It is shown only now."""

    @property
    def served(self) -> Sequence[tuple[Protocol, ServedProtocol]]:
        return self._parts.served

    def server_of(self, kind: type[AnyServer]) -> AnyServer:
        """Return the server of a protocol, by its class."""
        return self._parts.server_of(kind)

    @property
    def ports(self) -> dict[str, int]:
        """The ports on which it listens, by the names of their protocols."""
        return self._ports.numbers

    @property
    def port(self) -> int:
        return self.ports["http"]

    @property
    def host(self) -> str:
        """The host in its URLs; if it listens on all addresses, localhost."""
        host = self.settings.host
        return f"[{host}]" if ":" in host else host or "localhost"

    @property
    def url(self) -> str:
        return self._url(self.port)

    @property
    def own_url(self) -> str:
        """The URL that always leads to this node."""
        return self._url(self._ports.own.number if self._ports.own else self.port)

    def _url(self, port: int, host: str = "") -> str:
        scheme = "https" if self.settings.tls.cert else "http"
        return f"{scheme}://{host or self.host}:{port}"

    @property
    def addresses(self) -> ServerAddresses:
        """Its addresses, for clients of the API."""
        public = self.settings.network.public_url.split(",")[0].strip().rstrip("/")
        tls, house = bool(self.settings.tls.cert), self.settings.house.fill
        address = network_address(self.settings.host)
        network = address and self._url(self.port, address)
        return ServerAddresses(public or None, tls, self.ports, house, public or network)

    async def close(self) -> None:
        """Start no new matches, wait for running ones, and let all clients go.

        Requests are answered meanwhile.
        """
        await self.node.drain()
        await self.desk.close()
        await self.arena.hosting.close()
        await self._parts.api.close()
        for _, served in self.served:
            await served.close()
        await self._parts.url_bots.close()
        self.contests.webhooks.close()
        await self.node.let_clients_go()
        self._ports.close()
        await self.desk.registry.close()
        await self.arena.store.close()
        await self._ports.disconnect()
        await self.node.leave()


async def open_server(
    settings: Settings,
    shown: Callable[[Tables], Tables] = lambda tables: tables,
    protocols: Sequence[Protocol] = PROTOCOLS,
    shared: SharedPorts | None = None,
    # then the server is not ready before the caller starts a worker process
    keeps_warm: bool = False,
) -> RunningServer:
    """`shown` selects the tables that spectators see, given those of the server; `shared` has the
    ports of a node.
    """
    store = await _open_store(settings)
    ports: Ports | None = None
    node: AnyNode = SingleServer(store)
    try:
        node = await join_cluster(store, settings) if settings.nats else node
        await asyncio.to_thread(likeness, "")  # reads its list now, and not at the first login
        parts = await _put_together(settings, store, shown, protocols, node)
        parts.server.desk.workers.keeps_warm = keeps_warm
        await node.recover(parts.server.desk, parts.url_bots.invitations)
        await parts.server.desk.matchmaker.recall(store)
        ports = Ports(settings, parts.server.callers, shared)
        await _open_rooms(parts, ports)
        await _listen(parts, ports)
        server = RunningServer(parts, ports)
        server.new_operator_token = await parts.server.keys.open()
        parts.arena.addresses = server.addresses
        parts.arena.webhooks.url = server.addresses.url or ""
        await parts.url_bots.open()
        parts.arena.hosting.open()
        await node.announce(server.own_url, ports)
        if settings.nats:
            parts.arena.webhooks.follow()
    except BaseException:
        if ports is not None:
            ports.close()
        await store.close()
        await node.leave()
        raise
    warn_of_loopback(settings)
    return server


async def _open_store(settings: Settings) -> Store:
    try:
        await asyncio.to_thread(check_store, settings.store_url)
        return await once_reached(
            lambda: open_store(settings.store_url), settings.cluster.wait if settings.nats else 0.0
        )
    except (BadStoreUrl, StoreUnavailable) as problem:
        raise BadSetting(f"db: {problem}") from None


async def _put_together(
    settings: Settings,
    store: Store,
    shown: Callable[[Tables], Tables],
    protocols: Sequence[Protocol],
    node: AnyNode,
) -> Parts:
    desk, callers = Desk(store, settings), BotCaller(settings)
    contests = ContestDesk(desk).contests
    keys = OperatorKeys(store, settings.operator.token, desk.registry.guesses)
    server = ServerParts(
        settings, desk, ConnectionLimits(settings), Origins(settings), callers, keys
    )
    node.serve(desk, server.connection_limits)
    served = [(row, await row.open(server)) for row in protocols]
    for native in [one.server for _, one in served if isinstance(one.server, BattlebotServer)]:
        node.bring(native.connect)
    url_bots = UrlBots(desk, callers)
    duels = server_of(served, DuelRoom).leaderboard
    arena = Arena(desk, shown(desk.tables), url_bots, duels, node.asking)
    orders = ContestOrders(contests, url_bots, desk, node)
    arena.contests, arena.keys = orders, keys
    contests.freeze = arena.hosting.freeze
    await _open_webhooks(Webhooks(store, callers, desk.tables.note_ends), arena, contests, node)
    await desk.registry.bans.load()
    callers.refuse_banned(desk.registry.bans.covers_address)
    operator = Operator(
        desk,
        node,
        keys,
        server_of(served, BoatRooms),
        server_of(served, Organisers),
        orders,
        arena.classes,
        arena.hosting,
    )
    arena.audit = operator.audit
    node.share_tunnels(callers.tunnels, url_bots.arrived)
    arena.tables, arena.nodes = node.share_tables(arena.tables), node.nodes
    arena.games_at = node.games_at
    rate = RequestRate(settings)
    api = Api(arena, operator, rate)
    return Parts(server, served, arena, api, url_bots, contests, orders, rate, node)


async def _open_webhooks(
    webhooks: Webhooks, arena: Arena, contests: ServerContests, node: AnyNode
) -> None:
    arena.webhooks = contests.webhooks = webhooks
    arena.classes.drop_webhooks = webhooks.remove_of_bots
    contests.journal.told = webhooks.contest_changed
    arena.hosting.note_event = webhooks.bot_changed
    node.asking.on(LoadWebhooks, webhooks.load)
    webhooks.load_all = lambda: node.asking.ask_all(LoadWebhooks(), bool)
    await webhooks.load()


async def _open_rooms(parts: Parts, ports: Ports) -> None:
    """Open the rooms of all games, before the first client, which may be expected in a contest."""
    served = [one for _, one in parts.served]
    for one in served:
        if not one.game:
            await one.open_rooms()
    await parts.node.open_rooms(
        rooms_by_game(served, parts.orders, parts.server.desk.tables), served, ports
    )


def server_of(
    served: Sequence[tuple[Protocol, ServedProtocol]], kind: type[AnyServer]
) -> AnyServer:
    return next(one.server for _, one in served if isinstance(one.server, kind))


async def _listen(parts: Parts, ports: Ports) -> None:
    """Open all ports, the HTTP port first."""
    server = parts.server
    await ports.open_http(_http_port(parts))
    for row, served in parts.served:
        await row.listen(
            server.settings, served, served.protocol_factory or _own_port(server, served), ports
        )


def _receivers(served: Sequence[ServedProtocol]) -> Callable[[str], list[ReceiveSocket]]:
    """Return a function that lists the receivers to ask for the WebSocket of a target, in order."""
    sockets = [
        (one.sockets, one.receive_socket)
        for one in served
        if one.receive_socket is not ServedProtocol.receive_socket
    ]

    @lru_cache(maxsize=64)
    def receivers(target: str) -> list[ReceiveSocket]:
        return [receive for beginnings, receive in sockets if target.startswith(beginnings)]

    return receivers


def _http_port(parts: Parts) -> MakeProtocol:
    """The HTTP port: the API, and all protocols over HTTP and WebSockets."""
    server, served, url_bots = parts.server, [one for _, one in parts.served], parts.url_bots
    api = parts.api
    receivers = _receivers(served)

    def open_websocket(target: str, headers: RequestHeaders) -> MakeSession | SocketOptions | bytes:
        if (found := api.receive_socket(target, headers)) is not None:
            return found
        if target == "/connect":
            return partial(receive_tunnel, server.desk, server.callers.tunnels, url_bots.arrived)
        for receive in receivers(target):
            if session := receive(target):
                return session
        return NO_SOCKET

    def has_session(sid: str) -> bool:
        return any(one.has_session(sid) for one in served)

    mounts = [Mount(path, app) for one in served for path, app in one.apps.items()]
    api.add_routes([*probe_routes(server.desk, parts.arena.store), *mounts])
    checked = RequestChecks(api, server.origins, parts.rate, has_session)
    direct = [one.direct for one in served if one.direct is not None]
    limits = {b"/api/v1/films": LARGEST_FILE, b"/api/v1/uploads/": LARGEST_UPLOAD} | {
        path: most for one in served for path, most in one.body_limits.items()
    }
    return http_factory(
        checked,
        open_websocket,
        server.connection_limits,
        server.settings,
        server.origins,
        direct,
        limits,
        parts.node.forwarding,
    )


def _own_port(server: ServerParts, served: ServedProtocol) -> MakeProtocol | None:
    """A port with the apps of one protocol and nothing else.

    It has no TLS, so no passwords must pass here.
    """
    direct = () if served.direct is None else (served.direct,)
    if not served.apps and not direct:
        return None
    app = Starlette(routes=[Mount(path, app) for path, app in served.apps.items()])

    def open_websocket(target: str, _: RequestHeaders) -> MakeSession | SocketOptions | bytes:
        return served.receive_socket(target) or NO_SOCKET

    checked = RequestChecks(app, server.origins, RequestRate(server.settings), served.has_session)
    return http_factory(
        checked,
        open_websocket,
        server.connection_limits,
        server.settings,
        server.origins,
        direct,
        served.body_limits,
    )


def first_worker() -> WorkerProcess | None:
    """Fork the first worker process of a server, before the server has an event loop.

    The two share the memory of all modules, and the worker gets ready while the server starts.
    """
    return fork_process(PRELOAD)


async def serve(
    settings: Settings,
    opened: Callable[[RunningServer], None],
    shared: SharedPorts | None = None,
    worker: WorkerProcess | None = None,
) -> None:
    """Run until a signal comes, then drain. `worker` is its first worker process, if it has one."""
    async with AsyncExitStack() as stack:
        wanted = await stack.enter_async_context(stop_signal())
        if worker is not None:
            stack.callback(stop_process, worker)  # no server has used it if none could start
        server = await unless(wanted, open_server(settings, shared=shared, keeps_warm=True))
        if server is None:
            return
        server.desk.workers.start(WARM_UP, server.arena.store.source, process=worker)
        opened(server)
        gc.collect()
        gc.freeze()
        gc.set_threshold(*COLLECTIONS)
        await server.node.serve_until(wanted)
        log.info("stopping", seconds_for_running_matches=settings.drain)
        await server.close()
