"""PostgreSQL, with one connection that writes and a few that read.

Pools reopen lost connections.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import cache, partial
from typing import Any

import asyncpg  # type: ignore[import-untyped]
from sqlalchemy import Executable, FromClause, Table, bindparam, column, func, update
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.dialects.postgresql.asyncpg import dialect

from botdrome.store import schema
from botdrome.store.changes import Change, Outcome, carried_out
from botdrome.store.claim import Claim, connect
from botdrome.store.nodes import FENCE, FENCED, NODES_LIVE
from botdrome.store.rows import Row
from botdrome.store.steps import (
    Alter,
    Find,
    Lock,
    Plan,
    PreparedStatement,
    Put,
    Run,
    Step,
    TakeNumbers,
    preparer,
)
from botdrome.store.store import BadStoreUrl, Fenced, Source, StoreUnavailable, Unstorable

READERS = 4
PATIENCE = 60
"""Seconds for one statement."""
GOODBYE = 10
"""Seconds for connections to close."""
MIGRATING = 4_273_461_907
"""The advisory lock of migrations."""
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
"""SQLSTATEs, and classes of them, of an outage, after which a retry may succeed.

Other errors are due to the change.
"""
UNSTORABLE = (
    asyncpg.DataError,
    asyncpg.IntegrityConstraintViolationError,
    asyncpg.exceptions._base.DataError,
    OverflowError,
    UnicodeError,
)

prepare = preparer(dialect())  # type: ignore[no-untyped-call]


def _rows(table: Table, names: Sequence[str]) -> FromClause:
    """Rows as one array per column, so that one statement serves any number of rows."""
    arrays = [bindparam(name, type_=ARRAY(table.c[name].type)) for name in names]
    columns = [column(name, table.c[name].type) for name in names]
    return func.unnest(*arrays).table_valued(*columns, name="rows").render_derived()


@cache
def _altering(table: Table, columns: tuple[str, ...], keys: tuple[str, ...]) -> PreparedStatement:
    rows = _rows(table, columns + keys).c
    change = update(table).values({name: rows[name] for name in columns})
    return prepare(change.where(*(table.c[name] == rows[name] for name in keys)))


async def leave_as_it_is(connection: Any) -> None:
    """Skip the reset query, as the writer leaves no session state."""


class Postgres:
    def __init__(self, url: str, shown: str) -> None:
        self._url, self._shown = url, shown
        self._writer: Any = None
        self._readers: Any = None
        self._claim: Claim | None = None
        self.fence: tuple[str, int] | None = None

    @property
    def source(self) -> Source:
        return Source("postgresql", self._url)

    async def open(self) -> None:
        async with self._explained():
            # Before a table has been analysed, the planner would have each match sought through the
            # whole of it.
            self._writer = await self._pool(1, {"enable_seqscan": "off"}, reset=leave_as_it_is)
            self._readers = await self._pool(READERS, {})
            async with self._writer.acquire() as connection, connection.transaction():
                await _upgrade(connection)

    def _pool(self, size: int, settings: dict[str, str], **options: Any) -> Any:
        options |= {"timeout": 10, "command_timeout": PATIENCE}
        options["server_settings"] = {"application_name": "botdrome", "jit": "off", **settings}
        # With a least size, a pool opens lost connections again by itself, and logs each failure
        # with a traceback.
        return asyncpg.create_pool(
            self._url, min_size=0, max_size=size, max_inactive_connection_lifetime=0, **options
        )

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
        for pool in (self._readers, self._writer):
            if pool is not None:
                try:
                    await asyncio.wait_for(pool.close(), GOODBYE)
                except TimeoutError:
                    pool.terminate()

    async def carry_out(self, changes: Sequence[Change]) -> list[Outcome]:
        async with self._explained():
            try:
                async with self._writer.acquire() as connection, connection.transaction():
                    if (
                        self.fence is not None
                        and await connection.fetchval(FENCE, *self.fence) is None
                    ):
                        raise Fenced(FENCED.format(*self.fence))
                    return await _followed(carried_out(changes), connection)
            except asyncpg.PostgresError as error:
                if not is_away(error):
                    raise Unstorable(str(error)) from error
                raise

    async def fetch(self, query: Executable, values: Mapping[str, Any]) -> list[Sequence[Any]]:
        async with self._explained():
            prepared = prepare(query)
            return list(await self._readers.fetch(prepared.text, *prepared.arguments(values)))

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
        except (
            asyncpg.PostgresError,
            asyncpg.InterfaceError,
            asyncpg.InternalClientError,
            OSError,
            StoreUnavailable,
        ) as error:
            raise StoreUnavailable(
                f"{self._shown}: {str(error) or type(error).__name__}"
            ) from error


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
        case Find(query, values):
            prepared = prepare(query)
            return await connection.fetch(prepared.text, *prepared.arguments(values))
        case TakeNumbers(numbers):
            return [row[0] for row in await connection.fetch(NUMBERS, numbers)]
        case Put(table, rows):
            await connection.copy_records_to_table(table.name, records=rows, columns=table.c.keys())
        case Alter(table, columns, keys, rows):
            await connection.execute(_altering(table, columns, keys).text, *_columns(rows))
        case Run(statement, values):
            prepared = prepare(statement)
            await connection.execute(prepared.text, *prepared.arguments(values))
        case Lock(table):
            await connection.execute(f"LOCK TABLE {table.name} IN SHARE ROW EXCLUSIVE MODE")


def _columns(rows: Sequence[Row]) -> list[tuple[Any, ...]]:
    return list(zip(*rows, strict=True))


async def _upgrade(connection: Any) -> None:
    await connection.execute("SELECT pg_advisory_xact_lock($1)", MIGRATING)
    known = await connection.fetchval("SELECT to_regclass($1)", schema.VERSION_TABLE)
    version = await connection.fetchval(schema.VERSION) if known else None
    statements = schema.statements("postgresql", version)
    if (
        statements
        and await connection.fetchval("SELECT to_regclass('nodes')")
        and await connection.fetchval(NODES_LIVE)
    ):
        raise StoreUnavailable(
            f"nodes of an older version use it, and its schema ({version}) must change: stop them "
            "all first"
        )
    for statement in statements:
        await connection.execute(statement)
