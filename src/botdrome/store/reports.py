"""Statistics and search over the whole store, for pages and tools."""

from collections.abc import AsyncIterator, Iterable, Sequence
from typing import Any, Literal

import msgspec
from msgspec import Struct

from botdrome.store import queries
from botdrome.store.entries import Epoch
from botdrome.store.queries import HAS_STATUS, PAGE, count_if, way, where
from botdrome.store.rows import Fetch, key, note_entry, players_in, whole

OpponentOrder = Literal["games", "name", "wins", "losses", "last"]
ContestOrder = Literal["last", "first", "name", "game", "matches"]

AT_ONCE = 1000
"""Notes per query."""
MOST_TAKEN = 10_000
"""Numbers of new matches that one transaction takes, at most."""
LAST = "\U0010ffff"
"""Sorts after every continuation of a name."""


class Opponent(Struct, frozen=True):
    """The results of one player against another."""

    name: str
    games: int
    wins: int
    draws: int
    losses: int
    last: Epoch
    """The start of their last match."""


class ContestSummary(Struct, frozen=True):
    game: str
    name: str
    matches: int
    """All matches, including running and aborted ones."""
    first: Epoch
    last: Epoch


class Seating(Struct, frozen=True):
    """A seat in an ended match."""

    number: int
    """The number of the match."""
    name: str
    place: int
    started: Epoch
    version: str = ""
    options: str = "{}"
    """Those of the match, as JSON."""
    block: str = ""
    """The contest and the seed: matches of a contest on one seed depend on each other. Empty: it is
    of no contest.
    """
    void: bool = False


class Meeting(Struct, frozen=True):
    """A player and one of its opponents in an ended match."""

    number: int
    """The number of the match."""
    started: Epoch
    place: int
    opponent: str
    opponents_place: int
    version: str = ""
    opponents_version: str = ""
    options: str = "{}"
    """Those of the match, as JSON."""
    block: str = ""
    """As that of a Seating."""


_ENDED = HAS_STATUS["ended"]
_BLOCK = "coalesce(matches.contest || ':' || matches.seed, '')"
_MET = f"""FROM seats AS mine JOIN seats AS theirs ON theirs.number = mine.number
    JOIN matches ON matches.number = mine.number
    WHERE mine.name = :name AND mine.started >= :since AND theirs.name <> mine.name AND {_ENDED}
    AND matches.void IS NULL"""
_AHEAD, _LEVEL, _BEHIND = [count_if(f"mine.place {sign} theirs.place") for sign in ("<", "=", ">")]
OPPONENT_ORDERS: dict[OpponentOrder, str] = {
    "games": "count(*)",
    "name": "theirs.name",
    "wins": _AHEAD,
    "losses": _BEHIND,
    "last": "max(mine.started)",
}
OPPONENTS_COUNTED = f"SELECT count(DISTINCT theirs.name) {_MET}"
CAUSES = """SELECT cause, count(*) FROM seats
    WHERE name = :name AND started >= :since AND cause IS NOT NULL
    AND number NOT IN (SELECT number FROM matches WHERE void IS NOT NULL)
    GROUP BY cause ORDER BY cause"""
_SEATINGS = f"""SELECT seats.number, seats.name, seats.name_whole, seats.place, seats.started,
    matches.versions, seats.player, matches.options, {_BLOCK}, matches.void IS NOT NULL
    FROM seats JOIN matches ON matches.number = seats.number
    WHERE matches.game = :game AND {_ENDED} AND seats.place IS NOT NULL AND matches.pace IS NULL
    AND {{}} ORDER BY seats.number, seats.player"""
"""Matches at a pace for people are unrated."""
SEATINGS_BETWEEN = _SEATINGS.format("matches.number > :after AND matches.number <= :last")
SEATINGS_OF = _SEATINGS.format("matches.number IN :numbers")
VOID = "SELECT number FROM matches WHERE void IS NOT NULL AND game = :game"
RUNNING = f"""SELECT number FROM matches
    WHERE {HAS_STATUS["running"]} AND game = :game AND number <= :last"""
GAPS = """SELECT before, number FROM (
        SELECT number, lag(number, 1, :after) OVER (ORDER BY number) AS before FROM matches
        WHERE number > :after AND number <= :last
    ) AS pairs WHERE number > before + 1"""
PLAYED = """SELECT 1 FROM bots JOIN seats ON seats.name = bots.name
    WHERE bots.name IN :names AND seats.started >= bots.registered AND seats.number <= :last
    LIMIT 1"""
LAST_SEEN = """SELECT name, name_whole, (
        SELECT max(seats.started) FROM seats
        WHERE seats.name = bots.name AND seats.started >= bots.registered
    ) FROM bots WHERE name IN :names"""
LEADERBOARD = "SELECT data FROM leaderboards WHERE game = :game AND version = :version"
KEEP_LEADERBOARD = """INSERT INTO leaderboards (game, version, last, data)
    VALUES (:game, :version, :last, :data) ON CONFLICT (game)
    DO UPDATE SET version = excluded.version, last = excluded.last, data = excluded.data"""
MEETINGS_OF_ONE = f"""SELECT mine.number, mine.started, mine.place, theirs.name, theirs.name_whole,
    theirs.place, matches.versions, mine.player, theirs.player, matches.options, {_BLOCK}
    {_MET} AND matches.pace IS NULL
    ORDER BY mine.started DESC, mine.number DESC LIMIT :limit"""
CROSSTABLE = f"""SELECT mine.name, min(mine.name_whole), theirs.name, min(theirs.name_whole),
    {_AHEAD}, {_LEVEL}, {_BEHIND}
    FROM seats AS mine JOIN seats AS theirs ON theirs.number = mine.number
    JOIN matches ON matches.number = mine.number
    WHERE matches.game = :game AND matches.contest = :contest AND {_ENDED}
    AND mine.name <> theirs.name GROUP BY mine.name, theirs.name"""
CONTEST_ORDERS: dict[ContestOrder, str] = {
    "last": "max(started)",
    "first": "min(started)",
    "name": "contest",
    "game": "game",
    "matches": "count(*)",
}


def opponents_query(order: OpponentOrder, falling: bool) -> str:
    return f"""SELECT theirs.name, min(theirs.name_whole), count(*), {_AHEAD}, {_LEVEL}, {_BEHIND},
        max(mine.started) {_MET} GROUP BY theirs.name
        ORDER BY {OPPONENT_ORDERS[order]} {way(falling)}, theirs.name {PAGE}"""


def contests_query(of_game: bool, plain: bool, order: ContestOrder, falling: bool) -> str:
    return f"""SELECT game, contest, min(contest_whole), count(*), min(started), max(started)
        FROM matches {_in_contests(of_game, plain)} GROUP BY game, contest
        ORDER BY {CONTEST_ORDERS[order]} {way(falling)}, game, contest {PAGE}"""


def contests_counted(of_game: bool, plain: bool) -> str:
    return f"""SELECT count(*) FROM
        (SELECT DISTINCT game, contest FROM matches {_in_contests(of_game, plain)}) AS found"""


def _in_contests(of_game: bool, plain: bool) -> str:
    others = """NOT EXISTS (SELECT 1 FROM contests
        WHERE contests.name = matches.contest AND contests.game = matches.game)"""
    return where({"contest IS NOT NULL": True, "game = :game": of_game, others: plain})


_NAMES_OF = "SELECT {0}, {1} FROM {2} WHERE {0} >= :first AND {0} < :end {3} ORDER BY {0} LIMIT 1"
BOT = _NAMES_OF.format("name", "name_whole", "bots", "")
PLAYER = _NAMES_OF.format("name", "name_whole", "seats", "")
CONTEST = _NAMES_OF.format("contest", "contest_whole", "matches", "AND game = :game")
MATCH = _NAMES_OF.format("id", "NULL", "matches", "")


class Found(Struct, frozen=True):
    bots: list[str]
    players: list[str]
    """Names of unregistered players, such as guests."""
    contests: list[tuple[str, str]]
    """Pairs of game and name."""
    matches: list[str]


_mapping = msgspec.json.Decoder(dict[str, Any])


class Reports:
    def __init__(self, fetch: Fetch) -> None:
        self._fetch = fetch

    # Results.

    async def last_number(self) -> int:
        """Return the number of the match that began last."""
        return int((await self._fetch(queries.LAST_NUMBER, {}))[0][0] or 0)

    async def running(self, game: str, last: int) -> set[int]:
        """Return the numbers of running matches up to `last`."""
        return {row[0] for row in await self._fetch(RUNNING, {"game": key(game), "last": last})}

    async def void(self, game: str) -> set[int]:
        """Return the numbers of void matches."""
        return {row[0] for row in await self._fetch(VOID, {"game": key(game)})}

    async def missing(self, after: int, last: int) -> set[int]:
        """Return the numbers from `after` + 1 to `last` that no match has.

        It may come yet: a node takes numbers, `MOST_TAKEN` at most, before it commits.
        """
        gaps = await self._fetch(GAPS, {"after": after, "last": last})
        return {
            missing
            for before, number in gaps
            for missing in range(max(before + 1, number - MOST_TAKEN), number)
        }

    async def seatings(self, game: str, after: int, last: int) -> list[Seating]:
        """Return the seats of ended matches with numbers from `after` + 1 to `last`, match by
        match.
        """
        rows = await self._fetch(
            SEATINGS_BETWEEN, {"game": key(game), "after": after, "last": last}
        )
        return [_seating(row) for row in rows]

    async def seatings_of(self, game: str, numbers: Iterable[int]) -> list[Seating]:
        rows = await self._fetch(SEATINGS_OF, {"game": key(game), "numbers": list(numbers)})
        return [_seating(row) for row in rows]

    async def have_played(self, names: Iterable[str], last: int) -> bool:
        """Whether one of these bots has a match up to `last` that began after its registration."""
        values = {"names": [key(name) for name in names], "last": last}
        return bool(await self._fetch(PLAYED, values))

    async def leaderboard(self, game: str, version: str) -> bytes | None:
        """Return what `keep_leaderboard` has stored last."""
        rows = await self._fetch(LEADERBOARD, {"game": key(game), "version": version})
        return bytes(rows[0][0]) if rows else None

    async def meetings_of(self, name: str, since: Epoch, limit: int) -> list[Meeting]:
        """Return the meetings of a player, latest first."""
        rows = await self._fetch(
            MEETINGS_OF_ONE, {"name": key(name), "since": since, "limit": limit}
        )
        return [_meeting(row) for row in rows]

    async def opponents(
        self, name: str, since: Epoch, order: OpponentOrder, falling: bool, limit: int, offset: int
    ) -> tuple[list[Opponent], int]:
        """Return the results of a player against each opponent, and the number of opponents. Only
        ended matches count.
        """
        values = {"name": key(name), "since": since}
        rows = await self._fetch(
            opponents_query(order, falling), {**values, "limit": limit, "offset": offset}
        )
        total = (await self._fetch(OPPONENTS_COUNTED, values))[0][0]
        return [
            Opponent(whole(other, rest), *map(int, counts)) for other, rest, *counts in rows
        ], int(total)

    async def last_seen(self, names: Iterable[str]) -> dict[str, Epoch]:
        """Return the start of the last match of each of these bots that has played."""
        rows = await self._fetch(LAST_SEEN, {"names": [key(name) for name in names]})
        return {whole(name, rest): int(at) for name, rest, at in rows if at is not None}

    async def causes(self, name: str, since: Epoch) -> dict[str, int]:
        """Return how often each cause ended a match for a player."""
        return {
            cause: int(times)
            for cause, times in await self._fetch(CAUSES, {"name": key(name), "since": since})
        }

    # Contests.

    async def contests(
        self,
        game: str | None,
        order: ContestOrder,
        falling: bool,
        limit: int,
        offset: int,
        plain: bool = False,
    ) -> tuple[list[ContestSummary], int]:
        """`plain`: leave out contests with a document."""
        some, asked = {"game": key(game or "")}, (game is not None, plain)
        rows = await self._fetch(
            contests_query(*asked, order, falling), {**some, "limit": limit, "offset": offset}
        )
        total = (await self._fetch(contests_counted(*asked), some))[0][0]
        return [
            ContestSummary(of, whole(name, rest), *map(int, figures))
            for of, name, rest, *figures in rows
        ], int(total)

    async def crosstable(
        self, game: str, contest: str
    ) -> dict[tuple[str, str], tuple[int, int, int]]:
        """Return wins, draws and losses of each pair."""
        rows = await self._fetch(CROSSTABLE, {"game": key(game), "contest": key(contest)})
        return {
            (whole(one, one_rest), whole(two, two_rest)): (int(wins), int(draws), int(losses))
            for one, one_rest, two, two_rest, wins, draws, losses in rows
        }

    # Names and notes.

    async def search(self, text: str, games: Iterable[str], most: int) -> Found:
        """Find names and ids that begin with the text in its own case, lower, upper or capitalised.

        At most `most` per kind. Each query is a seek in an index, however large the store is.
        """
        ways = list(dict.fromkeys((text, text.lower(), text.capitalize(), text.upper())))
        bots = await self._names(BOT, ways, most)
        players = await self._names(PLAYER, ways, 2 * most)
        guests = [name for name in players if name not in set(bots)][:most]
        contests = [
            (game, name)
            for game in games
            for name in await self._names(CONTEST, ways, most, game=game)
        ]
        matches = await self._names(MATCH, [text.lower()], most)
        return Found(bots, guests, contests[:most], matches)

    async def _names(
        self, query: str, beginnings: Iterable[str], most: int, **values: str
    ) -> list[str]:
        """Find distinct names: each query continues after the last, however many rows have it."""
        found: dict[str, None] = {}
        for first in beginnings:
            values |= {"first": first, "end": first + LAST}
            while len(found) < most and (rows := await self._fetch(query, values)):
                found[whole(*rows[0])] = None
                values["first"] = rows[0][0] + queries.NEXT
        return list(found)

    async def note(self, book: str, name: str) -> dict[str, Any] | None:
        rows = await self._fetch(queries.NOTE_CALLED, {"book": key(book), "name": key(name)})
        return _mapping.decode(rows[0][3]) if rows else None

    async def notes_of(self, book: str, names: Iterable[str]) -> dict[str, dict[str, Any]]:
        """Return the values of these notes of a book that exist, by name."""
        values = {"book": key(book), "names": [key(name) for name in names]}
        rows = await self._fetch(queries.NOTES_CALLED, values)
        return {note.name: note.value for note in map(note_entry, rows)}

    async def latest_notes(
        self, book: str, limit: int, offset: int
    ) -> tuple[list[dict[str, Any]], int]:
        """Return the values of the notes of a book, last name first, and their number."""
        rows = await self._fetch(
            queries.LATEST_NOTES, {"book": key(book), "limit": limit, "offset": offset}
        )
        total = (await self._fetch(queries.NOTES_COUNTED, {"book": key(book)}))[0][0]
        return [_mapping.decode(row[3]) for row in rows], int(total)

    async def note_pages(
        self, book: str, most: int = 0
    ) -> AsyncIterator[dict[str, dict[str, Any]]]:
        """Yield the values of the notes of a book by name, some at a time; 0: as many as usual."""
        values, first = {"book": key(book), "limit": most or AT_ONCE}, ""
        while rows := await self._fetch(queries.NOTES_FROM, {**values, "first": first}):
            first = rows[-1][1] + queries.NEXT
            yield {note.name: note.value for note in map(note_entry, rows)}


def _seating(row: Sequence[Any]) -> Seating:
    number, name, rest, place, started, versions, player, options, block, void = row
    version = _version(versions, player)
    return Seating(number, whole(name, rest), place, started, version, options, block, bool(void))


def _meeting(row: Sequence[Any]) -> Meeting:
    number, at, place, other, rest, theirs, versions, mine, player, options, block = row
    both = _version(versions, mine), _version(versions, player)
    return Meeting(number, at, place, whole(other, rest), theirs, *both, options, block)


def _version(versions: str | None, player: int) -> str:
    return "" if versions is None else players_in(versions)[player]
