"""Kept table: a table of a node in a cluster.

Its inputs are stored, so that another node can resume the match.
"""

import asyncio
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from typing import Protocol

import msgspec
import structlog
from msgspec import Struct

from botdrome.games.game import Raw
from botdrome.match.events import Player, Returned
from botdrome.match.match import News
from botdrome.match.record import Resumption, Setup, setup_of
from botdrome.match.terms import Milliseconds
from botdrome.server.tables.audience import SeatedPlayer
from botdrome.server.tables.table import NEVER, BoardBreak, Table
from botdrome.server.tables.timing import MoveTimes, TickTimers
from botdrome.store.entries import Fenced, MatchEntry, StoreUnavailable
from botdrome.store.journal import LONGEST_PAUSE, SHORTEST_PAUSE, Outage
from botdrome.store.store import Store
from botdrome.wire.writers import match_status


class Rows(Protocol):
    async def write(self, number: int, data: bytes) -> None: ...

    async def delete_before(self, number: int) -> None: ...

    async def running(self, match_ids: Sequence[str]) -> set[str]: ...


# Kept inputs: the inputs of running matches as bytes, from which another node resumes them.

log = structlog.get_logger()


class MatchHead(Struct, frozen=True):
    """What is needed to set the table again."""

    entry: MatchEntry
    setup: Setup
    resumes: bool = True
    """Whether the players can return to it at another node."""


class InputChunk(Struct, frozen=True, array_like=True, gc=False):
    """Some lines of the input log of a match, in order."""

    match: str
    first: int
    """The index of the first line."""
    lines: list[bytes]
    head: bytes = b""
    """The packed head of the match, with its first lines."""


class KeptMatch:
    """A match as its inputs in the store and in memory have it."""

    __slots__ = ("_lines", "head")

    def __init__(self) -> None:
        self.head: bytes = b""
        self._lines: dict[int, bytes] = {}

    def add(self, chunk: InputChunk) -> None:
        """Add a chunk, in the order of writing.

        Chunks may overlap, since inputs are written again.
        """
        self.head = chunk.head or self.head
        self._lines.update(enumerate(chunk.lines, chunk.first))

    @property
    def lines(self) -> list[bytes]:
        """All lines up to the first gap."""
        end = next(
            (index for index in range(len(self._lines)) if index not in self._lines),
            len(self._lines),
        )
        return [self._lines[index] for index in range(end)]


pack = msgspec.msgpack.Encoder().encode
unpack_row = msgspec.msgpack.Decoder(list[InputChunk]).decode
unpack_head = msgspec.msgpack.Decoder(MatchHead).decode


def chunks_in(row: bytes) -> list[InputChunk]:
    """Return the chunks of a row; none if the row cannot be read."""
    try:
        return unpack_row(row)
    except (msgspec.MsgspecError, UnicodeError) as problem:
        log.warning("a row of inputs cannot be read", bytes=len(row), problem=str(problem))
        return []


# Input keeper: stores the inputs of all running matches of a node, every 10 ms in one row.
#
# A table that gets an input is entered in a list. The inputs themselves stay in the match, so that
# nothing has to be buffered while the store is away. Rows of matches that are over are deleted in
# steps: when the rows have grown to a multiple of what the running matches need, the inputs of
# those matches are written again, a little in each row, and all earlier rows are deleted.

INTERVAL = 0.01
"""Seconds between two rows."""
MOST = 2_000
"""Inputs of one row, about; more wait for the next."""
AGAIN = 1_000
"""Inputs of one row that are written again."""
HEAD = 10
"""The number of inputs that take as long as the head of a match."""
MULTIPLE, LEAST = 3, 4 << 20
"""Rows are written again when they take this multiple of what the running matches need, and this
many bytes more.
"""


class InputKeeper:
    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        self._loop = asyncio.get_running_loop()
        self._tables: dict[str, KeptTable] = {}
        self._touched: list[KeptTable] = []
        self._taken = 0
        """How many tables of that list are in a row by now."""
        self._waiting: asyncio.Handle | None = None
        self._writing: asyncio.Task[None] | None = None
        self._row = 0
        """The number of the last row."""
        self._last = 0.0
        self._outage = Outage("written")
        self._bytes = self._lines = 0
        """Of all rows that are stored."""
        self._again: deque[tuple[KeptTable, int, int]] = deque()
        """Tables whose inputs are being written again, from an index to another."""
        self._cut = 0
        """The first row that is kept then; 0: nothing is being written again."""
        self._released: set[str] = set()
        """Matches that went on at other nodes, which may need the rows until they are over."""
        self._next_look = 0
        """The size of the rows at which to see again whether they are."""
        self._flushes: list[tuple[int, asyncio.Future[bool]]] = []
        """Done when that many tables of the list are stored, or cannot be."""
        self.lost = False
        """The node was declared dead: it may not write any more."""

    def enter(self, table: "KeptTable") -> None:
        self._tables[table.entry.id] = table
        self._released.discard(table.entry.id)

    def forget(self, table: "KeptTable") -> None:
        """The match is over, or goes on at another node."""
        table.kept = False
        if self._tables.get(table.entry.id) is table:  # not one that came back to this node
            del self._tables[table.entry.id]
            if table.match.result is None:
                self._released.add(table.entry.id)

    def touch(self, table: "KeptTable") -> None:
        """The match of this table has new inputs."""
        self._touched.append(table)
        if self._waiting is None and self._writing is None and not self.lost:
            self._wait()

    async def flush(self, tables: "Sequence[KeptTable]") -> bool:
        """Store all inputs of these tables. False: the store is away."""
        if self.lost:
            return False
        self._touched += tables
        flushed: asyncio.Future[bool] = self._loop.create_future()
        self._flushes.append((self._taken + len(self._touched), flushed))
        if self._waiting is None and self._writing is None:
            self._wait()
        return await flushed

    def _end_flushes(self, stored: bool) -> None:
        """The tables in rows so far are stored, or none can be."""
        done = [one for one in self._flushes if not stored or one[0] <= self._taken]
        self._flushes = [one for one in self._flushes if one not in done]
        for _, flushed in done:
            if not flushed.done():
                flushed.set_result(stored)

    async def close(self) -> None:
        """Write nothing more. All matches must be over."""
        if self._waiting is not None:
            self._waiting.cancel()
        if self._writing is not None:
            self._writing.cancel()
            await asyncio.wait([self._writing])
        self.lost = True
        self._end_flushes(False)

    def _wait(self) -> None:
        """Write the next row 10 ms after the last one."""
        delay = self._last + INTERVAL - self._loop.time()
        if delay <= 0:
            self._waiting = self._loop.call_soon(self._start)
        else:
            self._waiting = self._loop.call_later(delay, self._start)

    def _start(self) -> None:
        self._waiting, self._last = None, self._loop.time()
        self._row += 1
        chunks = self._collect()
        if self._again:
            self._add_again(chunks)
        data = pack(chunks)
        self._bytes += len(data)
        self._writing = self._loop.create_task(self._write(data))

    def _collect(self) -> list[InputChunk]:
        """Take the new inputs of the tables. A table whose match is over needs none."""
        chunks: list[InputChunk] = []
        room = MOST
        touched, self._touched = self._touched, []
        for done, table in enumerate(touched, 1):
            self._taken += 1
            if table.kept:
                chunk = table.unsaved()
                chunks.append(chunk)
                self._lines += len(chunk.lines)
                room -= len(chunk.lines) if chunk.first else HEAD + len(chunk.lines)
                if room <= 0:
                    self._touched = touched[done:]
                    break
        return chunks

    async def _write(self, data: bytes) -> None:
        pause = SHORTEST_PAUSE
        while not await self._written(data):
            self._end_flushes(False)
            if self.lost:
                return
            await asyncio.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE)
        self._end_flushes(True)
        if self._cut and not self._again:
            await self._delete()
        elif not self._cut and self._bytes > max(LEAST, self._next_look):
            await self._write_again_if_large()
        self._writing = None
        if self._touched or self._again:
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
            return False
        self._outage.worked()
        return True

    # Rows of matches that are over.

    async def _write_again_if_large(self) -> None:
        tables = self._tables.values()
        needed = sum([table.saved for table in tables]) * self._bytes // max(1, self._lines)
        if self._bytes > LEAST + MULTIPLE * needed and await self._may_delete():
            self._again.extend([(table, 0, table.saved) for table in tables])
            self._cut, self._bytes, self._lines = self._row + 1, 0, 0

    async def _may_delete(self) -> bool:
        """Whether no other node needs the rows."""
        if self._released:
            with suppress(StoreUnavailable):
                self._released &= await self._rows.running(list(self._released))
        self._next_look = 2 * self._bytes if self._released else 0
        return not self._released

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
        if not await self._may_delete():  # matches were released while rows were written again
            self._cut = 0
            return
        try:
            await self._rows.delete_before(self._cut)
        except StoreUnavailable as problem:
            self._outage.failed(str(problem), matches=len(self._tables))
            return
        self._cut = 0


MOVED = "the match moved to another node; earlier messages are not in this record"
BACK = "back after the match moved"
NOBODY_BACK = "its node ended without notice, and no player returned"


class KeptTable(Table):
    def __init__(
        self,
        entry: MatchEntry,
        times: MoveTimes,
        store: Store,
        flight_bytes: int,
        tick_timers: TickTimers,
        keeper: InputKeeper,
    ) -> None:
        super().__init__(entry, times, store, flight_bytes, tick_timers)
        self._keeper = keeper
        self._touched = False
        self.kept = True
        """False: the match is over, and its inputs need not be stored."""
        self.saved = 0
        """The number of inputs that are stored or being stored."""
        self._last_saved = b""
        self._stopped: Milliseconds | None = None
        """The time at which the clock stands, until the expected players are back; None: it
        runs.
        """
        self._since = 0.0
        """When it was stopped, in seconds of the loop."""
        self.expected: set[Player] = set()
        """The players that have not returned."""
        self._known: dict[Player, int] = {}
        """The number of inputs that each of them knows."""
        self._grace: asyncio.TimerHandle | None = None
        self._unpublished: News = []
        """The news of an end that the former node has not stored."""
        keeper.enter(self)

    # Its inputs.

    def unsaved(self) -> InputChunk:
        """Return the new inputs. They count as saved."""
        self._touched = False
        log = self.match.input_log
        first, lines = log.unsaved(self.saved, self._last_saved)
        self.saved = first + len(lines)
        if lines:
            self._last_saved = lines[-1]
        return InputChunk(self.entry.id, first, lines) if first else self._with_head(lines)

    def saved_again(self, first: int, end: int) -> InputChunk:
        """Return inputs that were saved before."""
        lines = self.match.input_log.some(first, end)
        return InputChunk(self.entry.id, first, lines) if first else self._with_head(lines)

    def _with_head(self, lines: list[bytes]) -> InputChunk:
        head = MatchHead(self.entry, setup_of(self.match, self.entry.players), self.resumes)
        return InputChunk(self.entry.id, 0, lines, pack(head))

    def submit(
        self,
        player: Player,
        raw: Raw,
        message: bytes,
        now: Milliseconds | None = None,
        at: float | None = None,
    ) -> str:
        """A move that causes no news is an input, too."""
        at = at if self._stopped is None else None
        verdict = super().submit(player, raw, message, now, at)
        if not self._touched:
            self._touch()
        return verdict

    def _publish(self, news: News, now: Milliseconds) -> None:
        if not self._touched:
            self._touch()
        super()._publish(news, now)

    def _ring(self) -> None:
        if self._stopped is not None:
            self._timer, self._timer_due = None, NEVER
            return
        if not self._touched:
            self._touch()
        super()._ring()

    def _touch(self) -> None:
        self._touched = True
        self._keeper.touch(self)

    # Players that return. The clock stands still until they have, for at most the grace period.
    # Players that are back may move meanwhile; nobody loses time. Afterwards the terms decide about
    # those that have not returned, as about players that left.

    def now(self, at: float | None = None) -> Milliseconds:
        """As in Table, without a call more."""
        if self._stopped is not None:
            return self._stopped
        if self._break is not None:
            return self._break.now
        if not self.open:
            return 0
        return int(((self._loop.time() if at is None else at) - self._began) * 1000)

    def take_up(self, resumption: Resumption) -> None:
        """Take a match of another node as it stands, with its clock."""
        match = self.match
        self._stopped, self._since = resumption.now, self._loop.time()
        self._unpublished = resumption.news
        self._board, self.shown = match.board.number, match.position
        self._known = dict.fromkeys(range(match.players), len(match.input_log))
        self.writers.recap = (
            resumption.recap,
            match_status(match, resumption.now),
            range(match.players),
        )

    def go_on(self, expected: set[Player], grace: float) -> None:
        """Go on when the expected players have returned, or the grace period (in
        seconds) is over.
        """
        self.open = True
        for player in range(self.match.players):
            self.note(player, b"", MOVED)
        if not self._touched:
            self._touch()
        if self.match.result is not None:
            return self._publish(self._unpublished, self.now())
        self._look()
        return self._expect(expected, grace)

    def wait_for(self, player: Player, grace: float) -> bool:
        """Wait until a player has connected again, since the node of its socket stops.

        False: the match cannot wait.
        """
        if player not in self._seated or not self.can_leave:
            return False
        if self._stopped is None:
            self._stopped, self._since = self.now(), self._loop.time()
        del self._seated[player]
        self._known[player] = len(self.match.input_log)
        self.note(player, b"", "its node stops")
        self._expect({player}, grace)
        return True

    def _expect(self, players: set[Player], grace: float) -> None:
        self.expected |= players
        if self._grace is not None:
            self._grace.cancel()
        self._grace = self._loop.call_later(grace, self._end_grace)
        self._end_grace_if_complete()

    def rejoin(self, player: Player, seated: SeatedPlayer) -> bool:
        """Tell a player that has returned, and nobody else, how the match stands."""
        if not self._seat_again(player, seated):
            return super().rejoin(player, seated)
        seated.take_seat(player, self.writers)
        now = self.now()
        news: News = [(Returned(player), self.shown)]
        if messages := self.writers.written(news, match_status(self.match, now)).get(player):
            self._flights[player].out(now, messages, self.match.steps)
            seated.tell(messages)
        self._loop.call_soon(self._look)  # the caller has yet to sit down
        return True

    def take_again(self, player: Player, seated: SeatedPlayer) -> bool:
        """Give an expected player its seat, and tell it nothing.

        False: it is not expected, or has to know what the others did without it.
        """
        known = self._known.get(player) == len(self.match.input_log)
        return known and self._seat_again(player, seated)

    def _seat_again(self, player: Player, seated: SeatedPlayer) -> bool:
        if self._stopped is None or player not in self.expected:
            return False
        self.expected.remove(player)
        self._seated[player] = seated
        self.note(player, b"", BACK)
        self._end_grace_if_complete()
        return True

    def leave(self, player: Player) -> None:
        """A player that returned and leaves again before the grace period is over may
        still return.
        """
        if self._stopped is None or player not in self._seated or player in self.match.dismissed:
            return super().leave(player)
        del self._seated[player]
        self.expected.add(player)
        return self.note(player, b"", "gone")

    def _end_grace_if_complete(self) -> None:
        if not self.expected:
            self._loop.call_soon(self._end_grace)

    def _end_grace(self) -> None:
        """Let the clock run."""
        if self._stopped is None or self.match.result is not None:
            return None
        if self._break is not None:
            return self._break.waiting.append(self._end_grace)
        now, self._stopped = self._stopped, None
        missing, self.expected = self.expected, set()
        self._began = self._loop.time() - now / 1000
        self.match.stall(round((self._loop.time() - self._since) * 1000), now)
        if missing and not self._seated and not self.match.terms.reunion:
            return self.abort(NOBODY_BACK)
        for player in sorted(missing):
            self.leave(player)
        return self._let_look_unless_over(now)

    def _let_look_unless_over(self, now: Milliseconds) -> None:
        """In a function of its own, since the compiler takes the result to be None still where it
        was None before.
        """
        if self.match.result is None:
            self._let_look(now)

    def _look(self) -> None:
        if self.match.result is None:
            for changed in self._subscribers.changed:
                changed()

    # Leaving for another node.

    @property
    def can_leave(self) -> bool:
        return self.open and self._break is None and self.match.result is None

    @property
    def seated(self) -> dict[Player, SeatedPlayer]:
        return dict(self._seated)

    def halt(self) -> None:
        """Stop the clock for good, and take no inputs any more. The table must be able to leave."""
        self._break = BoardBreak([], self.now(), self._loop.time())

    def depart(self) -> None:
        """The match goes on at another node: forget it here."""
        self.open = False
        if self._timer is not None:
            self._timer.cancel()
        self._seated = {}
        self._subscribers.over(self)
