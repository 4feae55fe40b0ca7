"""Progress of a contest: each result counts once, and a contest continues from its journal."""

from typing import Any

import pytest

from botdrome.contest.formats.format import Entrant, FixtureResult
from botdrome.contest.progress import ContestProgress, LateEntry, entered, unplayed, withdrawn
from tests.contest.formats.examples import bots, document, order, played


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
    assert not strict.penalties.withdraw(progress.faults[culprit])
    other = next(fixture for fixture in progress.open.values() if culprit in fixture.entrants)
    progress.add(other.key, FixtureResult((2, 1), crashed=(other.entrants.index(culprit),)))
    assert strict.penalties.withdraw(progress.faults[culprit])
    assert all(result.places == () for result in progress.withdraw(culprit).values())
    assert progress.withdraw(culprit) == {}
    assert not document().penalties.withdraw(100)


def test_a_fixture_that_all_have_left_does_not_count() -> None:
    progress = ContestProgress(document(), bots(2), {})
    assert [result.places for result in progress.withdraw(0).values()] == [(1, 2), (2, 1)]
    gone = [Entrant("a", left=2), Entrant("b", left=2)]
    assert {result.places for result in ContestProgress(document(), gone, {}).results.values()} == {
        ()
    }


def test_annulled_results_are_played_again() -> None:
    progress = played(ContestProgress(document(), bots(3), {}))
    before, results = progress.standings(), dict(progress.results)
    own = [key for key, fixture in progress.fixtures.items() if 2 in fixture.entrants]
    old = progress.annul([2], failed=False)
    assert old == {key: results[key] for key in own} and sorted(progress.open) == sorted(own)
    assert played(progress).standings() == before


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


def test_results_are_annulled_by_entrants_and_faults() -> None:
    keys = list(ContestProgress(document(games=1), bots(3), {}).open)
    results = {keys[0]: FixtureResult((1, 2), crashed=(1,)), keys[1]: FixtureResult((1, 2))}

    def annulled(*numbers: int, failed: bool) -> list[str]:
        progress = ContestProgress(document(games=1), bots(3), results)
        return [*progress.annul(numbers, failed)]

    fixtures = ContestProgress(document(games=1), bots(3), {}).fixtures
    assert annulled(failed=False) == sorted(keys[:2])
    assert annulled(failed=True) == keys[:1]
    assert annulled(0, failed=False) == [key for key in results if 0 in fixtures[key].entrants]


def test_forfeits_of_the_plan_alone_are_not_among_annulled_results() -> None:
    entrants = [*bots(2), Entrant("gone", left=2)]
    progress = ContestProgress(document(games=1), entrants, {})
    assert progress.forfeits and progress.annul([2], failed=False) == {}


def test_late_entrants_and_leavers_count_from_the_round_that_is_played() -> None:
    swiss, dee = document("swiss"), Entrant("dee")
    assert entered(swiss, dee, 0) == dee and entered(swiss, dee, 2).joined == 3
    assert entered(document(), dee, 2).joined == 2
    with pytest.raises(LateEntry):
        entered(document("groups"), dee, 1)
    gone = withdrawn(dee, 1)
    assert gone.left == 2 and withdrawn(gone, 5) == gone
