"""The store: its reads, its changes, which the journal writes in batches, and how it is opened."""

import os
import re
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Protocol
from urllib.parse import unquote, urlsplit

import structlog
from msgspec.structs import replace

from botdrome.store import archive, changes, queries
from botdrome.store.changes import Change, Keep, Outcome
from botdrome.store.classes import ClassJournal, ClassReader
from botdrome.store.entries import (
    AnyNote,
    BadStoreUrl,
    BotEntry,
    BotOrder,
    BrokenMatch,
    ContestLine,
    Epoch,
    Finish,
    MatchEntry,
    Meetings,
    Source,
    StoreDamaged,
    StoreUnavailable,
    Unstorable,
    Wanted,
    look_alike,
)
from botdrome.store.journal import Journal, Outage
from botdrome.store.postgres import Postgres, PostgresReader
from botdrome.store.reports import KEEP_LEADERBOARD, Reports
from botdrome.store.rows import (
    UNREADABLE,
    bot_entry,
    bot_row,
    kept_row,
    key,
    like,
    match_entry,
    note_entry,
    plain,
    players_in,
    unpacked,
    whole,
)
from botdrome.store.sqlite import (
    Sqlite,
    SqliteReader,
    check_file,
    connected,
    explained,
    open_private,
)
from botdrome.store.uploads import KEEP_ARCHIVE, Uploads

log = structlog.get_logger()


class ReadableDatabase(Protocol):
    @property
    def source(self) -> Source: ...

    async def open(self) -> None:
        """Raise StoreUnavailable if that fails."""

    async def fetch(self, query: str, values: Mapping[str, Any]) -> list[Sequence[Any]]: ...

    async def close(self) -> None: ...


class StoreReader:
    """Reads what is on disk. Raises StoreUnavailable while the database cannot be read."""

    def __init__(self, database: ReadableDatabase) -> None:
        self._readable, self._reading = database, Outage("read")
        self._closed = False
        self.source = database.source
        """The location, for other processes."""
        self.reports, self.classes = Reports(self.fetch), ClassReader(self.fetch)
        self.uploads = Uploads(self.fetch)

    async def close(self) -> None:
        if not self._closed:
            self._closed = True
            await self._readable.close()

    async def fetch(self, query: str, values: Mapping[str, Any]) -> list[Sequence[Any]]:
        return await self._fetch_stored(query, values)

    async def _fetch_stored(self, query: str, values: Mapping[str, Any]) -> list[Sequence[Any]]:
        if self._closed:
            raise StoreUnavailable("the store is closed")
        try:
            found = await self._readable.fetch(query, values)
        except StoreUnavailable as problem:
            self._reading.failed(str(problem))
            raise
        self._reading.worked()
        return found

    # Bots. Logins need not wait for matches that begin, which would make batches small.

    async def bot(self, name: str) -> BotEntry | None:
        rows = await self._fetch_stored(queries.BOT_CALLED, {"name": key(name)})
        return bot_entry(rows[0]) if rows else None

    async def bot_and_alike(self, name: str) -> tuple[BotEntry | None, list[BotEntry]]:
        """Return the bot, and the other bots whose names look like this one, oldest first.

        A name has the same likeness as itself, so one read finds both.
        """
        rows = await self._fetch_stored(queries.BOTS_LIKE, {"likeness": like(name)})
        found = [bot_entry(row) for row in rows]
        same = next((bot for bot in found if bot.name == name), None)
        return same, [bot for bot in found if look_alike(name, bot.name)]

    async def bots(
        self,
        game: str | None = None,
        owner: str | None = None,
        limit: int | None = None,
        offset: int = 0,
        order: BotOrder = "registered",
        falling: bool = False,
    ) -> list[BotEntry]:
        query = queries.bots_of(game is not None, owner is not None, order, falling)
        values = {
            "game": key(game or ""),
            "owner": key(owner or ""),
            "limit": queries.FARTHEST if limit is None else limit,
            "offset": offset,
        }
        return [bot_entry(row) for row in await self.fetch(query, values)]

    async def count_owned(self, owner: str, names: Sequence[str]) -> int:
        """Return how many of these bots have this owner."""
        values = {"owner": key(owner), "names": [key(name) for name in names]}
        return int((await self.fetch(queries.OWNED, values))[0][0])

    async def count_bots(self, game: str | None = None, owner: str | None = None) -> int:
        query = queries.bots_counted(game is not None, owner is not None)
        rows = await self.fetch(query, {"game": key(game or ""), "owner": key(owner or "")})
        return int(rows[0][0])

    # Matches.

    async def match(self, match_id: str) -> MatchEntry | None:
        with about_match(match_id):
            rows = await self.fetch(queries.ENTRY, {"id": key(match_id)})
            return match_entry(rows[0]) if rows else None

    async def record(self, match_id: str) -> bytes | None:
        """The match file; None while it runs."""
        with about_match(match_id):
            rows = await self.fetch(queries.RECORD, {"id": key(match_id)})
            return bytes(rows[0][0]) if rows else None

    async def evaluation(self, match_id: str, version: int) -> bytes | None:
        """The evaluation by this version, if it is stored."""
        with about_match(match_id):
            values = {"id": key(match_id), "version": version}
            rows = await self.fetch(queries.EVALUATION, values)
            return bytes(rows[0][0]) if rows else None

    async def flight(self, match_id: str, player: int) -> bytes | None:
        with about_match(match_id):
            rows = await self.fetch(queries.FLIGHTS, {"id": key(match_id)})
            flights = unpacked(rows[0][0]) if rows else ()
        return flights[player] if 0 <= player < len(flights) else None

    async def matches(self, wanted: Wanted) -> list[MatchEntry]:
        """Matches whose rows are broken are left out; a request for one of them says so."""
        rows = await self.fetch(*await queries.matches_wanted(wanted, self.fetch))
        return [entry for row in rows if (entry := _if_readable(row)) is not None]

    async def count(self, wanted: Wanted) -> int:
        """Return the number of matches, regardless of limit and offset."""
        query = await queries.matches_counted(wanted, self.fetch)
        return int((await self.fetch(*query))[0][0])

    async def orphans(self, of_single_servers: bool) -> list[str]:
        """Return the ids of running matches whose node is dead."""
        rows = await self.fetch(queries.ORPHANS, {"single": of_single_servers})
        return [row[0] for row in rows]

    # Contests.

    async def contests(self, game: str) -> list[str]:
        """Return the names of the contests, in the order of their first matches."""
        rows = await self.fetch(queries.CONTESTS, {"game": key(game)})
        return [whole(*row) for row in rows]

    async def contest_lines(self, game: str, contest: str) -> list[ContestLine]:
        values = {"game": key(game), "contest": key(contest)}
        rows = await self.fetch(queries.CONTEST_LINES, values)
        return [ContestLine(whole(name, rest), *map(int, counts)) for name, rest, *counts in rows]

    async def meetings(self, game: str, contest: str) -> tuple[Meetings, Meetings]:
        """Return the meetings in ended matches and in running ones. Aborted ones do not count."""
        values = {"game": key(game), "contest": key(contest)}
        met: dict[str, dict[tuple[str, ...], int]] = {"ended": {}, "running": {}}
        for players, status, times in await self.fetch(queries.MEETINGS, values):
            met[status][players_in(players)] = int(times)
        return met["ended"], met["running"]

    # Notes, and everything.

    async def notes(self, book: str) -> dict[str, dict[str, Any]]:
        """Return the values of the notes of a book, by name."""
        rows = await self.fetch(queries.NOTES, {"book": key(book)})
        return {note.name: note.value for note in map(note_entry, rows)}

    def export(self) -> AsyncIterator[bytes]:
        """Yield everything as JSON lines."""
        return archive.exported(self.fetch)


@contextmanager
def about_match(match_id: str) -> Iterator[None]:
    """Raise BrokenMatch if what is stored of a match cannot be read."""
    try:
        yield
    except Unstorable:
        raise  # the id is to blame
    except (StoreDamaged, *UNREADABLE) as error:
        problem = f"{type(error).__name__}: {error}"
        log.error("a match is broken in the store", match=match_id, problem=problem)
        raise BrokenMatch(
            f"match {match_id} is broken: the store is damaged there; "
            "its operator may have a backup"
        ) from error


def _if_readable(row: Sequence[Any]) -> MatchEntry | None:
    try:
        return match_entry(row)
    except UNREADABLE as problem:
        log.error("a match is broken in the store", match=str(row[0]), problem=str(problem))
        return None


class Database(ReadableDatabase, Protocol):
    fence: tuple[str, int] | None
    """The name and epoch of the node that writes."""

    async def claim(self) -> bool:
        """False: another server has it."""

    async def carry_out(self, batch: Sequence[Change]) -> list[Outcome]:
        """Make all changes in one transaction. An exception means that none was made."""


class Store(StoreReader):
    """Every change is on disk when its call returns, unless noted otherwise. Changes are made in
    the order of the calls.

    While the store cannot be written, `begin`, `finish` and `keep(..., retry=True)` wait until it
    can, in their order. All other changes fail at once with StoreUnavailable.
    """

    classes: ClassJournal

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self._database, self._node = database, ""
        self.journal = Journal(database.carry_out)
        self.classes = ClassJournal(self.fetch, self.journal.enter)
        self.claim = database.claim
        """Claim the store for this server until it is closed or the process ends. False: another
        server has it.
        """

    async def probe(self) -> None:
        """Write and read something. Raise StoreUnavailable if that fails."""
        await self.journal.enter(changes.probe)
        await self.bot("")

    async def close(self) -> None:
        """Write everything first. If the store stays down for 10 s, raise StoreUnavailable with the
        number of lost results."""
        if self._closed:
            return
        self._closed = True
        try:
            await self.journal.close()
        finally:
            await self._database.close()

    async def fetch(self, query: str, values: Mapping[str, Any]) -> list[Sequence[Any]]:
        """Read after all matches that have begun are on disk."""
        await self.journal.settled()
        return await self._fetch_stored(query, values)

    # Servers and nodes.

    def write_as(self, name: str, epoch: int) -> None:
        """Write as this node from now on: changes raise Fenced once the node was declared dead."""
        self._database.fence = name, epoch
        self._node = f"{name}.{epoch}"

    async def adopt(self, match_ids: Sequence[str]) -> list[MatchEntry]:
        """Make this node the owner of those of the matches that are orphans.

        Return all of the matches that it owns now.
        """
        rows = await self.journal.enter(partial(changes.adopt, match_ids, self._node))
        return [match_entry(row) for row in rows]

    # Bots.

    async def register(self, bot: BotEntry) -> None:
        """Raise NameTaken if the name exists, LooksAlike if a similar name does."""
        await self.journal.enter(partial(changes.register, bot_row(bot), bot.name))

    async def change_token(self, name: str, token_hash: str | None) -> None:
        """Raise UnknownBot if there is no such bot."""
        await self.journal.enter(partial(changes.change_bot, name, "token_hash", token_hash))

    async def change_url(self, name: str, url: str | None) -> None:
        """Raise UnknownBot if there is no such bot."""
        url = None if url is None else plain(url)
        await self.journal.enter(partial(changes.change_bot, name, "url", url))

    # Matches.

    def begin(self, match: MatchEntry) -> None:
        """Store that a match runs, without waiting: it is on disk with the next change at the
        latest. Later reads see it."""
        self.journal.note(changes.begun(replace(match, node=self._node) if self._node else match))

    def finish(self, finish: Finish) -> Awaitable[None]:
        """Store the end of a match. Many at once cost little more than one; repeating it changes
        nothing.

        The end is queued when this returns, and on disk when the result has been awaited, however
        long the store is down. Raise UnknownMatch if the match never began, AlreadyOver if it has
        another end, StoreUnavailable if the store is closed first.
        """
        return self.journal.enter(changes.ended(finish), lasting=True)

    async def abort_running(self, reason: str, now: Epoch) -> int:
        """Mark all running matches as aborted, as after a crash, and return their number."""
        return int(await self.journal.enter(partial(changes.abort_running, plain(reason), now)))

    async def abort(self, match_ids: Sequence[str], reason: str, now: Epoch) -> None:
        """Mark those of the matches as aborted that still run on this node."""
        await self.journal.enter(
            partial(changes.abort_matches, match_ids, self._node, plain(reason), now)
        )

    # Notes, and everything.

    async def keep(
        self,
        notes: Sequence[AnyNote],
        retry: bool = False,
        instead_of: tuple[str, Sequence[str]] | None = None,
    ) -> None:
        """Store notes outside any match; `retry`: wait for an outage to end, as `finish` does.

        `instead_of` is a book, and the names of notes in it that are deleted in the same
        transaction.
        """
        rows = tuple([kept_row(note) for note in notes])
        if instead_of is not None:
            book, names = key(instead_of[0]), instead_of[1]
            deleted = [(book, key(name)) for name in names]
            change = partial(changes.change_rows, rows, "notes", deleted)
            await self.journal.enter(change, lasting=retry)
        elif rows:
            await self.journal.enter(Keep(rows), lasting=retry)

    async def strike(self, book: str, names: Sequence[str]) -> None:
        """Delete these notes if they exist."""
        await self.keep((), instead_of=(book, names))

    async def keep_evaluation(self, match_id: str, version: int, data: bytes) -> None:
        """Store how a match stood after its steps, instead of an earlier evaluation."""
        change = partial(changes.keep_evaluation, key(match_id), version, data)
        await self.journal.enter(change)

    async def restore(self, lines: AsyncIterator[bytes]) -> int:
        """Import lines of `export`, and return the number of new entries. Existing entries stay
        unchanged. BadExport: the lines before the bad one were imported."""
        return await archive.restored(lines, self.journal.enter)


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


def _readable(source: Source) -> SqliteReader | PostgresReader:
    is_file = source.kind == "sqlite"
    return SqliteReader(Path(source.place)) if is_file else PostgresReader(source.place)


async def open_reader(source: Source) -> StoreReader:
    """Open a store that exists already, for a process that only reads."""
    database = _readable(source)
    await database.open()
    return StoreReader(database)


async def keep_leaderboard(source: Source, game: str, version: str, last: int, data: bytes) -> None:
    """Store what is counted of the matches of a game up to the number `last`.

    A process that reads does this itself: megabytes would block the server. It replaces what is
    stored, also if that is more: it may be outdated.
    """
    values = {"game": key(game), "version": version, "last": last, "data": data}
    await _readable(source).write_beside(KEEP_LEADERBOARD, values)


async def keep_archive(source: Source, digest: str, data: bytes) -> None:
    """Store an archive of an upload beside the server."""
    await _readable(source).write_beside(KEEP_ARCHIVE, {"hash": digest, "data": data})


_open: dict[Source, StoreReader] = {}


async def reader(source: Source) -> StoreReader:
    """Return a reader that is kept open, one at a time."""
    if source not in _open:
        for store in _open.values():
            await store.close()
        _open.clear()
        _open[source] = await open_reader(source)
    return _open[source]
