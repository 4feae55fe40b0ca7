"""The bots of a game that brings none of its own."""

from botdrome.bots.house import house_bots, house_view, seated
from botdrome.games.chance import Chance
from tests.docs.example_game import FORMAT


def test_a_game_without_bots_has_one_that_plays_any_legal_move() -> None:
    position = FORMAT.game.start(2, Chance(1))
    (name, bot), *others = house_bots(FORMAT.name).items()
    assert (name, others) == ("random", [])
    for seed in range(10):
        position.parse(0, seated(bot, seed)(house_view(position, 0)))
