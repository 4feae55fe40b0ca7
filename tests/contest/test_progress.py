"""Progress of a contest: each result counts once, and a contest continues from its journal."""

from typing import Any

import pytest

from botdrome.contest.formats.format import Entrant, FixtureResult
from botdrome.contest.progress import ContestProgress, unplayed
from tests.contest.formats.examples import bots, document, order, played, seeds_win


def test_a_result_counts_once() -> None:
    progress = ContestProgress(document(), bots(2), {})
    assert set(progress.open) == {"1.1.1", "1.1.2"}
    assert progress.add("1.1.1", FixtureResult((1, 2)))
    assert not progress.add("1.1.1", FixtureResult((2, 1)))
    assert progress.results["1.1.1"].places == (1, 2)
    assert (progress.rounds_played, progress.over, progress.expected) == (0, False, 2)
    assert progress.add("1.1.2", FixtureResult(()))
    assert (progress.rounds_played, progress.over, progress.expected) == (1, True, 2)


def test_results_must_fit_the_fixture() -> None:
    progress = ContestProgress(document(), bots(2), {})
    with pytest.raises(KeyError):
        progress.add("7.1.1", FixtureResult((1, 2)))
    with pytest.raises(ValueError, match=r"fixture 1\.1\.1: 3 places for 2 seats"):
        progress.add("1.1.1", FixtureResult((1, 2, 3)))


def test_a_contest_with_too_few_entrants_waits_for_more() -> None:
    progress = ContestProgress(document(), bots(1), {})
    assert (progress.over, progress.refusal[:9]) == (False, "1 entrant")
    progress.enter(Entrant("second"))
    assert (progress.refusal, len(progress.open), progress.entrants[1].joined) == ("", 2, 0)
    alone = ContestProgress(document(), bots(2), {})
    alone.withdraw(1)
    assert alone.over
    assert order(alone) == [0, 1]


def test_no_shows_and_crashes_are_counted_against_the_limit() -> None:
    strict = document(penalties={"withdraw_after": 2, "no_show": "skip"})
    progress = ContestProgress(strict, bots(3), {})
    progress.add("1.1.1", FixtureResult((2, 1), absent=(0,)))
    culprit = progress.fixtures["1.1.1"].entrants[0]
    assert not progress.penalised(culprit)
    other = next(fixture for fixture in progress.open.values() if culprit in fixture.entrants)
    progress.add(other.key, FixtureResult((2, 1), crashed=(other.entrants.index(culprit),)))
    assert progress.penalised(culprit)
    assert all(result.places == () for result in progress.withdraw(culprit).values())
    assert progress.withdraw(culprit) == {}
    assert not ContestProgress(document(), bots(3), progress.results).penalised(culprit)


def test_a_fixture_that_all_have_left_does_not_count() -> None:
    progress = ContestProgress(document(), bots(2), {})
    assert [result.places for result in progress.withdraw(0).values()] == [(1, 2), (2, 1)]
    gone = [Entrant("a", left=2), Entrant("b", left=2)]
    assert {result.places for result in ContestProgress(document(), gone, {}).results.values()} == {
        ()
    }


def test_a_new_version_replaces_the_old_one() -> None:
    progress = ContestProgress(document(), bots(2), {})
    progress.replace_version(1, "v2")
    assert progress.entrants[1].version == "v2"


def test_forgotten_results_are_played_again() -> None:
    progress = played(ContestProgress(document(), bots(3), {}))
    before = progress.standings()
    assert progress.forget(["1.2.1", "9.9.9"]) == {"1.2.1"}
    assert list(progress.open) == ["1.2.1"]
    progress.add("1.2.1", seeds_win(progress.open["1.2.1"]))
    assert progress.standings() == before


@pytest.mark.parametrize(
    ("absent", "rules", "places"),
    [
        ([1], {}, (1, 3, 1)),
        ([0, 2], {}, (2, 1, 2)),
        ([0, 1, 2], {}, ()),
        ([1], {"penalties": {"no_show": "skip"}}, ()),
        ([1], {"penalties": {"no_show": "skip"}, "format": "knockout"}, (1, 3, 1)),
    ],
)
def test_absent_players_lose_or_the_match_does_not_count(
    absent: list[int], rules: dict[str, Any], places: tuple[int, ...]
) -> None:
    progress = ContestProgress(document(game="bomberman", players=3, **rules), bots(3), {})
    fixture = next(iter(progress.open.values()))
    assert unplayed(progress.document, fixture, absent) == FixtureResult(places, tuple(absent))


def test_an_entrant_that_leaves_forfeits_no_match_that_is_being_played() -> None:
    progress = ContestProgress(document(games=1), bots(2), {})
    progress.underway = {"1.1.1"}
    assert progress.withdraw(0) == {} and list(progress.open) == ["1.1.1"]


def test_fixtures_are_chosen_by_entrants_and_faults() -> None:
    progress = ContestProgress(document(games=1), bots(3), {})
    keys = list(progress.open)
    progress.add(keys[0], FixtureResult((1, 2), crashed=(1,)))
    progress.add(keys[1], FixtureResult((1, 2)))
    own = [key for key in keys[:2] if 0 in progress.fixtures[key].entrants]
    assert progress.with_results([], failed=False) == keys[:2]
    assert progress.with_results([], failed=True) == keys[:1]
    assert progress.with_results([0], failed=False) == own
