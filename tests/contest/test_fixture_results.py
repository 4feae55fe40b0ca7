"""Results of matches, and the ratings that follow from them."""

from botdrome.contest.document import ContestDocument
from botdrome.contest.formats.format import Entrant, FixtureResult
from botdrome.contest.progress import (
    ContestProgress,
    contest_blocks,
    contest_ratings,
    fixture_result,
)
from botdrome.match.events import Result


def test_a_crash_is_noted_and_a_loss_on_time_is_not() -> None:
    result = Result((1, 2, 3), (1.0, 0.0, 0.0), ("complete", "timeout", "crash"), ())
    assert fixture_result(result, "m") == FixtureResult((1, 2, 3), crashed=(2,), match="m")


def test_played_matches_are_rated_and_forfeits_are_not() -> None:
    document = ContestDocument(name="cup", game="gomoku")
    progress = ContestProgress(document, [Entrant(name) for name in ("ada", "bob", "cy")], {})
    for key, fixture in list(progress.open.items())[:-1]:
        absent = (fixture.entrants.index(2),) if 2 in fixture.entrants else ()
        places = tuple(1 if number == min(fixture.entrants) else 2 for number in fixture.entrants)
        progress.add(key, FixtureResult(places, absent))
    strengths = contest_ratings(progress).strengths
    assert set(strengths) == {"ada", "bob"} and strengths["ada"].rating > strengths["bob"].rating
    assert strengths["ada"].games == 2


def test_bots_that_repeat_one_game_have_no_interval() -> None:
    document = ContestDocument(name="cup", game="gomoku", games=40)
    progress = ContestProgress(document, [Entrant("ada"), Entrant("bob")], {})
    varied = ContestProgress(document, [Entrant("ada"), Entrant("bob")], {})
    for number, (key, fixture) in enumerate(list(progress.open.items()), 1):
        progress.add(key, FixtureResult((1, 2), fingerprint=1 + fixture.entrants[0]))
        varied.add(key, FixtureResult((1, 2), fingerprint=number))
    assert (
        contest_blocks(progress).repetition().words()
        == "2 distinct games in 40: the interval counts 1 of 20 blocks."
    )
    assert contest_ratings(progress).strengths["ada"].margin is None
    assert contest_ratings(varied).strengths["ada"].margin is not None
