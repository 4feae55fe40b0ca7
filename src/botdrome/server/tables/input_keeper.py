"""Input keeper: stores the inputs of all running matches of a node, every 10 ms in one row.

A table that gets an input is entered in a list. The inputs themselves stay in the match, so that
nothing has to be buffered while the store is away. Rows of matches that are over are deleted in
steps: when the rows have grown to a multiple of what the running matches need, the inputs of those
matches are written again, a little in each row, and all earlier rows are deleted.

Inputs are collected in batches. Usually a row has one batch. If another node keeps inputs in its
memory, it gets a batch in each turn of the loop, and a row has several. A row has the number of its
last batch.
"""

import asyncio
from collections import deque
from collections.abc import Sequence
from typing import TYPE_CHECKING

import structlog

from botdrome.server.tables.input_places import OtherMemory, Rows
from botdrome.server.tables.kept_inputs import InputChunk, pack_row
from botdrome.store.journal import LONGEST_PAUSE, SHORTEST_PAUSE, Outage
from botdrome.store.store import Fenced, StoreUnavailable

if TYPE_CHECKING:
    from botdrome.server.tables.kept_table import KeptTable

log = structlog.get_logger()

INTERVAL = 0.01
"""Seconds between two rows."""
MOST = 2_000
"""Inputs of one batch or row, about; more wait for the next."""
AGAIN = 1_000
"""Inputs of one row that are written again."""
HEAD = 10
"""The number of inputs that take as long as the head of a match."""
MULTIPLE, LEAST = 3, 4 << 20
"""Rows are written again when they take this multiple of what the running matches need, and this
many bytes more.
"""


class InputBatch:
    """New inputs of some tables."""

    __slots__ = ("chunks", "number", "tables")

    def __init__(self, number: int) -> None:
        self.number = number
        self.tables: list[KeptTable] = []
        self.chunks: list[InputChunk] = []


class InputKeeper:
    def __init__(self, rows: Rows, hold: bool = False, memory: OtherMemory | None = None) -> None:
        """`hold`: news are told when their inputs are stored, or another node has them in its
        memory.

        Without such a node, inputs are stored at once, as fast as the store writes.
        """
        self._rows, self._hold, self._memory = rows, hold, memory
        if memory is not None:
            memory.acknowledge = self._acknowledge
        self.holding = hold
        """Whether news wait at present.

        They do not while nobody takes inputs, since bots would lose on time.
        """
        self._loop = asyncio.get_running_loop()
        self._tables: dict[str, KeptTable] = {}
        self._touched: list[KeptTable] = []
        self._batches: deque[InputBatch] = deque()
        """Those that are in no row yet."""
        self._unsafe: deque[InputBatch] = deque()
        """Those for which news wait."""
        self._sharing = False
        self._waiting: asyncio.Handle | None = None
        self._writing: asyncio.Task[None] | None = None
        self._number = self._row = 0
        """Of the last batch, and of the row that is being written."""
        self._last = 0.0
        self._outage = Outage("written")
        self._bytes = self._lines = 0
        """Of all rows that are stored."""
        self._again: deque[tuple[KeptTable, int, int]] = deque()
        """Tables whose inputs are being written again, from an index to another."""
        self._cut = 0
        """The first row that is kept then; 0: nothing is being written again."""
        self._flushes: list[tuple[int, asyncio.Future[bool]]] = []
        """Done when the batches up to that number are stored, or cannot be."""
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
        if self.lost:
            return
        if self._memory is not None and not self._sharing:
            self._share_soon()
        if self._waiting is None and self._writing is None:
            self._wait()

    async def flush(self, tables: "Sequence[KeptTable]") -> bool:
        """Store all inputs of these tables. False: the store is away."""
        if self.lost:
            return False
        self._touched += tables
        while self._touched:
            self._share()
            if self._touched:
                self._collect()
        flushed: asyncio.Future[bool] = self._loop.create_future()
        self._flushes.append((self._number, flushed))
        if self._waiting is None and self._writing is None:
            self._wait()
        return await flushed

    def _end_flushes(self, stored: bool, until: int) -> None:
        """The batches up to this number are stored, or none can be."""
        for number, flushed in self._flushes:
            if number <= until and not flushed.done():
                flushed.set_result(stored)
        self._flushes = [one for one in self._flushes if one[0] > until]

    async def close(self) -> None:
        """Write nothing more. All matches must be over."""
        if self._waiting is not None:
            self._waiting.cancel()
        if self._writing is not None:
            self._writing.cancel()
            await asyncio.wait([self._writing])
        self.lost = True
        self._end_flushes(False, self._number)

    def _share_soon(self) -> None:
        self._sharing = True
        self._loop.call_soon(self._share)

    def _share(self) -> None:
        """Send the inputs of this turn of the loop to the other node."""
        self._sharing = False
        if self._touched and self._memory is not None and not self._memory.full and not self.lost:
            batch = self._collect()
            self._memory.keep(batch.number, pack_row(batch.chunks))
            if self._touched:
                self._share_soon()

    def _wait(self) -> None:
        """Write the next row 10 ms after the last one; if news wait for it, at the end of this turn
        of the loop.
        """
        delay = self._last + INTERVAL - self._loop.time()
        if delay <= 0 or (self.holding and (self._memory is None or not self._memory.answers)):
            self._waiting = self._loop.call_soon(self._start)
        else:
            self._waiting = self._loop.call_later(delay, self._start)

    def _start(self) -> None:
        self._waiting, self._last = None, self._loop.time()
        if self._touched:
            self._share()
        if not self._batches and self._touched:
            self._collect()
        chunks = self._next_chunks()
        if self._again:
            self._add_again(chunks)
        data = pack_row(chunks)
        self._bytes += len(data)
        self._writing = self._loop.create_task(self._write(data))

    def _collect(self) -> InputBatch:
        """Take the new inputs of the tables. A table whose match is over needs none."""
        self._number += 1
        batch, room = InputBatch(self._number), MOST
        touched, self._touched = self._touched, []
        for done, table in enumerate(touched, 1):
            if table.kept:
                chunk = table.unsaved(batch.number)
                batch.tables.append(table)
                batch.chunks.append(chunk)
                self._lines += len(chunk.lines)
                room -= len(chunk.lines) if chunk.first else HEAD + len(chunk.lines)
                if room <= 0:
                    self._touched = touched[done:]
                    break
        self._batches.append(batch)
        if self._hold:
            self._unsafe.append(batch)
        return batch

    def _next_chunks(self) -> list[InputChunk]:
        """Return the chunks for this row: those of the oldest batches."""
        if not self._batches:
            self._number += 1
            self._row = self._number
            return []
        batch = self._batches.popleft()
        chunks = batch.chunks
        while self._batches and len(chunks) < MOST:
            batch = self._batches.popleft()
            chunks += batch.chunks
        self._row = batch.number
        return chunks

    async def _write(self, data: bytes) -> None:
        pause = SHORTEST_PAUSE
        while not await self._written(data):
            self._end_flushes(False, self._number)
            if self.lost:
                return
            await asyncio.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE)
        if self._memory is not None:
            self._memory.stored(self._row)
        if self._hold:
            self._acknowledge(self._row)
        self._end_flushes(True, self._row)
        if self._cut and not self._again:
            await self._delete()
        elif not self._cut:
            self._write_again_if_large()
        self._writing = None
        if self._touched or self._batches or self._again:
            self._wait()

    async def _written(self, data: bytes) -> bool:
        try:
            await self._rows.write(self._row, data)
        except Fenced as problem:
            log.error("this node may not store inputs any more", problem=str(problem))
            self.lost = True
            return False
        except StoreUnavailable as problem:
            self._outage.failed(str(problem), matches=len(self._tables))
            if self._hold and (self._memory is None or not self._memory.answers):
                self._stop_holding()
            return False
        self._outage.worked()
        return True

    # News that wait.

    def _acknowledge(self, number: int) -> None:
        """The inputs up to this batch are safe."""
        self.holding = True
        while self._unsafe and self._unsafe[0].number <= number:
            batch = self._unsafe.popleft()
            for table in batch.tables:
                table.acknowledged(batch.number)

    def _stop_holding(self) -> None:
        if self.holding:
            log.warning(
                "news do not wait: inputs cannot be kept anywhere", matches=len(self._tables)
            )
        self.holding = False
        self._unsafe.clear()
        for table in list(self._tables.values()):
            table.release()

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
