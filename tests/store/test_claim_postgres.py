"""A claim on a PostgreSQL store: a live server keeps it even without connections, and a dead one
loses it.
"""

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import asyncpg  # type: ignore[import-untyped]
import pytest
from structlog.testing import capture_logs

from botdrome.store import postgres
from botdrome.store.postgres import Claim
from botdrome.store.store import Store, open_store
from tests.patience import PAUSE, until

pytestmark = pytest.mark.anyio


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgres, "BEAT", 0.0)


@asynccontextmanager
async def a_store(url: str) -> AsyncIterator[Store]:
    store = await open_store(url)
    yield store
    await store.close()


def on_another_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """The lock files of others cannot be seen."""
    monkeypatch.setattr(postgres, "_lives", lambda owner: None)


async def beat(url: str) -> tuple[str, int]:
    connection = await asyncpg.connect(url)
    try:
        row = await connection.fetchrow(postgres.READ)
        return row["owner"], row["beat"]
    finally:
        await connection.close()


async def beats_on(url: str) -> None:
    before = await beat(url)
    while await beat(url) == before:
        await asyncio.sleep(PAUSE)


async def end_heartbeats(url: str) -> None:
    """The connection is lost, as when PostgreSQL restarts."""
    connection = await asyncpg.connect(url)
    mine = "application_name = 'botdrome heartbeat'"
    await connection.execute(
        f"SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE {mine}"
    )
    await connection.close()


@pytest.mark.parametrize("elsewhere", [False, True])
async def test_a_live_server_keeps_its_claim_though_its_connections_are_lost(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch, elsewhere: bool
) -> None:
    async with (
        a_store(postgres_url) as first,
        a_store(postgres_url) as second,
        a_store(postgres_url) as third,
    ):
        assert await first.claim()
        if elsewhere:
            on_another_machine(monkeypatch)
        await end_heartbeats(postgres_url)
        assert not await second.claim(), "right after the loss"
        await beats_on(postgres_url)
        assert not await third.claim(), "when it beats again"


async def test_a_claim_is_given_up_when_the_store_is_closed(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    on_another_machine(monkeypatch)
    async with a_store(postgres_url) as first:
        assert await first.claim()
    async with a_store(postgres_url) as second:
        assert await second.claim()


class Silent(Claim):
    """The claim of a dead server: it has no heartbeat and is not released."""

    async def _keep_beating(self) -> None:
        return


def connecting(url: str) -> Callable[[], object]:
    return lambda: asyncpg.connect(url)


async def test_a_server_that_died_on_another_machine_loses_its_claim_after_a_while(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    on_another_machine(monkeypatch)
    monkeypatch.setattr(postgres, "LEASE", 0.1)
    async with a_store(postgres_url) as store:
        dead = Silent(connecting(postgres_url))  # type: ignore[arg-type]
        assert await dead.take()
        with capture_logs() as logs:
            assert await store.claim()
        assert [line["event"] for line in logs] == [
            "the store may belong to another server: waiting for its heartbeat"
        ]
        await dead.close()
        await beats_on(postgres_url)


async def test_a_server_that_died_on_this_machine_loses_its_claim_at_once(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres, "LEASE", 3600.0)
    async with a_store(postgres_url) as store:
        dead = Silent(connecting(postgres_url))  # type: ignore[arg-type]
        assert await dead.take()
        owner, _ = await beat(postgres_url)
        assert dead._lock is not None
        os.close(dead._lock)  # as the end of its process does
        dead._lock = None
        assert await store.claim()
        assert not postgres._file_of(owner).exists()
        await dead.close()


async def test_a_server_that_lost_its_claim_says_so(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with a_store(postgres_url) as first:
        connection = await asyncpg.connect(postgres_url)
        with capture_logs() as logs:
            assert await first.claim()
            await connection.execute("UPDATE heartbeats SET owner = 'another'")
            await until(lambda: logs)
        assert [line["event"] for line in logs] == [
            "another server has claimed this store: what both count will be wrong"
        ]
        await connection.close()


async def test_a_claim_whose_row_was_deleted_is_renewed(postgres_url: str) -> None:
    async with a_store(postgres_url) as first:
        assert await first.claim()
        connection = await asyncpg.connect(postgres_url)
        await connection.execute("DELETE FROM heartbeats")
        while await connection.fetchrow(postgres.READ) is None:
            await asyncio.sleep(PAUSE)
        await connection.close()
