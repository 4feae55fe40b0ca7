"""Chance: the same on every machine, and fair."""

from collections import Counter

import pytest

from botdrome.games.chance import Chance, SplitMix


def test_the_draws_are_fixed_for_ever() -> None:
    """Match files depend on these."""
    chance = Chance(7, step=3)
    draws = [chance.bits() for _ in range(9)]
    assert draws[:2] == [11357442361284911949, 1626358051809859303]
    assert draws[8] == 1622760669275450359
    assert Chance(7, 3).random() == 0.6156881840991999
    assert Chance(2**100 + 5, 2).bits() == 12262508281946127887
    assert Chance(-1, 0).bits() == Chance(2**128 - 1, 0).bits()


def test_the_draws_of_version_1_are_fixed_for_ever() -> None:
    chance = SplitMix(7, step=3)
    assert [chance.bits() for _ in range(3)] == [
        10658033110765774433,
        3543805407332808041,
        212916607189294771,
    ]
    assert SplitMix(7, 3).random() == 0.5777731326557345
    assert SplitMix(-1, 0).bits() == SplitMix(2**64 - 1, 0).bits()


@pytest.mark.parametrize("generator", [Chance, SplitMix])
def test_a_step_draws_the_same_whatever_was_drawn_before(generator: type[Chance]) -> None:
    chance = generator(9)
    first = [chance.turn_to(4).random(), chance.random()]
    chance.turn_to(5).random()
    assert [chance.turn_to(4).random(), chance.random()] == first


def test_steps_and_seeds_differ() -> None:
    assert len({Chance(seed, step).bits() for seed in range(30) for step in range(30)}) == 900


@pytest.mark.parametrize("limit", [1, 2, 6, 7])
def test_below_is_uniform(limit: int) -> None:
    chance = Chance(1)
    counts = Counter(chance.below(limit) for _ in range(2000 * limit))
    assert set(counts) == set(range(limit))
    assert all(abs(count - 2000) < 200 for count in counts.values())


def test_a_shuffle_is_fair_and_a_sample_is_a_part_of_one() -> None:
    chance = Chance(2)
    orders: Counter[tuple[int, ...]] = Counter()
    for _ in range(6000):
        items = [1, 2, 3]
        chance.shuffle(items)
        orders[tuple(items)] += 1
    assert len(orders) == 6
    assert all(abs(count - 1000) < 150 for count in orders.values())
    assert set(chance.sample("abc", 3)) == set("abc")
    assert len(set(chance.sample(range(100), 10))) == 10
    assert {chance.choice("xy") for _ in range(50)} == {"x", "y"}
