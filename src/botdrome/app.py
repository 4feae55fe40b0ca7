"""The composition root: the only place where a server is put together."""

import asyncio
import gc
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from time import time
from typing import NamedTuple, Protocol

import structlog
from starlette.applications import Starlette
from starlette.routing import Mount

from botdrome.api.app import NO_SOCKET, Api, load_worker_modules, make_app
from botdrome.api.probes import probe_routes
from botdrome.api.socketio.app import SocketIo, socketio_door
from botdrome.api.stack import http_stack
from botdrome.api.turnstile import RequestRate, Turnstile
from botdrome.protocols import PROTOCOLS
from botdrome.server.arena import Arena, ServerAddresses, Tables
from botdrome.server.battlebot.host import BattlebotHost
from botdrome.server.boats.books import open_books
from botdrome.server.boats.host import HostSession
from botdrome.server.boats.port import BoatPort
from botdrome.server.boats.rooms import BoatRooms
from botdrome.server.boats.settings import BoatsSection
from botdrome.server.bomber.api import BomberApi
from botdrome.server.calling.address_filter import warn_of_loopback
from botdrome.server.calling.bot_caller import BotCaller
from botdrome.server.cube.host import CubeHost
from botdrome.server.duel.board_ids import open_board_ids
from botdrome.server.duel.hall import DuelHall, duel_door
from botdrome.server.duel.leaderboard import open_duel_leaderboard
from botdrome.server.lobby.desk import Desk
from botdrome.server.lobby.url_bots import UrlBots
from botdrome.server.network.door import Crowd, Door, Welcome
from botdrome.server.network.listening import MakeProtocol, listen, secured, tolerated
from botdrome.server.network.loop_watch import LoopWatch
from botdrome.server.network.origins import Origins
from botdrome.server.network.peer import sharing
from botdrome.server.network.proxies import Proxies
from botdrome.server.network.rate_limit import Buckets
from botdrome.server.network.shares import Shares
from botdrome.server.network.stop_signal import stop_signal
from botdrome.server.network.websocket import MakeSession
from botdrome.server.operator.operator import Operator, open_operator
from botdrome.server.settings import BadSetting, Settings
from botdrome.store.identity import likeness
from botdrome.store.opening import BadStoreUrl, StoreUnavailable, open_store
from botdrome.store.store import Store

log = structlog.get_logger()

COLLECTIONS = 100, 20, 700
"""When the garbage collector looks. It counts what was made less what is gone, so that where matches end as fast as they begin
it waits for long and then has thousands of things to look through, for 10 ms at a time with 100 duels: hence the first number.
To look through everything takes 100 ms with 500 matches, and finds next to nothing: hence the last."""


class Room(Protocol):
    """Whoever has guests of its own beside the desk's."""

    async def close(self) -> None:
        """The matches are over: let everybody go."""


class House:
    """A server that runs."""

    def __init__(
        self, settings: Settings, arena: Arena, desk: Desk, servers: dict[str, asyncio.Server], rooms: Sequence[Room] = ()
    ) -> None:
        self.settings, self.arena, self.desk = settings, arena, desk
        self._servers, self.rooms = servers, rooms
        self.new_operator_token = ""
        """The operator's, if it was made at this start: it is shown this once."""

    @property
    def ports(self) -> dict[str, int]:
        """Where it listens, by the name of what is spoken there."""
        return {name: int(server.sockets[0].getsockname()[1]) for name, server in self._servers.items() if server.sockets}

    @property
    def port(self) -> int:
        return self.ports["http"]

    @property
    def host(self) -> str:
        """As it is written in a URL; where all addresses are listened on, the one that is here."""
        host = self.settings.host
        return f"[{host}]" if ":" in host else host or "localhost"

    @property
    def url(self) -> str:
        scheme = "https" if self.settings.tls.cert else "http"
        return f"{scheme}://{self.host}:{self.port}"

    @property
    def addresses(self) -> ServerAddresses:
        """As clients are told."""
        public = self.settings.network.public_url.split(",")[0].strip().rstrip("/")
        return ServerAddresses(public or None, bool(self.settings.tls.cert), self.ports, self.settings.house.fill)

    async def close(self) -> None:
        """No new matches; running ones get their time, and whoever asks how it goes is still answered."""
        await self.desk.close()
        for room in self.rooms:
            await room.close()
        for server in self._servers.values():
            server.close()
        await self.arena.store.close()


class Parts(NamedTuple):
    """The parts of a house, put together."""

    desk: Desk
    arena: Arena
    api: Api
    callers: BotCaller
    duel: DuelHall
    boats: BoatRooms
    cube: SocketIo
    bomber: BomberApi
    url_bots: UrlBots
    crowd: Crowd
    origins: Origins
    operator: Operator
    rate: RequestRate

    @property
    def with_guests(self) -> tuple[Room, ...]:
        return self.api, self.duel, self.boats, self.cube, self.bomber, self.url_bots


async def open_house(settings: Settings, shown: Callable[[Tables], Tables] = lambda tables: tables) -> House:
    """`shown`: which tables spectators see, given those of the house."""
    store = await _open_store(settings)
    servers: dict[str, asyncio.Server] = {}
    try:
        await _recover(store)
        await asyncio.to_thread(likeness, "")  # it reads its list once: not when the first bot logs in
        parts = await _furnish(settings, store, shown)
        await _listen_all(settings, parts, servers)
        house = House(settings, parts.arena, parts.desk, servers, parts.with_guests)
        house.new_operator_token = await parts.operator.keys.open()
        parts.callers.listen_on(house.ports.values())
        parts.arena.addresses = house.addresses
        await parts.url_bots.open()
    except Exception:
        for server in servers.values():
            server.close()
        await store.close()
        raise
    warn_of_loopback(settings)
    return house


async def _open_store(settings: Settings) -> Store:
    try:
        return await open_store(settings.store_url)
    except (BadStoreUrl, StoreUnavailable) as problem:
        raise BadSetting(f"db: {problem}") from None


async def _recover(store: Store) -> None:
    """Close the matches of a server that crashed, unless another server uses the store as well.

    That is done before any port opens: whatever runs in the store later is a match of this server.
    """
    if not await store.claim():
        log.warning("another server is using this store: contests and ratings that both count will be wrong; --db takes another")
        return
    aborted = await store.abort_running("the server ended without notice", int(time() * 1000))
    if aborted:
        log.warning("matches were running when the server last ended", aborted=aborted)


async def _furnish(settings: Settings, store: Store, shown: Callable[[Tables], Tables]) -> Parts:
    desk, crowd, callers, origins = Desk(store, settings), Crowd(settings), BotCaller(settings), Origins(settings)
    duel = DuelHall(desk, await open_duel_leaderboard(store), await open_board_ids(store))
    folder = settings.of(BoatsSection).dir
    boats = BoatRooms(desk, await open_books(store, Path(folder) if folder else None))
    url_bots = UrlBots(desk, callers)
    registrations = Buckets(settings.registration.rate, settings.registration.burst)
    arena = Arena(
        store, shown(desk.floor), desk.registry, duel.table, url_bots, registrations, desk.registry.guesses, desk.workers, desk
    )
    arena.clients = desk.registry.clients
    organisers = CubeHost(desk, callers)
    cube = SocketIo(lambda one, limits: organisers.receive(one, one.handshake, limits), settings, crowd)
    operator = await open_operator(desk, boats, organisers, callers)
    bomber = BomberApi(desk, crowd, origins)
    rate = RequestRate(settings)
    api = make_app(arena, operator, rate)
    return Parts(desk, arena, api, callers, duel, boats, cube, bomber, url_bots, crowd, origins, operator, rate)


async def _listen_all(settings: Settings, parts: Parts, servers: dict[str, asyncio.Server]) -> None:
    """All that listens, put in by name as soon as it does. Clients of the originals know no TLS."""
    shared = partial(sharing, shares=Shares(), proxies=Proxies(settings))
    front = shared(_front_door(settings, parts))
    servers["http"] = await listen(settings, "port", settings.port, front, secured(settings))

    async def listen_at(boats: BoatPort) -> None:
        door = shared(boats.door(parts.crowd))
        servers[boats.name] = boats.server = await listen(settings, boats.key, boats.port, door)
        parts.callers.listen_on([boats.listens_on or 0])

    parts.boats.listen = listen_at
    doors: dict[str, MakeProtocol] = {
        "bomber": _bomber_door(settings, parts),
        "cube": socketio_door(parts.cube, parts.crowd, settings, parts.origins),
        "duel": duel_door(parts.duel, parts.crowd),
    }
    for name, door in doors.items():
        section = PROTOCOLS[name].section
        port = settings.of(section).port
        if port:
            with tolerated(port == section().port):
                servers[name] = await listen(settings, f"{name}.port", port, shared(door))
    for boats in parts.boats.all:
        with tolerated(boats.key == "boats.port" and boats.port == BoatsSection().port):
            await listen_at(boats)


def _front_door(settings: Settings, parts: Parts) -> MakeProtocol:
    desk, boats, cube, bomber, url_bots = parts.desk, parts.boats, parts.cube, parts.bomber, parts.url_bots

    native = BattlebotHost(desk).connect

    def reception(target: str, head: bytes) -> MakeSession | Welcome | bytes:
        if (found := parts.api.receive_socket(target, head)) is not None:
            return found
        if target == "/":
            return native
        if target.startswith("/socket.io/"):
            return cube.receive_socket(target)
        if target == "/boats/host":
            return lambda connection: HostSession(connection, boats, settings, parts.operator.keys)
        if target == "/connect":
            return url_bots.receive
        return bomber.receive_socket(target) or native

    def shortcut(target: bytes) -> asyncio.Protocol | None:
        return bomber.shortcut(target, door)

    def door() -> Door:
        return Door(reception, http, parts.crowd, settings, parts.origins, shortcut)

    http = http_stack(Turnstile(_http_app(parts), parts.rate, cube.has_session), parts.crowd, door, parts.origins)
    return door


def _bomber_door(settings: Settings, parts: Parts) -> MakeProtocol:
    """A door behind which there is the Bomberman API and nothing else: it knows no TLS, so no passwords are to come this way."""
    bomber = parts.bomber

    def shortcut(target: bytes) -> asyncio.Protocol | None:
        return bomber.shortcut(target, door)

    def reception(target: str, _: bytes) -> MakeSession | bytes:
        return bomber.receive_socket(target) or NO_SOCKET

    def door() -> Door:
        return Door(reception, http, parts.crowd, settings, parts.origins, shortcut)

    app = Starlette(routes=[Mount("/bomber", bomber.asgi)])
    http = http_stack(Turnstile(app, RequestRate(settings)), parts.crowd, door, parts.origins)
    return door


def _http_app(parts: Parts) -> Starlette:
    mounts = [Mount("/socket.io", parts.cube), Mount("/bomber", parts.bomber.asgi), Mount("/", parts.api)]
    return Starlette(routes=[*probe_routes(parts.desk, parts.arena.store), *mounts])


async def serve(settings: Settings, opened: Callable[[House], None]) -> None:
    """Run until a signal comes, then drain."""
    async with stop_signal() as wanted:
        house = await open_house(settings)
        house.desk.workers.start()
        house.desk.tasks.start(load_worker_modules(house.desk.workers))
        opened(house)
        gc.collect()
        gc.freeze()
        gc.set_threshold(*COLLECTIONS)
        watch = LoopWatch()
        await wanted.wait()
        log.info("stopping", seconds_for_running_matches=settings.drain)
        await house.close()
        watch.close()
