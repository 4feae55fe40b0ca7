"""When the database fails, ends wait until it works again, and all else fails at once."""

import asyncio
import os
import resource
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import asyncpg  # type: ignore[import-untyped]
import pytest

from botdrome.store.entries import StoreUnavailable, Wanted
from botdrome.store.store import open_store
from tests.patience import PAUSE, until
from tests.store.entries import a_bot, a_match, an_end, play

pytestmark = pytest.mark.anyio


@contextmanager
def files_no_larger_than(size: int) -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


async def test_a_full_disk(sqlite_url: str, tmp_path: Path) -> None:
    store = await open_store(sqlite_url)
    await play(store, a_match("before"))
    for name in ("a", "b"):
        store.begin(a_match(name))
    await store.match("a")
    big = os.urandom(300_000)
    with files_no_larger_than((tmp_path / "store.db-wal").stat().st_size + 100_000):
        store.begin(a_match("c"))
        ends = [
            asyncio.ensure_future(store.finish(an_end(name, record=big)))
            for name in ("a", "b", "c")
        ]
        await until(lambda: store.journal.trouble)
        assert sqlite_url in store.journal.trouble and store.journal.unwritten == 3
        assert await store.count(Wanted(status="ended")) == 1, "it can still be read"
        with pytest.raises(StoreUnavailable, match=r"store\.db"):
            await store.register(a_bot("ada"))
        with pytest.raises(StoreUnavailable, match=r"store\.db"):
            await store.probe()
        assert not any(end.done() for end in ends)
    await asyncio.gather(*ends)
    assert (store.journal.trouble, store.journal.unwritten) == ("", 0)
    await store.probe()
    await store.register(a_bot("ada"))
    assert await store.count(Wanted(status="ended")) == 4
    assert await store.record("c") == big
    await store.close()


@asynccontextmanager
async def visitor(url: str) -> AsyncIterator[Any]:
    connection = await asyncpg.connect(url)
    yield connection
    await connection.close()


OTHERS = "FROM pg_stat_activity WHERE application_name = 'botdrome'"


async def test_a_connection_that_is_lost_while_it_writes(postgres_url: str) -> None:
    store = await open_store(postgres_url)
    store.begin(a_match("a"))
    store.begin(a_match("b"))
    await store.match("a")
    async with visitor(postgres_url) as locker, visitor(postgres_url) as other:
        async with locker.transaction():
            await locker.execute("LOCK TABLE matches IN ACCESS EXCLUSIVE MODE")
            ends = [asyncio.ensure_future(store.finish(an_end(name))) for name in ("a", "b")]
            await asyncio.sleep(0)
            store.begin(a_match("c"))
            while not (
                waiting := await other.fetchval(f"SELECT pid {OTHERS} AND wait_event_type = 'Lock'")
            ):
                await asyncio.sleep(PAUSE)
            await other.execute("SELECT pg_terminate_backend($1)", waiting)
            await until(lambda: store.journal.trouble)
        await asyncio.gather(*ends, store.finish(an_end("c")))
        assert await store.count(Wanted(status="ended")) == 3
    await store.close()


async def _once_it_is_noticed(call: Callable[[], Awaitable[object]]) -> None:
    for _ in range(5):
        try:
            await call()
        except StoreUnavailable:
            continue
        return
    pytest.fail("it does not connect again")


async def test_connections_that_are_lost_while_nothing_happens(postgres_url: str) -> None:
    store = await open_store(postgres_url)
    await play(store, a_match("a"))
    await store.match("a")
    async with visitor(postgres_url) as other:
        lost = [
            row["pid"]
            for row in await other.fetch(f"SELECT pid, pg_terminate_backend(pid) {OTHERS}")
        ]
        assert len(lost) >= 2
        while await other.fetchval(f"SELECT count(*) {OTHERS} AND pid = ANY ($1)", lost):
            await asyncio.sleep(PAUSE)
    await _once_it_is_noticed(lambda: store.match("a"))
    await _once_it_is_noticed(lambda: play(store, a_match("b")))
    assert await store.count(Wanted(status="ended")) == 2
    await store.close()


async def test_an_end_that_is_lost_with_the_connection_while_it_is_committed(
    postgres_url: str,
) -> None:
    """Whether it was committed or not, it is written once."""
    store = await open_store(postgres_url)
    async with visitor(postgres_url) as other:
        for number in range(20):
            store.begin(a_match(f"m{number}", started=number))
            end = asyncio.ensure_future(store.finish(an_end(f"m{number}")))
            for _ in range(number):
                await asyncio.sleep(0)
            await other.execute(
                f"SELECT pg_terminate_backend(pid) {OTHERS} AND query LIKE '%COMMIT%'"
            )
            await end
    assert await store.count(Wanted(status="ended")) == 20
    await store.close()
