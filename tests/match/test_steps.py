"""Steps that several seats play at once, on a beat or with pauses."""

from typing import Any

from botdrome.games.battlecube import Battlecube
from botdrome.games.game import Game
from botdrome.games.noughts_and_crosses import NoughtsAndCrosses
from botdrome.match.match import Match, News
from botdrome.match.terms import Pace, Terms, offline
from tests.docs.example_game import RockPaperScissors
from tests.match.telling import mark, told

ROCK, PAPER = {"throw": "rock"}, {"throw": "paper"}


def throwing(players_game: Game[Any] | None = None, **changes: Any) -> Match:
    match = Match(players_game or RockPaperScissors(rounds=3), 2, Terms(**changes), seed=1)
    match.start()
    return match


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
    assert told(match.submit(0, ROCK, 760)) == ["step 1 played by []"], (
        "what comes too late counts for the next step"
    )
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


def test_a_move_that_was_read_before_is_played_as_if_it_were_submitted() -> None:
    """Also in the step that closes with it, and in the one that waits for another move."""
    for game, raws in (
        (NoughtsAndCrosses(), (mark(0, 1, 1), mark(1, 0, 0))),
        (RockPaperScissors(), (ROCK, ROCK)),
    ):
        one, other = Match(game, 2, Terms(), 1), Match(game, 2, Terms(), 1)
        assert one.start() == other.start()
        for player, raw in enumerate(raws):
            news: News = []
            one.accept(player, player, one.position.parse(player, raw), raw, player, news)
            assert news == other.submit(player, raw, player)
        assert (one.deadline, one.steps, one.inputs) == (other.deadline, other.steps, [])


def test_offline_terms_wait_for_no_beat_and_lose_patience() -> None:
    terms = offline(Terms(Pace(250, first=500, beat=True), late="pass"))
    assert (terms.pace.beat, terms.pace.first, terms.patience) == (False, 500, 10)
    assert offline(Terms(Pace(None))).pace.first is None
    assert offline(Terms()).patience is None
