"""Which matches are wanted, as a query. One is made for each combination of conditions, not for each question."""

from functools import cache
from typing import Any

from msgspec import Struct
from sqlalchemy import BigInteger, ColumnElement, Select, Text, bindparam, distinct, func, select

from botdrome.store.listed import Listed
from botdrome.store.queries import HAS_STATUS, MATCH
from botdrome.store.store import Status, Wanted
from botdrome.store.tables import matches, seats
from botdrome.store.texts import key

FARTHEST = 2**62
"""No limit and no offset means more than that."""


class Shape(Struct, frozen=True):
    """Which conditions there are."""

    game: bool
    contest: bool
    status: Status | None
    player: bool
    """One player has taken part: its seats lead the way."""
    all_of: bool
    any_of: bool
    limit: bool


Question = tuple[Select[*tuple[Any, ...]], dict[str, Any]]


def chosen(wanted: Wanted) -> Question:
    return _chosen(_shape(wanted)), _values(wanted)


def counted(wanted: Wanted) -> Question:
    return _counted(_shape(wanted)), _values(wanted)


def _one_player(wanted: Wanted) -> str | None:
    if wanted.all_of:
        return wanted.all_of[0]
    return wanted.any_of[0] if len(wanted.any_of) == 1 else None


def _shape(wanted: Wanted) -> Shape:
    if wanted.offset < 0 or (wanted.limit is not None and wanted.limit < 0):
        raise ValueError("limit and offset must not be negative")
    return Shape(
        wanted.game is not None,
        wanted.contest is not None,
        wanted.status,
        _one_player(wanted) is not None,
        len(wanted.all_of) > 1,
        len(wanted.any_of) > 1 or bool(wanted.any_of and wanted.all_of),
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
        "limit": min(wanted.limit or 0, FARTHEST),
        "offset": min(wanted.offset, FARTHEST),
    }


@cache
def _chosen(shape: Shape) -> Select[*tuple[Any, ...]]:
    """Newest first, straight from an index: a page of a long list costs no more than the page."""
    clock = seats if shape.player else matches
    query = _narrowed(select(*MATCH), shape).order_by(clock.c.started.desc(), clock.c.number.desc())
    query = query.offset(bindparam("offset", type_=BigInteger))
    return query.limit(bindparam("limit", type_=BigInteger)) if shape.limit else query


@cache
def _counted(shape: Shape) -> Select[*tuple[Any, ...]]:
    return _narrowed(select(func.count()).select_from(matches), shape)


def _narrowed(query: Select[*tuple[Any, ...]], shape: Shape) -> Select[*tuple[Any, ...]]:
    if shape.game:
        query = query.where(matches.c.game == bindparam("game", type_=Text))
    if shape.contest:
        query = query.where(matches.c.contest == bindparam("contest", type_=Text))
    if shape.status:
        query = query.where(HAS_STATUS[shape.status])
    if shape.player:
        query = query.join(seats, seats.c.number == matches.c.number).where(
            seats.c.name == bindparam("player", type_=Text), _first_seat_of_that_name()
        )
    if shape.all_of:
        query = query.where(_all_took_part())
    return query.where(_one_took_part()) if shape.any_of else query


def _first_seat_of_that_name() -> ColumnElement[bool]:
    """Who sits at a table twice has played one match."""
    same = seats.alias("same")
    first = select(func.min(same.c.player)).where(same.c.number == seats.c.number, same.c.name == seats.c.name)
    return seats.c.player == first.scalar_subquery()


def _all_took_part() -> ColumnElement[bool]:
    others = seats.alias("others")
    there = select(func.count(distinct(others.c.name))).where(
        others.c.number == matches.c.number, Listed(others.c.name, "all_of")
    )
    return there.scalar_subquery() == bindparam("how_many", type_=BigInteger)


def _one_took_part() -> ColumnElement[bool]:
    some = seats.alias("some")
    return matches.c.number.in_(select(some.c.number).where(Listed(some.c.name, "any_of")))
