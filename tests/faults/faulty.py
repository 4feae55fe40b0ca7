"""A database whose n-th call fails, in a way that is chosen."""

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable
from inspect import iscoroutinefunction
from typing import Any, Literal

import asyncpg  # type: ignore[import-untyped]
import pytest
from msgspec import Struct

from botdrome.store import store
from botdrome.store.entries import StoreUnavailable
from botdrome.store.sqlite import Sqlite

Kind = Literal[
    "none", "error", "unknown", "full", "lost", "lost during", "stop", "crash", "kill", "kill after"
]
KINDS: dict[str, tuple[Kind, ...]] = {
    "sqlite": ("error", "unknown", "full", "kill", "kill after"),
    "postgresql": (
        "error",
        "unknown",
        "full",
        "lost",
        "lost during",
        "stop",
        "crash",
        "kill",
        "kill after",
    ),
}
"""The faults that each database can have."""
KILLS: tuple[Kind, ...] = ("kill", "kill after")
OUTAGES: tuple[Kind, ...] = ("stop", "crash")
Call = Callable[[], Awaitable[Any]]


class Fault(Struct, frozen=True):
    """A fault, the database call at which it begins (the first is 1), and the number of calls that
    fail.
    """

    kind: Kind = "none"
    call: int = 0
    calls: int = 1

    def __str__(self) -> str:
        return f"{self.kind} at call {self.call}" + (
            f" and the next {self.calls - 1}" if self.calls > 1 else ""
        )


Outage = Callable[[Kind], Awaitable[None]]
"""Stops the database server, and has it started again some time later."""


class FaultyDatabase:
    """Counts all calls to a database but `close`, and breaks some."""

    def __init__(self, database: Any, url: str, faults: "Faults") -> None:
        self._database, self._url, self._faults = database, url, faults

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._database, name)
        if name == "close" or not iscoroutinefunction(method):
            return method

        async def counted(*words: Any) -> Any:
            return await self._faults.called(self._database, self._url, lambda: method(*words))

        return counted


class Faults:
    """The calls to one database, over all servers that use it."""

    def __init__(self, fault: Fault, outage: Outage | None = None) -> None:
        self._fault, self._outage = fault, outage
        self.calls = 0
        self.databases: list[Any] = []
        """All that were opened."""

    @property
    def reached(self) -> bool:
        return self.calls >= self._fault.call

    def install(self) -> Callable[[], None]:
        """Stores that are opened from now on have a faulty database, until the function that this
        returns is called.
        """
        patch, make = pytest.MonkeyPatch(), store._database

        def faulty(url: str) -> FaultyDatabase:
            self.databases.append(make(url))
            return FaultyDatabase(self.databases[-1], url, self)

        patch.setattr(store, "_database", faulty)
        return patch.undo

    async def called(self, database: Any, url: str, call: Call) -> Any:
        self.calls += 1
        fault, number = self._fault, self.calls
        if fault.kind == "full" and isinstance(database, Sqlite):
            return await self._on_small_disk(database, number, call)
        if fault.kind in OUTAGES:
            if number == fault.call and self._outage is not None:
                await self._outage(fault.kind)
            return await call()
        if fault.call <= number < fault.call + fault.calls:
            return await _broken(fault.kind, url, call)
        return await call()

    async def _on_small_disk(self, database: Sqlite, number: int, call: Call) -> Any:
        """SQLite itself reports a full disk while the file may not grow."""
        fault = self._fault
        if hasattr(database, "_writer") and number in (fault.call, fault.call + fault.calls):
            await limit_pages(database, 1 if number == fault.call else 1 << 30)
        return await call()


async def limit_pages(database: Sqlite, pages: int) -> None:
    """The file keeps the pages that it has."""
    await database._write_thread.do(
        lambda: database._writer.execute(f"PRAGMA max_page_count = {pages}").fetchall()
    )


async def _broken(kind: Kind, url: str, call: Call) -> Any:
    match kind:
        case "unknown":
            await call()
            raise StoreUnavailable(
                "injected: the connection was lost while the answer was on its way"
            )
        case "full":
            raise StoreUnavailable("injected: could not extend file: No space left on device")
        case "lost":
            await end_connections(url)
            return await call()
        case "lost during":
            under_way = asyncio.ensure_future(call())
            await end_connections(url)
            return await under_way
        case "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        case "kill after":
            await call()
            os.kill(os.getpid(), signal.SIGKILL)
    raise StoreUnavailable("injected: disk I/O error")


async def end_connections(url: str) -> None:
    """Of everybody else to this PostgreSQL."""
    connection = await asyncpg.connect(url)
    try:
        others = "backend_type = 'client backend' AND pid <> pg_backend_pid()"
        await connection.execute(
            f"SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE {others}"
        )
    finally:
        await connection.close()
