"""Live rating: a rating that each match updates at once, to order a ladder. It is no measurement: its deviation is no interval.

The model is that of Weng and Lin (2011) on pairs of players, with the usual constants of openskill.
"""

from collections.abc import Sequence
from math import exp, sqrt

from msgspec import Struct

BETA = 25 / 6
"""The deviation of one performance."""
LEAST = 0.0001
"""The smallest factor by which one match narrows the variance."""


class LiveRating(Struct, frozen=True):
    """A mean, and a deviation that shrinks with each match."""

    mean: float = 25.0
    deviation: float = 25 / 3

    @property
    def ordinal(self) -> float:
        """The cautious estimate that orders a ladder. It starts at 0 and rises with results."""
        return self.mean - 3 * self.deviation


def updated(ratings: Sequence[LiveRating], places: Sequence[int]) -> list[LiveRating]:
    """Return the ratings of a table's players after a match, by seat."""
    return [_moved(seat, ratings, places) for seat in range(len(ratings))]


def _moved(seat: int, ratings: Sequence[LiveRating], places: Sequence[int]) -> LiveRating:
    own, variance = ratings[seat], ratings[seat].deviation ** 2
    gain = narrowing = 0.0
    for other, rating in enumerate(ratings):
        if other == seat:
            continue
        scale = sqrt(variance + rating.deviation**2 + 2 * BETA**2)
        p = 1 / (1 + exp((rating.mean - own.mean) / scale))
        points = (places[seat] < places[other]) + (places[seat] == places[other]) / 2
        gain += variance / scale * (points - p)
        narrowing += own.deviation / scale * variance / scale**2 * p * (1 - p)
    return LiveRating(own.mean + gain, own.deviation * sqrt(max(1 - narrowing, LEAST)))
