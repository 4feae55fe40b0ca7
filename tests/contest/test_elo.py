"""Elo's rating, as the original's table shows it."""

import pytest

from botdrome.contest.strength import START, expected_share, updated_elo


def test_the_figures_of_the_original() -> None:
    one, two = updated_elo(START, START, 1)
    assert (one, two) == (1215, 1185)
    two, one = updated_elo(two, one, 1)
    assert (round(one, 2), round(two, 2)) == (1198.71, 1201.29)


def test_a_draw_moves_the_better_one_down() -> None:
    assert updated_elo(1200, 1200, 0.5) == (1200, 1200)
    one, two = updated_elo(1400, 1200, 0.5)
    assert one < 1400 and two > 1200
    assert one + two == pytest.approx(2600)


def test_the_shares_of_both_make_one() -> None:
    assert expected_share(1600, 1200) == pytest.approx(10 / 11)
    assert expected_share(1600, 1200) + expected_share(1200, 1600) == pytest.approx(1)
