"""Hidden fleet: a random fleet on squares that a player who shoots by the odds tries late."""

from collections.abc import Sequence
from itertools import pairwise

from botdrome.bots.fleet_odds import CERTAIN, odds
from botdrome.games.chance import Chance
from botdrome.games.fleet import WATER, Rows, random_fleet

DRAFTS = 16
"""The number of random fleets to choose from. More drafts hide better from most players, but are easier to predict."""
CONTACT = 0.07
"""The cost of two adjacent squares of different boats, in hits of a first shot: such boats are found together."""


def hidden_fleet(width: int, height: int, boats: Sequence[str], chance: Chance) -> Rows:
    """Draw some fleets and return the one on the least likely squares, with its boats apart."""
    blank = (WATER * width,) * height
    likely = odds(blank, tuple(boats))
    drafts = [random_fleet(width, height, boats, chance) for _ in range(DRAFTS)]
    return min(drafts, key=lambda fleet: _exposure(fleet, likely))


def _exposure(fleet: Rows, likely: Sequence[int]) -> float:
    squares = WATER.join((*fleet, ""))
    expected = sum([odd for odd, square in zip(likely, squares, strict=True) if square != WATER])
    return expected / CERTAIN + CONTACT * _contacts(fleet)


def _contacts(fleet: Rows) -> int:
    """Return the number of adjacent squares that belong to different boats."""
    columns = ["".join(column) for column in zip(*fleet, strict=True)]
    pairs = [pair for line in (*fleet, *columns) for pair in pairwise(line)]
    return sum([one != other and WATER not in (one, other) for one, other in pairs])
