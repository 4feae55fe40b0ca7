"""A recorded match as the questions that one player was asked."""

import msgspec
import pytest

from botdrome.games.noughts_and_crosses import NoughtsAndCrosses
from botdrome.match.events import Ended
from botdrome.match.match import Match
from botdrome.match.questions import Question, Told, questions, refusal, retold, same_move
from botdrome.match.record import BadRecord
from botdrome.match.terms import Pace, Terms
from tests.match.recorded_matches import lost_by_bob, new_match, noughts, recorded
from tests.match.telling import mark


def asked(match: Match, player: int) -> list[tuple[int, object, str]]:
    return [
        (question.step, question.recorded, question.fault)
        for question in questions(*recorded(match), player)
    ]


def test_every_turn_is_a_question_in_the_position_before_the_move() -> None:
    record, game = recorded(lost_by_bob())
    first, second = questions(record, game, 1)
    assert (first.step, first.opened, first.recorded, first.fault) == (1, 1, mark(1, 1, 1), "")
    assert (second.step, second.opened, second.seat, second.board) == (3, 3, 1, 0)
    assert second.view["board"] == (("X", "X", ""), ("", "O", ""), ("", "", ""))
    assert first.accepted and second.accepted


def test_news_come_after_the_question_that_led_to_them() -> None:
    items = list(retold(*recorded(lost_by_bob()), 0))
    kinds = ["".join("Q" if isinstance(item, Question) else "N" for item in items)]
    assert kinds == ["NQNNQNNQN"]
    assert isinstance(items[-1], Told)
    assert isinstance(items[-1].news[-1][0], Ended)


def test_a_refused_move_is_followed_by_another_question() -> None:
    match = noughts()
    match.submit(0, mark(0, 1, 1), 0)
    match.submit(1, mark(1, 1, 1), 5)
    match.submit(1, mark(1, 0, 0), 6)
    assert asked(match, 1) == [(1, mark(1, 1, 1), "space [1, 1] is taken"), (1, mark(1, 0, 0), "")]


def test_a_move_out_of_turn_was_not_asked_for() -> None:
    match = noughts()
    match.submit(1, mark(1, 0, 0), 0)
    match.submit(0, mark(0, 1, 1), 1)
    hasty, due = [item for item in retold(*recorded(match), 1) if isinstance(item, Question)]
    assert (hasty.due, hasty.recorded, hasty.fault) == (False, mark(1, 0, 0), "it is not your turn")
    assert (due.due, due.answered, due.moved, due.step) == (True, False, False, 1)


def test_a_late_move_and_one_that_never_came() -> None:
    late, silent = noughts(Terms(Pace(100), late="pass")), noughts(Terms(Pace(100), late="pass"))
    late.submit(0, mark(0, 1, 1), 130)
    silent.wake(100)
    assert asked(late, 0) == [(0, mark(0, 1, 1), "late by 30 ms")]
    assert asked(silent, 0) == [(0, None, "no move in time")]


def test_a_player_that_is_put_out_has_a_question_without_a_move() -> None:
    crashed, late = noughts(), noughts()
    crashed.expel(0, "crash", 3, "ValueError: no idea")
    late.wake(5000)
    assert asked(crashed, 0) == [(0, None, "crash: ValueError: no idea")]
    assert asked(late, 0) == [(0, None, "timeout: no move within 5000 ms")]
    assert asked(crashed, 1) == []


def test_a_cause_without_a_detail() -> None:
    match = noughts()
    match.leave(0, 3)
    assert asked(match, 0) == [(0, None, "disconnect")]


def test_a_step_that_ends_without_the_player_is_no_question_of_another_one() -> None:
    match = noughts()
    match.expel(1, "crash", 3)
    assert asked(match, 0) == []
    assert asked(match, 1) == []


def test_refused_moves_until_time_is_up_are_no_further_question() -> None:
    match = noughts()
    match.submit(0, "nonsense", 3)
    match.wake(5000)
    assert len(asked(match, 0)) == 1


def test_in_a_tick_only_the_first_accepted_move_was_asked_for() -> None:
    match = new_match("bumblebots", ticks=2)
    for now, orders in ((1, {"orders": {}}), (2, {"orders": {}}), (3, "nonsense")):
        match.submit(0, orders, now)
    match.wake(500)
    match.wake(750)
    all_of_them = [item for item in retold(*recorded(match), 0) if isinstance(item, Question)]
    assert [(question.step, question.due, question.moved) for question in all_of_them] == [
        (0, True, True), (0, False, True), (0, False, True), (1, True, False),
    ]  # fmt: skip


def test_a_move_in_the_pause_answers_the_next_step() -> None:
    match = noughts(Terms(Pace(1000, pause=100)))
    match.submit(0, mark(0, 1, 1), 5)
    match.submit(1, mark(1, 0, 0), 10)
    match.wake(105)
    (question,) = questions(*recorded(match), 1)
    assert (question.step, question.due, question.accepted) == (1, True, True)


def test_seats_rotate_with_the_board() -> None:
    match = new_match("gomoku", size=5, win_length=3)
    for board in range(2):
        first = board
        for x in range(3):
            match.submit(first, {"x": x, "y": 0}, 0)
            match.submit(1 - first, {"x": x, "y": 4}, 0)
    assert match.result is not None
    mine = questions(*recorded(match), 1)
    assert [(question.board, question.seat) for question in mine] == [(0, 1)] * 2 + [(1, 0)] * 3
    assert mine[2].opened == 5
    assert mine[2].order == (1, 0)


def test_a_record_that_does_not_replay_is_refused() -> None:
    record, game = recorded(lost_by_bob())
    assert record.result is not None
    wrong = msgspec.structs.replace(record.result, places=(2, 1))
    with pytest.raises(BadRecord):
        questions(msgspec.structs.replace(record, result=wrong), game, 0)


def test_moves_are_compared_by_their_meaning() -> None:
    position = NoughtsAndCrosses()
    assert same_move(position, 0, mark(0, 1, 1), mark(0, 1, 1) | {"comment": "best"})
    assert not same_move(position, 0, mark(0, 1, 1), mark(0, 1, 2))
    assert not same_move(position, 0, mark(0, 1, 1), "nonsense")
    assert same_move(position, 0, "nonsense", "nonsense")
    assert refusal(position, 0, mark(0, 1, 1)) == ""
    assert refusal(position, 0, mark(1, 1, 1)) == "your mark is \"X\", not 'O'"
