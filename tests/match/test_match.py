"""The match: clocks, strikes, faults and results, with the time handed in."""

from typing import Any

import pytest
from msgspec.structs import replace

from botdrome.formats import FORMATS
from botdrome.games.battlecube import Battlecube
from botdrome.games.game import BadOption, Game
from botdrome.match.match import Match
from botdrome.match.terms import Pace, Terms, offline
from botdrome.wire.vocabulary import standing
from tests.docs.example_game import RockPaperScissors
from tests.match.telling import mark, told

NOUGHTS = FORMATS["noughts-and-crosses"]
ROCK, PAPER = {"throw": "rock"}, {"throw": "paper"}
WIN_FOR_ONE = [mark(0, 0, 0), mark(1, 1, 0), mark(0, 0, 1), mark(1, 1, 1), mark(0, 0, 2)]


def noughts(**changes: Any) -> Match:
    terms = replace(NOUGHTS.terms, **changes)
    match = Match(NOUGHTS.game, 2, terms, seed=1)
    assert told(match.start()) == ["board 0 began"]
    return match


def throwing(players_game: Game[Any] | None = None, **changes: Any) -> Match:
    match = Match(players_game or RockPaperScissors(rounds=3), 2, Terms(**changes), seed=1)
    match.start()
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
    assert told(news) == ["step 4 played by [0]", "board 0 ended (1, 2)", "ended (1, 2) ('complete', 'complete')"]
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
    assert [standing(match, now).time_left for now in (0, 2000, 4999, 5200, 5600)] == [5000, 3000, 1, 0, 0]
    slow_start = noughts(pace=Pace(5000, grace=10, first=10_000))
    assert (slow_start.deadline, standing(slow_start, 0).time_left) == (11_000, 10_000)


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


def test_a_move_that_comes_when_the_turn_has_just_changed_hands_was_not_meant_for_the_new_turn() -> None:
    match = noughts(late="pass")
    assert told(match.submit(1, mark(1, 0, 0), 5001)) == ["step 0 played by []", "1 refused (0): it is not your turn"]
    assert match.awaited == [1]


def test_patience_has_an_end_unless_a_move_comes() -> None:
    match = noughts(late="pass", patience=2)
    match.wake(5000)
    match.wake(10_000)
    match.submit(0, mark(0, 0, 0), 10_500)
    assert told(match.wake(15_500)) == ["1 out: timeout", "board 0 ended (1, 2)", "ended (1, 2) ('complete', 'timeout')"]


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


# Simultaneous steps.


def test_a_step_closes_with_the_last_answer() -> None:
    match = throwing()
    assert match.submit(0, ROCK, 10) == []
    assert match.awaited == [1]
    assert told(match.submit(1, PAPER, 20)) == ["step 0 played by [0, 1]"]
    assert match.position.scores == (0, 1)
    assert match.deadline == 5020


def test_the_last_word_counts() -> None:
    match = throwing()
    match.submit(0, ROCK, 1)
    match.submit(0, PAPER, 2)
    match.submit(1, ROCK, 3)
    assert match.position.scores == (1, 0)


def test_seats_that_time_out_together_go_out_together() -> None:
    match = throwing()
    assert told(match.wake(5000)) == [
        "0 out: timeout",
        "1 out: timeout",
        "board 0 ended (1, 1)",
        "ended (1, 1) ('timeout', 'timeout')",
    ]


def test_a_seat_at_fault_goes_out_when_the_step_closes() -> None:
    match = throwing(strikes=1)
    assert told(match.submit(0, "gun", 1)) == ["0 refused (1): a move is a JSON object, not 'gun'"]
    assert told(match.submit(0, ROCK, 2)) == ["0 refused (0): it is not your turn"]
    assert told(match.expel(0, "crash", 3)) == []
    assert told(match.submit(1, ROCK, 4))[0] == "0 out: illegal moves"
    assert match.result is not None
    assert match.result.places == (2, 1)


def test_a_beat_takes_what_has_come_and_never_drifts() -> None:
    match = throwing(pace=Pace(250, first=500, beat=True), late="pass")
    assert match.deadline == 500
    match.submit(0, ROCK, 100)
    match.submit(1, PAPER, 100)
    assert match.steps == 0, "a beat does not end early"
    assert told(match.wake(503)) == ["step 0 played by [0, 1]"]
    assert match.deadline == 750
    assert told(match.submit(0, ROCK, 760)) == ["step 1 played by []"], "what comes too late counts for the next step"
    assert match.deadline == 1000
    assert told(match.wake(1000))[0] == "step 2 played by [0]"


def test_a_beat_that_was_slept_through_does_not_race_to_catch_up() -> None:
    match = throwing(pace=Pace(250, beat=True), late="pass")
    match.wake(10_000)
    assert match.deadline == 10_250


def test_a_late_move_in_the_last_beat_is_late() -> None:
    match = throwing(RockPaperScissors(rounds=1), pace=Pace(250, beat=True), late="pass")
    assert told(match.submit(0, ROCK, 251))[-1] == "0 late by 1"


def test_who_is_gone_from_a_beat_passes_and_can_win() -> None:
    match = throwing(pace=Pace(250, beat=True), late="pass", gone="pass")
    match.submit(0, PAPER, 1)
    match.submit(1, ROCK, 1)
    match.wake(250)
    assert told(match.leave(0, 300)) == ["left 0"]
    assert match.leave(0, 301) == []
    match.wake(500)
    assert match.awaited == [1]
    match.wake(750)
    assert match.result is not None
    assert match.result.winner == 0


def test_when_all_are_gone_it_ends_as_it_stands() -> None:
    match = throwing(gone="pass", late="pass")
    match.leave(1, 5)
    assert told(match.leave(0, 6)) == ["left 0", "ended (1, 1) ('disconnect', 'disconnect')"]


def test_who_passes_for_good_is_not_waited_for() -> None:
    match = throwing(gone="pass")
    match.submit(1, ROCK, 3)
    assert told(match.leave(0, 5)) == ["left 0", "step 0 played by [1]"]
    assert told(match.submit(1, ROCK, 9)) == ["step 1 played by [1]"]


def test_expelling_the_last_one_present_ends_it() -> None:
    match = throwing(gone="pass", pace=Pace(250, beat=True))
    match.leave(0, 5)
    assert told(match.expel(1, "flood", 6)) == ["ended (1, 1) ('disconnect', 'disconnect')"]


def test_a_pause_comes_after_every_step_also_the_last() -> None:
    match = throwing(RockPaperScissors(rounds=2), pace=Pace(5000, pause=40))
    match.submit(0, ROCK, 0)
    match.submit(1, ROCK, 0)
    assert (match.awaited, match.deadline) == ([], 40)
    assert told(match.wake(40)) == []
    assert match.awaited == [0, 1]
    match.submit(0, ROCK, 50)
    match.submit(1, ROCK, 50)
    assert match.result is None
    assert told(match.wake(90)) == ["board 0 ended (1, 1)", "ended (1, 1) ('complete', 'complete')"]


def test_a_step_that_awaits_nobody_is_played_after_the_pause() -> None:
    """Battlecube with two tasks: the second tick plays by itself."""
    match = Match(Battlecube(tasks=2), 2, Terms(Pace(5000, pause=40)), seed=1)
    match.start()
    for player in (0, 1):
        news = match.submit(player, [{"task": "NOOP"}, {"task": "NOOP"}], 0)
    assert told(news) == ["step 0 played by []"], "what is planned is no business of the others"
    assert (match.awaited, match.deadline) == ([], 40)
    assert told(match.wake(40)) == ["step 1 played by []"]
    assert (match.awaited, match.deadline) == ([], 80)
    assert told(match.wake(80)) == []
    assert match.awaited == [0, 1]


def test_who_is_expelled_in_a_pause_is_out_at_once() -> None:
    match = throwing(pace=Pace(5000, pause=40))
    match.submit(0, ROCK, 0)
    match.submit(1, ROCK, 0)
    assert told(match.expel(1, "crash", 10))[0] == "1 out: crash"
    assert match.result is not None
    assert match.result.winner == 0


def test_the_pause_can_change() -> None:
    match = throwing()
    assert told(match.amend({}, 1, pause=30)) == ["amended {}"]
    match.submit(0, ROCK, 2)
    match.submit(1, ROCK, 2)
    assert match.deadline == 32


def test_offline_terms_wait_for_no_beat_and_lose_patience() -> None:
    terms = offline(Terms(Pace(250, first=500, beat=True), late="pass"))
    assert (terms.pace.beat, terms.pace.first, terms.patience) == (False, 10_000, 10)
    assert offline(Terms(Pace(None))).pace.first is None
    assert offline(Terms()).patience is None
