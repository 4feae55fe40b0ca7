"""Elo's rating, game by game."""

START = 1200.0
K = 30


def expected(own: float, other: float) -> float:
    """The share of the points that the ratings speak for."""
    return 1 / (1 + 10 ** ((other - own) / 400))


def updated(own: float, other: float, share: float) -> tuple[float, float]:
    """Both ratings after a game in which the first had this share of the point: 1, 0, or 0.5 for a draw."""
    gain = K * (share - expected(own, other))
    return own + gain, other - gain
