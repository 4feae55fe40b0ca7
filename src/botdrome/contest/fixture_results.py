"""The result of a fixture: from its match, or from the players that did not come."""

from collections.abc import Collection

from botdrome.contest.formats.format import ContestFixture, FixtureResult
from botdrome.match.events import Result

CRASHES = {"crash", "disconnect", "flood", "unreadable"}
"""Causes that count as a crash of the bot."""


def fixture_result(result: Result, match: str) -> FixtureResult:
    """Return the result of a fixture that was played in this match."""
    crashed = tuple([seat for seat, cause in enumerate(result.causes) if cause in CRASHES])
    return FixtureResult(result.places, (), crashed, match)


def unplayed(fixture: ContestFixture, absent: Collection[int], rule: str) -> FixtureResult:
    """Return the result of a fixture with absent players: the others share the first place, or it does not count."""
    if rule == "skip" or len(absent) == len(fixture.entrants):
        return FixtureResult((), tuple(absent))
    present = len(fixture.entrants) - len(absent)
    places = tuple([present + 1 if seat in absent else 1 for seat in range(len(fixture.entrants))])
    return FixtureResult(places, tuple(absent))
