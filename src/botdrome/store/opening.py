"""Open a store by its URL, open it for reading in another process, and back up an SQLite file."""

import os
import re
import sqlite3
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import unquote, urlsplit

from botdrome.store.entries import BadStoreUrl, Source
from botdrome.store.postgres import Postgres, PostgresReader
from botdrome.store.reader import StoreReader
from botdrome.store.sqlite import (
    Sqlite,
    SqliteReader,
    check_file,
    connected,
    explained,
    open_private,
)
from botdrome.store.store import Database, Store

IN_MEMORY = Path(":memory:")
SQLITE = "this must be sqlite:///FILE"
KNOWN = "a store is sqlite:///FILE or postgresql://USER:PASSWORD@HOST:PORT/DATABASE"


async def open_store(url: str) -> Store:
    """Open a store; create or migrate it if necessary."""
    database = _database(url)
    try:
        await database.open()
    except BaseException:
        await database.close()
        raise
    return Store(database)


def check_store(url: str) -> None:
    """Raise StoreDamaged if an SQLite file is damaged. PostgreSQL checks its pages itself."""
    file = _file_of(url)
    if file is not None and file != IN_MEMORY and file.is_file():
        with explained(_shown(url)):
            connection = connected(file, must_exist=True)
        check_file(connection, _shown(url))


def backup_sqlite(url: str, target: Path) -> None:
    """Write a consistent copy, also while a server writes. The file appears when it is complete."""
    source = _file_of(url)
    if source is None:
        raise BadStoreUrl(f"{_shown(url)}: {SQLITE}")
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
    file = _file_of(url)
    if file is None:
        return Postgres(url, _shown(url))
    if file == IN_MEMORY:
        folder = TemporaryDirectory(prefix="botdrome-")
        return Sqlite(Path(folder.name) / "store.db", _shown(url), folder)
    return Sqlite(file, _shown(url))


def _file_of(url: str) -> Path | None:
    """Return the file of a store in SQLite; None: the store is in PostgreSQL."""
    kind, _, place = url.partition("://")
    if kind == "sqlite" and "://" in url:
        if not place.removeprefix("/") or not place.startswith("/") or "?" in place:
            raise BadStoreUrl(f"{_shown(url)}: {SQLITE}")
        return Path(unquote(place[1:]))
    try:
        if kind == "postgresql" and urlsplit(url).port != 0:
            return None
    except ValueError:
        pass  # the port is no number
    raise BadStoreUrl(f"{_shown(url)}: {KNOWN}")


def _shown(url: str) -> str:
    """Hide the password, even in an invalid URL."""
    url = re.sub(r"(?<=[?&]password=)[^&]*", "***", url)
    if url.startswith("sqlite:"):
        return url
    return re.sub(r"(://[^:@]*):.*@" if "://" in url else r"(^[^:/]*):.*@", r"\1:***@", url)


async def open_reader(source: Source) -> StoreReader:
    """Open a store that exists already, for a process that only reads."""
    is_file = source.kind == "sqlite"
    database = SqliteReader(Path(source.place)) if is_file else PostgresReader(source.place)
    await database.open()
    return StoreReader(database)


_open: dict[Source, StoreReader] = {}


async def reader(source: Source) -> StoreReader:
    """Return a reader that is kept open, one at a time."""
    if source not in _open:
        for store in _open.values():
            await store.close()
        _open.clear()
        _open[source] = await open_reader(source)
    return _open[source]
