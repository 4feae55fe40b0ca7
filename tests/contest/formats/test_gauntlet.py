"""Gauntlet: the champion meets all others."""

import pytest

from botdrome.contest.formats.format import Entrant
from botdrome.contest.progress import ContestProgress, start_refusal
from tests.contest.formats.examples import bots, contest, document, order


def test_the_champion_meets_everybody_and_is_ranked_by_its_share() -> None:
    progress = contest("gauntlet", 5, champion="bot2")
    assert {frozenset(fixture.entrants) for fixture in progress.fixtures.values()} == {
        frozenset((2, n)) for n in (0, 1, 3, 4)
    }
    assert order(progress) == [0, 1, 2, 3, 4]
    assert contest("gauntlet", 5).fixtures["1.1.1"].entrants in ((0, 1), (1, 0))


def test_at_larger_tables_the_champion_meets_every_group() -> None:
    groups = {
        frozenset(fixture.entrants)
        for fixture in contest("gauntlet", 5, players=3).fixtures.values()
    }
    assert len(groups) == 6
    assert all(0 in group for group in groups)


def test_a_champion_that_has_not_entered_is_missed() -> None:
    progress = ContestProgress(document("gauntlet", champion="king"), bots(3), {})
    assert (
        progress.refusal
        == "champion: 'king' has not entered; let it enter, or name one of the entrants"
    )
    assert start_refusal(document("gauntlet", champion="king"), bots(3)) == progress.refusal
    assert (
        start_refusal(document("gauntlet", champion="king", entry={"late": True}), bots(3)) == ""
    ), "it may come later"
    assert start_refusal(document("gauntlet", champion="bot1"), bots(3)) == ""
    assert "at least 2" in start_refusal(document("gauntlet", champion="king"), bots(1))


@pytest.mark.parametrize("champion", ["strategist", "house:strategist", "the old master"])
def test_the_champion_may_be_named_as_the_document_shows_it(champion: str) -> None:
    """On a server a house bot enters under its own name."""
    given = [{"bot": "house:random"}, {"bot": "house:strategist", "name": "the old master"}]
    entrants = [Entrant("house:random"), Entrant("house:strategist"), Entrant("ada")]
    progress = ContestProgress(
        document("gauntlet", champion=champion, entrants=given), entrants, {}
    )
    assert progress.refusal == "" and all(
        1 in fixture.entrants for fixture in progress.open.values()
    )
