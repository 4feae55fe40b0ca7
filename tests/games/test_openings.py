"""Random openings: different, the same for the same seed, and never decided."""

from typing import Any, ClassVar

import msgspec

from botdrome.games.chance import Chance
from botdrome.games.game import Game, random_opening
from botdrome.games.gomoku import Gomoku
from botdrome.games.noughts_and_crosses import NoughtsAndCrosses


class FilledBoard(NoughtsAndCrosses, frozen=True):
    opening_moves: ClassVar[int] = 9


def opening(game: Game[Any], seed: int) -> bytes:
    return msgspec.json.encode(random_opening(game, 2, Chance(seed)))


def test_each_seed_has_its_opening() -> None:
    game = NoughtsAndCrosses()
    assert opening(game, 3) == opening(game, 3)
    assert len({opening(game, seed) for seed in range(1000)}) == 72
    assert len({opening(Gomoku(), seed) for seed in range(50)}) == 50


def test_no_opening_lets_the_seat_to_move_win_at_once() -> None:
    """On a board of 5 by 5 with three in a row, many random openings would."""
    small = Gomoku(size=5, win_length=3)
    for seed in range(200):
        position = small.start(2, Chance(0))
        moves = random_opening(small, 2, Chance(seed))
        for number, raw in enumerate(moves):
            position = position.play({number % 2: position.parse(number % 2, raw)}, Chance(0))
        assert len(moves) == 4 and position.to_move == (0,)
        assert not any(
            position.play({0: position.parse(0, raw)}, Chance(0)).over for raw in position.moves(0)
        )


def test_a_game_that_every_opening_ends_has_none() -> None:
    assert random_opening(FilledBoard(), 2, Chance(1)) == []
