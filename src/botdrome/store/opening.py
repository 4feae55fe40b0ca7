"""Open a store by its URL, open it for reading in another process, and back up an SQLite file."""

import os
import re
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from sqlalchemy import URL, Executable, make_url
from sqlalchemy.exc import ArgumentError

from botdrome.store.changes import Change, FillLikeness, Outcome
from botdrome.store.damage import check_file
from botdrome.store.postgres import Postgres
from botdrome.store.sql_store import Database, SqlStore
from botdrome.store.sqlite import Sqlite, connected, explained, found, open_private
from botdrome.store.store import BadStoreUrl, Source, Store, StoreUnavailable

__all__ = ["BadStoreUrl", "StoreUnavailable", "backup_sqlite", "check_store", "open_store"]

IN_MEMORY = ":memory:"
KNOWN = "a store is sqlite:///FILE or postgresql://USER:PASSWORD@HOST:PORT/DATABASE"


async def open_store(url: str) -> Store:
    """Open a store; create or migrate it if necessary."""
    database = _database(url)
    try:
        await database.open()
        await database.carry_out([FillLikeness()])
    except BaseException:
        await database.close()
        raise
    return SqlStore(database)


def check_store(url: str) -> None:
    """Raise StoreDamaged if an SQLite file is damaged. PostgreSQL checks its pages itself."""
    parsed = _parsed(url)
    if (
        parsed.drivername == "sqlite"
        and parsed.database != IN_MEMORY
        and (file := _file(parsed)).is_file()
    ):
        with explained(_shown(url)):
            connection = connected(file, must_exist=True)
        check_file(connection, _shown(url))


def backup_sqlite(url: str, target: Path) -> None:
    """Write a consistent copy, also while a server writes. The file appears when it is complete."""
    source = _file(_parsed(url))
    if target.exists():
        raise FileExistsError(f"{target} exists already")
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(target.name + ".part")
    part.unlink(missing_ok=True)
    with explained(_shown(url)), closing(connected(source, must_exist=True)) as store:
        os.close(open_private(part, os.O_RDWR | os.O_CREAT | os.O_EXCL))
        with closing(sqlite3.connect(part)) as copy:
            store.backup(copy)
    _to_disk(part)
    part.rename(target)


def _to_disk(file: Path) -> None:
    descriptor = os.open(file, os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _database(url: str) -> Database:
    parsed = _parsed(url)
    if parsed.drivername == "postgresql":
        return Postgres(url, _shown(url))
    if parsed.database == IN_MEMORY:
        folder = TemporaryDirectory(prefix="botdrome-")
        return Sqlite(Path(folder.name) / "store.db", _shown(url), folder)
    return Sqlite(_file(parsed), _shown(url))


def _parsed(url: str) -> URL:
    try:
        parsed = make_url(url)
    except (ArgumentError, ValueError):
        raise BadStoreUrl(f"{_shown(url)}: {KNOWN}") from None
    if parsed.drivername not in ("sqlite", "postgresql"):
        raise BadStoreUrl(f"{_shown(url)}: {KNOWN}")
    return parsed


def _file(url: URL) -> Path:
    if url.drivername != "sqlite" or not url.database or url.host or url.query:
        raise BadStoreUrl(f"{_shown(str(url))}: this must be sqlite:///FILE")
    return Path(url.database)


def _shown(url: str) -> str:
    """Hide the password, even in an invalid URL."""
    url = re.sub(r"(?<=[?&]password=)[^&]*", "***", url)
    if url.startswith("sqlite:"):
        return url
    return re.sub(r"(://[^:@]*):.*@" if "://" in url else r"(^[^:/]*):.*@", r"\1:***@", url)


class SqliteReader(Sqlite):
    """Reads without a thread, since its process does nothing else."""

    async def open(self) -> None:
        with explained(self._shown):
            self._reader = connected(self._path, must_exist=True)
            self._reader.execute("PRAGMA query_only = ON")

    async def fetch(self, query: Executable, values: Mapping[str, Any]) -> list[Sequence[Any]]:
        with explained(self._shown):
            return found(self._reader, query, values)

    async def carry_out(self, changes: Sequence[Change]) -> list[Outcome]:
        raise StoreUnavailable("this process only reads the store")

    async def close(self) -> None:
        self._reader.close()


class PostgresReader(Postgres):
    async def open(self) -> None:
        async with self._explained():
            self._readers = await self._pool(1, {"default_transaction_read_only": "on"})

    async def carry_out(self, changes: Sequence[Change]) -> list[Outcome]:
        raise StoreUnavailable("this process only reads the store")


async def open_reader(source: Source) -> Store:
    is_file = source.kind == "sqlite"
    reader = (
        SqliteReader(Path(source.place), source.place)
        if is_file
        else PostgresReader(source.place, "the store")
    )
    await reader.open()
    return SqlStore(reader)


_open: dict[Source, Store] = {}


async def reader(source: Source) -> Store:
    """Return a reader that is kept open, one at a time."""
    if source not in _open:
        for store in _open.values():
            await store.close()
        _open.clear()
        _open[source] = await open_reader(source)
    return _open[source]
