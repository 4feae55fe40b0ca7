"""An arena whose tables the tests drive, with all its interfaces."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import NamedTuple

import httpx
import pytest

from botdrome.api.app import Api
from botdrome.app import RunningServer
from botdrome.server.arena import Arena
from botdrome.server.calling.bot_caller import BotCaller
from botdrome.server.lobby.desk import Desk
from botdrome.server.lobby.url_bots import UrlBots
from botdrome.server.nodes.asking import Asking
from botdrome.server.rooms.duel import DuelLeaderboard
from botdrome.server.settings import Settings
from botdrome.store.store import Store, open_store
from tests.api.tables import HandTables
from tests.server.clients import server


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
async def house(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[RunningServer]:
    """One server for the tests of a module that do not disturb each other.

    Its settings are `SETTINGS` of the module.
    """
    settings = getattr(request.module, "SETTINGS", {})
    async with server(tmp_path_factory.mktemp("house"), **settings) as running:
        yield running


def hand_arena(store: Store, tables: HandTables) -> Arena:
    """An arena without contests, whose tables a test moves by hand."""
    settings = Settings()
    desk = Desk(store, settings)
    url_bots = UrlBots(desk, BotCaller(settings))
    return Arena(desk, tables, url_bots, DuelLeaderboard(store, {}), Asking())


class SharedArena(NamedTuple):
    """An arena for the tests of a module that do not disturb each other."""

    store: Store
    arena: Arena
    http: httpx.AsyncClient


@pytest.fixture(scope="module")
async def shared(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[SharedArena]:
    store = await open_store(f"sqlite:///{tmp_path_factory.mktemp('shared') / 'store.db'}")
    arena = hand_arena(store, HandTables())
    transport = httpx.ASGITransport(Api(arena))
    async with httpx.AsyncClient(transport=transport, base_url="http://arena") as client:
        yield SharedArena(store, arena, client)
    await arena.workers.close()
    await store.close()


@pytest.fixture
def reader(shared: SharedArena) -> httpx.AsyncClient:
    """A client of an arena that other tests of the module use, too."""
    return shared.http


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    store = await open_store(f"sqlite:///{tmp_path / 'store.db'}")
    yield store
    await store.close()


@pytest.fixture
def tables() -> HandTables:
    return HandTables()


@pytest.fixture
async def arena(store: Store, tables: HandTables) -> AsyncIterator[Arena]:
    arena = hand_arena(store, tables)
    yield arena
    await arena.workers.close()


@pytest.fixture
def app(arena: Arena) -> Api:
    return Api(arena)


@pytest.fixture
async def http(app: Api) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(app), base_url="http://arena"
    ) as client:
        yield client
