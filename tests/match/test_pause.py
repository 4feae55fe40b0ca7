"""The pause between two steps: a move received then counts for the next step, and it can be cut
short.
"""

from typing import Any

from botdrome.match.match import Match
from botdrome.match.terms import Pace
from botdrome.wire.writers import match_status
from tests.docs.example_game import RockPaperScissors
from tests.match.telling import told
from tests.match.test_steps import ROCK, throwing


def resting(**terms: Any) -> Match:
    """A match in its first pause, from 0 to 40."""
    match = throwing(RockPaperScissors(rounds=3), pace=Pace(5000, pause=40), **terms)
    match.submit(0, ROCK, 0)
    match.submit(1, ROCK, 0)
    assert match.resting
    return match


def test_an_answer_in_the_pause_is_played_when_it_is_over() -> None:
    match = resting()
    assert told(match.submit(0, ROCK, 5)) == []
    assert told(match.wake(40)) == []
    assert match.awaited == [1]
    assert told(match.submit(1, ROCK, 50)) == ["step 1 played by [0, 1]"]


def test_when_all_have_answered_in_the_pause_nobody_is_awaited() -> None:
    match = resting()
    assert told(match.submit(0, ROCK, 5)) == []
    assert told(match.submit(1, ROCK, 6)) == []
    assert told(match.wake(40)) == ["step 1 played by [0, 1]"]
    assert match.resting
    assert match.deadline == 80


def test_an_illegal_answer_in_the_pause_counts_at_once() -> None:
    match = resting(strikes=1)
    match.submit(0, ROCK, 4)
    assert told(match.submit(0, "no", 5))[1].startswith("0 out: illegal moves")


def test_who_answers_between_the_end_of_the_pause_and_the_wake_answers_in_time() -> None:
    match = resting()
    assert told(match.submit(0, ROCK, 45)) == []
    assert match.awaited == [1]


def test_a_shorter_pause_shortens_the_one_that_runs() -> None:
    match = resting()
    match.amend({}, 5, pause=10)
    assert match.deadline == 10
    match.amend({}, 6, pause=2)
    assert match.deadline == 6


def test_a_longer_pause_lengthens_the_one_that_runs() -> None:
    match = resting()
    match.amend({}, 5, pause=1000)
    assert told(match.wake(40)) == []
    assert match.resting
    assert told(match.wake(1000)) == []
    assert match.awaited == [0, 1]


def test_the_time_announced_in_a_pause_is_that_until_the_answer_is_due() -> None:
    match = resting()
    assert match_status(match, 10).time_left == 5030
    match.wake(40)
    assert match_status(match, 40).time_left == 5000
