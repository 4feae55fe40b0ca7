"""Pairs out of a crowd."""

from itertools import permutations

import pytest

from botdrome.contest.lobby import paired

JUST_MET: dict[str, str | None] = {"a": "b", "b": "a", "c": "d", "d": "c", "e": "f", "f": "e"}


def test_two_who_have_just_met_are_left_over() -> None:
    assert paired(["a", "b"], JUST_MET) == ([], ["a", "b"])
    assert paired(["b", "a"], {"a": "b"}) == ([], ["b", "a"])
    assert paired(["a", "b"], {"a": None, "b": "gone"}) == ([("a", "b")], [])


@pytest.mark.parametrize("names", ["abc", "abcd", "abcde", "abcdef"])
def test_with_three_or_more_nobody_meets_the_last_opponent(names: str) -> None:
    for order in permutations(names):
        pairs, rest = paired(order, JUST_MET)
        assert len(rest) == len(names) % 2
        assert sorted([*(name for pair in pairs for name in pair), *rest]) == sorted(names)
        assert all(JUST_MET[one] != two for one, two in pairs)


def test_nobody_and_one_alone() -> None:
    assert paired([], {}) == ([], [])
    assert paired(["a"], JUST_MET) == ([], ["a"])
