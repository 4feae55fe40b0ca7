"""An arena whose tables the tests drive, with all its interfaces."""

from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from botdrome.api.app import Api, make_app
from botdrome.server.arena import Arena
from botdrome.store.opening import open_store
from botdrome.store.store import Store
from tests.api.tables import HandTables


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


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
    arena = Arena(store, tables)
    yield arena
    await arena.workers.close()


@pytest.fixture
def app(arena: Arena) -> Api:
    return make_app(arena)


@pytest.fixture
async def http(app: Api) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(app), base_url="http://arena"
    ) as client:
        yield client
