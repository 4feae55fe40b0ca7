"""Paces for people: the same rules with other terms."""

import pytest
from msgspec.structs import replace

from botdrome.catalogue import CATALOGUE
from botdrome.games.battlecube import Battlecube
from botdrome.match.match import Match
from botdrome.match.terms import Pace, PaceName, Terms, paced, with_grace
from tests.match.telling import told


@pytest.mark.parametrize("game", CATALOGUE)
def test_the_usual_pace_is_that_of_the_format(game: str) -> None:
    assert paced(CATALOGUE[game].terms, "usual") is CATALOGUE[game].terms


@pytest.mark.parametrize("pace", ["slow", "stepped"])
@pytest.mark.parametrize("game", CATALOGUE)
def test_people_have_time_and_may_err_and_come_back(game: str, pace: PaceName) -> None:
    terms = CATALOGUE[game].terms
    slow = paced(terms, pace)
    assert (slow.strikes, slow.hasty, slow.gone, slow.absence, slow.reunion) == (
        None,
        "free",
        "wait",
        60_000,
        60_000,
    )
    assert (slow.late, slow.boards) == (terms.late, terms.boards)
    beat = terms.pace.beat and pace == "slow"
    assert (slow.pace.beat, slow.pace.limit) == (beat, 2_000 if beat else 300_000)
    assert slow.patience == (3 if terms.late == "pass" and not beat else None)


def test_grace_is_for_those_that_would_be_out_and_is_not_announced() -> None:
    usual = CATALOGUE["gomoku"].terms
    terms = with_grace(usual, 30_001)
    assert terms.pace.allowed(1) == 35_550
    assert replace(terms.pace, grace=usual.pace.grace) == usual.pace
    ticking = CATALOGUE["bumblebots"].terms
    assert with_grace(ticking, 30_000) == ticking


def test_a_stepped_game_goes_on_with_the_last_answer() -> None:
    row = CATALOGUE["bumblebots"]
    match = Match(row.game, 2, paced(row.terms, "stepped"), seed=1)
    match.start()
    assert match.submit(0, {"orders": {}}, 40) == []
    assert told(match.submit(1, {"orders": {}}, 90)) == ["step 0 played by [0, 1]"]
    assert match.deadline == 300_090


def test_in_a_beat_a_tick_keeps_its_length_though_all_who_are_awaited_are_away() -> None:
    cube = Battlecube(edge=4, starts=((0, 0, 0), (1, 1, 1), (2, 2, 2)))
    match = Match(cube, 3, Terms(Pace(2000, beat=True), late="pass", gone="wait"), seed=1)
    match.start()
    match.submit(0, [{"task": "MOVE", "direction": "-X"}], 10)
    match.wake(2000)
    assert match.position.to_move == (1, 2)
    for player in (1, 2):
        match.leave(player, 2100)
    for tick in range(2, 5):
        assert match.deadline == tick * 2000
        match.wake(tick * 2000)


def test_three_missed_moves_in_a_row_are_enough() -> None:
    row = CATALOGUE["bomberman"]
    match = Match(row.game, 2, paced(row.terms, "stepped"), seed=1)
    match.start()
    for step in range(3):
        match.submit(0, {"action": "stay"}, step * 300_000)
        news = match.wake((step + 1) * 300_000)
    assert "1 out: timeout" in told(news)


def abandoned(pace: PaceName, game: str = "bumblebots") -> Match:
    """Both players have lost their connections after a second."""
    row = CATALOGUE[game]
    match = Match(row.game, 2, paced(row.terms, pace), seed=1)
    match.start()
    for player in (0, 1):
        match.leave(player, 1000)
    return match


@pytest.mark.parametrize("pace", ["slow", "stepped"])
def test_a_match_that_all_have_left_ends_if_nobody_comes_back(pace: PaceName) -> None:
    match = abandoned(pace)
    assert match.result is None and match.deadline == 61_000 and match.wake(60_999) == []
    assert told(match.wake(61_000)) == ["ended (1, 1) ('disconnect', 'disconnect')"]
    assert match.rejoin(0, 61_001) == []


@pytest.mark.parametrize(("pace", "deadline"), [("slow", 15_000), ("stepped", 305_000)])
def test_a_match_that_all_have_left_goes_on_with_the_first_who_comes_back(
    pace: PaceName, deadline: int
) -> None:
    match = abandoned(pace)
    assert told(match.rejoin(1, 5000)) == ["returned 1"]
    assert match.deadline == deadline
    news = match.submit(1, {"orders": {}}, 6000)
    assert match.deadline == (deadline if pace == "slow" else 66_000), (
        "the other one is waited for as long as anybody who is gone"
    )
    assert told(news + match.wake(match.deadline)) == ["step 0 played by [1]"]
    match.leave(1, 100_000)
    assert match.deadline == 160_000


def test_in_a_game_of_turns_the_turn_has_its_time_again() -> None:
    match = abandoned("slow", "gomoku")
    match.rejoin(0, 50_000)
    assert match.deadline == 350_000
    match.rejoin(1, 51_000)
    assert told(match.submit(0, {"x": 7, "y": 7}, 52_000)) == ["step 0 played by [0]"]
    assert match.deadline == 352_000
