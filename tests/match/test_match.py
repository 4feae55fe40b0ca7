"""The match: clocks, strikes, faults and results, with the time handed in."""

from typing import Any

import pytest
from msgspec.structs import replace

from botdrome.catalogue import CATALOGUE
from botdrome.games.game import BadOption
from botdrome.match.match import Match
from botdrome.match.terms import Pace
from botdrome.wire.writers import match_status
from tests.match.telling import mark, told

NOUGHTS = CATALOGUE["noughts-and-crosses"]
WIN_FOR_ONE = [mark(0, 0, 0), mark(1, 1, 0), mark(0, 0, 1), mark(1, 1, 1), mark(0, 0, 2)]


def noughts(**changes: Any) -> Match:
    terms = replace(NOUGHTS.terms, **changes)
    match = Match(NOUGHTS.game, 2, terms, seed=1)
    assert told(match.start()) == ["board 0 began"]
    return match


# Turns.


def test_a_match_from_the_first_question_to_the_result() -> None:
    match = noughts()
    assert (match.awaited, match.deadline) == ([0], 5000)
    assert told(match.submit(0, WIN_FOR_ONE[0], 100)) == ["step 0 played by [0]"]
    assert (match.awaited, match.deadline) == ([1], 5100)
    for turn, raw in enumerate(WIN_FOR_ONE[1:-1], 1):
        match.submit(turn % 2, raw, 200)
    news = match.submit(0, WIN_FOR_ONE[-1], 300)
    assert told(news) == [
        "step 4 played by [0]",
        "board 0 ended (1, 2)",
        "ended (1, 2) ('complete', 'complete')",
    ]
    assert match.result is not None
    assert match.result.winner == 0
    assert match.result.scores == (1, 0)
    assert (match.awaited, match.deadline) == ([], None)


def test_nothing_is_taken_after_the_end() -> None:
    match = noughts()
    match.abort(10)
    inputs = len(match.inputs)
    assert match.submit(0, WIN_FOR_ONE[0], 20) == []
    assert match.leave(0, 20) == match.rejoin(0, 20) == match.wake(9999) == match.abort(20) == []
    assert match.expel(0, "crash", 20) == match.amend({}, 20) == []
    assert len(match.inputs) == inputs


def test_the_third_illegal_move_puts_out_and_turns_out_of_turn_count() -> None:
    match = noughts()
    assert told(match.submit(1, mark(1, 0, 0), 1)) == ["1 refused (1): it is not your turn"]
    assert told(match.submit(1, mark(1, 0, 0), 2)) == ["1 refused (2): it is not your turn"]
    assert told(match.submit(1, "rubbish", 3)) == [
        "1 refused (3): it is not your turn",
        "1 out: illegal moves",
        "board 0 ended (1, 2)",
        "ended (1, 2) ('complete', 'illegal moves')",
    ]


def test_an_illegal_move_is_named_and_does_not_restart_the_clock() -> None:
    match = noughts()
    match.submit(0, mark(0, 1, 1), 0)
    assert told(match.submit(1, mark(1, 1, 1), 4000)) == ["1 refused (1): space [1, 1] is taken"]
    assert match.strikes == (0, 1)
    assert match.deadline == 5000
    assert told(match.wake(4999)) == []
    assert told(match.wake(5000))[0] == "1 out: timeout"


def test_a_move_at_the_deadline_counts_and_a_later_one_is_late_even_before_the_wake() -> None:
    assert told(noughts().submit(0, mark(0, 1, 1), 5000)) == ["step 0 played by [0]"]
    assert told(noughts().submit(0, mark(0, 1, 1), 5037)) == [
        "0 out: timeout",
        "board 0 ended (2, 1)",
        "ended (2, 1) ('timeout', 'complete')",
        "0 late by 37",
    ]


def test_grace_is_allowed_but_not_announced() -> None:
    match = noughts(pace=Pace(5000, grace=10))
    assert match.deadline == 5500
    assert [match_status(match, now).time_left for now in (0, 2000, 4999, 5200, 5600)] == [
        5000,
        3000,
        1,
        0,
        0,
    ]
    slow_start = noughts(pace=Pace(5000, grace=10, first=10_000))
    assert (slow_start.deadline, match_status(slow_start, 0).time_left) == (11_000, 10_000)


def test_without_a_limit_nobody_is_late() -> None:
    match = noughts(pace=Pace(None))
    assert match.deadline is None
    assert told(match.wake(10**9)) == []
    assert told(match.submit(0, mark(0, 1, 1), 10**9)) == ["step 0 played by [0]"]


def test_who_leaves_is_out_whoever_is_to_move() -> None:
    for leaver in (0, 1):
        match = noughts()
        assert told(match.leave(leaver, 7))[0] == f"{leaver} out: disconnect"
        assert match.result is not None
        assert match.result.winner == 1 - leaver


def test_who_is_expelled_is_out_with_the_cause() -> None:
    match = noughts()
    assert told(match.expel(0, "crash", 5, "it ended with status 1"))[0] == "0 out: crash"
    assert match.result is not None
    assert match.result.causes == ("crash", "complete")


def test_a_late_turn_may_just_be_passed() -> None:
    match = noughts(late="pass")
    assert told(match.wake(5000)) == ["step 0 played by []"]
    assert match.awaited == [1]
    assert told(match.submit(1, mark(1, 0, 0), 10_001)) == ["step 1 played by []", "1 late by 1"]


def test_a_move_that_arrives_just_after_the_turn_changed_is_not_for_the_new_turn() -> None:
    match = noughts(late="pass")
    assert told(match.submit(1, mark(1, 0, 0), 5001)) == [
        "step 0 played by []",
        "1 refused (0): it is not your turn",
    ]
    assert match.awaited == [1]


def test_patience_has_an_end_unless_a_move_comes() -> None:
    match = noughts(late="pass", patience=2)
    match.wake(5000)
    match.wake(10_000)
    match.submit(0, mark(0, 0, 0), 10_500)
    assert told(match.wake(15_500)) == [
        "1 out: timeout",
        "board 0 ended (1, 2)",
        "ended (1, 2) ('complete', 'timeout')",
    ]


def test_aborted_counts_for_nobody() -> None:
    match = noughts()
    assert told(match.abort(3)) == ["ended (1, 1) ('aborted', 'aborted')"]
    assert match.result is not None
    assert match.result.aborted
    assert match.result.winner is None


def test_a_match_is_for_as_many_as_the_game_says() -> None:
    with pytest.raises(BadOption, match="noughts-and-crosses is for 2 to 2 players, not 3"):
        Match(NOUGHTS.game, 3, NOUGHTS.terms, 1)


def test_options_that_cannot_change_stay() -> None:
    match = noughts()
    with pytest.raises(BadOption, match="cannot be changed during a game"):
        match.amend({"size": 4}, 3)
    assert match.inputs == []
