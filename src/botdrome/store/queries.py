"""The SQL statements, for all databases. Values from outside are always bound."""

from functools import cache

from sqlalchemy import (
    BigInteger,
    Boolean,
    ColumnElement,
    Delete,
    Select,
    Text,
    Update,
    bindparam,
    case,
    cast,
    delete,
    exists,
    func,
    literal_column,
    not_,
    select,
    tuple_,
    update,
)

from botdrome.store.tables import (
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

_node_lives = exists().where(
    nodes.c.alive, nodes.c.name + "." + cast(nodes.c.epoch, Text) == matches.c.node
)
_orphan = HAS_STATUS["running"] & not_(_node_lives)
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
