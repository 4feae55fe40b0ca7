"""The sequential test: its decisions, its seatings, and its error rates in simulated worlds."""

from collections import Counter
from math import inf, log
from random import Random

import pytest

from botdrome.contest.sequential import BlockScores, SequentialTest, block_score, seatings
from botdrome.games.chance import Chance
from tests.contest.duel_errors import DRAWISH, POOL, DrawishWorld, errors, ordinary_scores
from tests.contest.worlds import CROSSED, duel_blocks

TEST = SequentialTest()


@pytest.mark.no_cover
@pytest.mark.parametrize("seats", [2, 4, 8])
def test_equal_bots_are_rarely_accepted_and_better_ones_nearly_always(seats: int) -> None:
    random = Random(seats)
    assert (
        errors(ordinary_scores(CROSSED, seats, 0, random), TEST, "not better", 1000, random).share
        <= 0.07
    )
    assert (
        errors(ordinary_scores(CROSSED, seats, 30, random), TEST, "better", 200, random).share
        <= 0.05
    )


@pytest.mark.no_cover
@pytest.mark.parametrize("world", DRAWISH, ids=lambda world: world.name)
def test_the_answer_is_rarely_wrong_where_most_blocks_are_tied(world: DrawishWorld) -> None:
    runs = 400 if world.test == TEST else 150
    assert errors(world, world.test, world.truth, runs, Random(1)).share <= 0.06


@pytest.mark.no_cover
def test_with_the_variance_of_games_equal_bots_would_be_accepted_too_often() -> None:
    """The control: games on one seed are not independent."""
    random = Random(8)
    blocks = duel_blocks(CROSSED, 8, 0, POOL, random)
    blocks += [[1 - score for score in games] for games in blocks]
    wrong = 0
    for _ in range(300):
        found, decision = BlockScores(), None
        while decision is None:
            for score in random.choice(blocks):
                found.add(score)
            decision = found.decision(TEST)
        wrong += decision == "better"
    assert wrong / 300 > 0.07


def test_the_bounds_follow_from_the_error_rates() -> None:
    test = SequentialTest(alpha=0.05, beta=0.1)
    assert (test.lower, test.upper) == pytest.approx((log(0.1 / 0.95), log(0.9 / 0.05)))


def test_nothing_is_decided_before_the_sixteenth_block() -> None:
    found = BlockScores()
    assert (found.mean, found.llr(TEST), found.decision(TEST), found.elo()) == (
        0.5,
        0.0,
        None,
        (0.0, -inf, inf),
    )
    test = SequentialTest(elo1=200)
    for _ in range(15):
        found.add(0.9)
    assert found.llr(test) > test.upper and found.decision(test) is None
    found.add(0.9)
    assert found.decision(test) == "better"


def test_a_few_tied_blocks_decide_nothing() -> None:
    """A bot that is 20 Elo better may win 6 % of the blocks and tie all others: 50 ties in a row
    are then no surprise.
    """
    found = BlockScores()
    for _ in range(16):
        found.add(0.5)
    assert found.llr(TEST) > -0.5
    elo, low, high = found.elo()
    assert elo == 0 and low < -50 and high > 50
    for _ in range(34):
        found.add(0.5)
    assert found.decision(TEST) is None
    for _ in range(50):
        found.add(0.5)
    assert found.decision(TEST) == "not better"


def test_clear_results_are_decided() -> None:
    worse, between = BlockScores(), BlockScores()
    for number in range(40):
        worse.add(0.2 + 0.25 * (number % 2))
        between.add(0.25 + 0.5 * (number % 2))
    assert worse.decision(TEST) == "not better" and between.decision(TEST) is None
    middle, low, high = between.elo()
    assert low < middle == 0 < high < 120


def test_the_ratio_is_that_of_the_formula() -> None:
    found = BlockScores()
    for score in (0.5, 1.0, 0.5, 0.0, 0.75, 0.75):
        found.add(score)
    s0, s1 = 0.5, 1 / (1 + 10 ** (-20 / 400))
    mean, variance = (
        5 / 9,
        4.125 / 9 - (5 / 9) ** 2,
    )  # with a block and a half that were won, and as many that were lost
    assert found.llr(TEST) == pytest.approx(
        3 * log((variance + (mean - s0) ** 2) / (variance + (mean - s1) ** 2))
    )


@pytest.mark.parametrize("seats", [2, 3, 4, 5, 8])
def test_both_bots_have_every_seat_as_often(seats: int) -> None:
    first, second = seatings(seats, None, Chance(seats))
    assert sum(first) == seats // 2 and [not new for new in first] == list(second)
    for copies in range(1, seats):
        turns = seatings(seats, copies, Chance(seats))
        assert len(turns) == seats and all(sum(seating) == copies for seating in turns)
        assert Counter(
            seat for seating in turns for seat, new in enumerate(seating) if new
        ) == dict.fromkeys(range(seats), copies)


def test_seats_are_drawn_anew_for_each_seed() -> None:
    assert len({seatings(4, None, Chance(seed))[0] for seed in range(50)}) == 6


def test_the_score_of_a_block_is_the_mean_over_pairs() -> None:
    assert block_score([((True, False), (1, 2)), ((False, True), (1, 1))]) == 0.75
    assert block_score([((True, True, False, False), (1, 4, 2, 2))]) == 0.5
    assert block_score([((True, False, False), (2, 1, 3))]) == 0.5
