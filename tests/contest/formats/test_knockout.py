"""Knockout: seeding, byes, series that end once decided, heats at larger tables."""

import pytest

from botdrome.contest.formats.elimination import Knockout, bracket_slots, stage_name
from botdrome.contest.formats.format import Fixture, FixtureResult
from botdrome.contest.progress import ContestProgress, LateEntry
from tests.contest.formats.examples import (
    bots,
    by_chance,
    contest,
    document,
    order,
    played,
    seeds_win,
)


def level(fixture: Fixture) -> FixtureResult:
    return FixtureResult((1,) * len(fixture.entrants))


def test_the_highest_seeds_meet_last_and_have_the_byes() -> None:
    assert bracket_slots(range(8)) == [0, 7, 3, 4, 1, 6, 2, 5]
    assert bracket_slots(range(5)) == [0, None, 3, 4, 1, None, 2, None]
    assert contest("knockout", 5).rounds[0].byes == (0, 1, 2)
    assert stage_name(16) == "in the round of 16"


def test_losers_of_a_round_share_their_place() -> None:
    lines = contest("knockout", 8).standings()
    assert [line.place for line in lines] == [1, 2, 3, 3, 5, 5, 5, 5]
    assert [line.note for line in lines[:3]] == [
        "won the final",
        "lost the final",
        "lost in the semi-finals",
    ]
    assert order(contest("knockout", 8)) == [0, 1, 2, 3, 4, 5, 6, 7]


@pytest.mark.parametrize(("best_of", "batches"), [(1, [1]), (3, [2]), (5, [3])])
def test_a_series_offers_only_matches_that_matter(best_of: int, batches: list[int]) -> None:
    progress = ContestProgress(document("knockout", best_of=best_of), bots(2), {})
    seen = []
    while progress.open:
        seen.append(len(progress.open))
        for fixture in list(progress.open.values()):
            progress.add(fixture.key, seeds_win(fixture))
    assert seen == batches


def test_a_close_series_goes_on_and_a_level_one_is_decided_by_seed() -> None:
    progress = ContestProgress(document("knockout", best_of=3), bots(2), {})
    places = iter([(1, 2), (1, 2), (1, 2)])  # by seat, and the seats rotate
    while progress.open:
        progress.add(next(iter(progress.open)), FixtureResult(next(places)))
    assert (len(progress.results), order(progress)) == (3, [0, 1])
    drawn = contest("knockout", 2, level, best_of=1)
    assert len(drawn.results) == 1 + 2 * 2
    assert [line.note for line in drawn.standings()] == [
        "won the final as the higher seed: it was level",
        "lost the final, level: the higher seed advanced",
    ]


def test_a_leaver_forfeits_its_series_and_a_winner_that_left_gives_a_walkover() -> None:
    progress = ContestProgress(
        document("knockout", best_of=5, penalties={"no_show": "skip"}), bots(4), {}
    )
    progress.add("1.1.1", seeds_win(progress.open["1.1.1"]))
    progress.withdraw(0)
    played(progress)
    assert {frozenset(f.entrants) for key, f in progress.fixtures.items() if f.round == 2} == {
        frozenset((1, 3))
    }
    gone = ContestProgress(document("knockout", games=1), bots(4), {})
    gone.add("1.1.1", seeds_win(gone.open["1.1.1"]))
    gone.withdraw(0)
    assert order(played(gone))[:2] == [1, 0]
    assert gone.rounds_played == 1


def test_a_table_of_the_final_is_filled_again_when_finalists_left() -> None:
    progress = played(ContestProgress(document("knockout", players=3), bots(9), {}), most=8)
    for number in (0, 1):
        progress.withdraw(number)
    played(progress)
    assert order(progress)[0] == 2
    assert {line.note for line in progress.standings() if line.entrant < 2} == {"left"}
    few = played(ContestProgress(document("knockout", players=3), bots(5), {}), most=2)
    for number in (0, 1, 2):
        few.withdraw(number)
    assert few.refusal == "2 entrants cannot fill a table of 3; 3 are needed"
    assert len(few.standings()) == 5


def test_the_bracket_is_closed_after_the_start() -> None:
    progress = ContestProgress(document("knockout"), bots(2), {})
    with pytest.raises(LateEntry, match="knockout takes no entrants after the start"):
        progress.enter(bots(1)[0])


def test_standings_of_a_running_knockout_name_those_still_in() -> None:
    progress = played(ContestProgress(document("knockout"), bots(4), {}), most=4)
    assert [(line.place, line.note) for line in progress.standings()] == [(1, "still in")] * 2 + [
        (3, "lost in the semi-finals")
    ] * 2


def test_the_loser_of_a_decided_meeting_is_out_before_its_round_is_over() -> None:
    progress = played(ContestProgress(document("knockout", best_of=3), bots(4), {}), most=1)
    assert {line.note for line in progress.standings()} == {"still in"}
    progress = ContestProgress(document("knockout"), bots(4), {})
    for key in ("1.1.1", "1.1.2"):
        progress.add(key, seeds_win(progress.open[key]))
    assert [(line.entrant, line.place, line.note) for line in progress.standings()] == [
        (0, 1, "still in"),
        (1, 1, "still in"),
        (2, 1, "still in"),
        (3, 4, "lost in the semi-finals"),
    ]
    assert order(played(progress)) == [0, 1, 2, 3]


def test_the_winner_of_a_heat_is_known_before_its_round_is_over() -> None:
    progress = played(ContestProgress(document("knockout", players=3), bots(9), {}), most=3)
    assert {line.note for line in progress.standings()} == {"still in"}


def test_results_of_later_rounds_are_forgotten_with_those_before() -> None:
    progress = contest("knockout", 4)
    own = {key for key, one in progress.fixtures.items() if key[0] == "1" and 3 in one.entrants}
    assert set(progress.annul([3], failed=False)) == own | {"2.1.1", "2.1.2"}
    assert set(progress.open) == own


@pytest.mark.parametrize("entrants", [4, 5, 8, 13, 16, 30])
def test_larger_tables_play_heats_with_full_tables(entrants: int) -> None:
    progress = contest("knockout", entrants, by_chance, players=4)
    assert progress.over
    assert all(len(set(fixture.entrants)) == 4 for fixture in progress.fixtures.values())
    places = [line.place for line in progress.standings()]
    assert places[:4] == [1, 2, 3, 4]
    assert order(contest("knockout", entrants, players=4))[:2] == [0, 1]


def test_about_three_quarters_of_a_long_series_are_expected() -> None:
    assert Knockout(document("knockout", best_of=5), (), {}).expected(9) == 8 * 4
