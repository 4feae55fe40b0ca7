"""Rating: Elo differences from many results, with 95 % intervals, and Elo ratings updated game by game."""

from math import inf, log10, sqrt

from msgspec import Struct

Z95 = 1.959963984540054
CERTAIN = 1e-9
"""A share closer to 0 or 1 than this counts as 0 or 1."""


class EloDifference(Struct, frozen=True):
    """The Elo difference to the mean of the opponents, with its 95 % confidence interval."""

    points: float
    low: float
    high: float


def elo_points(share: float) -> float:
    """Return the Elo difference at which this share of the points is expected."""
    if share < CERTAIN:
        return -inf
    return inf if share > 1 - CERTAIN else 400 * log10(share / (1 - share))


def elo_difference(wins: int, draws: int, losses: int) -> EloDifference:
    """Compute Wilson's interval, narrowed by the lower variance of draws. It holds after one game, and at 0 and 1."""
    games = wins + draws + losses
    if games == 0:
        return EloDifference(0.0, -inf, inf)
    share = (wins + draws / 2) / games
    low, high = wilson(share, games, _spread(share, draws / games))
    return EloDifference(elo_points(share), elo_points(low), elo_points(high))


def wilson(share: float, games: int, spread: float | None = None) -> tuple[float, float]:
    """Return the 95 % interval of a share of the points. `spread` is the variance of one game's points, if it is known."""
    shrink = 1 + Z95**2 / games
    middle = (share + Z95**2 / (2 * games)) / shrink
    reach = Z95 / shrink * sqrt((share * (1 - share) if spread is None else spread) / games + Z95**2 / (4 * games**2))
    return max(0.0, middle - reach), min(1.0, middle + reach)


def _spread(share: float, drawn: float) -> float:
    """Return the variance of one game's points; a draw has none."""
    return max(0.0, share * (1 - share) - drawn / 4)


# Elo ratings, updated game by game.

START = 1200.0
K = 30


def expected(own: float, other: float) -> float:
    """Return the share of the points that the ratings predict."""
    return 1 / (1 + 10 ** ((other - own) / 400))


def updated(own: float, other: float, share: float) -> tuple[float, float]:
    """Return both ratings after a game in which the first had this share of the point: 1, 0, or 0.5 for a draw."""
    gain = K * (share - expected(own, other))
    return own + gain, other - gain
