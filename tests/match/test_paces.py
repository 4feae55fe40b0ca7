"""Paces for people: the same rules with other terms."""

import pytest

from botdrome.formats import FORMATS
from botdrome.games.battlecube import Battlecube
from botdrome.match.match import Match
from botdrome.match.terms import Pace, PaceName, Terms, paced
from tests.match.telling import told


@pytest.mark.parametrize("game", FORMATS)
def test_the_usual_pace_is_that_of_the_format(game: str) -> None:
    assert paced(FORMATS[game].terms, "usual") is FORMATS[game].terms


@pytest.mark.parametrize("pace", ["slow", "stepped"])
@pytest.mark.parametrize("game", FORMATS)
def test_people_have_time_and_may_err_and_come_back(game: str, pace: PaceName) -> None:
    terms = FORMATS[game].terms
    slow = paced(terms, pace)
    assert (slow.strikes, slow.hasty, slow.gone, slow.absence) == (None, "free", "wait", 60_000)
    assert (slow.late, slow.boards) == (terms.late, terms.boards)
    beat = terms.pace.beat and pace == "slow"
    assert (slow.pace.beat, slow.pace.limit) == (beat, 2_000 if beat else 300_000)
    assert slow.patience == (3 if terms.late == "pass" and not beat else None)


def test_a_stepped_game_goes_on_with_the_last_answer() -> None:
    row = FORMATS["bumblebots"]
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
    row = FORMATS["bomberman"]
    match = Match(row.game, 2, paced(row.terms, "stepped"), seed=1)
    match.start()
    for step in range(3):
        match.submit(0, {"action": "stay"}, step * 300_000)
        news = match.wake((step + 1) * 300_000)
    assert "1 out: timeout" in told(news)
