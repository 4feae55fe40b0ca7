"""The claim of a server on a PostgreSQL store, by a heartbeat in the store. docs/decisions/0020
says why.
"""

import asyncio
import os
import secrets
import sys
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from tempfile import gettempdir
from typing import Any

import asyncpg  # type: ignore[import-untyped]
import structlog

if sys.platform != "win32":
    import fcntl

log = structlog.get_logger()

BEAT = 2.0
"""Seconds between two beats."""
LEASE = 15.0
"""Seconds without a heartbeat, while the store can be written, after which the owner counts as
dead.
"""
PATIENCE = 3.0
"""Seconds that a heartbeat waits for a connection, and for an answer."""
GOODBYE = 2.0
"""Seconds for releasing a claim."""

READ = "SELECT owner, beat FROM heartbeats WHERE name = 'server'"
FIRST = (
    "INSERT INTO heartbeats VALUES ('server', $1, 0) ON CONFLICT (name) DO NOTHING RETURNING beat"
)
TAKE_OVER = (
    "UPDATE heartbeats SET owner = $1, beat = 0 WHERE name = 'server' AND owner = $2 AND "
    "beat = $3 RETURNING beat"
)
RAISE = "UPDATE heartbeats SET beat = beat + 1 WHERE name = 'server' AND owner = $1 RETURNING beat"
KNOCK = (
    "INSERT INTO heartbeats VALUES ('knock', $1, 0) ON CONFLICT (name) DO UPDATE SET beat = "
    "heartbeats.beat + 1"
)
RELEASE = "DELETE FROM heartbeats WHERE name = 'server' AND owner = $1"

Connect = Callable[[], Awaitable[Any]]


async def connect(
    url: str, name: str = "botdrome heartbeat", patience: float | None = PATIENCE
) -> Any:
    """Open a connection that only heartbeats use, so that they do not wait."""
    return await asyncpg.connect(
        url, timeout=PATIENCE, command_timeout=patience, server_settings={"application_name": name}
    )


class Claim:
    def __init__(self, connect: Connect) -> None:
        self._connect = connect
        self._connection: Any = None
        self._owner = secrets.token_hex(8)
        self._lock: int | None = None
        self._beating: asyncio.Task[None] | None = None

    async def take(self) -> bool:
        """Return False if another server has the store."""
        self._connection = await self._connect()
        self._lock = _locked(self._owner)
        taken = None
        while taken is None:
            taken = await self._taken()
        if taken:
            self._beating = asyncio.ensure_future(self._keep_beating())
        return taken

    async def close(self) -> None:
        """Release the claim.

        If the store is down, the row and the file stay; a server that can lock the file takes over.
        """
        if self._beating is not None:
            self._beating.cancel()
            await asyncio.wait([self._beating])
        with suppress(Exception):
            await self._connection.execute(RELEASE, self._owner, timeout=GOODBYE)
            _file_of(self._owner).unlink(missing_ok=True)
        if self._connection is not None:
            self._connection.terminate()
        if self._lock is not None:
            os.close(self._lock)

    async def _taken(self) -> bool | None:
        """None: the row has just changed, so try again."""
        row = await self._connection.fetchrow(READ)
        if row is None:
            return True if await self._connection.fetchval(FIRST, self._owner) is not None else None
        owner, beat = row
        lives = _lives(owner)
        if lives is None:
            lives = await self._beats(owner, beat)
        if lives:
            return False
        if await self._connection.fetchval(TAKE_OVER, self._owner, owner, beat) is None:
            return None
        _file_of(owner).unlink(missing_ok=True)
        return True

    async def _beats(self, owner: str, beat: int) -> bool:
        """Watch the row.

        Writing to the store meanwhile proves that a missing heartbeat is not due to an outage.
        """
        log.info("the store may belong to another server: waiting for its heartbeat", seconds=LEASE)
        loop = asyncio.get_running_loop()
        until = loop.time() + LEASE
        while loop.time() < until:
            await asyncio.sleep(BEAT / 4)
            await self._connection.execute(KNOCK, self._owner)
            row = await self._connection.fetchrow(READ)
            if row is None or tuple(row) != (owner, beat):
                return row is not None
        return False

    async def _keep_beating(self) -> None:
        """Beat through lost connections and outages."""
        while True:
            await asyncio.sleep(BEAT)
            try:
                if self._connection.is_closed():
                    self._connection = await self._connect()
                if not await self._raised():
                    log.error(
                        "another server has claimed this store: what both count will be wrong"
                    )
                    return
            except Exception:  # the store reports its outages itself
                self._connection.terminate()

    async def _raised(self) -> bool:
        if await self._connection.fetchval(RAISE, self._owner) is not None:
            return True
        return await self._connection.fetchval(FIRST, self._owner) is not None


def _file_of(owner: str) -> Path:
    return Path(gettempdir()) / f"botdrome-{owner}.lock"


def _locked(owner: str) -> int | None:
    """Lock a file until this process ends; None: the platform has no such locks."""
    if sys.platform == "win32":
        return None
    file = os.open(_file_of(owner), os.O_RDWR | os.O_CREAT, 0o644)
    fcntl.flock(file, fcntl.LOCK_EX)
    return file


def _lives(owner: str) -> bool | None:
    """Whether the owner's process lives; None: it is on another machine."""
    if sys.platform == "win32":
        return None
    try:
        file = os.open(_file_of(owner), os.O_RDONLY)
    except OSError:
        return None
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(file)
    return False
