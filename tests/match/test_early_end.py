"""Terms under which a match ends as soon as the present players have nothing left to play for."""

import pytest
from msgspec.structs import replace

from botdrome.games.battleship import Battleship
from botdrome.games.noughts_and_crosses import NoughtsAndCrosses
from botdrome.match.match import Match, apply
from botdrome.match.terms import Pace, Terms
from tests.match.telling import told

TERMS = Terms(Pace(1000), late="pass", gone="wait", absence=100, early_end=True)
FLEET, SKIP = {"board": "AA" + "." * 23}, {"skip": True}
FINISHED = "ended (1, 2) ('complete', 'complete')"


def duel() -> Match:
    """Player 0 has hit one of the two squares of player 1's boat, which has skipped."""
    match = Match(Battleship(width=5, height=5, boats="A2"), 2, TERMS, seed=1)
    match.start()
    for player in range(2):
        match.submit(player, FLEET, 0)
    match.submit(0, {"x": 0, "y": 0}, 0)
    match.submit(1, SKIP, 0)
    return match


def test_the_match_ends_when_the_player_leaves_that_sank_all_others() -> None:
    match = duel()
    assert told(match.submit(0, {"x": 1, "y": 0}, 0)) == ["step 3 played by [0]"]
    assert told(match.leave(0, 10)) == ["left 0", FINISHED]
    assert match.awaited == [] and match.deadline is None


@pytest.mark.parametrize("early_end", [True, False])
def test_the_match_ends_with_the_shot_that_sinks_the_last_player_present(early_end: bool) -> None:
    match = Match(
        Battleship(width=5, height=5, boats="A2"), 3, replace(TERMS, early_end=early_end), seed=1
    )
    match.start()
    for player in range(3):
        match.submit(player, FLEET, 0)
    for player, raw in enumerate(
        [SKIP, {"target": 0, "x": 0, "y": 0}, {"target": 0, "x": 1, "y": 0}]
    ):
        match.submit(player, raw, 0)
    match.leave(1, 0)
    match.submit(0, {"target": 2, "x": 0, "y": 0}, 0)
    match.wake(100)  # player 1 is skipped
    match.submit(2, SKIP, 100)
    last = told(match.submit(0, {"target": 2, "x": 1, "y": 0}, 100))
    end = ["ended (1, 2, 2) ('complete', 'complete', 'complete')"]
    assert last == ["step 7 played by [0]", *(end if early_end else [])]


def test_a_player_that_is_back_has_something_to_play_for() -> None:
    match = duel()
    match.leave(0, 0)
    match.rejoin(0, 0)
    assert told(match.submit(0, {"x": 1, "y": 0}, 0)) == ["step 3 played by [0]"]


def test_the_inputs_alone_lead_to_the_same_end() -> None:
    match, again = duel(), Match(Battleship(width=5, height=5, boats="A2"), 2, TERMS, seed=1)
    match.submit(0, {"x": 1, "y": 0}, 0)
    match.leave(0, 10)
    again.start()
    for told_before in match.inputs:
        apply(again, told_before)
    assert again.result == match.result is not None


def test_a_game_without_such_a_rule_goes_on() -> None:
    match = Match(NoughtsAndCrosses(), 2, TERMS, seed=1)
    match.start()
    assert told(match.leave(1, 0)) == ["left 1"]
