"""The open fixtures of a round: made from the plan when they are asked for."""

import pytest

from botdrome.contest.formats.format import FixtureResult
from botdrome.contest.progress import ContestProgress, OpenRound
from tests.contest.formats.examples import bots, document, seeds_win


@pytest.mark.parametrize("format_", ["round-robin", "knockout"])
def test_fixtures_close_while_they_are_handed_out(format_: str) -> None:
    progress = ContestProgress(document(format_), bots(4), {})
    fixtures, keys = progress.open.fixtures(), list(progress.open)
    first, second = next(fixtures), next(fixtures)
    progress.add(keys[2], seeds_win(progress.open[keys[2]]))
    progress.add(first.key, seeds_win(first))
    assert [first.key, second.key, *(fixture.key for fixture in fixtures)] == [*keys[:2], *keys[3:]]
    assert list(progress.open) == [keys[1], *keys[3:]] and len(progress.open) == len(keys) - 2
    assert keys[1] in progress.open
    others = [first.key, "2.1.1", "1.1.3", "1.0.1", "1.99.1", "1", "x.y.z", "1.1.1.1", "01.1.1"]
    assert not [key for key in others if key in progress.open]


def test_a_round_without_fixtures_has_nothing_open() -> None:
    assert not list(OpenRound((), {"1.1.1": FixtureResult((1, 2))}, 0))
