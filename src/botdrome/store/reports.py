"""Reports: what is counted and looked up over the whole store, for pages and tools."""

from collections.abc import Iterable
from functools import cache
from typing import Any

import msgspec
from sqlalchemy import Select

from botdrome.store import queries, tallies
from botdrome.store.search import Fetch, Found, searched
from botdrome.store.tallies import ContestOrder, ContestSummary, Epoch, Meeting, Opponent, OpponentOrder, Seating
from botdrome.store.texts import key, whole

_mapping = msgspec.json.Decoder(dict[str, Any])


class Reports:
    def __init__(self, fetch: Fetch) -> None:
        self._fetch = fetch

    # Results.

    async def last_number(self) -> int:
        """Of the match that began last."""
        return int((await self._fetch(queries.LAST_NUMBER, {}))[0][0] or 0)

    async def running(self, game: str, last: int) -> dict[str, int]:
        """The numbers of matches that run, by their ids; those up to this number."""
        return {row[0]: int(row[1]) for row in await self._fetch(tallies.RUNNING, {"game": key(game), "last": last})}

    async def seatings(self, game: str, after: int, last: int) -> list[Seating]:
        """The seats of the matches that have ended, of those with these numbers; the seats of one match in a row."""
        rows = await self._fetch(tallies.SEATINGS_BETWEEN, {"game": key(game), "after": after, "last": last})
        return [Seating(match, whole(name, rest), place, started) for match, name, rest, place, started in rows]

    async def seatings_of(self, game: str, ids: Iterable[str]) -> list[Seating]:
        rows = await self._fetch(tallies.SEATINGS_OF, {"game": key(game), "ids": list(ids)})
        return [Seating(match, whole(name, rest), place, started) for match, name, rest, place, started in rows]

    async def meetings_of(self, name: str, since: Epoch, limit: int) -> list[Meeting]:
        """The latest first."""
        rows = await self._fetch(tallies.MEETINGS_OF_ONE, {"name": key(name), "since": since, "limit": limit})
        return [Meeting(number, at, place, whole(other, rest), theirs) for number, at, place, other, rest, theirs in rows]

    async def opponents(
        self, name: str, since: Epoch, order: OpponentOrder, falling: bool, limit: int, offset: int
    ) -> tuple[list[Opponent], int]:
        """What a player has to show against each of its opponents, and how many these are. Ended matches alone count."""
        values = {"name": key(name), "since": since}
        rows = await self._fetch(_opponents(order, falling), {**values, "limit": limit, "offset": offset})
        total = (await self._fetch(tallies.OPPONENTS_COUNTED, values))[0][0]
        return [Opponent(whole(other, rest), *map(int, counts)) for other, rest, *counts in rows], int(total)

    async def causes(self, name: str, since: Epoch) -> dict[str, int]:
        """Why its matches ended for a player, and how often each."""
        return {cause: int(times) for cause, times in await self._fetch(tallies.CAUSES, {"name": key(name), "since": since})}

    # Contests.

    async def contests(
        self, game: str | None, order: ContestOrder, falling: bool, limit: int, offset: int
    ) -> tuple[list[ContestSummary], int]:
        of_game = {"game": key(game or "")}
        rows = await self._fetch(_contests(game is not None, order, falling), {**of_game, "limit": limit, "offset": offset})
        total = (await self._fetch(_contests_counted(game is not None), of_game))[0][0]
        return [ContestSummary(of, whole(name, rest), *map(int, figures)) for of, name, rest, *figures in rows], int(total)

    async def crosstable(self, game: str, contest: str) -> dict[tuple[str, str], tuple[int, int, int]]:
        """Wins, draws and losses of each against each."""
        rows = await self._fetch(tallies.CROSSTABLE, {"game": key(game), "contest": key(contest)})
        return {
            (whole(one, one_rest), whole(two, two_rest)): (int(wins), int(draws), int(losses))
            for one, one_rest, two, two_rest, wins, draws, losses in rows
        }

    # Names and notes.

    async def search(self, text: str, games: Iterable[str], most: int) -> Found:
        return await searched(self._fetch, text, games, most)

    async def note(self, book: str, name: str) -> dict[str, Any] | None:
        rows = await self._fetch(queries.NOTE, {"book": key(book), "name": key(name)})
        return _mapping.decode(rows[0][3]) if rows else None

    async def latest_notes(self, book: str, limit: int, offset: int) -> tuple[list[dict[str, Any]], int]:
        """What the notes of a book say, the last name first, and how many there are."""
        rows = await self._fetch(queries.LATEST_NOTES, {"book": key(book), "limit": limit, "offset": offset})
        total = (await self._fetch(queries.NOTES_COUNTED, {"book": key(book)}))[0][0]
        return [_mapping.decode(row[3]) for row in rows], int(total)


@cache
def _opponents(order: OpponentOrder, falling: bool) -> Select[*tuple[object, ...]]:
    return tallies.opponents(order, falling)


@cache
def _contests(game: bool, order: ContestOrder, falling: bool) -> Select[*tuple[object, ...]]:
    return tallies.contest_summaries(game, order, falling)


@cache
def _contests_counted(game: bool) -> Select[*tuple[object, ...]]:
    return tallies.contests_counted(game)
