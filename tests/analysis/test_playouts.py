"""Estimates of moves by playouts, and exact values."""

from typing import Any

import pytest

from botdrome.analysis.playouts import METHODS, Judge, method_of, method_text, play_on, share
from botdrome.bots.house import HOUSE
from botdrome.catalogue import CATALOGUE
from botdrome.games.bumblebots import Bumblebots
from botdrome.games.chance import Chance
from botdrome.games.noughts_and_crosses import NoughtsAndCrosses
from botdrome.match.questions import questions
from tests.match.recorded_matches import lost_by_bob, new_match, recorded
from tests.match.telling import mark


def test_every_game_has_a_method_with_a_bot_of_the_house() -> None:
    assert METHODS.keys() == CATALOGUE.keys()
    for game, method in METHODS.items():
        assert method.bot in HOUSE[game]
    assert method_of("another game").bot == "random"


def test_the_method_is_described() -> None:
    assert method_text("noughts-and-crosses", 24) == "solved exactly"
    assert method_text("gomoku", 24) == (
        "24 playouts for each move, in which house:threat plays for all players, up to 40 steps; "
        "chance is drawn anew"
    )
    assert method_text("battleship", 24).endswith(
        "; the other fleets are drawn at random to fit the hits and misses"
    )


def test_shares_of_the_points() -> None:
    assert [
        share(places, 0) for places in ((1, 2), (2, 1), (1, 1), (1,), (2, 1, 2), (1, 2, 3))
    ] == [1, 0, 0.5, 1, 0.25, 1]


def test_noughts_and_crosses_is_solved() -> None:
    record, game = recorded(lost_by_bob())
    opening = Judge(questions(record, game, 0)[0], 1)
    assert opening.estimate(mark(0, 1, 1), 24, 0).share == 0.5
    last_chance = Judge(questions(record, game, 1)[-1], 1)
    assert last_chance.estimate(mark(1, 0, 2), 24, 0).share == 0.5
    lost = last_chance.estimate(mark(1, 2, 2), 24, 0)
    assert (lost.share, lost.low, lost.high, lost.playouts) == (0, 0, 0, 0)


def test_a_winning_move_of_gomoku_has_all_the_points() -> None:
    match = new_match("gomoku", size=7, win_length=4)
    for x in range(3):
        match.submit(0, {"x": x, "y": 0}, 0)
        match.submit(1, {"x": x, "y": 6}, 0)
    judge = Judge(questions(*recorded(match), 0)[-1], 1)
    winning, idle = judge.estimate({"x": 3, "y": 0}, 8, 0), judge.estimate({"x": 6, "y": 3}, 8, 0)
    assert (winning.share, winning.high, winning.playouts) == (1.0, 1.0, 8)
    assert 0.6 < winning.low < 0.7
    assert idle.share == 0.0
    assert judge.estimate({"x": 6, "y": 3}, 8, 0) == idle


def test_a_seat_that_is_out_does_not_move() -> None:
    match = new_match("bomberman", players=3)
    match.expel(2, "crash", 0)
    for player in (0, 1):
        match.submit(player, {"action": "WAIT"}, 10)
    match.wake(200)
    question = questions(*recorded(match), 0)[-1]
    assert question.out == {2: ("crash", 0)}
    assert 0.5 <= Judge(question, 1).estimate({"action": "WAIT"}, 3, 0).share <= 1


def test_a_playout_ends_at_its_horizon() -> None:
    position = Bumblebots().start(2, Chance(1))
    after = play_on(position, {}, lambda view, chance: {"orders": {}}, 1, 3, {})
    assert isinstance(after, Bumblebots)
    assert after.turn == 3


def test_a_bot_that_finds_no_legal_move_passes() -> None:
    after = play_on(
        NoughtsAndCrosses(), {}, lambda view, chance: "nonsense", 1, 2, {0: mark(0, 1, 1)}
    )
    assert after.view(None)["board"] == (("", "", ""), ("", "X", ""), ("", "", ""))


@pytest.mark.parametrize("out", [{}, {1: ("crash", 0)}])
def test_out_seats_are_skipped(out: dict[int, Any]) -> None:
    asked: list[int] = []

    def bot(view: dict[str, Any], chance: Chance) -> Any:
        asked.append(view["you"])
        return {"orders": {}}

    play_on(Bumblebots().start(2, Chance(1)), out, bot, 1, 1, {})
    assert asked == ([0] if out else [0, 1])
