"""How a match stood after its steps, and the steps that turned it."""

from typing import Any

import pytest

from botdrome.analysis import evaluation as module
from botdrome.analysis.evaluation import (
    EFFORTS,
    Evaluation,
    EvaluationEffort,
    Point,
    evaluation,
    outline_of,
    point_of,
    turn_between,
)
from botdrome.catalogue import CATALOGUE
from botdrome.match.match import Match
from botdrome.match.record import unchecked_file
from tests.match.recorded_matches import NAMES, lost_by_bob, new_match, noughts
from tests.match.telling import mark


def file_of(match: Match) -> bytes:
    names = [*NAMES, "cyd", "dan", "eve"][: match.players]
    return unchecked_file(match, names)


def evaluated(match: Match) -> Evaluation:
    """Do all parts of the work here."""
    work, answer = evaluation(), None
    while True:
        try:
            function, *args = work.send(answer)
        except StopIteration as done:
            result: Evaluation = done.value
            return result
        answer = function(*args) if function is point_of else function(file_of(match), *args)


def test_every_game_has_an_effort() -> None:
    assert EFFORTS.keys() == CATALOGUE.keys()


def test_a_solved_game_is_exact() -> None:
    found = evaluated(lost_by_bob())
    assert found.steps == (0, 1, 2, 3, 4, 5)
    assert [shares[0] for shares in found.shares] == [0.5, 0.5, 0.5, 0.5, 1, 1]
    (turn,) = found.turns
    assert (turn.step, turn.player, turn.change) == (3, 1, -0.5)
    assert turn.words == (
        "played mark O, space [2,2], and its chance to win fell from 50 % to 0 %; "
        "mark O, space [0,2] would have kept 50 %"
    )
    assert found.method == "solved exactly"


def two_boards() -> Match:
    """Player 1 loses the first board, since it does not close a row of three, and wins the
    second.
    """
    match = new_match("gomoku", size=7, win_length=4)
    lost = ((1, 3), (0, 6), (2, 3), (2, 6), (3, 3), (4, 6), (4, 3))
    won = ((0, 0), (0, 6), (1, 0), (2, 6), (2, 0), (4, 6), (3, 0))
    for x, y in (*lost, *won):
        match.submit(match.awaited[0], {"x": x, "y": y}, 0)
    return match


def test_two_evaluations_are_equal_and_a_sample_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(EFFORTS, "gomoku", EvaluationEffort(6, 8))
    found = evaluated(two_boards())
    assert found == evaluated(two_boards())
    assert list(found.steps) == sorted(found.steps) and {0, 7, 14} <= set(found.steps)
    assert found.method.startswith(
        "8 playouts from each position, in which house:threat plays for all players, up to 40 "
        "steps; 6 of 14 positions"
    )
    assert 0 < len(found.turns) <= 3 and all(turn.change <= -0.2 for turn in found.turns)
    assert list(found.turns) == sorted(found.turns, key=lambda turn: turn.step)
    assert found.shares[found.steps.index(7)] == (1, 0) and found.shares[-1] == (0, 1)


def test_all_positions_of_a_short_match_are_evaluated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(EFFORTS, "gomoku", EvaluationEffort(20, 4))
    found = evaluated(two_boards())
    assert found.method.endswith("up to 40 steps")
    assert found.steps == (*range(8), *range(7, 15))


def test_a_player_that_was_put_out() -> None:
    match = noughts()
    match.submit(0, mark(0, 1, 1), 0)
    match.expel(1, "crash", 5, "ValueError")
    found = evaluated(match)
    assert (found.steps, found.shares[-1]) == ((0, 1, 1), (1, 0))
    (turn,) = found.turns
    assert turn.words.startswith("did not move (crash: ValueError), and its chance to win fell")


def test_a_board_that_nobody_could_play_has_no_turning_point() -> None:
    match = new_match("gomoku", size=7, win_length=4)
    match.submit(0, {"x": 3, "y": 3}, 0)
    match.expel(1, "resigned", 5)
    assert match.result is not None and len(match.result.boards) == 2
    course = outline_of(file_of(match)).course
    assert [(item.step, item.board) for item in course] == [(0, 0), (1, 0), (1, 0), (1, 1)]
    assert isinstance(course[-1], Point)


def test_a_player_that_goes_out_leaves_the_others_playing() -> None:
    match = new_match("battlecube", 3)
    match.expel(2, "crash", 0)
    play(match, [[{"task": "NOOP"}]] * 3)
    course = outline_of(file_of(match)).course
    assert [len(getattr(item, "out", ())) for item in course[:3]] == [0, 1, 1]


def play(match: Match, moves: list[Any]) -> None:
    while match.result is None:
        for player in tuple(match.awaited):
            match.submit(player, moves[player], 0)
        if match.result is None and match.deadline is not None:
            match.wake(match.deadline)


def test_the_expected_place_of_three() -> None:
    before, after = Point(0, 0, (0.5, 1.0, 0.0)), Point(1, 0, (0.5, 0.25, 0.75))
    match = new_match("battlecube", 3)
    play(match, [[{"task": "MOVE", "direction": "+X"}]] * 3)
    turn, _ = turn_between(file_of(match), before, after, 1)
    assert turn.words.startswith(
        "played task MOVE, direction +X, and its expected place fell from 1.0 to 2.5"
    )


def test_more_players_get_fewer_playouts() -> None:
    match = new_match("battlecube", 5)
    play(match, [[{"task": "MOVE", "direction": "+X"}]] * 5)
    assert outline_of(file_of(match)).effort == EvaluationEffort(32, 19)


def test_hidden_moves_stay_hidden() -> None:
    """Player 0 has put its boat where the other shoots first."""
    match = new_match("battleship", width=5, height=5, boats="A2")
    match.submit(0, {"board": ["AA...", *["....."] * 4]}, 0)
    match.submit(1, {"board": [*["....."] * 4, "...AA"]}, 0)
    for x, y in ((1, 1), (0, 0), (2, 1), (1, 0)):
        match.submit(match.awaited[0], {"x": x, "y": y}, 0)
    assert match.result is not None
    before, after = Point(0, 0, (0.5, 0.5)), Point(1, 0, (0, 1))
    turn, _ = turn_between(file_of(match), before, after, 0)
    assert turn.words == "made a hidden move, and its chance to win fell from 50 % to 0 %"


def test_refused_moves_are_named() -> None:
    match = noughts()
    match.submit(0, mark(0, 1, 1), 0)
    match.submit(1, mark(1, 1, 1), 1)
    match.expel(1, "expelled", 5)
    (turn,) = evaluated(match).turns
    assert turn.words.startswith('sent {"mark":"O","space":[1,1]} (')


def test_of_many_players_none_is_named() -> None:
    match = new_match("battlecube", 5)
    match.expel(4, "crash", 0)
    play(match, [[{"task": "NOOP"}]] * 5)
    before, after = Point(1, 0, (1, 0, 0.5, 0.5, 0.5)), Point(2, 0, (1, 0, 0.5, 0.5, 0))
    turn, _ = turn_between(file_of(match), before, after, 4)
    assert turn.words == "saw its expected place fall from 3.0 to 5.0"


@pytest.mark.parametrize(("first", "last", "evaluated"), [(3, 4, []), (0, 5, [3, 4])])
def test_the_step_between_two_points_is_found(first: int, last: int, evaluated: list[int]) -> None:
    before, after = Point(first, 0, (0.5, 0.5)), Point(last, 0, (1, 0))
    turn, found = turn_between(file_of(lost_by_bob()), before, after, 1)
    assert turn.step == 3 and [point.step for point in found] == evaluated


def test_a_slow_fall_has_no_single_step() -> None:
    before, after = Point(3, 0, (0.85, 0.15)), Point(4, 0, (1, 0))
    turn, _ = turn_between(file_of(lost_by_bob()), before, after, 1)
    assert turn.words == "lost ground in steps 3 to 3: its chance to win fell from 15 % to 0 %"


def test_an_opponent_may_turn_a_match() -> None:
    before, after = Point(2, 0, (0.5, 0.5)), Point(3, 0, (1, 0))
    turn, _ = turn_between(file_of(lost_by_bob()), before, after, 1)
    assert turn.words == (
        "saw its chance to win fall from 50 % to 0 % when ada played mark X, space [0,1]"
    )


def test_moves_have_the_names_that_the_board_shows() -> None:
    match = new_match("gomoku", size=7, win_length=4)
    match.submit(0, {"x": 3, "y": 1}, 0)
    match.expel(1, "resigned", 5)
    turn, _ = turn_between(file_of(match), Point(0, 0, (0.5, 0.5)), Point(1, 0, (1, 0)), 1)
    assert turn.words == "saw its chance to win fall from 50 % to 0 % when ada played d6"


def test_a_fall_within_the_noise_is_none() -> None:
    before, after = Point(0, 0, (0.5, 0.5), 4), Point(1, 0, (0.8, 0.2), 4)
    assert before.fall(after, 1) == 0 and before.fall(after, 0) == 0
    assert Point(0, 0, (0.5, 0.5)).fall(Point(1, 0, (0.8, 0.2)), 1) == pytest.approx(0.3)
    assert Point(0, 0, (0.5, 0.5)).fall(Point(1, 0, (0.6, 0.4)), 1) == 0


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        ({"x": 7, "y": 7}, "(7,7)"),
        ({"target": 1, "x": 4, "y": 2}, "target 1, (4,2)"),
        ({"mark": "X", "space": [2, 2]}, "mark X, space [2,2]"),
        (
            [{"task": "NOOP"}, {"task": "MOVE", "direction": "+X"}],
            "NOOP then task MOVE, direction +X",
        ),
        ([1, 2], "[1,2]"),
        ({}, "nothing"),
        ("up", "up"),
    ],
)
def test_moves_in_words(raw: Any, words: str) -> None:
    assert module._move(raw) == words
