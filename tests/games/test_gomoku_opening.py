"""Gomoku from an opening."""

from typing import Any

import pytest

from botdrome.games.game import BadOption
from botdrome.games.gomoku import Gomoku
from botdrome.games.options import with_options
from tests.games.test_gomoku import CHANCE, after


def test_an_opening_is_a_beginning_like_any_other() -> None:
    stones = ((7, 7), (8, 6), (9, 10))
    begun = Gomoku(opening=stones).start(2, CHANCE)
    assert begun.to_move == (1,)
    assert begun.view(1) == after(stones).view(1)
    later = begun.play({}, CHANCE).play({0: (0, 0)}, CHANCE)
    assert later.opening == stones


@pytest.mark.parametrize(
    ("stones", "problem"),
    [
        ([[7, 7], [7, 7]], "opening: stone 2: [7, 7] is taken"),
        ([[7, 15]], "opening: stone 1: y is from 0 to 14, not 15"),
        ([[x, y] for x in range(5) for y in (0, 9)], "opening: stone 9, [4, 0], ends the game"),
        ([[7]], "gomoku: opening[0]: expected `array` of length 2, got 1"),
    ],
)
def test_an_opening_that_cannot_be_played_is_refused(stones: Any, problem: str) -> None:
    with pytest.raises(BadOption) as caught:
        with_options(Gomoku(), {"opening": stones}).start(2, CHANCE)
    assert str(caught.value) == problem
