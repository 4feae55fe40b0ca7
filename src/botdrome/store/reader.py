"""Reads of a store: bots, matches with their records, contests, notes and reports."""

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

import structlog

from botdrome.store import archive, queries
from botdrome.store.entries import (
    BotEntry,
    BotOrder,
    BrokenMatch,
    ContestLine,
    MatchEntry,
    Meetings,
    Source,
    StoreDamaged,
    StoreUnavailable,
    Unstorable,
    Wanted,
)
from botdrome.store.identity import look_alike
from botdrome.store.outage import Outage
from botdrome.store.reports import Reports
from botdrome.store.rows import (
    UNREADABLE,
    bot_entry,
    key,
    like,
    match_entry,
    note_entry,
    players_in,
    unpacked,
    whole,
)

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
        self.reports = Reports(self._fetch)

    async def close(self) -> None:
        if not self._closed:
            self._closed = True
            await self._readable.close()

    async def _fetch(self, query: str, values: Mapping[str, Any]) -> list[Sequence[Any]]:
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
        return [bot_entry(row) for row in await self._fetch(query, values)]

    async def count_bots(self, game: str | None = None, owner: str | None = None) -> int:
        query = queries.bots_counted(game is not None, owner is not None)
        rows = await self._fetch(query, {"game": key(game or ""), "owner": key(owner or "")})
        return int(rows[0][0])

    # Matches.

    async def match(self, match_id: str) -> MatchEntry | None:
        with about_match(match_id):
            rows = await self._fetch(queries.ENTRY, {"id": key(match_id)})
            return match_entry(rows[0]) if rows else None

    async def record(self, match_id: str) -> bytes | None:
        """The match file; None while it runs."""
        with about_match(match_id):
            rows = await self._fetch(queries.RECORD, {"id": key(match_id)})
            return bytes(rows[0][0]) if rows else None

    async def flight(self, match_id: str, player: int) -> bytes | None:
        with about_match(match_id):
            rows = await self._fetch(queries.FLIGHTS, {"id": key(match_id)})
            flights = unpacked(rows[0][0]) if rows else ()
        return flights[player] if 0 <= player < len(flights) else None

    async def matches(self, wanted: Wanted) -> list[MatchEntry]:
        """Matches whose rows are broken are left out; a request for one of them says so."""
        rows = await self._fetch(*await queries.matches_wanted(wanted, self._fetch))
        return [entry for row in rows if (entry := _if_readable(row)) is not None]

    async def count(self, wanted: Wanted) -> int:
        """Return the number of matches, regardless of limit and offset."""
        query = await queries.matches_counted(wanted, self._fetch)
        return int((await self._fetch(*query))[0][0])

    async def orphans(self, of_single_servers: bool) -> list[str]:
        """Return the ids of running matches whose node is dead."""
        rows = await self._fetch(queries.ORPHANS, {"single": of_single_servers})
        return [row[0] for row in rows]

    # Contests.

    async def contests(self, game: str) -> list[str]:
        """Return the names of the contests, in the order of their first matches."""
        rows = await self._fetch(queries.CONTESTS, {"game": key(game)})
        return [whole(*row) for row in rows]

    async def contest_lines(self, game: str, contest: str) -> list[ContestLine]:
        values = {"game": key(game), "contest": key(contest)}
        rows = await self._fetch(queries.CONTEST_LINES, values)
        return [ContestLine(whole(name, rest), *map(int, counts)) for name, rest, *counts in rows]

    async def meetings(self, game: str, contest: str) -> tuple[Meetings, Meetings]:
        """Return the meetings in ended matches and in running ones. Aborted ones do not count."""
        values = {"game": key(game), "contest": key(contest)}
        met: dict[str, dict[tuple[str, ...], int]] = {"ended": {}, "running": {}}
        for players, status, times in await self._fetch(queries.MEETINGS, values):
            met[status][players_in(players)] = int(times)
        return met["ended"], met["running"]

    # Notes, and everything.

    async def notes(self, book: str) -> dict[str, dict[str, Any]]:
        """Return the values of the notes of a book, by name."""
        rows = await self._fetch(queries.NOTES, {"book": key(book)})
        return {note.name: note.value for note in map(note_entry, rows)}

    def export(self) -> AsyncIterator[bytes]:
        """Yield everything as JSON lines."""
        return archive.exported(self._fetch)


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
