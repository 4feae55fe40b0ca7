"""Filters: what is asked for of a list of games, as the store wants it said."""

from typing import Any

from botdrome.api.graphql.reading import storable
from botdrome.api.paging import original_limit, original_offset
from botdrome.api.problems import Problem
from botdrome.store.store import Status, Wanted

Filters = dict[str, Any]

STATUSES: dict[str, Status] = {"RUNNING": "running", "ENDED": "ended", "ABORTED": "aborted"}


def wanted(game: str, filters: Filters) -> Wanted:
    contest = filters.get("contest")
    return Wanted(
        game=game,
        contest=None if contest is None else storable(contest),
        all_of=_names(filters.get("bots")),
        any_of=_names(filters.get("any_bots")),
        status=STATUSES.get(filters.get("status") or "ENDED"),
        limit=original_limit(filters.get("limit")),
        offset=original_offset(filters.get("offset")),
    )


def _names(names: list[str | None] | None) -> tuple[str, ...]:
    if names is None:
        return ()
    if not names or None in names:
        raise Problem("a list of bots must have names in it, and nothing else")
    return tuple(storable(name) for name in names if name is not None)
