"""Noughts and crosses, rule by rule."""

from typing import Any

import pytest

from botdrome.games.chance import Chance
from botdrome.games.game import IllegalMove
from botdrome.games.noughts_and_crosses import NoughtsAndCrosses

CHANCE = Chance(1)


def after(*spaces: tuple[int, int]) -> NoughtsAndCrosses:
    """The position after these spaces were taken in turn."""
    position = NoughtsAndCrosses().start(2, CHANCE)
    for turn, space in enumerate(spaces):
        seat = turn % 2
        position = position.play(
            {seat: position.parse(seat, {"mark": "XO"[seat], "space": list(space)})}, CHANCE
        )
    return position


def test_crosses_begin_and_turns_alternate() -> None:
    assert after().to_move == (0,)
    assert after((1, 1)).to_move == (1,)
    assert after((1, 1), (0, 0)).to_move == (0,)


def test_the_original_documentations_example_ends_with_a_column_of_crosses() -> None:
    final = after((0, 2), (0, 0), (1, 0), (0, 1), (2, 1), (1, 1), (2, 2), (2, 0), (1, 2))
    assert final.board == (("O", "O", "X"), ("X", "O", "X"), ("O", "X", "X"))
    assert final.over
    assert final.scores == (1, 0)


LINES = [
    [(0, 0), (0, 1), (0, 2)], [(1, 0), (1, 1), (1, 2)], [(2, 0), (2, 1), (2, 2)],
    [(0, 0), (1, 0), (2, 0)], [(0, 1), (1, 1), (2, 1)], [(0, 2), (1, 2), (2, 2)],
    [(0, 0), (1, 1), (2, 2)], [(0, 2), (1, 1), (2, 0)],
]  # fmt: skip


@pytest.mark.parametrize("line", LINES)
@pytest.mark.parametrize("winner", [0, 1])
def test_every_line_wins_for_either_side(line: list[tuple[int, int]], winner: int) -> None:
    elsewhere = [(r, c) for r in range(3) for c in range(3) if (r, c) not in line]
    others = next(
        [a, b, c]
        for a in elsewhere
        for b in elsewhere
        for c in elsewhere
        if [a, b, c] not in LINES and a < b < c
    )
    sides = (line, others) if winner == 0 else (others, line)
    final = after(*[space for pair in zip(*sides, strict=True) for space in pair][: 5 + winner])
    assert final.over
    assert final.scores[winner] == 1
    assert final.scores[1 - winner] == 0


def test_a_full_board_without_a_line_is_a_draw() -> None:
    final = after((0, 0), (0, 1), (0, 2), (1, 1), (1, 0), (1, 2), (2, 1), (2, 0), (2, 2))
    assert final.over
    assert final.scores == (0, 0)
    assert list(final.moves(0)) == []


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (None, "a move is a JSON object, not None"),
        ([1, 2], r"a move is a JSON object, not \[1, 2\]"),
        ({"space": [0, 0]}, 'the key "mark" is missing'),
        ({"mark": "O", "space": [0, 0]}, """your mark is "X", not 'O'"""),
        ({"mark": None, "space": [0, 0]}, 'your mark is "X", not None'),
        ({"mark": "X"}, 'the key "space" is missing'),
        ({"mark": "X", "space": [0]}, r"a space is \[row, column\], not \[0\]"),
        ({"mark": "X", "space": "00"}, r"a space is \[row, column\], not '00'"),
        ({"mark": "X", "space": {"0": 1, "1": 1}}, r"a space is \[row, column\]"),
        ({"mark": "X", "space": [3, 0]}, "a row is from 0 to 2, not 3"),
        ({"mark": "X", "space": [0, -1]}, "a column is from 0 to 2, not -1"),
        ({"mark": "X", "space": [1, 0.5]}, "a column is a whole number, not 0.5"),
        ({"mark": "X", "space": [0.5, 1]}, "a row is a whole number, not 0.5"),
        ({"mark": "X", "space": [True, 1]}, "a row is a whole number, not True"),
        ({"mark": "X", "space": ["1", 1]}, "a row is a whole number, not '1'"),
        ({"mark": "X", "space": [float("nan"), 1]}, "a row is a whole number, not nan"),
        ({"mark": "X", "space": [float("inf"), 1]}, "a row is a whole number, not inf"),
        ({"mark": "X", "space": [1e300, 1]}, r"a row is from 0 to 2, not 10\d+\.\.\."),
        (
            {"mark": "X", "space": [10**5000, 1]},
            "a row is from 0 to 2, not a number of very many digits",
        ),
        ({"mark": "X", "space": [1, 1]}, r"space \[1, 1\] is taken"),
    ],
)
def test_what_is_refused_and_in_which_words(raw: Any, words: str) -> None:
    with pytest.raises(IllegalMove, match=f"^{words}"):
        after((1, 1), (0, 0)).parse(0, raw)


def test_a_whole_number_may_be_written_as_a_fraction_and_extra_keys_are_ignored() -> None:
    assert after().parse(0, {"mark": "X", "space": [1.0, 2.0], "comment": "hi"}) == 5


def test_a_turn_that_is_let_pass_goes_to_the_other_side() -> None:
    passed = after((1, 1)).play({}, CHANCE)
    assert passed.to_move == (0,)
    assert passed.board == after((1, 1)).board


def test_everybody_sees_the_same() -> None:
    position = after((1, 1))
    assert position.view(0) | {"you": None} == position.view(None)
    assert position.view(1) == {
        "you": 1, "toMove": (1,), "marks": ("X", "O"),
        "board": (("", "", ""), ("", "X", ""), ("", "", "")),
    }  # fmt: skip


def test_legal_moves_are_the_free_spaces() -> None:
    moves = list(after((0, 0)).moves(1))
    assert len(moves) == 8
    assert {"mark": "O", "space": [0, 0]} not in moves
