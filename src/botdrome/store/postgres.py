"""PostgreSQL: one connection writes and a few read. Pools reopen lost connections.

A single server claims the store by a heartbeat; docs/decisions/0020 says why.
"""

import asyncio
import os
import re
import secrets
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from functools import cache, partial
from pathlib import Path
from tempfile import gettempdir
from typing import Any

import asyncpg  # type: ignore[import-untyped]
import structlog

from botdrome.store import queries, schema
from botdrome.store.changes import (
    Change,
    Columns,
    Insert,
    LockMatches,
    LockUploads,
    Outcome,
    Plan,
    Replace,
    Run,
    Step,
    TakeNumbers,
    Update,
    carried_out,
)
from botdrome.store.entries import BadStoreUrl, Fenced, Source, StoreUnavailable, Unstorable

if sys.platform != "win32":
    import fcntl

log = structlog.get_logger()

BEAT = 2.0
"""Seconds between two beats."""
LEASE = 15.0
"""Seconds without a heartbeat, while the store can be written, after which the owner counts as
dead.
"""
BEAT_PATIENCE = 3.0
"""Seconds that a heartbeat waits for a connection, and for an answer."""
RELEASE_PATIENCE = 2.0
"""Seconds for releasing a claim."""

READ = "SELECT owner, beat FROM heartbeats WHERE name = 'server'"
FIRST = (
    "INSERT INTO heartbeats VALUES ('server', $1, 0) ON CONFLICT (name) DO NOTHING RETURNING beat"
)
TAKE_OVER = """UPDATE heartbeats SET owner = $1, beat = 0
    WHERE name = 'server' AND owner = $2 AND beat = $3 RETURNING beat"""
RAISE = "UPDATE heartbeats SET beat = beat + 1 WHERE name = 'server' AND owner = $1 RETURNING beat"
KNOCK = """INSERT INTO heartbeats VALUES ('knock', $1, 0)
    ON CONFLICT (name) DO UPDATE SET beat = heartbeats.beat + 1"""
RELEASE = "DELETE FROM heartbeats WHERE name = 'server' AND owner = $1"

Connect = Callable[[], Awaitable[Any]]


async def connect(
    url: str, name: str = "botdrome heartbeat", patience: float | None = BEAT_PATIENCE
) -> Any:
    """Open a connection that only heartbeats use, so that they do not wait."""
    return await asyncpg.connect(
        url,
        timeout=BEAT_PATIENCE,
        command_timeout=patience,
        server_settings={"application_name": name},
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
        """Release the claim. If the store is down, the row and the file stay; a server that can
        lock the file takes over.
        """
        if self._beating is not None:
            self._beating.cancel()
            await asyncio.wait([self._beating])
        with suppress(Exception):
            await self._connection.execute(RELEASE, self._owner, timeout=RELEASE_PATIENCE)
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
        """Watch the row. Writing to the store meanwhile proves that a missing heartbeat is not due
        to an outage.
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


READERS = 4
PATIENCE = 60
"""Seconds for one statement."""
GOODBYE = 10
"""Seconds for connections to close."""
MIGRATING = 4_273_461_907
"""The advisory lock of migrations."""
UPLOADS = MIGRATING + 1
"""The advisory lock of uploads."""
NUMBERS = "SELECT nextval('matches_number_seq') FROM generate_series(1, $1::bigint)"
AWAY = {
    "08": "the connection is lost",
    "25": "read only, as on a standby; or the transaction was given up",
    "28": "the user may not log in",
    "3D": "the database is gone",
    "40": "the transaction met another one",
    "42501": "the user may not write",
    "53": "no disk, no memory or no connection left",
    "55": "locked, or not ready",
    "57": "shutting down, starting up or cancelled",
    "58": "the disk fails",
    "F0": "the configuration is bad",
    "XX": "an internal error, such as a broken file",
}
"""SQLSTATEs, and classes of them, of an outage, after which a retry may succeed. Other errors are
due to the change.
"""
ERRORS = (asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError, OSError)
UNSTORABLE = (
    asyncpg.DataError,
    asyncpg.IntegrityConstraintViolationError,
    asyncpg.exceptions._base.DataError,
    OverflowError,
    UnicodeError,
)

LOCKS = "'nodes'::regclass::oid::int"
HELD = """SELECT objid::bigint AS number, pid FROM pg_locks
    WHERE locktype = 'advisory' AND classid = 'nodes'::regclass
    AND objsubid = 2 AND objid > 0 AND granted AND mode = 'ExclusiveLock'
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"""
NODES_LIVE = f"SELECT EXISTS ({HELD})"
FENCE = """SELECT set_config('idle_in_transaction_session_timeout', '1500', true) FROM nodes
    WHERE name = $1 AND epoch = $2 FOR KEY SHARE"""
"""The lock keeps other nodes from raising the epoch before the commit. A node that freezes in the
middle loses it after 1.5 s.
"""
FENCED = (
    "{0}.{1} was declared dead by another node: "
    "it could not reach the store for too long, or was stopped"
)


@cache
def prepared(statement: str) -> tuple[str, tuple[str, ...]]:
    """Return the statement for PostgreSQL, and the names of its values in their order."""
    statement = re.sub(r"IN (:\w+)", r"= ANY (\1)", statement)
    names = tuple(dict.fromkeys(re.findall(r":(\w+)", statement)))
    return re.sub(r":(\w+)", lambda found: f"${names.index(found[1]) + 1}", statement), names


async def found(connection: Any, statement: str, values: Mapping[str, Any]) -> list[Sequence[Any]]:
    text, names = prepared(statement)
    return list(await connection.fetch(text, *[values[name] for name in names]))


KINDS = {"number": "bigint", "created": "bigint", "record": "bytea", "flights": "bytea"}
"""The types of those columns of `schema.REPLACED` that are no texts."""


@cache
def _replacing(table: str) -> str:
    columns = schema.COLUMNS[table]
    arrays = _arrays((name, KINDS.get(name, "text")) for name in columns)
    names = ", ".join(columns)
    return f"INSERT INTO {table} ({names}) SELECT * FROM {arrays} {queries.in_place(table)}"


@cache
def _updating(columns: Columns) -> str:
    every = columns.changed + columns.keys
    fresh = ", ".join(f"{name} = fresh.{name}" for name, _ in columns.changed)
    which = " AND ".join(f"{columns.table}.{name} = fresh.{name}" for name, _ in columns.keys)
    return f"""UPDATE {columns.table} SET {fresh}
        FROM {_arrays(every)} AS fresh ({", ".join(name for name, _ in every)}) WHERE {which}"""


def _arrays(columns: Iterable[tuple[str, str]]) -> str:
    """Rows come as one array per column, so that one statement serves any number of rows."""
    arrays = (f"${number}::{kind}[]" for number, (_, kind) in enumerate(columns, 1))
    return f"unnest({', '.join(arrays)})"


async def _leave_as_it_is(connection: Any) -> None:
    """Skip the reset query, a second one for each that reads: no query leaves session state."""


class PostgresReader:
    def __init__(self, url: str, shown: str = "the store") -> None:
        self._url, self._shown = url, shown
        self._readers: Any = None

    @property
    def source(self) -> Source:
        return Source("postgresql", self._url)

    async def open(self) -> None:
        async with self._explained():
            self._readers = await self._pool(1, {"default_transaction_read_only": "on"})

    async def fetch(self, query: str, values: Mapping[str, Any]) -> list[Sequence[Any]]:
        async with self._explained():
            return await found(self._readers, query, values)

    async def write_beside(self, statement: str, values: Mapping[str, Any]) -> None:
        """Write beside the server, on a connection of its own."""
        async with self._explained():
            connection = await connect(self._url, "botdrome leaderboards", PATIENCE)
            try:
                await found(connection, statement, values)
            finally:
                connection.terminate()

    async def close(self) -> None:
        await _close(self._readers)

    def _pool(self, size: int, settings: dict[str, str]) -> Any:
        # With a least size, a pool opens lost connections itself, and logs failures as tracebacks.
        return asyncpg.create_pool(
            self._url,
            min_size=0,
            max_size=size,
            max_inactive_connection_lifetime=0,
            timeout=10,
            command_timeout=PATIENCE,
            reset=_leave_as_it_is,
            server_settings={"application_name": "botdrome", "jit": "off", **settings},
        )

    @asynccontextmanager
    async def _explained(self) -> AsyncIterator[None]:
        """Raise errors as StoreUnavailable that names the store."""
        try:
            yield
        except UNSTORABLE as error:
            raise Unstorable(str(error)) from error
        except asyncpg.ClientConfigurationError as error:
            raise BadStoreUrl(f"{self._shown}: {error}") from error
        except Fenced:
            raise
        except (*ERRORS, StoreUnavailable) as error:
            problem = str(error) or type(error).__name__
            raise StoreUnavailable(f"{self._shown}: {problem}") from error


class Postgres(PostgresReader):
    def __init__(self, url: str, shown: str) -> None:
        super().__init__(url, shown)
        self._writer: Any = None
        self._claim: Claim | None = None
        self.fence: tuple[str, int] | None = None

    async def open(self) -> None:
        async with self._explained():
            # Before a table is analysed, the planner would scan all of it for each match.
            self._writer = await self._pool(1, {"enable_seqscan": "off"})
            self._readers = await self._pool(READERS, {})
            async with self._writer.acquire() as connection, connection.transaction():
                await _upgrade(connection)

    async def claim(self) -> bool:
        async with self._explained():
            self._claim = Claim(partial(connect, self._url))
            taken = await self._claim.take()
            if not taken or not await self._readers.fetchval(NODES_LIVE):
                return taken
            await self._claim.close()
            self._claim = None
            return False

    async def close(self) -> None:
        if self._claim is not None:
            await self._claim.close()
        await super().close()
        await _close(self._writer)

    async def carry_out(self, changes: Sequence[Change]) -> list[Outcome]:
        async with self._explained():
            try:
                async with self._writer.acquire() as connection, connection.transaction():
                    await self._check_fence(connection)
                    return await _followed(carried_out(changes), connection)
            except asyncpg.PostgresError as error:
                if not is_away(error):
                    raise Unstorable(str(error)) from error
                raise

    async def _check_fence(self, connection: Any) -> None:
        if self.fence is not None and await connection.fetchval(FENCE, *self.fence) is None:
            raise Fenced(FENCED.format(*self.fence))


async def _close(pool: Any) -> None:
    if pool is not None:
        try:
            await asyncio.wait_for(pool.close(), GOODBYE)
        except TimeoutError:
            pool.terminate()


def is_away(error: Any) -> bool:
    return error.sqlstate in AWAY or (error.sqlstate or "")[:2] in AWAY


async def _followed(plan: Plan[list[Outcome]], connection: Any) -> list[Outcome]:
    answer = None
    while True:
        try:
            step = plan.send(answer)
        except StopIteration as done:
            return list(done.value)
        answer = await _do(connection, step)


async def _do(connection: Any, step: Step) -> Any:
    match step:
        case Run(statement, values):
            return await found(connection, statement, values)
        case TakeNumbers(numbers):
            return [row[0] for row in await connection.fetch(NUMBERS, numbers)]
        case Insert(table, rows):
            columns = schema.COLUMNS[table]
            await connection.copy_records_to_table(table, records=rows, columns=columns)
        case Replace(table, rows):
            await connection.execute(_replacing(table), *zip(*rows, strict=True))
        case Update(columns, rows):
            await connection.execute(_updating(columns), *zip(*rows, strict=True))
        case LockMatches():
            await connection.execute("LOCK TABLE matches IN SHARE ROW EXCLUSIVE MODE")
        case LockUploads():
            await connection.execute("SELECT pg_advisory_xact_lock($1)", UPLOADS)


async def _upgrade(connection: Any) -> None:
    await connection.execute("SELECT pg_advisory_xact_lock($1)", MIGRATING)
    known = await connection.fetchval("SELECT to_regclass($1)", schema.VERSION_TABLE)
    version = await connection.fetchval(schema.READ_VERSION) if known else None
    statements = schema.statements("postgresql", version)
    if statements and known and await connection.fetchval(NODES_LIVE):
        raise StoreUnavailable(
            f"nodes of an older version use it, and its tables ({version}) must change: "
            "stop them all first"
        )
    for statement in statements:
        await connection.execute(statement)
