"""Queries that count results over many matches, and their rows."""

from functools import cache
from typing import Any, Literal

from msgspec import Struct
from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Select,
    Text,
    bindparam,
    case,
    distinct,
    func,
    select,
)

from botdrome.store.queries import HAS_STATUS
from botdrome.store.tables import Listed, matches, seats

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
