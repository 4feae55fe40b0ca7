"""Rating: Elo differences of shares of points, their 95 % intervals, and Elo ratings updated game
by game.
"""

from math import inf, log10, sqrt

Z95 = 1.959963984540054
CERTAIN = 1e-9
"""A share closer to 0 or 1 than this counts as 0 or 1."""


def elo_points(share: float) -> float:
    """Return the Elo difference at which this share of the points is expected."""
    if share < CERTAIN:
        return -inf
    return inf if share > 1 - CERTAIN else 400 * log10(share / (1 - share))


def wilson(share: float, games: float) -> tuple[float, float]:
    """Return the 95 % interval of a share of the points.

    It holds after one game, and at 0 and 1.
    """
    shrink = 1 + Z95**2 / games
    middle = (share + Z95**2 / (2 * games)) / shrink
    reach = Z95 / shrink * sqrt(share * (1 - share) / games + Z95**2 / (4 * games**2))
    return max(0.0, middle - reach), min(1.0, middle + reach)


# Elo ratings, updated game by game.

START = 1200.0
K = 30


def expected(own: float, other: float) -> float:
    """Return the share of the points that the ratings predict."""
    return 1 / (1 + 10 ** ((other - own) / 400))


def updated(own: float, other: float, share: float) -> tuple[float, float]:
    """Return both ratings after a game in which the first had this share of the point: 1, 0, or 0.5
    for a draw.
    """
    gain = K * (share - expected(own, other))
    return own + gain, other - gain
