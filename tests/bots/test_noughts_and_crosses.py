"""The house bots for noughts and crosses."""

from typing import Any

import pytest

from botdrome.bots import noughts_and_crosses as bots
from botdrome.bots.house import seated
from botdrome.bots.simulate import simulate
from botdrome.catalogue import CATALOGUE
from botdrome.games.chance import Chance
from botdrome.match.match import Match

FORMAT = CATALOGUE["noughts-and-crosses"]


def winners(one: Any, two: Any, matches: int) -> list[int | None]:
    results = [
        simulate(
            Match(FORMAT.game, 2, FORMAT.terms, seed), [seated(one, seed), seated(two, -seed)]
        ).result
        for seed in range(matches)
    ]
    return [result.winner for result in results if result]


@pytest.mark.parametrize("seat", [0, 1])
def test_perfect_never_loses_and_beats_random_most_of_the_time(seat: int) -> None:
    sides = (bots.perfect, bots.random) if seat == 0 else (bots.random, bots.perfect)
    won = winners(*sides, matches=300)
    assert won.count(1 - seat) == 0
    assert won.count(seat) > 210


def test_perfect_against_itself_is_always_a_draw() -> None:
    assert set(winners(bots.perfect, bots.perfect, matches=50)) == {None}


def test_perfect_plays_every_position_right() -> None:
    """It never loses, in any line of play and from either seat."""
    chance = Chance(1)

    def explore(position: Any, mine: int) -> None:
        if position.over:
            assert position.scores[1 - mine] == 0
            return
        seat = position.to_move[0]
        raws = (
            [bots.perfect(position.view(seat), chance)]
            if seat == mine
            else list(position.moves(seat))
        )
        for raw in raws:
            explore(position.play({seat: position.parse(seat, raw)}, chance), mine)

    for mine in (0, 1):
        explore(FORMAT.game.start(2, chance), mine)


@pytest.mark.parametrize(
    ("board", "spaces"),
    [
        pytest.param("XX. OO. ...", {(0, 2)}, id="wins rather than blocks"),
        pytest.param("X.. OO. ..X", {(1, 2)}, id="blocks"),
        pytest.param(
            "XO. ... ...",
            {(0, 2), (1, 0), (1, 1), (1, 2), (2, 0), (2, 1), (2, 2)},
            id="else anywhere",
        ),
    ],
)
def test_blocker(board: str, spaces: set[tuple[int, int]]) -> None:
    rows = [[mark.strip(".") for mark in row] for row in board.split()]
    view, chance = {"you": 0, "marks": ["X", "O"], "board": rows}, Chance(1)
    assert {tuple(bots.blocker(view, chance)["space"]) for _ in range(60)} == spaces


def test_random_reaches_every_space() -> None:
    view = FORMAT.game.start(2, Chance(0)).view(0)
    chance = Chance(5)
    assert len({tuple(bots.random(view, chance)["space"]) for _ in range(200)}) == 9
