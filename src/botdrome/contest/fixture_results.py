"""The result of a fixture from its match."""

from botdrome.contest.formats.format import FixtureResult
from botdrome.match.events import Result

CRASHES = {"crash", "disconnect", "flood", "unreadable"}
"""Causes that count as a crash of the bot."""


def fixture_result(result: Result, match: str, fingerprint: int = 0) -> FixtureResult:
    """Return the result of a fixture that was played in this match."""
    crashed = tuple([seat for seat, cause in enumerate(result.causes) if cause in CRASHES])
    return FixtureResult(result.places, (), crashed, match, fingerprint)
