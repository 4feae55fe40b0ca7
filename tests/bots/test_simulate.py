"""Matches at full speed always end."""

from botdrome.bots.simulate import simulate
from botdrome.catalogue import CATALOGUE
from botdrome.match.match import Match
from botdrome.match.terms import Pace, Terms
from tests.docs.example_game import RockPaperScissors

NOUGHTS = CATALOGUE["noughts-and-crosses"]


def test_a_bot_that_insists_on_an_illegal_move_is_out() -> None:
    match = simulate(Match(NOUGHTS.game, 2, NOUGHTS.terms, 1), [lambda view: {}, lambda view: {}])
    assert match.result is not None
    assert match.result.causes == ("illegal moves", "complete")


def test_where_illegal_moves_are_free_time_runs_out() -> None:
    terms = Terms(Pace(5000))
    match = simulate(Match(NOUGHTS.game, 2, terms, 1), [lambda view: {}, lambda view: {}])
    assert match.result is not None
    assert match.result.causes == ("timeout", "complete")


def test_where_there_is_no_time_to_run_out_the_bot_is_expelled() -> None:
    match = simulate(
        Match(NOUGHTS.game, 2, Terms(Pace(None)), 1), [lambda view: {}, lambda view: {}]
    )
    assert match.result is not None
    assert match.result.causes == ("illegal moves", "complete")


def test_a_beat_is_played_in_no_time() -> None:
    terms = Terms(Pace(250, beat=True), late="pass")
    throw = {"throw": "rock"}
    match = simulate(
        Match(RockPaperScissors(rounds=4), 2, terms, 1), [lambda view: throw, lambda view: throw]
    )
    assert match.steps == 4
    assert match.inputs[-1][:2] == (1000, "wake")
