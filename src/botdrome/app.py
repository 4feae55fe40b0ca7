"""The composition root: the only place where a server is put together."""

import asyncio
import gc
import signal
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from time import time

import structlog
import uvicorn
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Mount, Route
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.server import ServerState

from botdrome.api.app import make_app
from botdrome.api.live_spectator import live_spectator
from botdrome.server.arena import Arena
from botdrome.server.desk import Desk
from botdrome.server.door import Crowd, Door
from botdrome.server.native import NativeSession
from botdrome.server.settings import BadSetting, Settings
from botdrome.server.websocket import MakeSession
from botdrome.store.opening import open_store

log = structlog.get_logger()


class House:
    """A server that runs."""

    def __init__(self, settings: Settings, arena: Arena, desk: Desk, servers: dict[str, asyncio.Server]) -> None:
        self.settings, self.arena, self.desk = settings, arena, desk
        self._servers = servers

    @property
    def ports(self) -> dict[str, int]:
        """Where it listens, by the name of what is spoken there."""
        return {name: int(server.sockets[0].getsockname()[1]) for name, server in self._servers.items()}

    @property
    def port(self) -> int:
        return self.ports["http"]

    @property
    def url(self) -> str:
        scheme = "https" if self.settings.tls_cert else "http"
        return f"{scheme}://{self.settings.host}:{self.port}"

    async def close(self) -> None:
        """No new matches; running ones get their time, and whoever asks how it goes is still answered."""
        await self.desk.close()
        for server in self._servers.values():
            server.close()
        await self.arena.store.close()


async def open_house(settings: Settings) -> House:
    store = await open_store(settings.store_url)
    desk = Desk(store, settings)
    arena = Arena(store, desk.floor, desk.registry)
    servers: dict[str, asyncio.Server] = {}
    try:
        await _listen_all(settings, desk, arena, servers)
    except BadSetting:
        for server in servers.values():
            server.close()
        await store.close()
        raise
    aborted = await store.abort_running("the server ended without notice", int(time() * 1000))
    if aborted:
        log.warning("matches were running when the server last ended", aborted=aborted)
    return House(settings, arena, desk, servers)


async def _listen_all(settings: Settings, desk: Desk, arena: Arena, servers: dict[str, asyncio.Server]) -> None:
    """All that listens, put in by name as soon as it does."""
    crowd = Crowd(settings)
    servers["http"] = await _listen(settings, "port", _front_door(settings, desk, arena, crowd))


async def _listen(settings: Settings, key: str, make: Callable[[], asyncio.BaseProtocol]) -> asyncio.Server:
    """`key` is the setting that names the port."""
    port = getattr(settings, key)
    try:
        return await asyncio.get_running_loop().create_server(make, settings.host, port, ssl=_tls(settings), backlog=2048)
    except OSError as error:
        raise BadSetting(f"{key}: cannot listen on {settings.host}:{port}: {error.strerror}") from None


def _front_door(settings: Settings, desk: Desk, arena: Arena, crowd: Crowd) -> Callable[[], Door]:
    config = uvicorn.Config(
        _http_app(desk, arena), http="httptools", ws="websockets-sansio", log_config=None, access_log=False, lifespan="off"
    )
    config.load()
    state, loop = ServerState(), asyncio.get_running_loop()

    def http() -> asyncio.Protocol:
        return HttpToolsProtocol(config, state, {}, loop)

    def reception(target: str) -> MakeSession | None:
        if target.startswith("/watch/"):
            return live_spectator(arena, target)
        return lambda connection: NativeSession(connection, desk)

    return lambda: Door(reception, http, crowd, settings)


def _tls(settings: Settings) -> ssl.SSLContext | None:
    if not settings.tls_cert:
        return None
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    try:
        context.load_cert_chain(settings.tls_cert, settings.tls_key or None)
    except (OSError, ssl.SSLError) as error:
        raise BadSetting(f"tls_cert: {error}") from None
    return context


def _http_app(desk: Desk, arena: Arena) -> Starlette:
    async def healthz(_: Request) -> Response:
        return PlainTextResponse("ok\n")

    async def readyz(_: Request) -> Response:
        return PlainTextResponse("stopping\n", 503) if desk.closing else PlainTextResponse("ready\n")

    async def metrics(_: Request) -> Response:
        return Response(generate_latest(), media_type=CONTENT_TYPE_LATEST)

    routes = [Route("/healthz", healthz), Route("/readyz", readyz), Route("/metrics", metrics), Mount("/", make_app(arena))]
    return Starlette(routes=routes)


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
        await wanted.wait()
        log.info("stopping", seconds_for_running_matches=settings.drain)
        await house.close()
