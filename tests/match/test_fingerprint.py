"""The fingerprint of a match: the same for the same moves, whatever the seed, the times and the
names.
"""

import pytest

from botdrome.games.bumblebots import Bumblebots
from botdrome.games.noughts_and_crosses import NoughtsAndCrosses
from botdrome.match import record as fingerprints
from botdrome.match.match import Match
from botdrome.match.record import fingerprint
from botdrome.match.terms import Pace, Terms


def played(spaces: list[list[int]], seed: int = 1, pace: int = 10) -> Match:
    match = Match(NoughtsAndCrosses(), 2, Terms(Pace(5000), strikes=3), seed)
    match.start()
    for number, space in enumerate(spaces):
        match.submit(number % 2, {"mark": "XO"[number % 2], "space": space}, number * pace)
    return match


def test_only_the_moves_count() -> None:
    one = fingerprint(played([[0, 0], [1, 1]]))
    assert one == fingerprint(played([[0, 0], [1, 1]], seed=2, pace=77)) < 1 << 48
    late = played([[0, 0], [1, 1]])
    late.credit(0, 5, 0, 20)
    assert fingerprint(late) == one


def test_other_moves_or_another_order_are_another_game() -> None:
    numbers = {
        fingerprint(played(spaces))
        for spaces in ([[0, 0], [1, 1], [2, 2]], [[2, 2], [1, 1], [0, 0]], [[0, 0], [1, 1]])
    }
    assert len(numbers) == 3


def test_chance_makes_another_game() -> None:
    matches = [
        Match(Bumblebots(), 2, Terms(Pace(250, beat=True), late="pass"), seed) for seed in (1, 2)
    ]
    assert fingerprint(matches[0]) != fingerprint(matches[1])


def test_long_matches_are_compared_in_part(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fingerprints, "MOST_LINES", 1)
    one, two = played([[0, 0], [1, 1], [2, 2]]), played([[0, 0], [1, 1], [2, 2]])
    assert fingerprint(one) == fingerprint(two) != fingerprint(played([[2, 2], [1, 1], [0, 0]]))
