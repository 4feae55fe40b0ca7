"""The composition root: the only place where a server is put together."""

import asyncio
import gc
import signal
import ssl
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from time import time
from typing import NamedTuple, Protocol

import structlog
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Mount, Route

from botdrome.api.app import make_app
from botdrome.api.live_spectator import live_spectator
from botdrome.api.socketio.app import SocketIo
from botdrome.api.socketio.opening import make_socketio, socketio_door
from botdrome.api.stack import http_stack
from botdrome.api.turnstile import Turnstile
from botdrome.server.arena import Arena
from botdrome.server.boats.books import open_books
from botdrome.server.boats.harbour import Harbours
from botdrome.server.boats.host import HostSession
from botdrome.server.boats.session import boat_door
from botdrome.server.bomber.api import BomberApi
from botdrome.server.bucket import Bucket
from botdrome.server.calling.callers import Callers
from botdrome.server.connection import Connection
from botdrome.server.cube.organiser import CubeOrganiser
from botdrome.server.desk import Desk
from botdrome.server.door import Crowd, Door, Welcome
from botdrome.server.duel import duel_door
from botdrome.server.duel_hall import DuelHall
from botdrome.server.duel_table import open_duel_table
from botdrome.server.keep_alive import keep_alive
from botdrome.server.native import NativeSession
from botdrome.server.settings import BadSetting, Settings
from botdrome.server.url_bots import UrlBots
from botdrome.server.websocket import MakeSession
from botdrome.store.opening import open_store
from botdrome.store.store import Store

log = structlog.get_logger()

MakeProtocol = Callable[[], asyncio.BaseProtocol]
USUAL = {"duel_port": Settings().duel_port, "xbs_port": Settings().xbs_port}
"""Ports on which a server listens without being told: where somebody else does so already, it goes without."""
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

    @property
    def ports(self) -> dict[str, int]:
        """Where it listens, by the name of what is spoken there."""
        return {name: int(server.sockets[0].getsockname()[1]) for name, server in self._servers.items()}

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
        scheme = "https" if self.settings.tls_cert else "http"
        return f"{scheme}://{self.host}:{self.port}"

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
    callers: Callers
    duel: DuelHall
    boats: Harbours
    cube: SocketIo
    bomber: BomberApi
    url_bots: UrlBots
    crowd: Crowd

    @property
    def with_guests(self) -> tuple[Room, ...]:
        return self.duel, self.boats, self.cube, self.bomber, self.url_bots


async def open_house(settings: Settings) -> House:
    store = await open_store(settings.store_url)
    servers: dict[str, asyncio.Server] = {}
    try:
        parts = await _furnish(settings, store)
        await _listen_all(settings, parts, servers)
    except Exception:
        for server in servers.values():
            server.close()
        await store.close()
        raise
    aborted = await store.abort_running("the server ended without notice", int(time() * 1000))
    if aborted:
        log.warning("matches were running when the server last ended", aborted=aborted)
    house = House(settings, parts.arena, parts.desk, servers, parts.with_guests)
    parts.callers.listen_on(house.ports.values())
    await parts.url_bots.open()
    return house


async def _furnish(settings: Settings, store: Store) -> Parts:
    desk, crowd, callers = Desk(store, settings), Crowd(settings), Callers(settings)
    duel = DuelHall(desk, await open_duel_table(store))
    boats = Harbours(desk, await open_books(store, Path(settings.boats_dir) if settings.boats_dir else None))
    url_bots = UrlBots(desk, callers)
    registrations = Bucket(settings.registration_rate, settings.registration_burst)
    arena = Arena(store, desk.floor, desk.registry, duel.table, url_bots, registrations)
    cube = make_socketio(CubeOrganiser(desk, callers), settings, crowd)
    return Parts(desk, arena, callers, duel, boats, cube, BomberApi(desk, crowd), url_bots, crowd)


async def _listen_all(settings: Settings, parts: Parts, servers: dict[str, asyncio.Server]) -> None:
    """All that listens, put in by name as soon as it does. Clients of the originals know no TLS."""
    front = _front_door(settings, parts)
    servers["http"] = await _listen(settings, "port", settings.port, front, _tls(settings))
    doors: list[tuple[str, str, int, MakeProtocol]] = [
        ("bomber", "bomber_port", settings.bomber_port, front),
        ("cube", "cube_port", settings.cube_port, socketio_door(parts.cube, parts.crowd, settings)),
        ("duel", "duel_port", settings.duel_port, duel_door(parts.duel, parts.crowd)),
        *[(one.name, one.key, one.port, boat_door(one, parts.desk, parts.crowd)) for one in parts.boats.all],
    ]
    for name, key, port, door in doors:
        if port:
            try:
                servers[name] = await _listen(settings, key, port, door)
            except BadSetting as problem:
                if port != USUAL.get(key):
                    raise
                log.warning("the usual port is taken: this protocol is not served", problem=str(problem))


async def _listen(
    settings: Settings, key: str, port: int, make: MakeProtocol, secure: ssl.SSLContext | None = None
) -> asyncio.Server:
    """`key` is the setting that names the port; -1: any free one."""
    port, loop = max(0, port), asyncio.get_running_loop()
    try:
        server = await loop.create_server(make, settings.host, port, ssl=secure, backlog=2048)
    except OSError as error:
        raise BadSetting(f"{key}: cannot listen on {settings.host}:{port}: {error.strerror}") from None
    keep_alive(server)
    return server


def _front_door(settings: Settings, parts: Parts) -> MakeProtocol:
    desk, arena, boats, cube, bomber, url_bots = parts.desk, parts.arena, parts.boats, parts.cube, parts.bomber, parts.url_bots

    def native(connection: Connection) -> NativeSession:
        return NativeSession(connection, desk)

    def reception(target: str) -> MakeSession | Welcome | None:
        if target == "/":
            return native
        if target.startswith("/socket.io/"):
            return cube.receive_socket(target)
        if target.startswith("/watch/"):
            return live_spectator(arena, target)
        if target == "/boats/host":
            return lambda connection: HostSession(connection, boats, settings)
        if target == "/connect":
            return url_bots.receive
        return bomber.receive_socket(target) or native

    def shortcut(target: bytes) -> asyncio.Protocol | None:
        return bomber.shortcut(target, door)

    def door() -> Door:
        return Door(reception, http, parts.crowd, settings, shortcut)

    http = http_stack(Turnstile(_http_app(parts), settings, parts.cube.has_session), parts.crowd, door)
    return door


def _tls(settings: Settings) -> ssl.SSLContext | None:
    if not settings.tls_cert:
        return None
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    try:
        context.load_cert_chain(settings.tls_cert, settings.tls_key or None)
    except (OSError, ssl.SSLError) as error:
        raise BadSetting(f"tls_cert: {error}") from None
    return context


def _http_app(parts: Parts) -> Starlette:
    async def healthz(_: Request) -> Response:
        return PlainTextResponse("ok\n")

    async def readyz(_: Request) -> Response:
        return PlainTextResponse("stopping\n", 503) if parts.desk.closing else PlainTextResponse("ready\n")

    async def metrics(_: Request) -> Response:
        return Response(generate_latest(), media_type=CONTENT_TYPE_LATEST)

    routes = [Route("/healthz", healthz), Route("/readyz", readyz), Route("/metrics", metrics)]
    mounts = [Mount("/socket.io", parts.cube), Mount("/bomber", parts.bomber.asgi), Mount("/", make_app(parts.arena))]
    return Starlette(routes=[*routes, *mounts])


@asynccontextmanager
async def stop_signal() -> AsyncIterator[asyncio.Event]:
    """Set by the first SIGTERM or SIGINT; a second one ends the process at once."""
    wanted, loop = asyncio.Event(), asyncio.get_running_loop()
    signals = (signal.SIGTERM, signal.SIGINT)

    def stop(number: signal.Signals) -> None:
        if wanted.is_set():
            signal.signal(number, signal.SIG_DFL)
            signal.raise_signal(number)
        wanted.set()

    for number in signals:
        loop.add_signal_handler(number, stop, number)
    try:
        yield wanted
    finally:
        for number in signals:
            loop.remove_signal_handler(number)


async def serve(settings: Settings, opened: Callable[[House], None]) -> None:
    """Run until a signal comes, then drain."""
    async with stop_signal() as wanted:
        house = await open_house(settings)
        opened(house)
        gc.collect()
        gc.freeze()
        gc.set_threshold(*COLLECTIONS)
        await wanted.wait()
        log.info("stopping", seconds_for_running_matches=settings.drain)
        await house.close()
