"""Reading a store from a process other than the server: connections that cannot change anything."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sqlalchemy import Executable

from botdrome.store.changes import Change, Outcome
from botdrome.store.postgres import Postgres
from botdrome.store.sql_store import SqlStore
from botdrome.store.sqlite import Sqlite, connected, explained, found
from botdrome.store.store import Source, Store, StoreUnavailable


class SqliteReader(Sqlite):
    """Reads without a thread: its process has nothing else to do meanwhile."""

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
    reader = SqliteReader(Path(source.place), source.place) if is_file else PostgresReader(source.place, "the store")
    await reader.open()
    return SqlStore(reader)


_open: dict[Source, Store] = {}


async def reader(source: Source) -> Store:
    """The same, kept open. There is one at a time: a server has one store."""
    if source not in _open:
        for store in _open.values():
            await store.close()
        _open.clear()
        _open[source] = await open_reader(source)
    return _open[source]
