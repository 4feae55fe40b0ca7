"""The bots of a game that brings none of its own."""

import pytest

from botdrome.bots.house import (
    EASY,
    NOVICES,
    HouseBot,
    house_bots,
    house_view,
    levels_of,
    seated,
)
from botdrome.bots.simulate import simulate
from botdrome.catalogue import CATALOGUE
from botdrome.games.chance import Chance
from botdrome.match.match import Match
from tests.docs.example_game import FORMAT


def test_a_game_without_bots_has_one_that_plays_any_legal_move() -> None:
    position = FORMAT.game.start(2, Chance(1))
    (name, bot), *others = house_bots(FORMAT.name).items()
    assert (name, others) == ("random", [])
    for seed in range(10):
        position.parse(0, seated(bot, seed)(house_view(position, 0)))


def points(game: str, first: HouseBot, second: HouseBot, matches: int) -> float:
    """The share of the points that the first bot gets, half of the matches in each seat."""
    row, won = CATALOGUE[game], 0.0
    for seed in range(matches):
        bots = [seated(first, seed), seated(second, seed + 1000)]
        turn = 1 if seed % 2 else -1
        result = simulate(Match(row.game, 2, row.terms, seed), bots[::turn]).result
        assert result is not None
        mine, theirs = result.places[::turn]
        won += (mine < theirs) + (mine == theirs) / 2
    return won / matches


@pytest.mark.parametrize("game", CATALOGUE)
def test_the_opponent_that_pages_propose_plays_and_can_be_beaten(game: str) -> None:
    bots = house_bots(game) | ({"novice": NOVICES[game]} if game in NOVICES else {})
    levels = list(levels_of(game).items())
    assert set(bots) == set(levels_of(game))
    easy = next(number for number, (_, level) in enumerate(levels) if level == EASY)
    below, usual, above = [bots[name] for name, _ in levels[easy - 1 : easy + 2]]
    assert points(game, usual, below, 10) > 0.6
    assert points(game, usual, above, 10) < 0.4


def test_a_game_without_bots_of_its_own_has_an_easy_one() -> None:
    assert levels_of(FORMAT.name) == {"random": EASY}
