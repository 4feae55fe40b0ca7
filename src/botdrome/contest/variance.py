"""Variance: how sure the strengths of players are that have met, directly or through others."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import combinations
from math import log, pi, sqrt, tan
from operator import mul

from botdrome.contest.linear import Springs, dot
from botdrome.contest.rating import Z95

POINTS = 400 / log(10)
"""Elo points per unit of strength."""
LARGEST = 300
"""The group size from which no intervals are computed: the time grows with the cube of the size."""


class Variances:
    """The variances of the players of one group."""

    def __init__(self, members: Sequence[int], blocks: Sequence[int], anchored: bool = False) -> None:
        """`anchored`: some ratings are fixed, so the ratings are no differences to a mean."""
        self.members, self._blocks, self._anchored = members, blocks, anchored
        self.names: dict[str, int] = {}
        self.own = [0.0] * len(members)
        self.springs: list[tuple[int, int, float]] = []
        self._spread: defaultdict[tuple[int, int], float] = defaultdict(float)
        """The sum over blocks of the products of their players' surplus points."""

    def add_block(self, times: float, surplus: Iterable[tuple[int, int, float]]) -> None:
        extra: dict[int, float] = {}
        for one, two, points in surplus:
            extra[one] = extra.get(one, 0.0) + points
            extra[two] = extra.get(two, 0.0) - points
        for one, two in combinations(sorted(extra), 2):
            self._spread[one, two] += 2 * times * extra[one] * extra[two]
        for player, points in extra.items():
            self._spread[player, player] += times * points * points

    @cached_property
    def _roots(self) -> list[int]:
        """The players without a parent: ratings are differences to their mean, which new versions do not move."""
        return [place for place, prior in enumerate(self.own) if prior]

    @cached_property
    def _inverse(self) -> tuple[list[list[float]], list[float]]:
        """The inverse of the second derivative, and the means of its rows over the roots."""
        ones, twos, weights = zip(*self.springs, strict=True)
        rows = Springs(self.own, ones, twos, weights).inverse()
        return rows, [self.mean(row) for row in rows]

    def mean(self, values: Sequence[float]) -> float:
        """Return the mean that is taken off the ratings."""
        if self._anchored:
            return 0.0
        return sum(values[place] for place in self._roots) / len(self._roots)

    def margin(self, place: int) -> float | None:
        """Return half of the width of the interval around the rating."""
        has_parent = not self.own[place]
        if not 1 < len(self.members) <= LARGEST or (self._blocks[place] < 2 and not has_parent):
            return None
        rows, means = self._inverse
        model = rows[place][place] - 2 * means[place] + self.mean(means)
        sandwich = self._sandwich([a - b for a, b in zip(rows[place], means, strict=True)])
        return POINTS * Z95 * deviation_of(self._blocks[place], sandwich, model)

    def deviation(self, one: str, two: str) -> float:
        """Return the standard deviation of the difference of two strengths."""
        first, second = self.names[one], self.names[two]
        rows, _ = self._inverse
        apart = [a - b for a, b in zip(rows[first], rows[second], strict=True)]
        blocks = min(self._blocks[first], self._blocks[second])
        return deviation_of(blocks, self._sandwich(apart), apart[first] - apart[second])

    @cached_property
    def _entries(self) -> tuple[list[int], list[int], list[float]]:
        """The spread as columns, with the correction for players with few blocks."""
        few = [sqrt(blocks / (blocks - 1)) if blocks > 1 else 1.0 for blocks in self._blocks]
        values = [value * few[one] * few[two] for (one, two), value in self._spread.items()]
        return [one for one, _ in self._spread], [two for _, two in self._spread], values

    def _sandwich(self, x: Sequence[float]) -> float:
        ones, twos, values = self._entries
        return dot(values, list(map(mul, map(x.__getitem__, ones), map(x.__getitem__, twos))))


def deviation_of(blocks: int, sandwich: float, model: float) -> float:
    """Return the standard deviation whose 1.96-fold is half of the interval's width, from both variances."""
    clustered = student(blocks - 1) / Z95 * sqrt(max(sandwich, 0.0)) if blocks > 1 else 0.0
    return max(clustered, sqrt(model))


def student(freedom: int) -> float:
    """Return Student's t at 0.975: exact for 1 and 2 degrees of freedom, else by the Cornish-Fisher series."""
    if freedom == 1:
        return tan(pi * 0.475)
    if freedom == 2:
        return 0.95 / sqrt(2 * 0.975 * 0.025)
    z, v = Z95, freedom
    return (
        z
        + (z**3 + z) / (4 * v)
        + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * v**2)
        + (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * v**3)
        + (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / (92160 * v**4)
    )
