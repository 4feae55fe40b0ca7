"""Ratings of all players, and the coverage of their intervals."""

from collections import Counter
from itertools import combinations
from random import Random

import pytest

from botdrome.contest import strength
from botdrome.contest.strength import MEAN, POINTS, Score, expected, groups, performance, strengths, student


def played(truth: list[float], games: int, random: Random, drawn: float = 0.2) -> dict[tuple[str, str], Score]:
    """Each pair as many games: some are drawn, by both alike."""
    scores = {}
    for one, two in combinations(range(len(truth)), 2):
        results: Counter[str] = Counter()
        for _ in range(games):
            p = expected((truth[one] - truth[two]) / POINTS)
            result = "draw" if random.random() < drawn else "win" if random.random() < p else "loss"
            results[result] += 1
        scores[str(one), str(two)] = results["win"], results["draw"], results["loss"]
    return scores


def test_the_intervals_hold_the_truth_in_95_of_100_cases() -> None:
    random, held, cases = Random(7), 0, 0
    truth = [-250.0, -120, -30, 20, 130, 250]
    for _ in range(60):
        found = strengths(played(truth, 12, random, drawn=0.0))
        for player, value in enumerate(truth):
            one = found[str(player)]
            assert one.margin is not None
            held, cases = held + (abs(one.rating - MEAN - value) <= one.margin), cases + 1
    assert 0.93 <= held / cases <= 0.995


def test_ratings_are_those_at_which_the_results_were_to_be_expected() -> None:
    found = strengths({("a", "b"): (300, 0, 100)})
    assert found["a"].rating - found["b"].rating == pytest.approx(190, abs=8)  # the prior draws them together a little
    assert found["a"].rating + found["b"].rating == pytest.approx(2 * MEAN)


def test_who_won_everything_has_a_finite_rating_with_a_wide_interval() -> None:
    found = strengths({("a", "b"): (5, 0, 0), ("b", "c"): (2, 1, 2)})
    assert found["b"].rating < found["a"].rating < MEAN + 1500
    assert found["a"].margin is not None and found["a"].margin > 150


def test_one_game_makes_no_interval() -> None:
    assert [one.margin for one in strengths({("a", "b"): (1, 0, 0)}).values()] == [None, None]


def test_those_who_never_met_are_in_different_groups() -> None:
    found = strengths({("a", "b"): (1, 0, 1), ("y", "z"): (2, 0, 0), ("b", "c"): (0, 2, 0), ("c", "a"): (1, 1, 1)})
    assert {name: one.group for name, one in found.items()} == {"a": 0, "b": 0, "c": 0, "y": 1, "z": 1}
    assert groups({("a", "b"): (1, 0, 0), ("c", "d"): (1, 0, 0), ("b", "c"): (1, 0, 0)}) == [["a", "b", "c", "d"]]
    assert strengths({}) == {}


def test_level_players_need_no_step() -> None:
    assert strengths({("a", "b"): (3, 0, 3)})["a"].rating == MEAN


def test_large_groups_have_no_intervals(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(strength, "LARGEST", 2)
    found = strengths({("a", "b"): (3, 0, 1), ("b", "c"): (3, 0, 1)})
    assert [one.margin for one in found.values()] == [None] * 3


def test_the_number_of_steps_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(strength, "STEPS", 1)
    found = strengths(played([-100, 0, 30, 90], 9, Random(3)))
    assert found["0"].rating < found["3"].rating
    assert performance([(MEAN, (5, 0, 1))]).rating > MEAN


def test_the_last_point_of_a_history_is_the_rating() -> None:
    scores = played([-100, 0, 30, 90], 9, Random(3))
    found = strengths(scores)
    mine = [(found[two].rating, score) for (one, two), score in scores.items() if one == "0"]
    point = performance(mine)
    assert point.rating == pytest.approx(found["0"].rating, abs=0.01)
    assert point.margin is not None and 0 < point.margin < 400
    assert performance([(MEAN, (1, 0, 0))]).margin is None


def test_far_differences_and_many_wins_do_not_overflow() -> None:
    assert expected(-1000) == 0.0
    assert performance([(MEAN + 2000, (100_000, 0, 0))]).rating < MEAN + 10_000
    assert performance([(MEAN, (1, 0, 10**9))]).rating < MEAN


@pytest.mark.parametrize(("freedom", "value"), [(1, 12.706), (2, 4.303), (3, 3.182), (5, 2.571), (30, 2.042), (10_000, 1.960)])
def test_students_t(freedom: int, value: float) -> None:
    assert student(freedom) == pytest.approx(value, abs=0.02)
