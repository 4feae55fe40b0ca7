"""The surveyor of bumblebots, and its estimate of the race for the flowers."""

import pytest

from botdrome.bots.bumblebots import FAR, forager, race, random, surveyor
from botdrome.games.bumblebots import FLOWER, Bumblebots
from tests.bots.test_bumblebots import BARE, given, play
from tests.games.bumblebots.arranged import position

NEAR, OTHER = (1, 1), (2, 2)
HOME = {NEAR: 5, OTHER: 5}


def test_a_drone_that_is_nearer_claims_the_flower() -> None:
    lead, plan = race(
        [[(0, {NEAR: 2}, "Ann")], [(0, {NEAR: 3}, "Bob")]], [{NEAR: 5}, {NEAR: 5}], 50, {}
    )
    assert (round(lead), plan) == (1, {"Ann": NEAR})
    lead, plan = race(
        [[(0, {NEAR: 3}, "Ann")], [(0, {NEAR: 2}, "Bob")]], [{NEAR: 5}, {NEAR: 5}], 50, {}
    )
    assert (round(lead), plan) == (-1, {})


def test_drones_that_arrive_together_block_each_other() -> None:
    assert race(
        [[(0, {NEAR: 2}, "Ann")], [(0, {NEAR: 2}, "Bob")]], [{NEAR: 5}, {NEAR: 5}], 50, {}
    ) == (0, {"Ann": NEAR})


def test_a_forced_drone_leaves_a_fight_and_new_drones_come_from_home() -> None:
    swarms = [[(0, {NEAR: 1, OTHER: 2}, "Ann")], [(0, {NEAR: 1, OTHER: 3}, "Bob")]]
    lead, plan = race(swarms, [HOME, HOME], 50, {"Ann": OTHER})
    assert (round(lead), plan) == (0, {"Ann": OTHER})
    lead, plan = race([swarms[0], []], [HOME, HOME], 50, {})
    assert (round(lead), plan) == (2, {"Ann": NEAR})


def test_flowers_out_of_reach_do_not_count() -> None:
    assert race([[(0, {NEAR: 9}, "Ann")], []], [{NEAR: 5}, {NEAR: 5}], 8, {}) == (0, {})
    assert race([[], []], [{NEAR: FAR}, {NEAR: FAR}], 8, {}) == (0, {})


def test_surveyor_goes_to_a_flower() -> None:
    assert given(surveyor, position({"Ann": (4, 6)}, {"Bob": (13, 13)})) == {"Ann": "L"}


def test_surveyor_leaves_a_fight_where_that_gains_more_flowers() -> None:
    """Both stand beside a flower and block each other.

    Ann could reach three others, where no drone of Bob comes in time.
    """
    fight, free = {**BARE, (7, 7): FLOWER}, dict.fromkeys([(4, 7), (4, 6), (3, 6)], FLOWER)
    many = position({"Ann": (6, 7)}, {"Bob": (8, 7)}, {**fight, **free})
    assert given(surveyor, many) == {"Ann": "UR"}
    assert given(forager, many) == {"Ann": "DL"}
    one = position({"Ann": (6, 7)}, {"Bob": (8, 7)}, {**fight, (4, 7): FLOWER})
    assert given(surveyor, one) == {"Ann": "DL"}


@pytest.mark.parametrize("seat", [0, 1])
def test_surveyor_beats_random(seat: int) -> None:
    bots = (surveyor, random) if seat == 0 else (random, surveyor)
    for setup in (
        Bumblebots(),
        Bumblebots(arena="drawn", drones=1),
        Bumblebots(arena="drawn", side=5, drones=4, starts="drawn"),
    ):
        scores = play(bots, 1, setup).scores
        assert scores[seat] > scores[1 - seat]


@pytest.mark.no_cover
def test_surveyor_claims_more_flowers_than_the_forager() -> None:
    lead = 0
    for seed in range(8):
        first, second = play((surveyor, forager), seed, Bumblebots()).scores
        third, fourth = play((forager, surveyor), seed, Bumblebots()).scores
        lead += first - second + fourth - third
    assert lead > 0
