"""Export and import of a store as JSON lines, a few entries at a time.

The first line has the version, the last the number of entries. A match is one line with its record
and flight records.
"""

from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from functools import partial
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import astuple, replace

from botdrome.games.reading import plural
from botdrome.store import queries
from botdrome.store.changes import Begin, Change, ClassRows, MatchFiles, add_entries, begun
from botdrome.store.classes import CLASSES, PARTICIPANTS
from botdrome.store.entries import (
    BadExport,
    BotEntry,
    BrokenMatch,
    ClassEntry,
    MatchEntry,
    Note,
    Participant,
)
from botdrome.store.rows import (
    UNREADABLE,
    Fetch,
    Row,
    TableRow,
    bot_entry,
    bot_row,
    exported_note,
    exported_row,
    match_entry,
    packed,
    unpacked,
)
from botdrome.store.schema import COLUMNS, KEYS

VERSION = 1
PAGE = 100
"""Entries per query."""
PACKET = 4_000_000
"""Bytes per transaction of an import; a longer line counts alone."""

Write = Callable[[Change], Awaitable[int]]


class ExportLine(Struct, frozen=True, tag_field="kind"):
    """A line, whose `kind` tells its type."""


class ExportHeader(ExportLine, frozen=True, tag="botdrome store"):
    version: int


class ExportedBot(ExportLine, frozen=True, tag="bot"):
    entry: BotEntry


class ExportedMatch(ExportLine, frozen=True, tag="match"):
    entry: MatchEntry
    record: bytes | None
    flights: tuple[bytes, ...]


class ExportedNote(ExportLine, frozen=True, tag="note"):
    entry: Note


class ExportedClass(ExportLine, frozen=True, tag="class"):
    entry: ClassEntry
    participants: tuple[Participant, ...]


class ExportFooter(ExportLine, frozen=True, tag="end"):
    bots: int
    matches: int
    notes: int = 0
    classes: int = 0


AnyExportLine = (
    ExportHeader | ExportedBot | ExportedMatch | ExportedNote | ExportedClass | ExportFooter
)
_line = msgspec.json.Decoder(AnyExportLine)


def written(line: ExportLine) -> bytes:
    return msgspec.json.encode(line) + b"\n"


async def exported(fetch: Fetch) -> AsyncIterator[bytes]:
    """Yield the lines. Matches that begin meanwhile are left out. At the end, raise BrokenMatch if
    some cannot be read."""
    counts: list[int] = []
    broken: list[str] = []
    last = (await fetch(queries.LAST_NUMBER, {}))[0][0] or 0
    yield written(ExportHeader(VERSION))
    for lines in (_bots(fetch), _matches(fetch, last, broken), _notes(fetch), _classes(fetch)):
        counts.append(0)
        async for line in lines:
            counts[-1] += 1
            yield written(line)
    yield written(ExportFooter(*counts))
    if broken:
        raise BrokenMatch(f"these matches are broken and were left out: {', '.join(broken)}")


async def _bots(fetch: Fetch) -> AsyncIterator[ExportLine]:
    first = ""
    while rows := await fetch(queries.BOTS_FROM, {"first": first, "limit": PAGE}):
        for row in rows:
            yield ExportedBot(bot_entry(row))
        first = rows[-1][0] + queries.NEXT


async def _notes(fetch: Fetch) -> AsyncIterator[ExportLine]:
    """Yield notes, and contests as notes."""
    for table, keys in KEYS.items():
        columns, order = ", ".join(COLUMNS[table]), ", ".join(keys)
        marks = ", ".join(f":{name}" for name in keys)
        page = f"""SELECT {columns} FROM {table} WHERE ({order}) > ({marks})
            ORDER BY {order} LIMIT :limit"""
        last: Sequence[Any] = [-1 if name == "number" else "" for name in keys]
        while rows := await fetch(page, dict(zip(keys, last, strict=True)) | {"limit": PAGE}):
            for row in rows:
                yield ExportedNote(exported_note(table, row))
            last = rows[-1][: len(keys)]


async def _classes(fetch: Fetch) -> AsyncIterator[ExportLine]:
    for row in await fetch(CLASSES, {}):
        people = await fetch(PARTICIPANTS, {"name": row[0]})
        yield ExportedClass(ClassEntry(*row), tuple(Participant(*one) for one in people))


async def _matches(fetch: Fetch, last: int, broken: list[str]) -> AsyncIterator[ExportLine]:
    """Append the ids of matches that cannot be read to `broken`."""
    first = 0
    while rows := await fetch(queries.MATCHES_FROM, {"first": first, "last": last, "limit": PAGE}):
        reach = {"first": rows[0][0], "last": rows[-1][0]}
        found = await fetch(queries.FILES_BETWEEN, reach)
        files = {number: MatchFiles(*contents) for number, *contents in found}
        for number, *row in rows:
            try:
                match = _match(match_entry(row), files.get(number))
            except UNREADABLE:
                broken.append(str(row[0]))
            else:
                yield match
        first = rows[-1][0] + 1


def _match(entry: MatchEntry, files: MatchFiles | None) -> ExportedMatch:
    """Export a match as running if it was running when its entry was read, even if it has ended
    since.
    """
    entry = replace(entry, node="", former=())
    if files is None or entry.status == "running":
        return ExportedMatch(entry, None, ())
    return ExportedMatch(entry, files.record, unpacked(files.flights))


async def restored(lines: AsyncIterator[bytes], write: Write) -> int:
    """Import lines, and return the number of new entries."""
    new, intake = 0, _Import()
    try:
        async for line in lines:
            intake.read(line)
            if intake.size > PACKET:
                new += await write(intake.packet())
        intake.end()
    finally:
        new += await write(intake.packet())
    return new


class _Import:
    def __init__(self) -> None:
        self.size = 0
        self._lines = 0
        self._bots: list[Row] = []
        self._matches: list[Begin] = []
        self._notes: list[TableRow] = []
        self._classes: list[ClassRows] = []
        self._taken: Counter[type[ExportLine]] = Counter()
        self._foot: ExportFooter | None = None

    def packet(self) -> Change:
        """Return the entries read since the last packet."""
        packet = partial(add_entries, self._bots, self._matches, self._notes, self._classes)
        self._bots, self._matches, self._notes, self._classes, self.size = [], [], [], [], 0
        return packet

    def read(self, text: bytes) -> None:
        self._lines += 1
        try:
            self._take(_line.decode(text))
        except (msgspec.DecodeError, LookupError, TypeError, ValueError) as error:
            raise BadExport(f"line {self._lines}: {error}") from None
        self.size += len(text)

    def end(self) -> None:
        if self._foot is None:
            raise BadExport(f"line {self._lines + 1}: the file ends before its end")

    def _take(self, line: AnyExportLine) -> None:
        if self._foot is not None:
            raise ValueError("there are lines after the end")
        if isinstance(line, ExportHeader) != (self._lines == 1):
            raise ValueError("the first line, and no other, says the version")
        match line:
            case ExportHeader(version):
                if version != VERSION:
                    raise ValueError(f"version {version} is not known here, only {VERSION}")
            case ExportedBot(entry):
                self._bots.append(bot_row(entry))
            case ExportedMatch(entry, record, flights):
                files = None if record is None else MatchFiles(record, packed(flights))
                self._matches.append(begun(entry, files))
            case ExportedNote(entry):
                self._notes.append(exported_row(entry))
            case ExportedClass(entry, people):
                self._classes.append((astuple(entry), [astuple(one) for one in people]))
            case ExportFooter():
                self._close(line)
        self._taken[type(line)] += 1

    def _close(self, foot: ExportFooter) -> None:
        kinds = (ExportedBot, ExportedMatch, ExportedNote, ExportedClass)
        taken = [self._taken[kind] for kind in kinds]
        if foot != ExportFooter(*taken):
            bots, matches, notes = (
                plural(foot.bots, "bot"),
                plural(foot.matches, "match", "es"),
                plural(foot.notes, "note"),
            )
            classes = plural(foot.classes, "class", "es")
            raise ValueError(f"there should be {bots}, {matches}, {notes} and {classes}")
        self._foot = foot
