"""Strength: the ratings of all players of a game, from the results of pairs, with 95 % confidence intervals.

The model is Bradley-Terry on half points with a weak prior (a standard deviation of 600 Elo). A block of the variance is one
match. The margin is the larger of two half-widths: the sandwich estimate holds where results deviate from the model; the
model's own estimate holds for players that won or lost everything.
"""

from collections.abc import Iterable, Mapping, Sequence
from math import exp, log, pi, sqrt, tan
from operator import mul, sub

from msgspec import Struct

from botdrome.contest.rating import Z95

POINTS = 400 / log(10)
"""Elo points per unit of strength."""
MEAN = 1500.0
"""The mean rating of each group of connected players."""
PRIOR = (POINTS / 600) ** 2
LARGEST = 300
"""The group size from which no intervals are computed: the time grows with the cube of the size."""
STEPS, PRECISION = 50, 1e-6
"""The largest number of iterations, and the precision at which they stop."""

Score = tuple[int, int, int]
"""Wins of the first player, draws, wins of the second."""
Scores = Mapping[tuple[str, str], Score]


class Strength(Struct, frozen=True):
    """A player's rating. Ratings of different groups are not comparable, since their players have never met."""

    rating: float
    margin: float | None
    """Half of the interval's width; None if there is no interval yet."""
    group: int
    """The number of the group; 0 is the largest."""


class Point(Struct, frozen=True):
    """A rating at one time."""

    rating: float
    margin: float | None


def strengths(scores: Scores) -> dict[str, Strength]:
    found: dict[str, Strength] = {}
    for number, names in enumerate(groups(scores)):
        places = {name: place for place, name in enumerate(names)}
        pairs = [(places[one], places[two], score) for (one, two), score in scores.items() if one in places]
        group = _Group(len(names), pairs)
        values = group.fitted()
        margins = group.margins(values) if len(names) <= LARGEST else [None] * len(names)
        for name, value, margin in zip(names, values, margins, strict=True):
            found[name] = Strength(MEAN + POINTS * value, margin, number)
    return found


def groups(scores: Scores) -> list[list[str]]:
    """Return the groups of players that have met, directly or through others, largest first."""
    group_of: dict[str, list[str]] = {}
    for one, two in scores:
        small, large = sorted((group_of.setdefault(one, [one]), group_of.setdefault(two, [two])), key=len)
        if small is not large:
            large += small
            group_of.update(dict.fromkeys(small, large))
    distinct = {id(group): sorted(group) for group in group_of.values()}
    return sorted(distinct.values(), key=lambda group: (-len(group), group))


def performance(results: Iterable[tuple[float, Score]]) -> Point:
    """Return the rating of a player from its results against opponents with these ratings."""
    met = [((rating - MEAN) / POINTS, score) for rating, score in results]
    value = 0.0
    for _ in range(STEPS):
        slope, curve = -PRIOR * value, PRIOR
        for other, (wins, draws, losses) in met:
            p, times = expected(value - other), wins + draws + losses
            slope += wins + draws / 2 - times * p
            curve += times * p * (1 - p)
        change = max(-2.0, min(2.0, slope / curve))
        value += change
        if abs(change) < PRECISION:
            break
    games = sum(sum(score) for _, score in met)
    spread = sum(_spread(score, expected(value - other)) for other, score in met)
    return Point(MEAN + POINTS * value, margin(games, spread * _few(games) ** 2 / curve**2, 1 / curve))


def margin(games: int, sandwich: float, model: float) -> float | None:
    """Return half of the interval's width, from both variances."""
    if games < 2:
        return None
    return POINTS * max(student(games - 1) * sqrt(sandwich), Z95 * sqrt(model))


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


def expected(difference: float) -> float:
    return 1 / (1 + exp(-difference)) if difference > -700 else 0.0


def _spread(score: Score, p: float) -> float:
    """Return the sum of squared deviations of the matches from the expected result."""
    wins, draws, losses = score
    return wins * (1 - p) ** 2 + draws * (0.5 - p) ** 2 + losses * p * p


def _few(games: int) -> float:
    """Return the small-sample correction of the spread."""
    return sqrt(games / (games - 1)) if games > 1 else 1.0


class _Group:
    """Players that have met, directly or through others."""

    def __init__(self, players: int, pairs: Sequence[tuple[int, int, Score]]) -> None:
        self._players, self._pairs = players, pairs
        self._games = [0] * players
        for one, two, score in pairs:
            self._games[one] += sum(score)
            self._games[two] += sum(score)

    def fitted(self) -> list[float]:
        """Return the fitted strengths by Newton's method. Conjugate gradients solve each step, since few pairs have met."""
        values = [0.0] * self._players
        for _ in range(STEPS):
            slopes, weights = self._slopes(values)
            change = self._solved(weights, slopes)
            longest = max(map(abs, change))
            shrink = min(1.0, 2.0 / longest) if longest else 1.0
            values = [value + shrink * step for value, step in zip(values, change, strict=True)]
            if longest < PRECISION:
                break
        return values

    def _slopes(self, values: Sequence[float]) -> tuple[list[float], list[float]]:
        """Return the gradient, and the weight of each pair in the second derivative."""
        slopes, weights = [-PRIOR * value for value in values], []
        for one, two, (wins, draws, losses) in self._pairs:
            p, times = expected(values[one] - values[two]), wins + draws + losses
            surplus = wins + draws / 2 - times * p
            slopes[one] += surplus
            slopes[two] -= surplus
            weights.append(times * p * (1 - p))
        return slopes, weights

    def _solved(self, weights: Sequence[float], right: Sequence[float]) -> list[float]:
        """Solve H x = right."""
        x, rest = [0.0] * self._players, list(right)
        diagonal = self._times(weights, None)
        ready = [a / b for a, b in zip(rest, diagonal, strict=True)]
        way, size = ready, _dot(rest, ready)
        enough = PRECISION**2 * size
        for _ in range(STEPS):
            if size <= enough:
                break
            turned = self._times(weights, way)
            far = size / _dot(way, turned)
            x = [a + far * b for a, b in zip(x, way, strict=True)]
            rest = [a - far * b for a, b in zip(rest, turned, strict=True)]
            ready = [a / b for a, b in zip(rest, diagonal, strict=True)]
            before, size = size, _dot(rest, ready)
            way = [a + size / before * b for a, b in zip(ready, way, strict=True)]
        return x

    def _times(self, weights: Sequence[float], x: Sequence[float] | None) -> list[float]:
        """Return H x; with None, the diagonal of H."""
        product = [PRIOR] * self._players if x is None else [PRIOR * value for value in x]
        for (one, two, _), weight in zip(self._pairs, weights, strict=True):
            difference = 1.0 if x is None else x[one] - x[two]
            product[one] += weight * difference
            product[two] += weight if x is None else -weight * difference
        return product

    def margins(self, values: Sequence[float]) -> list[float | None]:
        inverse = _inverse(self._matrix(self._slopes(values)[1]))
        means = [sum(row) / self._players for row in inverse]
        whole = sum(means) / self._players
        few = [_few(games) for games in self._games]
        spreads = [_spread(score, expected(values[one] - values[two])) for one, two, score in self._pairs]
        ones, twos = [one for one, _, _ in self._pairs], [two for _, two, _ in self._pairs]
        found = []
        for player, row in enumerate(inverse):
            x = [factor * (value - mean) for factor, value, mean in zip(few, row, means, strict=True)]
            apart = list(map(sub, map(x.__getitem__, ones), map(x.__getitem__, twos)))
            sandwich = sum(map(mul, spreads, map(mul, apart, apart)))
            found.append(margin(self._games[player], sandwich, row[player] - 2 * means[player] + whole))
        return found

    def _matrix(self, weights: Sequence[float]) -> list[list[float]]:
        matrix = [[0.0] * self._players for _ in range(self._players)]
        for player, value in enumerate(self._times(weights, None)):
            matrix[player][player] = value
        for (one, two, _), weight in zip(self._pairs, weights, strict=True):
            matrix[one][two] -= weight
            matrix[two][one] -= weight
        return matrix


def _inverse(matrix: Sequence[Sequence[float]]) -> list[list[float]]:
    """Invert a symmetric positive definite matrix, by the columns of its inverted Cholesky factor."""
    size, rows = len(matrix), _cholesky(matrix)
    columns = []
    for at in range(size):
        column = [1 / rows[at][at]]
        for row in range(at + 1, size):
            column.append(-_dot(rows[row][at:row], column) / rows[row][row])
        columns.append(column)
    lower = [[_dot(columns[one][two - one :], columns[two]) for two in range(one, size)] for one in range(size)]
    return [[lower[min(one, two)][abs(one - two)] for two in range(size)] for one in range(size)]


def _cholesky(matrix: Sequence[Sequence[float]]) -> list[list[float]]:
    rows: list[list[float]] = []
    for at, given in enumerate(matrix):
        row: list[float] = []
        for other in range(at):
            row.append((given[other] - _dot(row, rows[other])) / rows[other][other])
        row.append(sqrt(given[at] - _dot(row, row)))
        rows.append(row)
    return rows


def _dot(one: Sequence[float], two: Sequence[float]) -> float:
    """Return the dot product over the length of the shorter vector."""
    return float(sum(map(mul, one, two)))
