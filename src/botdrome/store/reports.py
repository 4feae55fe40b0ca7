"""Statistics and search over the whole store, for pages and tools."""

from collections.abc import AsyncIterator, Iterable
from functools import cache
from typing import Any, Literal

import msgspec
from msgspec import Struct
from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Executable,
    Select,
    Text,
    bindparam,
    case,
    distinct,
    func,
    null,
    select,
)

from botdrome.store import queries
from botdrome.store.queries import HAS_STATUS
from botdrome.store.rows import Fetch, key, note_entry, players_in, whole
from botdrome.store.schema import Listed, bots, matches, seats

Epoch = int
OpponentOrder = Literal["games", "name", "wins", "losses", "last"]
ContestOrder = Literal["last", "first", "name", "game", "matches"]


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

    match: str
    name: str
    place: int
    started: Epoch
    version: str = ""
    options: str = "{}"
    """Those of the match, as JSON."""
    block: str = ""
    """The contest and the seed: matches of a contest on one seed depend on each other.

    Empty: it is of no contest.
    """


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


def _tally(condition: ColumnElement[bool]) -> ColumnElement[int]:
    return func.sum(case((condition, 1), else_=0))


_mine, _theirs = seats.alias("mine"), seats.alias("theirs")
_ahead, _level, _behind = (
    _mine.c.place < _theirs.c.place,
    _mine.c.place == _theirs.c.place,
    _mine.c.place > _theirs.c.place,
)
_met = (
    (_mine.c.name == bindparam("name", type_=Text))
    & (_mine.c.started >= bindparam("since", type_=BigInteger))
    & (_theirs.c.name != _mine.c.name)
    & HAS_STATUS["ended"]
)
_both = _mine.join(_theirs, _theirs.c.number == _mine.c.number).join(
    matches, matches.c.number == _mine.c.number
)
_games, _last = func.count(), func.max(_mine.c.started)
OPPONENT_ORDERS: dict[str, ColumnElement[Any]] = {
    "games": _games,
    "name": _theirs.c.name,
    "wins": _tally(_ahead),
    "losses": _tally(_behind),
    "last": _last,
}
OPPONENTS_COUNTED = select(func.count(distinct(_theirs.c.name))).select_from(_both).where(_met)


@cache
def opponents(order: OpponentOrder, falling: bool) -> Select[*tuple[object, ...]]:
    by = OPPONENT_ORDERS[order]
    counts = (_games, _tally(_ahead), _tally(_level), _tally(_behind), _last)
    query = (
        select(_theirs.c.name, func.min(_theirs.c.name_whole), *counts)
        .select_from(_both)
        .where(_met)
    )
    query = query.group_by(_theirs.c.name).order_by(by.desc() if falling else by, _theirs.c.name)
    return query.limit(bindparam("limit", type_=BigInteger)).offset(
        bindparam("offset", type_=BigInteger)
    )


CAUSES = (
    select(seats.c.cause, func.count())
    .where(
        seats.c.name == bindparam("name", type_=Text),
        seats.c.started >= bindparam("since", type_=BigInteger),
        seats.c.cause.is_not(None),
    )
    .group_by(seats.c.cause)
    .order_by(seats.c.cause)
)

_rated = matches.c.pace.is_(None)
"""Matches at a pace for people are unrated."""
_block = func.coalesce(matches.c.contest + ":" + matches.c.seed, "")
_ended_of_game = (
    (matches.c.game == bindparam("game", type_=Text))
    & HAS_STATUS["ended"]
    & seats.c.place.is_not(None)
)
_seatings = (
    select(
        matches.c.id,
        seats.c.name,
        seats.c.name_whole,
        seats.c.place,
        seats.c.started,
        matches.c.versions,
        seats.c.player,
        matches.c.options,
        _block,
    )
    .join(matches, matches.c.number == seats.c.number)
    .where(_ended_of_game, _rated)
    .order_by(seats.c.number, seats.c.player)
)
SEATINGS_BETWEEN = _seatings.where(
    matches.c.number > bindparam("after", type_=BigInteger),
    matches.c.number <= bindparam("last", type_=BigInteger),
)
SEATINGS_OF = _seatings.where(Listed(matches.c.id, "ids"))
RUNNING = select(matches.c.id, matches.c.number).where(
    HAS_STATUS["running"],
    matches.c.game == bindparam("game", type_=Text),
    matches.c.number <= bindparam("last", type_=BigInteger),
)
MEETINGS_OF_ONE = (
    select(
        _mine.c.number,
        _mine.c.started,
        _mine.c.place,
        _theirs.c.name,
        _theirs.c.name_whole,
        _theirs.c.place,
        matches.c.versions,
        _mine.c.player,
        _theirs.c.player,
        matches.c.options,
        _block,
    )
    .select_from(_both)
    .where(_met, _rated)
    .order_by(_mine.c.started.desc(), _mine.c.number.desc())
    .limit(bindparam("limit", type_=BigInteger))
)

_one, _two = seats.alias("one"), seats.alias("two")
CROSSTABLE = (
    select(
        _one.c.name,
        func.min(_one.c.name_whole),
        _two.c.name,
        func.min(_two.c.name_whole),
        _tally(_one.c.place < _two.c.place),
        _tally(_one.c.place == _two.c.place),
        _tally(_one.c.place > _two.c.place),
    )
    .select_from(
        _one.join(_two, _two.c.number == _one.c.number).join(
            matches, matches.c.number == _one.c.number
        )
    )
    .where(
        matches.c.game == bindparam("game", type_=Text),
        matches.c.contest == bindparam("contest", type_=Text),
        HAS_STATUS["ended"],
        _one.c.name != _two.c.name,
    )
    .group_by(_one.c.name, _two.c.name)
)

_contest = matches.c.contest
CONTEST_ORDERS: dict[str, ColumnElement[Any]] = {
    "last": func.max(matches.c.started),
    "first": func.min(matches.c.started),
    "name": _contest,
    "game": matches.c.game,
    "matches": func.count(),
}


@cache
def contest_summaries(
    game: bool, order: ContestOrder, falling: bool
) -> Select[*tuple[object, ...]]:
    by = CONTEST_ORDERS[order]
    figures = (func.count(), func.min(matches.c.started), func.max(matches.c.started))
    query = select(matches.c.game, _contest, func.min(matches.c.contest_whole), *figures).where(
        *_in_contests(game)
    )
    query = query.group_by(matches.c.game, _contest).order_by(
        by.desc() if falling else by, matches.c.game, _contest
    )
    return query.limit(bindparam("limit", type_=BigInteger)).offset(
        bindparam("offset", type_=BigInteger)
    )


@cache
def contests_counted(game: bool) -> Select[*tuple[object, ...]]:
    found = select(matches.c.game, _contest).where(*_in_contests(game)).distinct().subquery()
    return select(func.count()).select_from(found)


def _in_contests(game: bool) -> list[ColumnElement[bool]]:
    conditions: list[ColumnElement[bool]] = [_contest.is_not(None)]
    return [*conditions, matches.c.game == bindparam("game", type_=Text)] if game else conditions


PAGE = 1000
"""Notes per query."""
LAST = "\U0010ffff"
"""Sorts after every continuation of a name."""
NEXT = "\x01"
"""Appended to a name, gives the smallest greater name."""

_first, _end = bindparam("first", type_=Text), bindparam("end", type_=Text)
_game = matches.c.game == bindparam("game", type_=Text)
_bot, _player = (
    (bots.c.name >= _first) & (bots.c.name < _end),
    (seats.c.name >= _first) & (seats.c.name < _end),
)
BOT = select(bots.c.name, bots.c.name_whole).where(_bot).order_by(bots.c.name).limit(1)
PLAYER = select(seats.c.name, seats.c.name_whole).where(_player).order_by(seats.c.name).limit(1)
CONTEST = (
    select(matches.c.contest, matches.c.contest_whole)
    .where(
        _game, matches.c.contest.is_not(None), matches.c.contest >= _first, matches.c.contest < _end
    )
    .order_by(matches.c.contest)
    .limit(1)
)
MATCH = (
    select(matches.c.id, null())
    .where(matches.c.id >= _first, matches.c.id < _end)
    .order_by(matches.c.id)
    .limit(1)
)


class Found(Struct, frozen=True):
    bots: list[str]
    players: list[str]
    """Names of unregistered players, such as guests."""
    contests: list[tuple[str, str]]
    """Pairs of game and name."""
    matches: list[str]


async def searched(fetch: Fetch, text: str, games: Iterable[str], most: int) -> Found:
    """Find names and ids that begin with the text in its own case, lower, upper or capitalised; at
    most `most` per kind.

    Each query is a seek in an index, however large the store is.
    """
    ways = list(dict.fromkeys((text, text.lower(), text.capitalize(), text.upper())))
    registered = await _names(fetch, BOT, ways, most)
    known = set(registered)
    players = [name for name in await _names(fetch, PLAYER, ways, 2 * most) if name not in known][
        :most
    ]
    contests = [
        (game, name)
        for game in games
        for name in await _names(fetch, CONTEST, ways, most, game=game)
    ][:most]
    return Found(registered, players, contests, await _names(fetch, MATCH, [text.lower()], most))


async def _names(
    fetch: Fetch, query: Executable, ways: Iterable[str], most: int, **values: str
) -> list[str]:
    """Find distinct names: each query continues after the last name, however many rows have it."""
    found: dict[str, None] = {}
    for way in ways:
        first, end = way, way + LAST
        while len(found) < most:
            rows = await fetch(query, {"first": first, "end": end, **values})
            if not rows:
                break
            found[whole(*rows[0])] = None
            first = rows[0][0] + NEXT
    return list(found)


_mapping = msgspec.json.Decoder(dict[str, Any])


class Reports:
    def __init__(self, fetch: Fetch) -> None:
        self._fetch = fetch

    # Results.

    async def last_number(self) -> int:
        """Return the number of the match that began last."""
        return int((await self._fetch(queries.LAST_NUMBER, {}))[0][0] or 0)

    async def running(self, game: str, last: int) -> dict[str, int]:
        """Return the numbers of running matches up to `last`, by their ids."""
        return {
            row[0]: int(row[1])
            for row in await self._fetch(RUNNING, {"game": key(game), "last": last})
        }

    async def seatings(self, game: str, after: int, last: int) -> list[Seating]:
        """Return the seats of ended matches with numbers from `after` + 1 to `last`, match by
        match.
        """
        rows = await self._fetch(
            SEATINGS_BETWEEN, {"game": key(game), "after": after, "last": last}
        )
        return [_seating(*row) for row in rows]

    async def seatings_of(self, game: str, ids: Iterable[str]) -> list[Seating]:
        rows = await self._fetch(SEATINGS_OF, {"game": key(game), "ids": list(ids)})
        return [_seating(*row) for row in rows]

    async def meetings_of(self, name: str, since: Epoch, limit: int) -> list[Meeting]:
        """Return the meetings of a player, latest first."""
        rows = await self._fetch(
            MEETINGS_OF_ONE, {"name": key(name), "since": since, "limit": limit}
        )
        return [_meeting(*row) for row in rows]

    async def opponents(
        self, name: str, since: Epoch, order: OpponentOrder, falling: bool, limit: int, offset: int
    ) -> tuple[list[Opponent], int]:
        """Return the results of a player against each opponent, and the number of opponents.

        Only ended matches count.
        """
        values = {"name": key(name), "since": since}
        rows = await self._fetch(
            opponents(order, falling), {**values, "limit": limit, "offset": offset}
        )
        total = (await self._fetch(OPPONENTS_COUNTED, values))[0][0]
        return [
            Opponent(whole(other, rest), *map(int, counts)) for other, rest, *counts in rows
        ], int(total)

    async def causes(self, name: str, since: Epoch) -> dict[str, int]:
        """Return how often each cause ended a match for a player."""
        return {
            cause: int(times)
            for cause, times in await self._fetch(CAUSES, {"name": key(name), "since": since})
        }

    # Contests.

    async def contests(
        self, game: str | None, order: ContestOrder, falling: bool, limit: int, offset: int
    ) -> tuple[list[ContestSummary], int]:
        of_game = {"game": key(game or "")}
        rows = await self._fetch(
            contest_summaries(game is not None, order, falling),
            {**of_game, "limit": limit, "offset": offset},
        )
        total = (await self._fetch(contests_counted(game is not None), of_game))[0][0]
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
        return await searched(self._fetch, text, games, most)

    async def note(self, book: str, name: str) -> dict[str, Any] | None:
        rows = await self._fetch(queries.NOTE, {"book": key(book), "name": key(name)})
        return _mapping.decode(rows[0][3]) if rows else None

    async def latest_notes(
        self, book: str, limit: int, offset: int
    ) -> tuple[list[dict[str, Any]], int]:
        """Return the values of the notes of a book, last name first, and their number."""
        rows = await self._fetch(
            queries.LATEST_NOTES, {"book": key(book), "limit": limit, "offset": offset}
        )
        total = (await self._fetch(queries.NOTES_COUNTED, {"book": key(book)}))[0][0]
        return [_mapping.decode(row[3]) for row in rows], int(total)

    async def note_pages(self, book: str) -> AsyncIterator[dict[str, dict[str, Any]]]:
        """Yield the values of the notes of a book by name, some at a time."""
        after = ""
        while rows := await self._fetch(
            queries.NEXT_OF_BOOK, {"book": key(book), "after": after, "limit": PAGE}
        ):
            after = rows[-1][1]
            yield {note.name: note.value for note in map(note_entry, rows)}


def _seating(
    match: str,
    name: str,
    rest: str | None,
    place: int,
    started: Epoch,
    versions: str | None,
    player: int,
    options: str,
    block: str,
) -> Seating:
    return Seating(
        match, whole(name, rest), place, started, _version(versions, player), options, block
    )


def _meeting(
    number: int, at: Epoch, place: int, other: str, rest: str | None, theirs: int,
    versions: str | None, mine: int, player: int, options: str, block: str,
) -> Meeting:  # fmt: skip
    both = _version(versions, mine), _version(versions, player)
    return Meeting(number, at, place, whole(other, rest), theirs, *both, options, block)


def _version(versions: str | None, player: int) -> str:
    return "" if versions is None else players_in(versions)[player]
