"""Input keeper: stores the inputs of all running matches of a node, every 10 ms in one row.

A table that gets an input is entered in a list. The inputs themselves stay in the match, so that nothing has to be buffered
while the store is away. Rows of matches that are over are deleted in steps: when the rows have grown to a multiple of what the
running matches need, the inputs of those matches are written again, a little in each row, and all earlier rows are deleted.
"""

import asyncio
from collections import deque
from typing import TYPE_CHECKING, Protocol

import structlog

from botdrome.server.tables.kept_inputs import InputChunk, pack_row
from botdrome.store.journal import LONGEST_PAUSE, SHORTEST_PAUSE, Outage
from botdrome.store.store import Fenced, StoreUnavailable

if TYPE_CHECKING:
    from botdrome.server.tables.kept_table import KeptTable

log = structlog.get_logger()

INTERVAL = 0.01
"""Seconds between two rows."""
MOST_TABLES = 2_000
"""Tables of one row; more wait for the next."""
AGAIN = 1_000
"""Inputs of one row that are written again."""
HEAD = 10
"""The number of inputs that take as long as the head of a match."""
MULTIPLE, LEAST = 3, 4 << 20
"""Rows are written again when they take this multiple of what the running matches need, and this many bytes more."""


class Rows(Protocol):
    async def write(self, number: int, data: bytes) -> None: ...

    async def delete_before(self, number: int) -> None: ...


class InputKeeper:
    def __init__(self, rows: Rows, hold: bool = False) -> None:
        """`hold`: news are told when their inputs are stored. They are stored at once then, as fast as the store writes."""
        self._rows, self._hold = rows, hold
        self.holding = hold
        """Whether news wait at present. They do not while the store is away, since bots would lose on time."""
        self._loop = asyncio.get_running_loop()
        self._tables: dict[str, KeptTable] = {}
        self._touched: list[KeptTable] = []
        self._waiting: asyncio.Handle | None = None
        self._writing: asyncio.Task[None] | None = None
        self._number = 0
        self._last = 0.0
        self._outage = Outage("written")
        self._bytes = self._lines = 0
        """Of all rows that are stored."""
        self._again: deque[tuple[KeptTable, int, int]] = deque()
        """Tables whose inputs are being written again, from an index to another."""
        self._cut = 0
        """The first row that is kept then; 0: nothing is being written again."""
        self.lost = False
        """The node was declared dead: it may not write any more."""

    def enter(self, table: "KeptTable") -> None:
        self._tables[table.entry.id] = table

    def forget(self, match_id: str) -> None:
        """The match is over."""
        if (table := self._tables.pop(match_id, None)) is not None:
            table.kept = False

    def touch(self, table: "KeptTable") -> None:
        """The match of this table has new inputs."""
        self._touched.append(table)
        if self._waiting is None and self._writing is None and not self.lost:
            self._wait()

    async def close(self) -> None:
        """Write nothing more. All matches must be over."""
        if self._waiting is not None:
            self._waiting.cancel()
        if self._writing is not None:
            self._writing.cancel()
            await asyncio.wait([self._writing])
        self.lost = True

    def _wait(self) -> None:
        """Write the next row 10 ms after the last one; if news wait for it, at the end of this turn of the loop."""
        delay = self._last + INTERVAL - self._loop.time()
        if self.holding or delay <= 0:
            self._waiting = self._loop.call_soon(self._start)
        else:
            self._waiting = self._loop.call_later(delay, self._start)

    def _start(self) -> None:
        self._waiting, self._last = None, self._loop.time()
        tables = self._next_tables()
        chunks = [table.unsaved() for table in tables]
        self._lines += sum([len(chunk.lines) for chunk in chunks])
        if self._again:
            self._add_again(chunks)
        self._number += 1
        data = pack_row(chunks)
        self._bytes += len(data)
        self._writing = self._loop.create_task(self._write(data, tables))

    def _next_tables(self) -> "list[KeptTable]":
        """Return the tables for this row. A table whose match is over needs no inputs."""
        touched, self._touched = self._touched, []
        if len(touched) > MOST_TABLES:
            self._touched = touched[MOST_TABLES:]
            touched = touched[:MOST_TABLES]
        return [table for table in touched if table.kept]

    async def _write(self, data: bytes, tables: "list[KeptTable]") -> None:
        pause = SHORTEST_PAUSE
        while not await self._written(data):
            if self.lost:
                return
            await asyncio.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE)
        if self._hold:
            self.holding = True
            for table in tables:
                table.acknowledged()
        if self._cut and not self._again:
            await self._delete()
        elif not self._cut:
            self._write_again_if_large()
        self._writing = None
        if self._touched or self._again:
            self._wait()

    async def _written(self, data: bytes) -> bool:
        try:
            await self._rows.write(self._number, data)
        except Fenced as problem:
            log.error("this node may not store inputs any more", problem=str(problem))
            self.lost = True
            return False
        except StoreUnavailable as problem:
            self._outage.failed(str(problem), matches=len(self._tables))
            self.holding = False
            for table in list(self._tables.values()):
                table.release()
            return False
        self._outage.worked()
        return True

    # Rows of matches that are over.

    def _write_again_if_large(self) -> None:
        if self._bytes <= LEAST:
            return
        tables = self._tables.values()
        needed = sum([table.saved for table in tables]) * self._bytes // max(1, self._lines)
        if self._bytes > LEAST + MULTIPLE * needed:
            self._again.extend([(table, 0, table.saved) for table in tables])
            self._cut, self._bytes, self._lines = self._number + 1, 0, 0

    def _add_again(self, chunks: list[InputChunk]) -> None:
        room = AGAIN
        while self._again and room > 0:
            table, first, end = self._again.popleft()
            if not table.kept:
                continue
            until = min(end, first + room)
            chunks.append(table.saved_again(first, until))
            self._lines += until - first
            room -= until - first + HEAD
            if until < end:
                self._again.appendleft((table, until, end))

    async def _delete(self) -> None:
        try:
            await self._rows.delete_before(self._cut)
        except StoreUnavailable as problem:
            self._outage.failed(str(problem), matches=len(self._tables))
            return
        self._cut = 0
