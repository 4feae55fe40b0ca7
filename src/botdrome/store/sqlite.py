"""SQLite in WAL mode: one thread writes and one reads, each with its own connection."""

import asyncio
import os
import re
import sqlite3
import stat
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from functools import cache, partial
from itertools import chain
from pathlib import Path
from queue import SimpleQueue
from tempfile import TemporaryDirectory
from threading import Thread, Timer, get_native_id
from typing import Any, TypeVar

import structlog

from botdrome.store import queries, schema
from botdrome.store.changes import (
    Change,
    Columns,
    Insert,
    Outcome,
    Replace,
    Run,
    Step,
    TakeNumbers,
    Update,
    carried_out,
    followed,
)
from botdrome.store.entries import Source, StoreDamaged, StoreUnavailable, Unstorable
from botdrome.store.rows import Row, as_json

if sys.platform != "win32":
    import fcntl

log = structlog.get_logger()

T = TypeVar("T")

CHECKING = 5.0
"""Seconds for the check of an SQLite file when a server starts."""
RESTORE = "put the last copy that `botdrome admin backup FILE` wrote in its place"
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
FEW, BULKS = 16, (256, 64, 32, 16)
"""Rows per statement: any number up to FEW, then a few fixed sizes, so that each statement is
compiled once.
"""
FEWEST = 4
"""Rows up to which each has an UPDATE of its own."""
AWAY = {
    getattr(sqlite3, f"SQLITE_{name}")
    for name in (
        "AUTH", "BUSY", "CANTOPEN", "CORRUPT", "FULL", "INTERRUPT", "IOERR", "LOCKED", "NOLFS",
        "NOMEM", "NOTADB", "PERM", "PROTOCOL", "READONLY", "SCHEMA",
    )
}  # fmt: skip
"""Errors of the file, the disk or another process, after which a retry may succeed. Others are due
to the change."""
RECOVERS = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_FULL}
"""Errors after which a rollback is certain to work."""
UNSTORABLE = (
    sqlite3.IntegrityError,
    sqlite3.DataError,
    sqlite3.InterfaceError,
    sqlite3.ProgrammingError,
    OverflowError,
)
EXPLAINED = (*UNSTORABLE, sqlite3.Error, OSError, StoreUnavailable)


sqlite3.register_adapter(bytes, bytes)
sqlite3.register_adapter(type(None), {None: None}.get)
# SQLite takes these values as they are. Without adapters, sqlite3 looks for one at each value.


@cache
def prepared(statement: str, lists: bool = True) -> str:
    """SQLite takes a list as JSON, and a list of one value as the value."""
    many = r"IN (SELECT value FROM json_each(\1))" if lists else r"IN (\1)"
    return re.sub(r"IN (:\w+)", many, statement)


@cache
def _inserting(table: str, rows: int) -> str:
    columns = schema.COLUMNS[table]
    return f"INSERT INTO {table} ({', '.join(columns)}) {_values(len(columns), rows)}"


@cache
def _replacing(table: str, rows: int) -> str:
    return f"{_inserting(table, rows)} {queries.in_place(table)}"


@cache
def _updating(columns: Columns, rows: int) -> str:
    """SQLite names the columns of `VALUES` column1, column2, ..."""
    table, every = columns.table, columns.changed + columns.keys
    equal = [f"{name} = fresh.column{number}" for number, (name, _) in enumerate(every, 1)]
    fresh, which = equal[: len(columns.changed)], equal[len(columns.changed) :]
    return f"""UPDATE {table} SET {", ".join(fresh)} FROM ({_values(len(every), rows)}) AS fresh
        WHERE {" AND ".join(f"{table}.{one}" for one in which)}"""


@cache
def _updating_one(columns: Columns) -> str:
    changed, keys = (
        [f"{name} = ?" for name, _ in some] for some in (columns.changed, columns.keys)
    )
    return f"UPDATE {columns.table} SET {', '.join(changed)} WHERE {' AND '.join(keys)}"


@cache
def _finding(ids: int) -> str:
    """The query KNOWN, in a form for which SQLite makes no table of the ids."""
    known, _ = queries.KNOWN.split(" WHERE ")
    if ids == 1:
        return f"{known} WHERE id = ?"
    wanted = f"({_values(1, ids)}) AS wanted CROSS JOIN matches ON id = wanted.column1"
    return known.replace("FROM matches", f"FROM {wanted}")


def _values(columns: int, rows: int) -> str:
    row = f"({', '.join('?' * columns)})"
    return f"VALUES {', '.join([row] * rows)}"


def _portions(rows: Sequence[T]) -> list[Sequence[T]]:
    """Return many rows at a time: this thread waits for the interpreter lock after a statement."""
    portions: list[Sequence[T]] = []
    start = 0
    while left := len(rows) - start:
        size = left if left <= FEW else next(size for size in BULKS if size <= left)
        portions.append(rows[start : start + size])
        start += size
    return portions


def _in_bulk(
    connection: sqlite3.Connection, statement: Callable[[int], str], rows: Sequence[Row]
) -> None:
    for some in _portions(rows):
        connection.execute(statement(len(some)), list(chain.from_iterable(some)))


def _update(connection: sqlite3.Connection, columns: Columns, rows: Sequence[Row]) -> None:
    """For `UPDATE FROM`, SQLite makes a table. That pays from a few rows on."""
    if len(rows) <= FEWEST:
        connection.executemany(_updating_one(columns), rows)
    else:
        _in_bulk(connection, partial(_updating, columns), rows)


def _find_matches(connection: sqlite3.Connection, ids: Sequence[str]) -> list[Sequence[Any]]:
    return [
        row
        for some in _portions(ids)
        for row in connection.execute(_finding(len(some)), some).fetchall()
    ]


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
    except EXPLAINED as error:
        raise explanation(error, shown) from error


def explanation(error: Exception, shown: str) -> Exception:
    if isinstance(error, UNSTORABLE):
        return Unstorable(str(error))
    damaged = isinstance(error, sqlite3.Error) and is_damage(error)
    return (StoreDamaged if damaged else StoreUnavailable)(f"{shown}: {error}")


def is_damage(error: sqlite3.Error) -> bool:
    return getattr(error, "sqlite_errorcode", -1) & 0xFF in (
        sqlite3.SQLITE_CORRUPT,
        sqlite3.SQLITE_NOTADB,
    )


def check_file(connection: sqlite3.Connection, shown: str, seconds: float = CHECKING) -> None:
    """Raise StoreDamaged if an SQLite file is damaged, as far as it can be checked in this time."""
    given_up: list[bool] = []

    def give_up() -> None:
        given_up.append(True)
        connection.interrupt()

    timer = Timer(seconds, give_up)
    timer.start()
    with closing(connection):
        try:
            problem = str(connection.execute("PRAGMA quick_check(1)").fetchone()[0])
        except sqlite3.Error as error:
            problem = str(error) if is_damage(error) else "ok"  # opening it tells other errors
        finally:
            timer.cancel()
            timer.join()
    if given_up:
        log.info("the store is large, so only a part of it was checked", seconds=seconds)
    elif problem != "ok":
        raise StoreDamaged(f"{shown} is damaged ({problem.splitlines()[-1]}); {RESTORE}")


def open_private(path: str | Path, flags: int) -> int:
    """Open a file, which only its owner can read if it is new."""
    return os.open(path, flags, 0o600)


def make_private(path: Path) -> None:
    """Let only the owner read a store, since it has the seeds of running matches.

    Create it if there is none. SQLite gives the files that it makes beside it the same mode.
    """
    with suppress(OSError):  # SQLite says what is wrong
        os.close(open_private(path, os.O_RDWR | os.O_CREAT))
    for ending in ("", "-wal", "-shm", "-journal", "-server"):
        file = path.with_name(path.name + ending)
        try:
            mode = file.stat().st_mode
            if stat.S_ISREG(mode) and mode & 0o077:  # not a folder, such as /tmp
                file.chmod(stat.S_IMODE(mode) & ~0o077)
        except FileNotFoundError:
            continue
        except OSError as problem:
            log.warning(
                "other users of this machine can read the store",
                file=str(file),
                problem=str(problem),
            )


class SqliteReader:
    """Reads without a thread, since its process does nothing else."""

    def __init__(self, path: Path) -> None:
        self._path = path

    @property
    def source(self) -> Source:
        return Source("sqlite", str(self._path))

    async def open(self) -> None:
        with explained(str(self._path)):
            self._connection = connected(self._path, must_exist=True)
            self._connection.execute("PRAGMA query_only = ON")

    async def fetch(self, query: str, values: Mapping[str, Any]) -> list[Sequence[Any]]:
        with explained(str(self._path)):
            return found(self._connection, query, values)

    async def write_beside(self, statement: str, values: Mapping[str, Any]) -> None:
        """Write beside the server, on a connection of its own."""
        with (
            explained(str(self._path)),
            closing(connected(self._path, must_exist=True)) as connection,
        ):
            found(connection, statement, values)

    async def close(self) -> None:
        self._connection.close()


class StoreThread:
    """Does one piece of work after another. Handing over takes a third of an executor's time."""

    def __init__(self, name: str, shown: str, begin: Callable[[], None] = lambda: None) -> None:
        """`shown` names the store in errors."""
        self._shown, self._begin = shown, begin
        self._loop = asyncio.get_running_loop()
        self._handed: SimpleQueue[tuple[Callable[[], Any], asyncio.Future[Any]] | None]
        self._handed = SimpleQueue()
        self._ended = False
        # A daemon, so that a program which fails and does not end it can still exit.
        self._thread = Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def do(self, work: Callable[[], T]) -> asyncio.Future[T]:
        if self._ended:
            raise RuntimeError(f"{self._shown}: its {self._thread.name} has ended")
        future: asyncio.Future[T] = self._loop.create_future()
        self._handed.put((work, future))
        return future

    def end(self) -> None:
        """Finish the work that was handed over, then end the thread."""
        self._ended = True
        self._handed.put(None)
        self._thread.join()

    def _run(self) -> None:
        try:
            self._begin()
        except Exception:
            log.exception("a thread of the store did not begin as it should")
        while (handed := self._handed.get()) is not None:
            work, future = handed
            if not future.cancelled():
                with suppress(RuntimeError):  # the loop is closed
                    self._loop.call_soon_threadsafe(_answer, future, *self._outcome(work))
            del handed, work, future  # nobody knows when the next comes

    def _outcome(self, work: Callable[[], Any]) -> tuple[Any, BaseException | None]:
        try:
            return work(), None
        except EXPLAINED as error:
            problem = explanation(error, self._shown)
            problem.__cause__ = error
            return None, problem
        except BaseException as error:
            return None, error


def _answer(future: asyncio.Future[Any], outcome: Any, problem: BaseException | None) -> None:
    if future.done():
        return  # its caller was cancelled
    if problem is None:
        future.set_result(outcome)
    else:
        future.set_exception(problem)


class Sqlite:
    def __init__(
        self, path: Path, shown: str, passing: TemporaryDirectory[str] | None = None
    ) -> None:
        """`passing`: a folder to delete when the store is closed."""
        self._path, self._passing = path, passing
        self._write_thread = StoreThread("store-writer", shown, _give_way)
        self._read_thread = StoreThread("store-reader", shown)
        self._claimed: int | None = None
        """The lock file of the server that has the store. The lock ends with the process."""
        self._writer: sqlite3.Connection
        self.fence: tuple[str, int] | None = None  # a file has one server, so this stays None
        self._broken = False
        """Whether to reopen the writer: after a disk error its state is unknown."""
        self._reader: sqlite3.Connection

    @property
    def source(self) -> Source:
        return Source("sqlite", str(self._path.absolute()))

    async def open(self) -> None:
        await self._write_thread.do(self._open_writer)
        await self._read_thread.do(self._open_reader)

    async def claim(self) -> bool:
        return await self._write_thread.do(self._claim)

    async def carry_out(self, changes: Sequence[Change]) -> list[Outcome]:
        return await self._write_thread.do(partial(self._written, changes))

    async def fetch(self, query: str, values: Mapping[str, Any]) -> list[Sequence[Any]]:
        return await self._read_thread.do(partial(found, self._reader, query, values))

    async def close(self) -> None:
        """Works also after `open` failed half-way."""
        for thread, name in ((self._read_thread, "_reader"), (self._write_thread, "_writer")):
            if connection := getattr(self, name, None):
                await thread.do(partial(_closed, connection))
            thread.end()
        if self._claimed is not None:
            os.close(self._claimed)
        if self._passing:
            self._passing.cleanup()

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
    """Types are compared, since `match` takes long to tell classes of msgspec apart."""
    if type(step) is Run:
        if step.statement is queries.KNOWN:
            return _find_matches(connection, step.values["ids"])
        return found(connection, step.statement, step.values)
    if type(step) is TakeNumbers:
        last = connection.execute(queries.LAST_NUMBER).fetchone()[0] or 0
        return range(last + 1, last + 1 + step.numbers)
    if type(step) is Insert:
        _in_bulk(connection, partial(_inserting, step.table), step.rows)
    elif type(step) is Update:
        _update(connection, step.columns, step.rows)
    elif type(step) is Replace:
        _in_bulk(connection, partial(_replacing, step.table), step.rows)
    return None  # nothing needs a lock: there is only one writer at a time


def _give_way() -> None:
    """Lower the priority of this thread, so that moves do not wait milliseconds for writes."""
    if sys.platform == "linux":  # elsewhere the priority is that of all threads
        thread = get_native_id()
        with suppress(OSError):
            urgency = os.getpriority(os.PRIO_PROCESS, thread) + LESS_URGENT
            os.setpriority(os.PRIO_PROCESS, thread, min(19, urgency))
            # When the disk is done, the thread does not push in.
            os.sched_setscheduler(thread, os.SCHED_BATCH, os.sched_param(0))


def _write_ahead(connection: sqlite3.Connection) -> None:
    """Switch to WAL mode. SQLite does not wait here if others open the file at the same time."""
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
    connection: sqlite3.Connection, statement: str, values: Mapping[str, Any]
) -> list[Sequence[Any]]:
    lists = [name for name, value in values.items() if type(value) is list]
    if not lists:
        return connection.execute(statement, values).fetchall()
    many = any(len(values[name]) != 1 for name in lists)
    bound = {name: as_json(values[name]) if many else values[name][0] for name in lists}
    return connection.execute(prepared(statement, many), {**values, **bound}).fetchall()


def _version(connection: sqlite3.Connection) -> str | None:
    tables = connection.execute(
        "SELECT 1 FROM sqlite_master WHERE name = ?", [schema.VERSION_TABLE]
    ).fetchall()
    found = connection.execute(schema.READ_VERSION).fetchone() if tables else None
    return found[0] if found else None
