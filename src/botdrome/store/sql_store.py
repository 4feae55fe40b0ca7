"""The store in an SQL database."""

from collections.abc import AsyncIterator, Awaitable, Mapping, Sequence
from typing import Any, Protocol

from msgspec.structs import replace
from sqlalchemy import Executable

from botdrome.store import archive, changes, damage, queries
from botdrome.store.changes import Change, Outcome
from botdrome.store.identity import look_alike
from botdrome.store.journal import Journal, Outage
from botdrome.store.queries import chosen, counted
from botdrome.store.reports import Reports
from botdrome.store.rows import (
    bot_entry,
    key,
    like,
    match_entry,
    note_entry,
    plain,
    players_in,
    unpacked,
    whole,
)
from botdrome.store.store import (
    BotEntry,
    BotOrder,
    ContestLine,
    Epoch,
    Finish,
    MatchEntry,
    Meetings,
    Note,
    Source,
    StoreUnavailable,
    Wanted,
)

EVERYTHING = 1 << 60


class Database(Protocol):
    @property
    def source(self) -> Source: ...

    async def open(self) -> None:
        """Connect, and migrate the schema. Raise StoreUnavailable if that fails."""

    async def claim(self) -> bool:
        """False: another server has it."""

    fence: tuple[str, int] | None
    """The name and epoch of the node that writes."""

    async def carry_out(self, batch: Sequence[Change]) -> list[Outcome]:
        """Make all changes in one transaction. An exception means that none was made."""

    async def fetch(self, query: Executable, values: Mapping[str, Any]) -> list[Sequence[Any]]: ...

    async def close(self) -> None: ...


class SqlStore:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._journal = Journal(database.carry_out)
        self._reading = Outage("read")
        self._closed = False
        self._node = ""
        self.reports = Reports(self._fetch)

    @property
    def trouble(self) -> str:
        return self._journal.trouble

    @property
    def unwritten(self) -> int:
        return self._journal.unwritten

    async def probe(self) -> None:
        await self._journal.enter(changes.Probe())
        await self.bot("")

    async def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        try:
            await self._journal.close()
        finally:
            await self._database.close()

    @property
    def source(self) -> Source:
        return self._database.source

    async def settled(self) -> None:
        await self._journal.settled()

    async def claim(self) -> bool:
        return await self._database.claim()

    def write_as(self, name: str, epoch: int) -> None:
        self._database.fence = name, epoch
        self._node = f"{name}.{epoch}"

    async def orphans(self, of_single_servers: bool) -> list[str]:
        return [row[0] for row in await self._fetch(queries.ORPHANS, {"single": of_single_servers})]

    async def adopt(self, match_ids: Sequence[str]) -> list[MatchEntry]:
        return [
            match_entry(row)
            for row in await self._journal.enter(changes.Adopt(match_ids, self._node))
        ]

    async def _fetch(self, query: Executable, values: Mapping[str, Any]) -> list[Sequence[Any]]:
        """Read after all earlier changes are on disk."""
        await self._journal.settled()
        return await self._fetch_stored(query, values)

    async def _fetch_stored(
        self, query: Executable, values: Mapping[str, Any]
    ) -> list[Sequence[Any]]:
        """Read what is on disk now.

        Logins need not wait for the begins of matches, and so do not make their batches small.
        """
        if self._closed:
            raise StoreUnavailable("the store is closed")
        try:
            found = await self._database.fetch(query, values)
        except StoreUnavailable as problem:
            self._reading.failed(str(problem))
            raise
        self._reading.worked()
        return found

    async def register(self, bot: BotEntry) -> None:
        await self._journal.enter(changes.registered(bot))

    async def bot(self, name: str) -> BotEntry | None:
        rows = await self._fetch_stored(queries.BOT, {"name": key(name)})
        return bot_entry(rows[0]) if rows else None

    async def bot_and_alike(self, name: str) -> tuple[BotEntry | None, list[BotEntry]]:
        """A name has the same likeness as itself, so the bot is among those found."""
        found = [
            bot_entry(row)
            for row in await self._fetch_stored(queries.BOTS_LIKE, {"likeness": like(name)})
        ]
        return next((bot for bot in found if bot.name == name), None), [
            bot for bot in found if look_alike(name, bot.name)
        ]

    async def bots(
        self,
        game: str | None = None,
        owner: str | None = None,
        limit: int | None = None,
        offset: int = 0,
        order: BotOrder = "registered",
        falling: bool = False,
    ) -> list[BotEntry]:
        limited = limit is not None or bool(offset)
        query = queries.bots_of(game is not None, owner is not None, limited, order, falling)
        values = {
            "game": key(game or ""),
            "owner": key(owner or ""),
            "limit": EVERYTHING if limit is None else limit,
        }
        return [bot_entry(row) for row in await self._fetch(query, {**values, "offset": offset})]

    async def count_bots(self, game: str | None = None, owner: str | None = None) -> int:
        query = queries.bots_counted(game is not None, owner is not None)
        return int(
            (await self._fetch(query, {"game": key(game or ""), "owner": key(owner or "")}))[0][0]
        )

    async def change_token(self, name: str, token_hash: str | None) -> None:
        await self._journal.enter(changes.ChangeBot(name, "token_hash", token_hash))

    async def change_url(self, name: str, url: str | None) -> None:
        await self._journal.enter(
            changes.ChangeBot(name, "url", None if url is None else plain(url))
        )

    async def keep(
        self,
        notes: Sequence[Note],
        retry: bool = False,
        instead_of: tuple[str, Sequence[str]] | None = None,
    ) -> None:
        if notes or instead_of is not None:
            change = changes.notes_changed(notes, *(instead_of or ()))
            await self._journal.enter(change, lasting=retry)

    async def notes(self, book: str) -> dict[str, dict[str, Any]]:
        found = [note_entry(row) for row in await self._fetch(queries.NOTES, {"book": key(book)})]
        return {note.name: note.value for note in found}

    async def strike(self, book: str, names: Sequence[str]) -> None:
        await self.keep((), instead_of=(book, names))

    def begin(self, match: MatchEntry) -> None:
        self._journal.note(changes.begun(replace(match, node=self._node) if self._node else match))

    def finish(self, finish: Finish) -> Awaitable[None]:
        return self._journal.enter(changes.ended(finish), lasting=True)

    async def abort_running(self, reason: str, now: Epoch) -> int:
        return int(await self._journal.enter(changes.aborted(reason, now)))

    async def abort(self, match_ids: Sequence[str], reason: str, now: Epoch) -> None:
        await self._journal.enter(changes.AbortMatches(match_ids, self._node, plain(reason), now))

    async def match(self, match_id: str) -> MatchEntry | None:
        with damage.of_match(match_id):
            rows = await self._fetch(queries.ENTRY, {"id": key(match_id)})
            return match_entry(rows[0]) if rows else None

    async def record(self, match_id: str) -> bytes | None:
        with damage.of_match(match_id):
            rows = await self._fetch(queries.RECORD, {"id": key(match_id)})
            return bytes(rows[0][0]) if rows else None

    async def flight(self, match_id: str, player: int) -> bytes | None:
        with damage.of_match(match_id):
            rows = await self._fetch(queries.FLIGHTS, {"id": key(match_id)})
            flights = unpacked(rows[0][0]) if rows else ()
        return flights[player] if 0 <= player < len(flights) else None

    async def matches(self, wanted: Wanted) -> list[MatchEntry]:
        """Matches whose rows are broken are left out; a request for one of them says so."""
        return damage.readable(await self._fetch(*await chosen(wanted, self._fetch)))

    async def count(self, wanted: Wanted) -> int:
        return int((await self._fetch(*await counted(wanted, self._fetch)))[0][0])

    async def contests(self, game: str) -> list[str]:
        return [whole(*row) for row in await self._fetch(queries.CONTESTS, {"game": key(game)})]

    async def contest_lines(self, game: str, contest: str) -> list[ContestLine]:
        rows = await self._fetch(
            queries.CONTEST_LINES, {"game": key(game), "contest": key(contest)}
        )
        return [ContestLine(whole(name, rest), *map(int, counts)) for name, rest, *counts in rows]

    async def meetings(self, game: str, contest: str) -> tuple[Meetings, Meetings]:
        rows = await self._fetch(queries.MEETINGS, {"game": key(game), "contest": key(contest)})
        met: dict[str, dict[tuple[str, ...], int]] = {"ended": {}, "running": {}}
        for players, status, times in rows:
            met[status][players_in(players)] = int(times)
        return met["ended"], met["running"]

    def export(self) -> AsyncIterator[bytes]:
        return archive.exported(self._fetch)

    async def restore(self, lines: AsyncIterator[bytes]) -> int:
        return await archive.restored(lines, self._journal.enter)
