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
from typing import TYPE_CHECKING, Any

from msgspec import Struct

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[Any]
    Integers = NDArray[Any]

# Rating: Elo differences of shares of points, their 95 % intervals, and Elo ratings that
# each game updates.

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


# Elo ratings that each game updates.

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


# Linear algebra for ratings. numpy is imported where it is used: it takes long to load, and most
# commands rate nothing.

STEPS, PRECISION = 50, 1e-6
"""The largest number of iterations, and the precision at which they stop."""


class Springs(Struct, frozen=True):
    """The matrix H of a sum of squares: `own[i]` times x_i^2, and `weights[k]` times (x_one -
    x_two)^2 for each pair k.
    """

    own: "Floats"
    ones: "Integers"
    twos: "Integers"
    weights: "Floats"

    def pulled(self, pull: "Floats") -> "Floats":
        """Return the sum of each player's pulls: those of pairs in which it is the first, less
        those in which it is the second.
        """
        import numpy as np

        size = len(self.own)
        return np.bincount(self.ones, pull, size) - np.bincount(self.twos, pull, size)

    def times(self, x: "Floats") -> "Floats":
        """Return H x."""
        return self.own * x + self.pulled(self.weights * (x[self.ones] - x[self.twos]))

    def matrix(self) -> "Floats":
        import numpy as np

        found = np.diag(self.own)
        for one, two, sign in (
            (self.ones, self.ones, 1),
            (self.twos, self.twos, 1),
            (self.ones, self.twos, -1),
            (self.twos, self.ones, -1),
        ):
            np.add.at(found, (one, two), sign * self.weights)
        return found

    def solved(self, right: "Floats") -> "Floats":
        """Solve H x = right by conjugate gradients, which are fast because few pairs have met."""
        import numpy as np

        x, rest = 0 * right, right
        both, twice = np.concatenate([self.ones, self.twos]), np.tile(self.weights, 2)
        diagonal = self.own + np.bincount(both, twice, len(right))
        way = ready = rest / diagonal
        size = rest @ ready
        enough = PRECISION**2 * size
        for _ in range(STEPS):
            if size <= enough:
                break
            turned = self.times(way)
            far = size / (way @ turned)
            x, rest = x + far * way, rest - far * turned
            ready = rest / diagonal
            before, size = size, rest @ ready
            way = ready + size / before * way
        return x


# Variance: how sure the strengths of players are that have met, directly or through others.

POINTS = 400 / log(10)
"""Elo points per unit of strength."""
LARGEST = 3000
"""The largest group with intervals: the time grows with the cube of its size, to seconds here."""


class Variances:
    """The variances of the players of one group."""

    def __init__(
        self, members: Sequence[int], blocks: Sequence[int], anchored: bool, known: bool
    ) -> None:
        """`anchored`: some ratings are fixed, so the ratings are no differences to a mean.

        `known`: the variances are computed.
        """
        self.members, self._blocks, self._anchored = members, blocks, anchored
        self.known = known
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
    def _roots(self) -> "Integers":
        """The players without a parent: ratings are differences to their mean, which new versions
        do not move.
        """
        import numpy as np

        return np.array([place for place, prior in enumerate(self.own) if prior])

    @cached_property
    def _inverse(self) -> tuple["Floats", "Floats", float]:
        """The inverse of the second derivative, the means of its rows over the roots, and the mean
        of these.
        """
        import numpy as np

        ones, twos, weights = map(np.array, zip(*self.springs, strict=True))
        rows = np.linalg.inv(Springs(np.array(self.own), ones, twos, weights).matrix())
        means = np.array([self.mean(row) for row in rows])
        return rows, means, self.mean(means)

    def mean(self, values: "Floats") -> float:
        """Return the mean that is taken off the ratings."""
        return 0.0 if self._anchored else float(values[self._roots].mean())

    def margin(self, place: int) -> float | None:
        """Return half of the width of the interval around the rating."""
        has_parent = not self.own[place]
        if not self.known or (self._blocks[place] < 2 and not has_parent):
            return None
        rows, means, whole = self._inverse
        model = rows[place][place] - 2 * means[place] + whole
        sandwich = self._sandwich(rows[place] - means)
        return POINTS * Z95 * deviation_of(self._blocks[place], sandwich, model)

    def deviation(self, one: str, two: str) -> float:
        """Return the standard deviation of the difference of two strengths."""
        first, second = self.names[one], self.names[two]
        rows = self._inverse[0]
        apart = rows[first] - rows[second]
        blocks = min(self._blocks[first], self._blocks[second])
        return deviation_of(blocks, self._sandwich(apart), apart[first] - apart[second])

    @cached_property
    def _entries(self) -> tuple["Integers", "Integers", "Floats"]:
        """The spread as columns, with the correction for players with few blocks."""
        import numpy as np

        few = np.array([sqrt(one / (one - 1)) if one > 1 else 1.0 for one in self._blocks])
        ones, twos = np.array(list(self._spread)).T
        return ones, twos, np.array(list(self._spread.values())) * few[ones] * few[twos]

    def _sandwich(self, x: "Floats") -> float:
        ones, twos, values = self._entries
        return float(values @ (x[ones] * x[twos]))


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

SingleMatch = tuple[tuple[str, int], ...]
"""The players of one match and their places; 1 is the best, and players that are level share a
place.
"""
CountedBlock = tuple[Sequence[SingleMatch], int, float]
"""A block, the number of times it occurred, and the share of these times that count: repeated games
tell nothing new.
"""

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

    def __init__(self, pool: "_Pool", largest: int) -> None:
        self.strengths: dict[str, Strength] = {}
        values = pool.fitted()
        self._groups, anchors = pool.groups(values, largest), pool.anchors
        for number, group in enumerate(self._groups):
            own = values[list(group.members)]
            mean = group.mean(own)
            for place, member in enumerate(group.members):
                name = pool.names[member]
                rating = pool.fixed.get(name, float(MEAN + POINTS * (own[place] - mean)))
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


def rate(
    blocks: Iterable[CountedBlock],
    parents: Mapping[str, str] | None = None,
    anchors: Mapping[str, float] | None = None,
    largest: int = LARGEST,
) -> Ratings:
    """Rate players.

    `parents` names the earlier version of a player, from whose rating it starts. `anchors` are
    players with fixed ratings: through them all players have one scale, whoever joins. `largest`
    is the size of the largest group with intervals.
    """
    pool = _Pool(parents or {}, anchors or {})
    for block in blocks:
        pool.add(*block)
    return Ratings(pool, largest)


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

    def add(self, matches: Sequence[SingleMatch], times: int, share: float) -> None:
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

    @cached_property
    def _columns(self) -> tuple["Integers", "Integers", "Floats", "Floats"]:
        """The pairs that have met and those of parents, and the points and games of the former."""
        import numpy as np

        pairs = np.array([*self._met, *self.parents], np.intp).reshape(-1, 2)
        counts = np.array([*self._met.values()], float).reshape(-1, 2)
        return pairs[:, 0], pairs[:, 1], counts[:, 0], counts[:, 1]

    def springs(self, values: "Floats") -> tuple[Springs, "Floats"]:
        """Return the second derivative, and the gradient."""
        import numpy as np

        ones, twos, points, games = self._columns
        apart, own = values[ones] - values[twos], np.full(len(values), PRIOR)
        p = 1 / (1 + np.exp(-apart[: len(points)]))
        older = np.full(len(self.parents), VERSION)
        for child, _ in self.parents:
            own[child] = 0.0
        for anchor in self.anchors:
            own[anchor] = FIXED
        springs = Springs(own, ones, twos, np.concatenate([games * p * (1 - p), older]))
        slopes = springs.pulled(np.concatenate([points - games * p, -older * apart[len(points) :]]))
        for anchor, strength in self.anchors.items():
            slopes[anchor] += FIXED * strength
        return springs, slopes - own * values

    def fitted(self) -> "Floats":
        """Return the fitted strengths by Newton's method, with steps of at most 2."""
        import numpy as np

        anchors = self.anchors
        values = np.array([anchors.get(player, 0.0) for player in range(len(self.names))])
        for _ in range(STEPS):
            springs, slopes = self.springs(values)
            change = springs.solved(slopes)
            longest = np.abs(change).max(initial=0.0)
            values = values + min(1.0, 2.0 / longest if longest else 1.0) * change
            if longest < PRECISION:
                break
        return values

    def groups(self, values: "Floats", largest: int) -> list[Variances]:
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
                1 < len(group) <= largest,
            )
            for group in members
        ]
        local = {
            member: (group, place) for group in groups for place, member in enumerate(group.members)
        }
        springs, _ = self.springs(values)
        for (one, two), weight in zip(pairs, springs.weights.tolist(), strict=True):
            group, place = local[one]
            group.springs.append((place, local[two][1], weight))
        known = values.tolist()
        for weight, block in self.blocks:
            group, _ = local[block[0][0]]
            if group.known:
                surplus = _surplus(block, known)
                group.add_block(
                    weight, [(local[one][1], local[two][1], points) for one, two, points in surplus]
                )
        for member, prior in enumerate(springs.own.tolist()):
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
