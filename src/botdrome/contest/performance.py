"""Performance: the rating of one player, from its results against opponents with known ratings."""

from collections import defaultdict
from collections.abc import Mapping

from msgspec import Struct

from botdrome.contest.linear import PRECISION, STEPS
from botdrome.contest.rating import Z95
from botdrome.contest.strength import MEAN, PRIOR, expected
from botdrome.contest.variance import POINTS, deviation_of

OwnMatch = tuple[tuple[float, float], ...]
"""For each opponent at the table: its rating, and the points against it (1, 0.5 or 0)."""


class Performance(Struct, frozen=True):
    """A rating at one time."""

    rating: float
    margin: float | None
    """Half of the interval's width; None if there is no interval yet."""


def performance(results: Mapping[OwnMatch, int]) -> Performance:
    """Rate a player by its matches, given with the number of times each result occurred."""
    met: defaultdict[float, list[float]] = defaultdict(lambda: [0.0, 0])
    for match, times in results.items():
        for rating, points in match:
            total = met[(rating - MEAN) / POINTS]
            total[0] += times * points
            total[1] += times
    value = 0.0
    for _ in range(STEPS):
        slope, curve = -PRIOR * value, PRIOR
        for other, (points, games) in met.items():
            p = expected(value - other)
            slope += points - games * p
            curve += games * p * (1 - p)
        change = max(-2.0, min(2.0, slope / curve))
        value += change
        if abs(change) < PRECISION:
            break
    return Performance(MEAN + POINTS * value, _margin(results, value, curve))


def _margin(results: Mapping[OwnMatch, int], value: float, curve: float) -> float | None:
    games = sum(results.values())
    if games < 2:
        return None
    spread = 0.0
    for match, times in results.items():
        surplus = sum(points - expected(value - (rating - MEAN) / POINTS) for rating, points in match)
        spread += times * surplus**2
    sandwich = spread * games / (games - 1) / curve**2
    return POINTS * Z95 * deviation_of(games, sandwich, 1 / curve)
