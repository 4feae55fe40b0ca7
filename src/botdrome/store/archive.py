"""Archive: a store as JSON lines, written and read a few entries at a time.

The first line says the version, the last how much there was. A match is one line with all that belongs to it.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace
from sqlalchemy import Executable

from botdrome.store import queries
from botdrome.store.changes import TakeIn
from botdrome.store.rows import Row, bot_entry, bot_row, match_entry, match_row, note_entry, note_row, packed, seat_rows, unpacked
from botdrome.store.sheet import Begin, Papers
from botdrome.store.store import BadExport, BotEntry, MatchEntry, Note

VERSION = 1
PAGE = 100
"""Entries that are read at once."""
PACKET = 4_000_000
"""Bytes that are taken in at once, or the line that passes them."""

Fetch = Callable[[Executable, Mapping[str, Any]], Awaitable[list[Sequence[Any]]]]
Write = Callable[[TakeIn], Awaitable[int]]


class Line(Struct, frozen=True, tag_field="kind"):
    """What the lines have in common: they say what they are."""


class Head(Line, frozen=True, tag="botdrome store"):
    version: int


class Bot(Line, frozen=True, tag="bot"):
    entry: BotEntry


class Match(Line, frozen=True, tag="match"):
    entry: MatchEntry
    record: bytes | None
    flights: tuple[bytes, ...]


class Noted(Line, frozen=True, tag="note"):
    entry: Note


class Foot(Line, frozen=True, tag="end"):
    bots: int
    matches: int
    notes: int = 0


AnyLine = Head | Bot | Match | Noted | Foot
_line = msgspec.json.Decoder(AnyLine)


def written(line: Line) -> bytes:
    return msgspec.json.encode(line) + b"\n"


async def exported(fetch: Fetch) -> AsyncIterator[bytes]:
    """Matches that begin while it goes on are left out."""
    bots = matches = notes = 0
    last = (await fetch(queries.LAST_NUMBER, {}))[0][0] or 0
    yield written(Head(VERSION))
    async for bot in _bots(fetch):
        bots += 1
        yield written(bot)
    async for match in _matches(fetch, last):
        matches += 1
        yield written(match)
    async for note in _notes(fetch):
        notes += 1
        yield written(note)
    yield written(Foot(bots, matches, notes))


async def _bots(fetch: Fetch) -> AsyncIterator[Bot]:
    rows = await fetch(queries.FIRST_BOTS, {"limit": PAGE})
    while rows:
        for row in rows:
            yield Bot(bot_entry(row))
        rows = await fetch(queries.NEXT_BOTS, {"limit": PAGE, "after": rows[-1][0]})


async def _notes(fetch: Fetch) -> AsyncIterator[Noted]:
    rows = await fetch(queries.FIRST_NOTES, {"limit": PAGE})
    while rows:
        for row in rows:
            yield Noted(note_entry(row))
        rows = await fetch(queries.NEXT_NOTES, {"limit": PAGE, "book": rows[-1][0], "after": rows[-1][1]})


async def _matches(fetch: Fetch, last: int) -> AsyncIterator[Match]:
    after = 0
    while rows := await fetch(queries.NEXT_MATCHES, {"after": after, "last": last, "limit": PAGE}):
        reach = {"first": rows[0][0], "last": rows[-1][0]}
        papers = {number: Papers(*contents) for number, *contents in await fetch(queries.PAPERS, reach)}
        for number, *row in rows:
            yield _match(match_entry(row), papers.get(number))
        after = rows[-1][0]


def _match(entry: MatchEntry, papers: Papers | None) -> Match:
    """One that ran when it was read may have ended before its papers were looked for: here it still runs."""
    if papers is None or entry.status == "running":
        return Match(entry, None, ())
    return Match(entry, papers.record, unpacked(papers.flights))


async def restored(lines: AsyncIterator[bytes], write: Write) -> int:
    """How many entries were new."""
    new, intake = 0, _Intake()
    try:
        async for line in lines:
            intake.read(line)
            if intake.size > PACKET:
                new += await write(intake.packet())
        intake.end()
    finally:
        new += await write(intake.packet())
    return new


class _Intake:
    def __init__(self) -> None:
        self.size = 0
        self._lines = 0
        self._bots: list[Row] = []
        self._matches: list[Begin] = []
        self._notes: list[Row] = []
        self._taken = Foot(0, 0)
        self._foot: Foot | None = None

    def packet(self) -> TakeIn:
        """All that was read since the last one."""
        packet = TakeIn(self._bots, self._matches, self._notes)
        self._bots, self._matches, self._notes, self.size = [], [], [], 0
        return packet

    def read(self, text: bytes) -> None:
        self._lines += 1
        try:
            self._take(_line.decode(text))
        except (msgspec.DecodeError, ValueError) as error:
            raise BadExport(f"line {self._lines}: {error}") from None
        self.size += len(text)

    def end(self) -> None:
        if self._foot is None:
            raise BadExport(f"line {self._lines + 1}: the file ends before its end")

    def _take(self, line: AnyLine) -> None:
        if self._foot is not None:
            raise ValueError("something follows the end")
        if isinstance(line, Head) != (self._lines == 1):
            raise ValueError("the first line, and no other, says the version")
        match line:
            case Head(version):
                if version != VERSION:
                    raise ValueError(f"version {version} is not known here, only {VERSION}")
            case Bot(entry):
                self._bots.append(bot_row(entry))
                self._taken = replace(self._taken, bots=self._taken.bots + 1)
            case Match():
                self._matches.append(_begin(line))
                self._taken = replace(self._taken, matches=self._taken.matches + 1)
            case Noted(entry):
                self._notes.append(note_row(entry))
                self._taken = replace(self._taken, notes=self._taken.notes + 1)
            case Foot():
                self._close(line)

    def _close(self, foot: Foot) -> None:
        if foot != self._taken:
            raise ValueError(f"there should be {foot.bots} bots, {foot.matches} matches and {foot.notes} notes")
        self._foot = foot


def _begin(match: Match) -> Begin:
    papers = None if match.record is None else Papers(match.record, packed(match.flights))
    return Begin(match.entry.id, match_row(match.entry), seat_rows(match.entry), papers)
