"""Outages: servers whose database can be taken away and given back."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from botdrome.store import journal, store
from botdrome.store.changes import Change, Outcome
from botdrome.store.entries import StoreUnavailable
from botdrome.store.store import Database
from tests.patience import until


class Outage:
    """Belongs to all servers that are opened after it was made."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        make = store._database
        patch.setattr(store, "_database", lambda url: Unsteady(make(url), self))
        patch.setattr(journal, "SHORTEST_PAUSE", 0.001)
        patch.setattr(journal, "LONGEST_PAUSE", 0.001)
        self.writes = self.reads = True
        """Whether the database takes them."""
        self.tries = 0
        """Writes that have failed."""

    def begin(self, reads: bool = True) -> None:
        """From now on nothing can be written, nor read unless `reads`."""
        self.writes, self.reads = False, reads

    def end(self) -> None:
        self.writes = self.reads = True

    async def silent(self, *awaited: Any) -> list[asyncio.Future[Any]]:
        """Check that the awaited message does not come, though the store retries and all tasks get
        their turn.
        """
        futures = [asyncio.ensure_future(one) for one in awaited]
        tries = self.tries + 50
        await until(lambda: self.tries >= tries)
        assert not any(future.done() for future in futures), [
            future for future in futures if future.done()
        ]
        return futures


class Unsteady:
    """A database that fails during an outage."""

    def __init__(self, database: Database, outage: Outage) -> None:
        self._database, self._outage = database, outage
        self.open, self.claim, self.close, self.source = (
            database.open,
            database.claim,
            database.close,
            database.source,
        )

    async def carry_out(self, batch: Sequence[Change]) -> list[Outcome]:
        if not self._outage.writes:
            self._outage.tries += 1
            raise StoreUnavailable("no space left on device")
        return await self._database.carry_out(batch)

    async def fetch(self, query: str, values: Mapping[str, Any]) -> list[Sequence[Any]]:
        if not self._outage.reads:
            raise StoreUnavailable("the connection is lost")
        return await self._database.fetch(query, values)
