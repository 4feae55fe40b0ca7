"""The drifter of battleship."""

from collections import Counter

from botdrome.bots.battleship import drifter
from botdrome.games.chance import Chance
from tests.bots.test_battleship import looking


def test_drifter_shoots_anywhere_but_most_often_beside_hits() -> None:
    board = ["...", ".X.", "..."]
    view = looking(board, board, boats="A3")
    found = Counter(
        (move["x"], move["y"]) for move in (drifter(view, Chance(seed)) for seed in range(600))
    )
    assert len(found) == 8
    assert min(found[spot] for spot in ((1, 0), (0, 1), (2, 1), (1, 2))) > 2 * max(
        found[x, y] for x in (0, 2) for y in (0, 2)
    )
