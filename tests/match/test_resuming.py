"""Matches rebuilt from their inputs."""

import pytest

from botdrome.catalogue import CATALOGUE
from botdrome.match.events import Began, BoardEnded, Ended
from botdrome.match.match import Match
from botdrome.match.record import BadRecord, Resumption, setup_of

ROW = CATALOGUE["gomoku"]


def a_match(moves: int) -> Match:
    """On the first board player 0 wins with its fifth stone, on the second player 1 does."""
    match = Match(ROW.game, 2, ROW.terms, 1)
    match.start()
    for step in range(moves):
        board, number = divmod(step, 9)
        match.submit((number + board) % 2, {"x": number // 2, "y": number % 2}, 10 * step)
    return match


def resumed(match: Match, most: int = 4) -> Resumption:
    again = Resumption(setup_of(match, ("ada", "bob")), match.game, match.inputs)
    while again.advance(most):
        pass
    return again


@pytest.mark.parametrize("moves", [0, 3, 9, 12])
def test_a_match_goes_on_where_it_was(moves: int) -> None:
    match = a_match(moves)
    match.stall(100, 300)
    again = resumed(match)
    assert (again.match.position, again.match.deadline, again.match.inputs) == (
        match.position,
        match.deadline,
        match.inputs,
    )
    assert (again.now, again.recap[-1]) == (
        300,
        (Began(match.board.number, match.order), match.position),
    )
    assert [event.board for event, _ in again.recap if isinstance(event, BoardEnded)] == list(
        range(match.board.number)
    )


def test_a_match_that_has_ended() -> None:
    match = a_match(18)
    again = resumed(match)
    assert again.match.result == match.result
    assert [type(event) for event, _ in again.recap] == [Began, BoardEnded, Began]
    assert match.result is not None and again.news[-1][0] == Ended(match.result)


def test_an_input_that_the_match_cannot_have_had() -> None:
    match = a_match(0)
    with pytest.raises(BadRecord, match="line 2: it cannot be played"):
        Resumption(setup_of(match, ("ada", "bob")), match.game, [(0, "move", 7, {})]).advance(1)
