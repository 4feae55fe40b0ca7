"""Circular results, and the Nash average."""

import pytest

from botdrome.contest.circular import circular_results, head_to_head, nash_average
from botdrome.contest.strength import Block


def blocks(winner: str, loser: str, won: int, lost: int = 0) -> list[Block]:
    return [*[[{winner: 1, loser: 2}]] * won, *[[{winner: 2, loser: 1}]] * lost]


CIRCLE = [
    *blocks("rock", "scissors", 30),
    *blocks("scissors", "paper", 30),
    *blocks("paper", "rock", 30),
]


def test_a_circle_is_found_with_its_shares() -> None:
    found = circular_results(CIRCLE)
    assert found is not None and found.triads == [("paper", "rock", "scissors")]
    assert set(found.shares.values()) == {1.0} and ("paper", "rock") in found.shares
    assert found.nash == pytest.approx({"rock": 1 / 3, "scissors": 1 / 3, "paper": 1 / 3}, abs=0.01)


def test_a_player_that_loses_to_all_has_no_share() -> None:
    weak = [block for name in ("rock", "scissors", "paper") for block in blocks(name, "weak", 20)]
    found = circular_results([*CIRCLE, *weak])
    assert found is not None and found.nash["weak"] == pytest.approx(0, abs=0.001)
    assert circular_results(weak) is None


def test_shares_are_those_of_the_equilibrium() -> None:
    """Rock wins by twice as much, so paper is needed twice as often."""
    results = [
        *blocks("rock", "scissors", 100),
        *blocks("scissors", "paper", 75, 25),
        *blocks("paper", "rock", 75, 25),
    ]
    found = circular_results(results)
    assert found is not None and found.nash == pytest.approx(
        {"rock": 0.25, "scissors": 0.25, "paper": 0.5}, abs=0.01
    )


def test_copies_share_what_one_would_have() -> None:
    copies = [
        *blocks("rock 2", "scissors", 30),
        *blocks("paper", "rock 2", 30),
        *blocks("rock", "rock 2", 15, 15),
    ]
    found = circular_results([*CIRCLE, *copies])
    assert found is not None and found.nash["rock"] + found.nash["rock 2"] == pytest.approx(
        1 / 3, abs=0.01
    )


def test_chance_makes_no_circle() -> None:
    close = [*blocks("a", "b", 6, 4), *blocks("b", "c", 6, 4), *blocks("c", "a", 6, 4)]
    assert circular_results(close) is None and circular_results([]) is None


def test_level_results_and_larger_tables() -> None:
    table = head_to_head([([{"a": 1, "b": 1, "c": 3}, {"a": 1, "b": 2, "c": 2}], 1, 1.0)])
    assert (
        table["a", "b"].share,
        table["b", "a"].share,
        table["c", "b"].share,
        table["a", "c"].blocks,
    ) == (0.75, 0.25, 0.25, 1)
    assert nash_average({}, ["a", "b"]) == {"a": 0.5, "b": 0.5}


def test_very_large_fields_are_not_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("botdrome.contest.circular.MOST_PLAYERS", 2)
    assert circular_results(CIRCLE) is None
