"""SQLite in WAL mode: one thread writes and one reads, each with its own connection."""

import asyncio
import os
import sqlite3
import stat
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import get_native_id
from typing import Any, TypeVar

import structlog
from sqlalchemy import Executable, Table
from sqlalchemy.dialects import sqlite

from botdrome.store import queries, schema
from botdrome.store.changes import (
    Alter,
    Change,
    Find,
    Lock,
    Outcome,
    Put,
    Run,
    Step,
    TakeNumbers,
    carried_out,
    followed,
    preparer,
)
from botdrome.store.damage import StoreDamaged, is_damage
from botdrome.store.rows import Row, as_json
from botdrome.store.store import Source, StoreUnavailable, Unstorable

log = structlog.get_logger()


def open_private(path: str | Path, flags: int) -> int:
    """Open a file, which only its owner can read if it is new."""
    return os.open(path, flags, 0o600)


def make_private(path: Path) -> None:
    """Let only the owner read a store, since it has the seeds of running matches.

    Create it if there is none.

    SQLite gives the files that it makes beside it the same mode.
    """
    with suppress(OSError):  # SQLite says what is wrong
        os.close(open_private(path, os.O_RDWR | os.O_CREAT))
    for ending in ("", "-wal", "-shm", "-journal", "-server"):
        file = path.with_name(path.name + ending)
        try:
            mode = file.stat().st_mode
            if (
                stat.S_ISREG(mode) and mode & 0o077
            ):  # a folder in the place of a store may be anybody's, such as /tmp
                file.chmod(stat.S_IMODE(mode) & ~0o077)
        except FileNotFoundError:
            continue
        except OSError as problem:
            log.warning(
                "other users of this machine can read the store",
                file=str(file),
                problem=str(problem),
            )


if sys.platform != "win32":
    import fcntl

T = TypeVar("T")

PATIENCE = 10
"""Seconds to wait for another process that is writing."""
LESS_URGENT = 10
"""The `nice` value of the writing thread."""
SETTINGS = (
    "synchronous = FULL",
    "foreign_keys = ON",
    "cache_size = -32000",
    "wal_autocheckpoint = 4000",
)
BULKS = (256, 64, 32, *range(16, 0, -1))
"""Rows per statement. A few fixed sizes, so that each statement is compiled once."""
AWAY = {
    sqlite3.SQLITE_AUTH,
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_CORRUPT,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_INTERRUPT,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_LOCKED,
    sqlite3.SQLITE_NOLFS,
    sqlite3.SQLITE_NOMEM,
    sqlite3.SQLITE_NOTADB,
    sqlite3.SQLITE_PERM,
    sqlite3.SQLITE_PROTOCOL,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_SCHEMA,
}
"""Errors of the file, the disk or another process, after which a retry may succeed.

Other errors are due to the change.
"""
RECOVERS = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_FULL}
"""Errors after which a rollback is certain to work."""
UNSTORABLE = (
    sqlite3.IntegrityError,
    sqlite3.DataError,
    sqlite3.InterfaceError,
    sqlite3.ProgrammingError,
    OverflowError,
)

prepare = preparer(sqlite.dialect())


@cache
def _inserting(table: Table, rows: int) -> str:
    names = ", ".join(column.name for column in table.c)
    return f"INSERT INTO {table.name} ({names}) {_values(len(table.c), rows)}"


@cache
def _altering(table: Table, columns: tuple[str, ...], keys: tuple[str, ...], rows: int) -> str:
    """SQLite names the columns of `VALUES` column1, column2, ..."""
    fresh = ", ".join(f"{name} = fresh.column{number}" for number, name in enumerate(columns, 1))
    which = " AND ".join(
        f"{table.name}.{name} = fresh.column{number}"
        for number, name in enumerate(keys, len(columns) + 1)
    )
    return (
        f"UPDATE {table.name} SET {fresh} FROM ({_values(len(columns) + len(keys), rows)}) AS "
        f"fresh WHERE {which}"
    )


def _values(columns: int, rows: int) -> str:
    row = f"({', '.join('?' * columns)})"
    return f"VALUES {', '.join([row] * rows)}"


def _in_bulk(
    connection: sqlite3.Connection, statement: Callable[[int], str], rows: Sequence[Row]
) -> None:
    """Execute one statement for many rows, since this thread waits for the interpreter lock after
    each statement.
    """
    start = 0
    while left := len(rows) - start:
        size = next(size for size in BULKS if size <= left)
        connection.execute(
            statement(size), [value for row in rows[start : start + size] for value in row]
        )
        start += size


def connected(path: Path, must_exist: bool = False) -> sqlite3.Connection:
    where = f"{path.absolute().as_uri()}?mode={'rw' if must_exist else 'rwc'}"
    return sqlite3.connect(
        where, uri=True, timeout=PATIENCE, isolation_level=None, cached_statements=256
    )


@contextmanager
def explained(shown: str) -> Iterator[None]:
    """Raise errors as StoreUnavailable that names the store."""
    try:
        yield
    except UNSTORABLE as error:
        raise Unstorable(str(error)) from error
    except (sqlite3.Error, OSError, StoreUnavailable) as error:
        damaged = isinstance(error, sqlite3.Error) and is_damage(error)
        raise (StoreDamaged if damaged else StoreUnavailable)(f"{shown}: {error}") from error


class Sqlite:
    def __init__(
        self, path: Path, shown: str, passing: TemporaryDirectory[str] | None = None
    ) -> None:
        """`passing`: a folder to delete when the store is closed."""
        self._path, self._shown, self._passing = path, shown, passing
        self._loop = asyncio.get_running_loop()
        self._write_thread = ThreadPoolExecutor(1, "store-writer", _give_way)
        self._read_thread = ThreadPoolExecutor(1, "store-reader")
        self._claimed: int | None = None
        """The lock file of the server that has the store.

        The system releases the lock when the process ends.
        """
        self._writer: sqlite3.Connection
        self.fence: tuple[str, int] | None = None  # a file has one server, so this stays None
        self._broken = False
        """Whether to reopen the writer: after a disk error its state is unknown."""
        self._reader: sqlite3.Connection

    @property
    def source(self) -> Source:
        return Source("sqlite", str(self._path.absolute()))

    async def open(self) -> None:
        await self._in(self._write_thread, self._open_writer)
        await self._in(self._read_thread, self._open_reader)

    async def claim(self) -> bool:
        return await self._in(self._write_thread, self._claim)

    async def carry_out(self, changes: Sequence[Change]) -> list[Outcome]:
        return await self._in(self._write_thread, lambda: self._written(changes))

    async def fetch(self, query: Executable, values: Mapping[str, Any]) -> list[Sequence[Any]]:
        return await self._in(self._read_thread, lambda: found(self._reader, query, values))

    async def close(self) -> None:
        """Works also after `open` failed half-way."""
        for thread, name in ((self._read_thread, "_reader"), (self._write_thread, "_writer")):
            if connection := getattr(self, name, None):
                await self._in(thread, partial(_closed, connection))
            thread.shutdown()
        if self._claimed is not None:
            os.close(self._claimed)
        if self._passing:
            self._passing.cleanup()

    async def _in(self, thread: ThreadPoolExecutor, work: Callable[[], T]) -> T:
        def explaining() -> T:
            with explained(self._shown):
                return work()

        return await self._loop.run_in_executor(thread, explaining)

    def _open_writer(self) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        make_private(self._path)
        self._writer = self._connected()
        with _transaction(self._writer):
            for statement in schema.statements("sqlite", _version(self._writer)):
                self._writer.execute(statement)

    def _claim(self) -> bool:
        if sys.platform == "win32":
            return True
        self._claimed = open_private(
            self._path.with_name(self._path.name + "-server"), os.O_RDWR | os.O_CREAT
        )
        try:
            fcntl.flock(self._claimed, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _open_reader(self) -> None:
        self._reader = self._connected()

    def _connected(self, must_exist: bool = False) -> sqlite3.Connection:
        connection = connected(self._path, must_exist)
        try:
            _write_ahead(connection)
            for setting in SETTINGS:
                connection.execute(f"PRAGMA {setting}")
        except BaseException:
            connection.close()
            raise
        return connection

    def _written(self, changes: Sequence[Change]) -> list[Outcome]:
        if self._broken:
            _closed(self._writer)
            self._writer = self._connected(must_exist=True)
            self._broken = False
        try:
            with _transaction(self._writer):
                return followed(carried_out(changes), partial(_do, self._writer))
        except sqlite3.Error as error:
            if not is_away(error):
                raise Unstorable(str(error)) from error
            self._broken = error.sqlite_errorcode not in RECOVERS
            raise


def is_away(error: sqlite3.Error) -> bool:
    return getattr(error, "sqlite_errorcode", -1) & 0xFF in AWAY


def _closed(connection: sqlite3.Connection) -> None:
    """Close without errors; uncommitted changes are rolled back when the file is next opened."""
    with suppress(sqlite3.Error):
        connection.close()


def _do(connection: sqlite3.Connection, step: Step) -> Any:
    match step:
        case Find(query, values):
            return found(connection, query, values)
        case TakeNumbers(numbers):
            last = found(connection, queries.LAST_NUMBER, {})[0][0] or 0
            return range(last + 1, last + 1 + numbers)
        case Put(table, rows):
            _in_bulk(connection, lambda size: _inserting(table, size), rows)
        case Alter(table, columns, keys, rows):
            _in_bulk(connection, lambda size: _altering(table, columns, keys, size), rows)
        case Run(statement, values):
            found(connection, statement, values)
        case Lock():
            pass  # there is only one writer at a time
    return None


def _give_way() -> None:
    """Lower the priority of this thread, so that on a shared core moves do not wait milliseconds
    for writes.
    """
    if sys.platform == "linux":  # elsewhere the priority is that of all threads
        thread = get_native_id()
        with suppress(OSError):
            os.setpriority(
                os.PRIO_PROCESS,
                thread,
                min(19, os.getpriority(os.PRIO_PROCESS, thread) + LESS_URGENT),
            )
            os.sched_setscheduler(
                thread, os.SCHED_BATCH, os.sched_param(0)
            )  # when the disk is done, it does not push in


def _write_ahead(connection: sqlite3.Connection) -> None:
    """Switch to WAL mode with retries: SQLite does not wait here if others open the file at the
    same time.
    """
    until = time.monotonic() + PATIENCE
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                raise
        time.sleep(0.01)


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        connection.rollback()
        raise


def found(
    connection: sqlite3.Connection, statement: Executable, values: Mapping[str, Any]
) -> list[Sequence[Any]]:
    prepared = prepare(statement)
    arguments = [
        as_json(value) if isinstance(value, list) else value for value in prepared.arguments(values)
    ]
    return connection.execute(prepared.text, arguments).fetchall()


def _version(connection: sqlite3.Connection) -> str | None:
    tables = connection.execute(
        "SELECT 1 FROM sqlite_master WHERE name = ?", [schema.VERSION_TABLE]
    ).fetchall()
    found = connection.execute(schema.VERSION).fetchone() if tables else None
    return found[0] if found else None
