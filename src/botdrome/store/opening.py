"""Opening a store by its URL, and backing up one that is a file."""

import os
import re
import sqlite3
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

from botdrome.store.changes import Liken
from botdrome.store.postgres import Postgres
from botdrome.store.sql_store import Database, SqlStore
from botdrome.store.sqlite import Sqlite, connected, explained
from botdrome.store.store import BadStoreUrl, Store, StoreUnavailable

__all__ = ["BadStoreUrl", "StoreUnavailable", "backup_sqlite", "open_store"]

IN_MEMORY = ":memory:"
KNOWN = "a store is sqlite:///FILE or postgresql://USER:PASSWORD@HOST:PORT/DATABASE"


async def open_store(url: str) -> Store:
    """Ready for use: made if there is none, brought up to date if it is old."""
    database = _database(url)
    try:
        await database.open()
        await database.carry_out([Liken()])
    except BaseException:
        await database.close()
        raise
    return SqlStore(database)


def backup_sqlite(url: str, target: Path) -> None:
    """A copy of one moment, also while a server writes. It appears under its name when it is whole."""
    source = _file(_parsed(url))
    if target.exists():
        raise FileExistsError(f"{target} is there already")
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(target.name + ".part")
    part.unlink(missing_ok=True)
    with explained(_shown(url)), closing(connected(source, must_exist=True)) as store, closing(sqlite3.connect(part)) as copy:
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
    """Without its password, even where it is no proper URL."""
    url = re.sub(r"(?<=[?&]password=)[^&]*", "***", url)
    if url.startswith("sqlite:"):
        return url
    return re.sub(r"(://[^:@]*):.*@" if "://" in url else r"(^[^:/]*):.*@", r"\1:***@", url)
