"""Hidden fleet: boats by chance, but where those who shoot by the odds come late."""

from collections.abc import Sequence
from itertools import pairwise

from botdrome.bots.fleet_odds import CERTAIN, odds
from botdrome.games.chance import Chance
from botdrome.games.fleet import WATER, Rows, random_fleet

DRAFTS = 16
"""So many fleets are drawn, and one is taken: more would hide better from those who do not know, and worse from those who do."""
CONTACT = 0.07
"""What two squares of different boats side by side cost, in first shots that hit: they are found together."""


def hidden_fleet(width: int, height: int, boats: Sequence[str], chance: Chance) -> Rows:
    """Of some drafts the one that lies where hits are least likely, with its boats apart."""
    blank = (WATER * width,) * height
    likely = odds(blank, tuple(boats))
    drafts = [random_fleet(width, height, boats, chance) for _ in range(DRAFTS)]
    return min(drafts, key=lambda fleet: _exposure(fleet, likely))


def _exposure(fleet: Rows, likely: Sequence[int]) -> float:
    squares = WATER.join((*fleet, ""))
    expected = sum([odd for odd, square in zip(likely, squares, strict=True) if square != WATER])
    return expected / CERTAIN + CONTACT * _contacts(fleet)


def _contacts(fleet: Rows) -> int:
    """How many pairs of squares that touch belong to two boats."""
    columns = ["".join(column) for column in zip(*fleet, strict=True)]
    pairs = [pair for line in (*fleet, *columns) for pair in pairwise(line)]
    return sum([one != other and WATER not in (one, other) for one, other in pairs])
