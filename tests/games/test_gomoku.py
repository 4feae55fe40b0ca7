"""The rules of gomoku."""

import json
from collections.abc import Iterable
from itertools import zip_longest
from pathlib import Path
from typing import Any

import msgspec
import pytest

from botdrome.bots.gomoku import random
from botdrome.games.chance import Chance, SplitMix
from botdrome.games.game import BadOption, IllegalMove
from botdrome.games.gomoku import Gomoku, Point
from botdrome.games.options import with_options

CHANCE = Chance(0)
RECORDED = [
    json.loads(line)
    for line in (Path(__file__).parent / "gomoku_recorded.jsonl").read_text().splitlines()
]
Points = Iterable[Iterable[int]]


def opening(size: int = 15, win_length: int = 5) -> Gomoku:
    return Gomoku(size, win_length).start(2, CHANCE)


def after(moves: Points, position: Gomoku | None = None) -> Gomoku:
    """The position after these moves, which must all be legal and must not go on when
    it is over.
    """
    position = position or opening()
    for x, y in moves:
        (seat,) = position.to_move
        position = position.play({seat: position.parse(seat, {"x": x, "y": y})}, CHANCE)
    return position


def alternating(crosses: list[Point], noughts: list[Point]) -> list[Point]:
    return [point for pair in zip_longest(crosses, noughts) for point in pair if point is not None]


def drawn(rows: list[str], last: Point | None = None) -> Gomoku:
    """The position shown by `rows`, the stone at `last` being the last one."""
    stones = {
        mark: [(x, y) for y, row in enumerate(rows) for x, there in enumerate(row) if there == mark]
        for mark in "XO"
    }
    for points in stones.values():
        points.sort(key=lambda point: point == last)
    return after(alternating(stones["X"], stones["O"]), opening(size=len(rows)))


# The board and the turns.


def test_crosses_start_on_an_empty_board_of_fifteen_by_fifteen() -> None:
    assert opening().view(0) == {
        "you": 0,
        "toMove": (0,),
        "size": 15,
        "winLength": 5,
        "board": ("." * 15,) * 15,
        "moves": [],
        "line": None,
    }


def test_x_is_the_column_from_the_left_and_y_the_row_from_the_top() -> None:
    view = after([(4, 0), (0, 3)], opening(size=5)).view(None)
    assert view["board"] == ("....X", ".....", ".....", "O....", ".....")
    assert view["moves"] == [(4, 0), (0, 3)]
    assert view["toMove"] == (0,)


def test_everybody_sees_the_same_but_for_who_looks() -> None:
    position = after([(7, 7)])
    assert (
        position.view(0) | {"you": None} == position.view(1) | {"you": None} == position.view(None)
    )


def test_who_lets_its_time_pass_sets_no_stone() -> None:
    position = after([(7, 7)]).play({}, CHANCE)
    assert position.to_move == (0,)
    assert position.view(None)["moves"] == [(7, 7)]


def test_two_moves_from_one_position_do_not_disturb_each_other() -> None:
    trunk = after([(0, 0)], opening(size=5))
    one, other = after([(1, 0), (2, 0)], trunk), after([(0, 1), (0, 2)], trunk)
    assert [position.view(None)["moves"] for position in (trunk, one, other)] == [
        [(0, 0)],
        [(0, 0), (1, 0), (2, 0)],
        [(0, 0), (0, 1), (0, 2)],
    ]
    assert [position.view(None)["board"][0] for position in (trunk, one, other)] == [
        "X....",
        "XOX..",
        "X....",
    ]


def test_the_same_moves_lead_to_equal_positions() -> None:
    trunk = after([(7, 7), (8, 8)])
    after([(9, 9)], trunk)
    assert trunk == after([(7, 7), (8, 8)])
    assert hash(trunk) == hash(after([(7, 7), (8, 8)]))


# Winning.


@pytest.mark.parametrize("last", range(5))
@pytest.mark.parametrize(
    "line",
    [
        [(x, 0) for x in range(5)],
        [(x, 14) for x in range(10, 15)],
        [(0, y) for y in range(10, 15)],
        [(14, y) for y in range(5)],
        [(x, x) for x in range(10, 15)],
        [(10 + x, x) for x in range(5)],
        [(4 - x, x) for x in range(5)],
        [(14 - x, 10 + x) for x in range(5)],
    ],
)
def test_five_in_a_row_win_in_every_direction_up_to_the_edge_whichever_comes_last(
    line: list[Point], last: int
) -> None:
    elsewhere = [(7, 5), (7, 7), (5, 8), (8, 6)]
    stones = [point for number, point in enumerate(line) if number != last] + [line[last]]
    won = after(alternating(stones, elsewhere))
    assert won.over
    assert won.to_move == ()
    assert won.scores == (1.0, 0.0)
    assert won.view(None)["line"] == tuple(line)


def test_noughts_win_the_same_way() -> None:
    won = after(alternating([(0, 0), (2, 0), (4, 0), (6, 0), (8, 0)], [(x, 7) for x in range(5)]))
    assert won.scores == (0.0, 1.0)


def test_more_than_five_win_for_either_side() -> None:
    row = [(0, 3), (1, 3), (2, 3), (4, 3), (5, 3), (6, 3), (3, 3)]
    elsewhere = [(0, 9), (2, 9), (4, 9), (6, 9), (8, 9), (10, 9), (12, 9)]
    assert after(alternating(row, elsewhere[:6])).scores == (1.0, 0.0)
    won = after(alternating(elsewhere, row))
    assert won.scores == (0.0, 1.0)
    assert won.line == tuple((x, 3) for x in range(7))


def test_of_two_rows_at_once_the_one_across_is_shown() -> None:
    crosses = [(0, 4), (1, 4), (2, 4), (3, 4), (4, 0), (4, 1), (4, 2), (4, 3), (4, 4)]
    won = after(alternating(crosses, [(2 * x, 12) for x in range(8)]))
    assert won.line == tuple((x, 4) for x in range(5))


def test_a_row_does_not_go_on_at_the_other_edge() -> None:
    crosses = [(12, 3), (13, 3), (14, 3), (0, 4), (1, 4)]
    assert not after(alternating(crosses, [(2 * x, 12) for x in range(4)])).over


def test_four_in_a_row_or_five_with_another_s_stone_between_do_not_win() -> None:
    four = after(alternating([(x, 0) for x in range(4)], [(x, 7) for x in range(4)]))
    assert not four.over
    assert four.scores == (0.0, 0.0)
    parted = after(
        alternating([(0, 0), (1, 0), (3, 0), (4, 0), (5, 0)], [(2, 0), (0, 7), (2, 7), (4, 7)])
    )
    assert not parted.over


def test_a_full_board_without_a_row_is_a_draw() -> None:
    full = drawn(["XXOOX", "OOXXO", "XXOOX", "OOXXO", "XXOOX"])
    assert full.over
    assert full.scores == (0.0, 0.0)
    assert full.line is None


def test_the_last_free_cell_may_win() -> None:
    full = drawn(["OXOOX", "XOXOX", "OXOXX", "XOOOX", "OXOXX"], last=(4, 2))
    assert full.scores == (1.0, 0.0)
    assert full.line == tuple((4, y) for y in range(5))


# Games that were played elsewhere.


def test_the_game_in_the_manual_ends_with_six_on_a_diagonal() -> None:
    moves = [
        (5, 8), (4, 0), (9, 8), (13, 14), (5, 12), (14, 8), (9, 12), (12, 5), (14, 13), (5, 5),
        (14, 7), (5, 10), (13, 12), (10, 11), (12, 11), (13, 4), (10, 9), (10, 13), (11, 10),
    ]  # fmt: skip
    won = after(moves)
    assert won.scores == (1.0, 0.0)
    assert won.line == ((9, 8), (10, 9), (11, 10), (12, 11), (13, 12), (14, 13))


@pytest.mark.parametrize(
    "board", RECORDED, ids=lambda board: f"{board['recording']}-{board['board']}"
)
def test_recorded_boards_go_as_they_went(board: dict[str, Any]) -> None:
    position = after(board["moves"], opening(size=board["size"], win_length=board["winLength"]))
    if board["illegal"]:
        x, y = board["illegal"]
        with pytest.raises(IllegalMove):
            position.parse(1, {"x": x, "y": y})
    forfeited = bool(board["illegal"]) or "disconnect" in board["recording"]
    assert position.over != forfeited
    if not forfeited:
        assert position.scores == (
            (1.0, 0.0) if board["winner"] == board["starter"] else (0.0, 1.0)
        )


# Options.


def test_other_sizes_and_lengths() -> None:
    assert after(
        [(0, 0), (0, 1), (1, 1), (0, 2), (2, 2)], opening(size=5, win_length=3)
    ).scores == (1.0, 0.0)
    six = alternating([(x, 24) for x in range(6)], [(x, 0) for x in range(0, 10, 2)])
    large = opening(size=25, win_length=6)
    assert not after(six[:-2], large).over
    assert after(six, large).line == tuple((x, 24) for x in range(6))


def test_a_row_as_long_as_the_board() -> None:
    diagonal = alternating([(x, x) for x in range(7)], [(x, 0) for x in range(1, 7)])
    assert not after(diagonal[:-1], opening(size=7, win_length=7)).over
    assert after(diagonal, opening(size=7, win_length=7)).scores == (1.0, 0.0)


def test_options_are_kept_during_the_game() -> None:
    position = after([(0, 0), (1, 1)], opening(size=9, win_length=4)).play({}, CHANCE)
    assert (position.size, position.win_length) == (9, 4)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"size": 4}, "size: expected `int` >= 5"),
        ({"size": 26}, "size: expected `int` <= 25"),
        ({"win_length": 2}, "win_length: expected `int` >= 3"),
        ({"win_length": 26}, "win_length: expected `int` <= 25"),
        ({"cells": "X"}, "gomoku has no option 'cells'; it has size, win_length"),
    ],
)
def test_options_out_of_range_are_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(BadOption, match=words):
        with_options(Gomoku(), options)


def test_a_row_longer_than_the_board_is_refused() -> None:
    with pytest.raises(BadOption, match="win_length: 8 in a row do not fit on a board of size 7"):
        opening(size=7, win_length=8)


# Moves.


def test_a_whole_number_may_be_written_as_a_float_and_further_keys_are_ignored() -> None:
    assert opening().parse(0, {"x": 5.0, "y": 12, "comment": "hi"}) == (5, 12)


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (None, "a move is a JSON object, not None"),
        ([5, 12], "a move is a JSON object, not [5, 12]"),
        ({"y": 1}, 'the key "x" is missing'),
        ({"x": 1}, 'the key "y" is missing'),
        ({"x": "5", "y": 12}, "x is a whole number, not '5'"),
        ({"x": 5, "y": None}, "y is a whole number, not None"),
        ({"x": 5.9, "y": 12}, "x is a whole number, not 5.9"),
        ({"x": True, "y": 12}, "x is a whole number, not True"),
        ({"x": 5, "y": float("nan")}, "y is a whole number, not nan"),
        ({"x": 5, "y": float("inf")}, "y is a whole number, not inf"),
        ({"x": 15, "y": 0}, "x is from 0 to 14, not 15"),
        ({"x": 0, "y": -1}, "y is from 0 to 14, not -1"),
        ({"x": 10**40, "y": 0}, "x is from 0 to 14, not 1000000000000000000000000000000000000..."),
        ({"x": 5, "y": 12}, "[5, 12] is taken"),
    ],
)
def test_a_move_that_is_refused_is_told_why(raw: Any, words: str) -> None:
    with pytest.raises(IllegalMove) as refusal:
        after([(5, 12)]).parse(1, raw)
    assert str(refusal.value) == words


def test_the_moves_are_the_free_cells() -> None:
    position = after([(0, 0), (3, 2)], opening(size=5))
    free = [(move["x"], move["y"]) for move in position.moves(0)]
    assert len(free) == 23
    assert {(x, y) for x in range(5) for y in range(5)} - set(free) == {(0, 0), (3, 2)}


# The page for bot authors.


def test_the_page_shows_a_real_view() -> None:
    page = (Path(__file__).parents[2] / "docs" / "games" / "gomoku.md").read_text()
    shown = page.split("```json\n")[1].split("```")[0]
    view = after([(3, 3), (2, 2), (3, 4)], opening(size=7, win_length=4)).view(1)
    assert json.loads(shown) == msgspec.json.decode(msgspec.json.encode(view))


# A whole game that must never change.


def test_a_game_of_random_bots_is_the_same_for_ever() -> None:
    chance, position = SplitMix(2024), opening(size=8, win_length=4)
    while not position.over:
        (seat,) = position.to_move
        position = position.play(
            {seat: position.parse(seat, random(position.view(seat), chance))}, chance
        )
    assert (
        " ".join(position.rows)
        == "..XOO.O. ....XXXX OOO...X. ..O.X.XO OOXO...O XXX.XOOO ........ OXXX...X"
    )
    assert position.line == ((4, 1), (5, 1), (6, 1), (7, 1))
