"""The SQL statements, for all databases. Values from outside are always bound."""

from collections.abc import Sequence
from functools import cache
from typing import Any

from msgspec import Struct
from msgspec.structs import replace
from sqlalchemy import (
    BigInteger,
    Boolean,
    ColumnElement,
    Delete,
    Select,
    Table,
    Text,
    Update,
    bindparam,
    case,
    cast,
    delete,
    distinct,
    exists,
    func,
    literal_column,
    not_,
    select,
    tuple_,
    update,
)

from botdrome.store.rows import Fetch, key
from botdrome.store.schema import (
    RELEASED,
    Listed,
    bots,
    heartbeats,
    matches,
    nodes,
    notes,
    records,
    seats,
)
from botdrome.store.store import Status, Wanted

MATCH = [column for column in matches.c if column.name != "number"]
"""The columns of a match entry."""
HAS_STATUS = {
    status: matches.c.status == literal_column(f"'{status}'")
    for status in ("running", "ended", "aborted")
}
"""Literals, so that the partial indexes are used."""

BOT = select(bots).where(bots.c.name == bindparam("name", type_=Text))
BOTS_LIKE = (
    select(bots)
    .where(bots.c.likeness == bindparam("likeness", type_=Text))
    .order_by(bots.c.registered, bots.c.name)
)
UNLIKENED = select(bots.c.name, bots.c.name_whole).where(bots.c.likeness.is_(None))
NAMES_TAKEN = select(bots.c.name).where(Listed(bots.c.name, "names"))

_of_book = notes.c.book == bindparam("book", type_=Text)
NOTES = select(notes).where(_of_book).order_by(notes.c.name)
NEXT_OF_BOOK = NOTES.where(notes.c.name > bindparam("after", type_=Text)).limit(
    bindparam("limit", type_=BigInteger)
)
NOTE = select(notes).where(_of_book, notes.c.name == bindparam("name", type_=Text))
LATEST_NOTES = (
    select(notes)
    .where(_of_book)
    .order_by(notes.c.name.desc())
    .limit(bindparam("limit", type_=BigInteger))
    .offset(bindparam("offset", type_=BigInteger))
)
NOTES_COUNTED = select(func.count()).select_from(notes).where(_of_book)
NOTES_KEPT = select(notes.c.name).where(_of_book, Listed(notes.c.name, "names"))
STRIKE_NOTES: Delete = delete(notes).where(_of_book, Listed(notes.c.name, "names"))

KNOWN = select(
    matches.c.id, matches.c.number, matches.c.status, matches.c.ended, matches.c.result
).where(Listed(matches.c.id, "ids"))
STRIKE_RECORDS: Delete = delete(records).where(
    records.c.number.in_(select(matches.c.number).where(Listed(matches.c.id, "ids")))
)
RUNNING = select(func.count()).select_from(matches).where(HAS_STATUS["running"])
ABORT: Update = (
    update(matches)
    .where(HAS_STATUS["running"])
    .values(
        status="aborted",
        ended=bindparam("ended", type_=BigInteger),
        reason=bindparam("reason", type_=Text),
    )
)

_live_nodes = (
    select(func.count())
    .select_from(nodes)
    .where(nodes.c.alive, nodes.c.name + "." + cast(nodes.c.epoch, Text) == matches.c.node)
    .scalar_subquery()
)
"""A count, not `NOT EXISTS`: PostgreSQL would not ask that again about a row that another node has
just adopted, so that both nodes would own the match.
"""
_orphan = HAS_STATUS["running"] & (_live_nodes == 0)
ORPHANS = select(matches.c.id).where(
    _orphan, (matches.c.node != "") | bindparam("single", type_=Boolean)
)
_last_node = case((matches.c.node == RELEASED, ""), else_=matches.c.node)
"""A match that was released has the node already among the former ones."""
ADOPT = (
    update(matches)
    .where(_orphan, Listed(matches.c.id, "ids"))
    .values(
        former=func.trim(func.coalesce(matches.c.former, "") + " " + _last_node),
        node=bindparam("new_node", type_=Text),
    )
    .returning(*MATCH)
)
ABORT_SOME: Update = ABORT.where(
    Listed(matches.c.id, "ids"), matches.c.node == bindparam("of_node", type_=Text)
)

_this_match = matches.c.id == bindparam("id", type_=Text)
ENTRY = select(*MATCH).where(_this_match)
_over = not_(HAS_STATUS["running"])
"""The record of a running match has the seed, so it must not be readable."""
RECORD = (
    select(records.c.record)
    .join(matches, matches.c.number == records.c.number)
    .where(_this_match, _over)
)
FLIGHTS = (
    select(records.c.flights)
    .join(matches, matches.c.number == records.c.number)
    .where(_this_match, _over)
)

_of_game = matches.c.game == bindparam("game", type_=Text)
_of_contest = matches.c.contest == bindparam("contest", type_=Text)

CONTESTS = (
    select(matches.c.contest, func.min(matches.c.contest_whole))
    .where(_of_game, matches.c.contest.is_not(None))
    .group_by(matches.c.contest)
    .order_by(func.min(matches.c.started), func.min(matches.c.number))
)
MEETINGS = (
    select(matches.c.players, matches.c.status, func.count())
    .where(_of_game, _of_contest, matches.c.status != "aborted")
    .group_by(matches.c.players, matches.c.status)
)


@cache
def bots_of(
    game: bool, owner: bool, limited: bool, order: str = "registered", falling: bool = False
) -> Select[*tuple[object, ...]]:
    by = bots.c[order]
    query = _of(select(bots).order_by(by.desc() if falling else by, bots.c.name), game, owner)
    return (
        query.limit(bindparam("limit", type_=BigInteger)).offset(
            bindparam("offset", type_=BigInteger)
        )
        if limited
        else query
    )


@cache
def bots_counted(game: bool, owner: bool) -> Select[*tuple[object, ...]]:
    return _of(select(func.count()).select_from(bots), game, owner)


def _of(query: Select[*tuple[object, ...]], game: bool, owner: bool) -> Select[*tuple[object, ...]]:
    if game:
        query = query.where(bots.c.game == bindparam("game", type_=Text))
    return query.where(bots.c.owner == bindparam("owner", type_=Text)) if owner else query


def _tally(condition: ColumnElement[bool]) -> ColumnElement[int]:
    return func.sum(case((condition, 1), else_=0))


def _contest_lines() -> Select[*tuple[object, ...]]:
    """First place alone is a win, shared a draw, any other place a loss."""
    firsts = _tally(seats.c.place == 1).over(partition_by=seats.c.number).label("firsts")
    lines = (
        select(seats.c.name, seats.c.name_whole, seats.c.place, firsts)
        .join(matches, matches.c.number == seats.c.number)
        .where(_of_game, _of_contest, HAS_STATUS["ended"])
        .subquery()
    ).c
    won = (lines.place == 1) & (lines.firsts == 1)
    drawn = (lines.place == 1) & (lines.firsts > 1)
    counts = (_tally(won), _tally(drawn), _tally(lines.place > 1))
    return (
        select(lines.name, func.min(lines.name_whole), *counts)
        .group_by(lines.name)
        .order_by(lines.name)
    )


CONTEST_LINES = _contest_lines()

STRIKE_PROBE: Delete = delete(heartbeats).where(heartbeats.c.name == literal_column("'probe'"))

LAST_NUMBER = select(func.max(matches.c.number))
FIRST_BOTS = select(bots).order_by(bots.c.name).limit(bindparam("limit", type_=BigInteger))
NEXT_BOTS = FIRST_BOTS.where(bots.c.name > bindparam("after", type_=Text))
FIRST_NOTES = (
    select(notes).order_by(notes.c.book, notes.c.name).limit(bindparam("limit", type_=BigInteger))
)
NEXT_NOTES = FIRST_NOTES.where(
    tuple_(notes.c.book, notes.c.name)
    > tuple_(bindparam("book", type_=Text), bindparam("after", type_=Text))
)
NEXT_MATCHES = (
    select(matches.c.number, *MATCH)
    .where(
        matches.c.number > bindparam("after", type_=BigInteger),
        matches.c.number <= bindparam("last", type_=BigInteger),
    )
    .order_by(matches.c.number)
    .limit(bindparam("limit", type_=BigInteger))
)
PAPERS = select(records).where(
    records.c.number.between(
        bindparam("first", type_=BigInteger), bindparam("last", type_=BigInteger)
    )
)

# Lists of matches: one query per combination of conditions, so that each is compiled once. A page
# of a long list comes from an index on time, and costs no more than the page. For that, the query
# starts from the seats of a player with few seats, or from all matches if the players have many.

FARTHEST = 2**62
"""Limits and offsets above this count as this."""
MANY = 5_000
"""Seats are counted up to this number."""
COMPARED = 8
"""Players whose seats are compared, at most."""

Question = tuple[Select[*tuple[Any, ...]], dict[str, Any]]


class QueryShape(Struct, frozen=True):
    """The conditions of a query, without their values."""

    game: bool
    contest: bool
    status: Status | None
    player: bool
    """Whether the query starts from the seats of one player."""
    all_of: bool
    any_of: bool
    busy: bool
    """Whether the players of `any_of` have many seats."""
    winner: bool
    since: bool
    until: bool
    oldest_first: bool
    limit: bool


async def chosen(wanted: Wanted, fetch: Fetch) -> Question:
    wanted = await _rarest_first(wanted, fetch)
    busy = len(wanted.any_of) > 1 and await _seats(wanted.any_of, fetch) >= MANY
    return _chosen(_shape(wanted, busy)), _values(wanted)


async def counted(wanted: Wanted, fetch: Fetch) -> Question:
    wanted = await _rarest_first(wanted, fetch)
    return _counted(_shape(wanted, False)), _values(wanted)


async def _rarest_first(wanted: Wanted, fetch: Fetch) -> Wanted:
    names = sorted(set(wanted.all_of))
    if not 1 < len(names) <= COMPARED:
        return wanted
    seats = {name: await _seats([name], fetch) for name in names}
    return replace(wanted, all_of=sorted(names, key=lambda name: seats[name]))


async def _seats(names: Sequence[str], fetch: Fetch) -> int:
    return int((await fetch(_SEATS, {"names": [key(name) for name in names]}))[0][0])


_SEATS = select(func.count()).select_from(
    select(seats.c.number).where(Listed(seats.c.name, "names")).limit(MANY).subquery()
)


def _one_player(wanted: Wanted) -> str | None:
    if wanted.all_of:
        return wanted.all_of[0]
    return wanted.any_of[0] if len(wanted.any_of) == 1 else wanted.winner


def _shape(wanted: Wanted, busy: bool) -> QueryShape:
    if wanted.offset < 0 or (wanted.limit is not None and wanted.limit < 0):
        raise ValueError("limit and offset must not be negative")
    return QueryShape(
        wanted.game is not None,
        wanted.contest is not None,
        wanted.status,
        _one_player(wanted) is not None,
        len(wanted.all_of) > 1,
        len(wanted.any_of) > 1 or bool(wanted.any_of and wanted.all_of),
        busy,
        wanted.winner is not None,
        wanted.since is not None,
        wanted.until is not None,
        wanted.oldest_first,
        wanted.limit is not None,
    )


def _values(wanted: Wanted) -> dict[str, Any]:
    return {
        "game": key(wanted.game or ""),
        "contest": key(wanted.contest or ""),
        "player": key(_one_player(wanted) or ""),
        "all_of": [key(name) for name in wanted.all_of],
        "how_many": len(set(wanted.all_of)),
        "any_of": [key(name) for name in wanted.any_of],
        "winner": key(wanted.winner or ""),
        "since": wanted.since or 0,
        "until": wanted.until or 0,
        "limit": min(wanted.limit or 0, FARTHEST),
        "offset": min(wanted.offset, FARTHEST),
    }


@cache
def _chosen(shape: QueryShape) -> Select[*tuple[Any, ...]]:
    clock, query = _clock(shape), select(*MATCH)
    if shape.player:
        query = query.join(seats, seats.c.number == matches.c.number).where(
            _first_seat_of_that_name()
        )
    order = (clock.c.started, clock.c.number)
    query = query.where(*_of_match(shape), *_of_players(shape), *_of_time(shape))
    query = query.order_by(*(order if shape.oldest_first else (column.desc() for column in order)))
    query = query.offset(bindparam("offset", type_=BigInteger))
    return query.limit(bindparam("limit", type_=BigInteger)) if shape.limit else query


@cache
def _counted(shape: QueryShape) -> Select[*tuple[Any, ...]]:
    """Count seats alone if no condition concerns the match itself."""
    of_match, conditions = _of_match(shape), [*_of_players(shape), *_of_time(shape)]
    if not shape.player:
        return select(func.count()).select_from(matches).where(*of_match, *conditions)
    query = select(func.count(distinct(seats.c.number))).where(*of_match, *conditions)
    return query.join(matches, matches.c.number == seats.c.number) if of_match else query


def _clock(shape: QueryShape) -> Table:
    """The table whose index on time is used."""
    return seats if shape.player else matches


def _of_time(shape: QueryShape) -> list[ColumnElement[bool]]:
    started, conditions = _clock(shape).c.started, []
    if shape.since:
        conditions.append(started >= bindparam("since", type_=BigInteger))
    if shape.until:
        conditions.append(started < bindparam("until", type_=BigInteger))
    return conditions


def _of_match(shape: QueryShape) -> list[ColumnElement[bool]]:
    conditions = []
    if shape.game:
        conditions.append(matches.c.game == bindparam("game", type_=Text))
    if shape.contest:
        conditions.append(matches.c.contest == bindparam("contest", type_=Text))
    if shape.status:
        conditions.append(HAS_STATUS[shape.status])
    return conditions


def _of_players(shape: QueryShape) -> list[ColumnElement[bool]]:
    match = seats.c.number if shape.player else matches.c.number
    conditions = []
    if shape.player:
        conditions.append(seats.c.name == bindparam("player", type_=Text))
    if shape.all_of:
        conditions.append(_all_took_part(match))
    if shape.any_of:
        conditions.append(_one_took_part(match, shape.busy))
    if shape.winner:
        conditions.append(_won_alone(match))
    return conditions


def _first_seat_of_that_name() -> ColumnElement[bool]:
    """Count a match once for a player that has two seats in it."""
    same = seats.alias("same")
    first = select(func.min(same.c.player)).where(
        same.c.number == seats.c.number, same.c.name == seats.c.name
    )
    return seats.c.player == first.scalar_subquery()


def _all_took_part(match: ColumnElement[int]) -> ColumnElement[bool]:
    others = seats.alias("others")
    there = select(func.count(distinct(others.c.name))).where(
        others.c.number == match, Listed(others.c.name, "all_of")
    )
    return there.scalar_subquery() == bindparam("how_many", type_=BigInteger)


def _one_took_part(match: ColumnElement[int], busy: bool) -> ColumnElement[bool]:
    some = seats.alias("some")
    if busy:
        return exists().where(some.c.number == match, Listed(some.c.name, "any_of"))
    return match.in_(select(some.c.number).where(Listed(some.c.name, "any_of")))


def _won_alone(match: ColumnElement[int]) -> ColumnElement[bool]:
    winner, firsts = seats.alias("winner"), seats.alias("firsts")
    won = exists().where(
        winner.c.number == match,
        winner.c.place == 1,
        winner.c.name == bindparam("winner", type_=Text),
    )
    return won & (
        select(func.count()).where(firsts.c.number == match, firsts.c.place == 1).scalar_subquery()
        == 1
    )
