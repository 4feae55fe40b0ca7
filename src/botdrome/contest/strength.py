"""Strength: the ratings of all players of a game, from blocks of results, with 95 % confidence
intervals.

A block is a list of matches whose results depend on each other: one meeting on one seed, in all its
seatings. Results of different blocks are independent. The model is Bradley-Terry on half points for
each pair at a table, with a weak prior (a standard deviation of 600 Elo). The margin is the larger
of two half-widths: the sandwich estimate, clustered by block, holds where results deviate from the
model; the model's own estimate holds for players that won or lost everything.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from itertools import combinations, pairwise
from math import erf, exp, inf, log, log10, pi, sqrt, tan
from operator import mul

from msgspec import Struct

# Rating: Elo differences of shares of points, their 95 % intervals, and Elo ratings updated_elo
# game by game.

Z95 = 1.959963984540054
CERTAIN = 1e-9
"""A share closer to 0 or 1 than this counts as 0 or 1."""


def elo_points(share: float) -> float:
    """Return the Elo difference at which this share of the points is expected_share."""
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


# Elo ratings, updated_elo game by game.

START = 1200.0
K = 30


def expected_share(own: float, other: float) -> float:
    """Return the share of the points that the ratings predict."""
    return 1 / (1 + 10 ** ((other - own) / 400))


def updated_elo(own: float, other: float, share: float) -> tuple[float, float]:
    """Return both ratings after a game in which the first had this share of the point: 1, 0, or 0.5
    for a draw.
    """
    gain = K * (share - expected_share(own, other))
    return own + gain, other - gain


# Linear algebra for ratings: sparse symmetric systems, and inverses of symmetric positive definite
# matrices.

STEPS, PRECISION = 50, 1e-6
"""The largest number of iterations, and the precision at which they stop."""

Vector = Sequence[float]


class Springs(Struct, frozen=True):
    """The matrix H of a sum of squares: `own[i]` times x_i^2, and `weights[k]` times (x_one -
    x_two)^2 for each pair k.
    """

    own: Vector
    ones: Sequence[int]
    twos: Sequence[int]
    weights: Vector

    def diagonal(self) -> list[float]:
        found = list(self.own)
        for one, two, weight in zip(self.ones, self.twos, self.weights, strict=True):
            found[one] += weight
            found[two] += weight
        return found

    def times(self, x: Vector) -> list[float]:
        """Return H x."""
        product = list(map(mul, self.own, x))
        for one, two, weight in zip(self.ones, self.twos, self.weights, strict=True):
            pull = weight * (x[one] - x[two])
            product[one] += pull
            product[two] -= pull
        return product

    def solved(self, right: Vector) -> list[float]:
        """Solve H x = right by conjugate gradients, which are fast because few pairs have met."""
        x, rest, diagonal = [0.0] * len(right), list(right), self.diagonal()
        ready = [a / b for a, b in zip(rest, diagonal, strict=True)]
        way, size = ready, dot(rest, ready)
        enough = PRECISION**2 * size
        for _ in range(STEPS):
            if size <= enough:
                break
            turned = self.times(way)
            far = size / dot(way, turned)
            x = [a + far * b for a, b in zip(x, way, strict=True)]
            rest = [a - far * b for a, b in zip(rest, turned, strict=True)]
            ready = [a / b for a, b in zip(rest, diagonal, strict=True)]
            before, size = size, dot(rest, ready)
            way = [a + size / before * b for a, b in zip(ready, way, strict=True)]
        return x

    def inverse(self) -> list[list[float]]:
        size = len(self.own)
        matrix = [[0.0] * size for _ in range(size)]
        for at, value in enumerate(self.diagonal()):
            matrix[at][at] = value
        for one, two, weight in zip(self.ones, self.twos, self.weights, strict=True):
            matrix[one][two] -= weight
            matrix[two][one] -= weight
        return _inverse(matrix)


def _inverse(matrix: Sequence[Vector]) -> list[list[float]]:
    """Invert a symmetric positive definite matrix, by the columns of its inverted
    Cholesky factor.
    """
    size, rows = len(matrix), _cholesky(matrix)
    columns = []
    for at in range(size):
        column = [1 / rows[at][at]]
        for row in range(at + 1, size):
            column.append(-dot(rows[row][at:row], column) / rows[row][row])
        columns.append(column)
    lower = [
        [dot(columns[one][two - one :], columns[two]) for two in range(one, size)]
        for one in range(size)
    ]
    return [[lower[min(one, two)][abs(one - two)] for two in range(size)] for one in range(size)]


def _cholesky(matrix: Sequence[Vector]) -> list[list[float]]:
    rows: list[list[float]] = []
    for at, given in enumerate(matrix):
        row: list[float] = []
        for other in range(at):
            row.append((given[other] - dot(row, rows[other])) / rows[other][other])
        row.append(sqrt(given[at] - dot(row, row)))
        rows.append(row)
    return rows


def dot(one: Vector, two: Vector) -> float:
    """Return the dot product over the length of the shorter vector."""
    return float(sum(map(mul, one, two)))


# Variance: how sure the strengths of players are that have met, directly or through others.

POINTS = 400 / log(10)
"""Elo points per unit of strength."""
LARGEST = 300
"""The group size from which no intervals are computed: the time grows with the cube of the size."""


class Variances:
    """The variances of the players of one group."""

    def __init__(
        self, members: Sequence[int], blocks: Sequence[int], anchored: bool = False
    ) -> None:
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
        """The players without a parent: ratings are differences to their mean, which new versions
        do not move.
        """
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
    """Return the standard deviation whose 1.96-fold is half of the interval's width, from both
    variances.
    """
    clustered = student(blocks - 1) / Z95 * sqrt(max(sandwich, 0.0)) if blocks > 1 else 0.0
    return max(clustered, sqrt(model))


def student(freedom: int) -> float:
    """Return Student's t at 0.975: exact for 1 and 2 degrees of freedom, else by the Cornish-Fisher
    series.
    """
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


MEAN = 1500.0
"""The mean rating of each group of connected players, without newer versions.

Groups with anchors have no fixed mean.
"""
SETTLED_MARGIN, SETTLED_BLOCKS = 150.0, 50
"""A rating is settled if its interval is this narrow, or after so many blocks: a bot that wins
everything never has a narrow interval.
"""
FIXED = 1e9
"""The weight that holds an anchor at its rating."""
PRIOR = (POINTS / 600) ** 2
VERSION = (POINTS / 200) ** 2
"""A new version differs from its parent by a standard deviation of 200 Elo, until its results say
more.
"""

Places = Mapping[str, int]
"""The places of the players of one match; 1 is the best, and players that are level share a place.
"""
Block = Sequence[Places]
CountedBlock = tuple[Block, int, float]
"""A block, the number of times it occurred, and the share of these times that count: repeated games
tell nothing new.
"""
SingleMatch = tuple[tuple[str, int], ...]
"""The places of one match. Sort them, so that equal results are counted together."""

_PairResult = tuple[int, int, float, int]
"""Two players, the points of the first, and the number of their matches."""


class Strength(Struct, frozen=True):
    """A player's rating.

    Ratings of different groups are not comparable, since their players have never met.
    """

    rating: float
    margin: float | None
    """Half of the interval's width; None if there is no interval yet."""
    group: int
    """The number of the group; 0 is the largest."""
    games: int
    draws: int
    """Matches in which it shared the first place."""
    blocks: int = 0
    anchor: bool = False
    """Whether the rating is fixed."""

    @property
    def settled(self) -> bool:
        return (
            self.anchor
            or self.blocks >= SETTLED_BLOCKS
            or (self.margin is not None and self.margin <= SETTLED_MARGIN)
        )

    @property
    def rank(self) -> tuple[bool, int, bool, float]:
        """What sorts players, best first: settled ratings before others, group by group, by the
        lower end of the interval.
        """
        return not self.settled, self.group, self.margin is None, (self.margin or 0.0) - self.rating


class Ratings:
    """The strengths of all players, and comparisons of pairs."""

    def __init__(self, pool: "_Pool") -> None:
        self.strengths: dict[str, Strength] = {}
        values = pool.fitted()
        self._groups, anchors = pool.groups(values), pool.anchors
        for number, group in enumerate(self._groups):
            own = [values[member] for member in group.members]
            mean = group.mean(own)
            for place, member in enumerate(group.members):
                name = pool.names[member]
                rating = pool.fixed.get(name, MEAN + POINTS * (own[place] - mean))
                counts = pool.games[member], pool.draws[member], round(pool.blocks_of[member])
                anchor = member in anchors
                margin = 0.0 if anchor else group.margin(place)
                self.strengths[name] = Strength(rating, margin, number, *counts, anchor)

    def beats(self, one: str, two: str) -> float | None:
        """Return the probability that the first is stronger than the second. None: there is no
        interval yet, or they are not comparable.
        """
        first, second = self.strengths[one], self.strengths[two]
        if first.group != second.group or first.margin is None or second.margin is None:
            return None
        deviation = self._groups[first.group].deviation(one, two)
        return (1 + erf((first.rating - second.rating) / (POINTS * deviation * sqrt(2)))) / 2

    def groups(self) -> list[list[str]]:
        """Return the names of each group, best first.

        The first group is that with anchors, or else the largest one.
        """
        best = sorted(self.strengths, key=lambda name: (-self.strengths[name].rating, name))
        return [
            [name for name in best if self.strengths[name].group == number]
            for number in range(len(self._groups))
        ]


def rate(blocks: Iterable[Block], parents: Mapping[str, str] | None = None) -> Ratings:
    """Rate players.

    `parents` names the earlier version of a player, from whose rating it starts.
    """
    return rate_counted(((block, 1, 1.0) for block in blocks), parents)


def rate_counted(
    blocks: Iterable[CountedBlock],
    parents: Mapping[str, str] | None = None,
    anchors: Mapping[str, float] | None = None,
) -> Ratings:
    """Rate players.

    `anchors` are players with fixed ratings: through them all players have one scale, whoever
    joins.
    """
    pool = _Pool(parents or {}, anchors or {})
    for block, times, share in blocks:
        pool.add([tuple(places.items()) for places in block], times, share)
    return Ratings(pool)


def rate_blocks(
    blocks: Mapping[tuple[SingleMatch, ...], int],
    parents: Mapping[str, str],
    anchors: Mapping[str, float],
) -> Ratings:
    """Rate players by blocks, given with the number of times each result occurred."""
    pool = _Pool(parents, anchors)
    for block, times in blocks.items():
        pool.add(block, times)
    return Ratings(pool)


def rate_matches(
    matches: Mapping[SingleMatch, int], parents: Mapping[str, str] | None = None
) -> Ratings:
    """Rate players by matches that are each a block of their own, given with the number of times
    each result occurred.
    """
    return rate_blocks({(match,): times for match, times in matches.items()}, parents or {}, {})


class _Pool:
    """All results: points and meetings of each pair, and the blocks they come from."""

    def __init__(self, parents: Mapping[str, str], anchors: Mapping[str, float]) -> None:
        self.names: list[str] = []
        self._places: dict[str, int] = {}
        self.games, self.draws = list[int](), list[int]()
        self.blocks_of: list[float] = []
        self.blocks: list[tuple[float, list[_PairResult]]] = []
        """Each with the number of times it counts."""
        self._met: defaultdict[tuple[int, int], list[float]] = defaultdict(lambda: [0.0, 0])
        self.parents = [
            (self._place(child), self._place(parent)) for child, parent in parents.items()
        ]
        _check_ancestry(parents)
        self.fixed = anchors

    @property
    def anchors(self) -> dict[int, float]:
        """The fixed strengths, by player."""
        return {
            self._places[name]: (rating - MEAN) / POINTS
            for name, rating in self.fixed.items()
            if name in self._places
        }

    def _place(self, name: str) -> int:
        place = self._places.setdefault(name, len(self.names))
        if place == len(self.names):
            self.names.append(name)
            self.games.append(0)
            self.draws.append(0)
            self.blocks_of.append(0.0)
        return place

    def add(self, matches: Sequence[SingleMatch], times: int, share: float = 1.0) -> None:
        pairs: dict[tuple[int, int], tuple[float, int]] = {}
        players = set[int]()
        for match in matches:
            seats = sorted([(self._place(name), place) for name, place in match])
            level = sum(place == 1 for _, place in seats) > 1
            for player, place in seats:
                self.games[player] += times
                self.draws[player] += times if level and place == 1 else 0
                players.add(player)
            for (one, first), (two, second) in combinations(seats, 2):
                points, met = pairs.get((one, two), (0.0, 0))
                pairs[one, two] = (
                    points + (1.0 if first < second else 0.5 if first == second else 0.0),
                    met + 1,
                )
        weight = times * share
        for player in players:
            self.blocks_of[player] += weight
        for pair, (points, met) in pairs.items():
            total = self._met[pair]
            total[0] += weight * points
            total[1] += weight * met
        if pairs:
            self.blocks.append(
                (weight, [(one, two, points, met) for (one, two), (points, met) in pairs.items()])
            )

    def springs(self, values: Sequence[float]) -> tuple[Springs, list[float]]:
        """Return the second derivative, and the gradient."""
        own = [PRIOR] * len(values)
        slopes, weights = [0.0] * len(values), []
        for (one, two), (points, met) in self._met.items():
            p = expected(values[one] - values[two])
            surplus = points - met * p
            slopes[one] += surplus
            slopes[two] -= surplus
            weights.append(met * p * (1 - p))
        for child, parent in self.parents:
            own[child] = 0.0
            pull = VERSION * (values[child] - values[parent])
            slopes[child] -= pull
            slopes[parent] += pull
            weights.append(VERSION)
        for anchor, strength in self.anchors.items():
            own[anchor] = FIXED
            slopes[anchor] += FIXED * strength
        slopes = [
            slope - prior * value for slope, prior, value in zip(slopes, own, values, strict=True)
        ]
        pairs = [*self._met, *self.parents]
        return Springs(own, [one for one, _ in pairs], [two for _, two in pairs], weights), slopes

    def fitted(self) -> list[float]:
        """Return the fitted strengths by Newton's method, with steps of at most 2."""
        anchors = self.anchors
        values = [anchors.get(player, 0.0) for player in range(len(self.names))]
        for _ in range(STEPS):
            springs, slopes = self.springs(values)
            change = springs.solved(slopes)
            longest = max(map(abs, change), default=0.0)
            shrink = min(1.0, 2.0 / longest) if longest else 1.0
            values = [value + shrink * step for value, step in zip(values, change, strict=True)]
            if longest < PRECISION:
                break
        return values

    def groups(self, values: Sequence[float]) -> list[Variances]:
        """Return the groups of players that have met, directly or through others.

        Anchors are comparable without having met.

        The group with anchors comes first, then the largest one.
        """
        pairs, anchors = (*self._met, *self.parents), self.anchors
        members = _connected(len(self.names), [*pairs, *pairwise(anchors)])
        members.sort(
            key=lambda group: (
                anchors.keys().isdisjoint(group),
                -len(group),
                min(self.names[one] for one in group),
            )
        )
        groups = [
            Variances(
                group,
                [round(self.blocks_of[member]) for member in group],
                not anchors.keys().isdisjoint(group),
            )
            for group in members
        ]
        local = {
            member: (group, place) for group in groups for place, member in enumerate(group.members)
        }
        springs, _ = self.springs(values)
        for (one, two), weight in zip(pairs, springs.weights, strict=True):
            group, place = local[one]
            group.springs.append((place, local[two][1], weight))
        for weight, block in self.blocks:
            group, _ = local[block[0][0]]
            group.add_block(
                weight,
                [
                    (local[one][1], local[two][1], surplus)
                    for one, two, surplus in _surplus(block, values)
                ],
            )
        for member, prior in enumerate(springs.own):
            group, place = local[member]
            group.names[self.names[member]] = place
            group.own[place] = prior
        return groups


def _connected(players: int, pairs: Iterable[tuple[int, int]]) -> list[list[int]]:
    group_of = {player: [player] for player in range(players)}
    for one, two in pairs:
        small, large = sorted((group_of[one], group_of[two]), key=len)
        if small is not large:
            large += small
            group_of.update(dict.fromkeys(small, large))
    return list({id(group): group for group in group_of.values()}.values())


def _surplus(block: Sequence[_PairResult], values: Sequence[float]) -> list[tuple[int, int, float]]:
    """Return the points of each pair above the expectation."""
    return [
        (one, two, points - met * expected(values[one] - values[two]))
        for one, two, points, met in block
    ]


def _check_ancestry(parents: Mapping[str, str]) -> None:
    for name in parents:
        line = {name}
        while (name := parents.get(name, "")) in parents:
            if name in line:
                raise ValueError(
                    f"{name!r} is its own ancestor; a version must have a parent that is older"
                )
            line.add(name)


def expected(difference: float) -> float:
    return 1 / (1 + exp(-difference)) if difference > -700 else 0.0


# Performance: the rating of one player, from its results against opponents with known ratings.

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
        surplus = sum(
            points - expected(value - (rating - MEAN) / POINTS) for rating, points in match
        )
        spread += times * surplus**2
    sandwich = spread * games / (games - 1) / curve**2
    return POINTS * Z95 * deviation_of(games, sandwich, 1 / curve)
