"""The store of a server: reads, and changes that the journal writes in batches."""

from collections.abc import AsyncIterator, Awaitable, Mapping, Sequence
from functools import partial
from typing import Any, Protocol

from msgspec.structs import replace

from botdrome.store import archive, changes
from botdrome.store.changes import Change, Outcome
from botdrome.store.entries import BotEntry, Epoch, Finish, MatchEntry, Note
from botdrome.store.journal import Journal
from botdrome.store.reader import ReadableDatabase, StoreReader
from botdrome.store.rows import bot_row, key, match_entry, note_row, plain


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

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self._database, self._node = database, ""
        self.journal = Journal(database.carry_out)
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

    async def _fetch(self, query: str, values: Mapping[str, Any]) -> list[Sequence[Any]]:
        """Read after all matches that have begun are on disk."""
        await self.journal.settled()
        return await self._fetch_stored(query, values)

    # Servers and nodes.

    def write_as(self, name: str, epoch: int) -> None:
        """Write as this node from now on: changes raise Fenced once the node was declared dead."""
        self._database.fence = name, epoch
        self._node = f"{name}.{epoch}"

    async def adopt(self, match_ids: Sequence[str]) -> list[MatchEntry]:
        """Make this node the owner of those of the matches that are orphans, and return them."""
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
        notes: Sequence[Note],
        retry: bool = False,
        instead_of: tuple[str, Sequence[str]] | None = None,
    ) -> None:
        """Store notes outside any match; `retry`: wait for an outage to end, as `finish` does.

        `instead_of` is a book, and the names of notes in it that are deleted in the same
        transaction.
        """
        if notes or instead_of is not None:
            book, names = instead_of or ("", ())
            rows, deleted = [note_row(note) for note in notes], [key(name) for name in names]
            change = partial(changes.change_notes, rows, key(book), deleted)
            await self.journal.enter(change, lasting=retry)

    async def strike(self, book: str, names: Sequence[str]) -> None:
        """Delete these notes if they exist."""
        await self.keep((), instead_of=(book, names))

    async def restore(self, lines: AsyncIterator[bytes]) -> int:
        """Import lines of `export`, and return the number of new entries. Existing entries stay
        unchanged. BadExport: the lines before the bad one were imported."""
        return await archive.restored(lines, self.journal.enter)
