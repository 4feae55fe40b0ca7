"""The last step at which a lost match could still be saved."""

from itertools import pairwise

import pytest

from botdrome.analysis import blunders
from botdrome.analysis.blunders import candidates, find_blunder, holds, last_saveable
from botdrome.analysis.position_file import Estimate
from botdrome.match.match import Match
from botdrome.match.questions import questions
from tests.match.recorded_matches import lost_by_bob, new_match, noughts, recorded
from tests.match.telling import mark


@pytest.mark.parametrize("count", [0, 1, 2, 7, 8, 9, 10, 30, 100])
def test_the_last_saveable_step_is_found(count: int) -> None:
    for last in range(-1, count):
        tried: list[int] = []

        def saveable(number: int, last: int = last, tried: list[int] = tried) -> bool:
            tried.append(number)
            return number <= last

        assert last_saveable(count, saveable) == (None if last < 0 else last)
        assert len(tried) == len(set(tried)) <= 20
        assert all(0 <= number < count for number in tried)
        assert [one - other for one, other in pairwise(tried[:8])].count(1) == len(
            tried[:8]
        ) - 1 or last >= count - 8


def test_noughts_and_crosses_is_exact() -> None:
    blunder = find_blunder(*recorded(lost_by_bob()), 1, 8)
    assert blunder is not None and blunder.clear
    assert blunder.question.step == 3
    assert blunder.puzzle.lost is not None
    assert blunder.puzzle.lost.move == mark(1, 2, 2)
    assert blunder.puzzle.lost.estimate.share == 0
    assert [(move.move, move.estimate.share) for move in blunder.puzzle.better] == [
        (mark(1, 0, 2), 0.5)
    ]
    assert blunder.puzzle.method == "solved exactly"


def test_a_player_that_was_put_out_could_have_moved() -> None:
    match = noughts()
    match.submit(0, mark(0, 1, 1), 0)
    match.expel(1, "crash", 5, "ValueError")
    blunder = find_blunder(*recorded(match), 1, 8)
    assert blunder is not None and blunder.clear
    assert (blunder.question.step, blunder.puzzle.lost) == (1, None)
    assert {move.estimate.share for move in blunder.puzzle.better} == {0.5}


def test_the_first_place_has_no_blunder() -> None:
    assert find_blunder(*recorded(lost_by_bob()), 0, 8) is None


def played(match: Match, *points: tuple[int, int]) -> Match:
    """The players place stones in turn, on one board after the other."""
    for x, y in points:
        match.submit(match.awaited[0], {"x": x, "y": y}, 0)
    return match


def test_gomoku_is_sampled() -> None:
    """Player 1 loses the first board, since it does not close a row of three, and wins
    the second.
    """
    lost = ((1, 3), (0, 6), (2, 3), (2, 6), (3, 3), (4, 6), (4, 3))
    won = ((0, 0), (0, 6), (1, 0), (2, 6), (2, 0), (4, 6), (3, 0))
    match = played(new_match("gomoku", size=7, win_length=4), *lost, *won)
    assert match.result is not None
    assert [board.places for board in match.result.boards] == [(1, 2), (2, 1)]
    blunder = find_blunder(*recorded(match), 1, 16)
    assert blunder is not None and blunder.clear
    assert blunder.question.board == 0
    better = blunder.puzzle.better[0]
    assert better.estimate.low > 0.2
    assert better.estimate.playouts == 16
    assert blunder.puzzle.lost is not None
    assert blunder.puzzle.lost.estimate.share < better.estimate.share
    assert "house:threat" in blunder.puzzle.method


def test_a_board_without_hope_has_no_blunder() -> None:
    """With three in a row, the first player wins wherever the second one moves."""
    lost = ((2, 2), (0, 0), (2, 1), (0, 4), (2, 3))
    match = played(new_match("gomoku", size=5, win_length=3), *lost)
    match.expel(0, "crash", 0)
    assert match.result is not None
    assert [board.places for board in match.result.boards] == [(1, 2), (2, 1)]
    assert find_blunder(*recorded(match), 1, 8) is None


def test_moves_that_are_hardly_better_do_not_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blunders, "MARGIN", 1.0)
    lost = ((1, 3), (0, 6), (2, 3), (2, 6), (3, 3), (4, 6), (4, 3))
    match = played(new_match("gomoku", size=7, win_length=4), *lost)
    match.expel(0, "crash", 0)
    assert find_blunder(*recorded(match), 1, 3) is None


def test_moves_that_hold() -> None:
    assert holds(Estimate(0.5, 0.3, 0.7, 24), 0.0)
    assert not holds(Estimate(0.3, 0.15, 0.5, 24), 0.0)
    assert holds(Estimate(0.5, 0.5, 0.5, 0), 0.0)
    assert not holds(Estimate(0.5, 0.5, 0.5, 0), 0.5)


def test_candidates_are_legal_distinct_and_few() -> None:
    match = new_match("gomoku")
    question = questions(*recorded(match), 0)[0]
    moves = candidates(question, 1)
    assert len(moves) == len({(move["x"], move["y"]) for move in moves}) == 12
    assert moves == candidates(question, 1)
    small = candidates(questions(*recorded(noughts()), 0)[0], 1)
    assert len(small) == 9
