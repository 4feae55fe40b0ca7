"""Gauntlet: the champion meets all others."""

from botdrome.contest.progress import ContestProgress
from tests.contest.formats.examples import bots, contest, document, order


def test_the_champion_meets_everybody_and_is_ranked_by_its_share() -> None:
    progress = contest("gauntlet", 5, champion="bot2")
    assert {frozenset(fixture.entrants) for fixture in progress.fixtures.values()} == {frozenset((2, n)) for n in (0, 1, 3, 4)}
    assert order(progress) == [0, 1, 2, 3, 4]
    assert contest("gauntlet", 5).fixtures["1.1.1"].entrants in ((0, 1), (1, 0))


def test_at_larger_tables_the_champion_meets_every_group() -> None:
    groups = {frozenset(fixture.entrants) for fixture in contest("gauntlet", 5, players=3).fixtures.values()}
    assert len(groups) == 6
    assert all(0 in group for group in groups)


def test_a_champion_that_has_not_entered_is_missed() -> None:
    progress = ContestProgress(document("gauntlet", champion="king"), bots(3), {})
    assert progress.refusal == "the champion 'king' has not entered; let it enter, or name another one"
