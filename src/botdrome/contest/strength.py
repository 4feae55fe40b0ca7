"""Strength: the ratings of all players of a game, from blocks of results, with 95 % confidence intervals.

A block is a list of matches whose results depend on each other: one meeting on one seed, in all its seatings. Results of
different blocks are independent. The model is Bradley-Terry on half points for each pair at a table, with a weak prior (a
standard deviation of 600 Elo). The margin is the larger of two half-widths: the sandwich estimate, clustered by block, holds
where results deviate from the model; the model's own estimate holds for players that won or lost everything.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations, pairwise
from math import erf, exp, sqrt

from msgspec import Struct

from botdrome.contest.linear import PRECISION, STEPS, Springs
from botdrome.contest.variance import POINTS, Variances

MEAN = 1500.0
"""The mean rating of each group of connected players, without newer versions. Groups with anchors have no fixed mean."""
SETTLED_MARGIN, SETTLED_BLOCKS = 150.0, 50
"""A rating is settled if its interval is this narrow, or after so many blocks: a bot that wins everything never has a narrow
interval."""
FIXED = 1e9
"""The weight that holds an anchor at its rating."""
PRIOR = (POINTS / 600) ** 2
VERSION = (POINTS / 200) ** 2
"""A new version differs from its parent by a standard deviation of 200 Elo, until its results say more."""

Places = Mapping[str, int]
"""The places of the players of one match; 1 is the best, and players that are level share a place."""
Block = Sequence[Places]
CountedBlock = tuple[Block, int, float]
"""A block, the number of times it occurred, and the share of these times that count: repeated games tell nothing new."""
SingleMatch = tuple[tuple[str, int], ...]
"""The places of one match. Sort them, so that equal results are counted together."""

_PairResult = tuple[int, int, float, int]
"""Two players, the points of the first, and the number of their matches."""


class Strength(Struct, frozen=True):
    """A player's rating. Ratings of different groups are not comparable, since their players have never met."""

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
        return self.anchor or self.blocks >= SETTLED_BLOCKS or (self.margin is not None and self.margin <= SETTLED_MARGIN)

    @property
    def rank(self) -> tuple[bool, int, bool, float]:
        """What sorts players, best first: settled ratings before others, group by group, by the lower end of the interval."""
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
        """Return the probability that the first is stronger than the second. None: there is no interval yet, or they are not
        comparable."""
        first, second = self.strengths[one], self.strengths[two]
        if first.group != second.group or first.margin is None or second.margin is None:
            return None
        deviation = self._groups[first.group].deviation(one, two)
        return (1 + erf((first.rating - second.rating) / (POINTS * deviation * sqrt(2)))) / 2

    def groups(self) -> list[list[str]]:
        """Return the names of each group, best first. The first group is that with anchors, or else the largest one."""
        best = sorted(self.strengths, key=lambda name: (-self.strengths[name].rating, name))
        return [[name for name in best if self.strengths[name].group == number] for number in range(len(self._groups))]


def rate(blocks: Iterable[Block], parents: Mapping[str, str] | None = None) -> Ratings:
    """Rate players. `parents` names the earlier version of a player, from whose rating it starts."""
    return rate_counted(((block, 1, 1.0) for block in blocks), parents)


def rate_counted(
    blocks: Iterable[CountedBlock], parents: Mapping[str, str] | None = None, anchors: Mapping[str, float] | None = None
) -> Ratings:
    """Rate players. `anchors` are players with fixed ratings: through them all players have one scale, whoever joins."""
    pool = _Pool(parents or {}, anchors or {})
    for block, times, share in blocks:
        pool.add([tuple(places.items()) for places in block], times, share)
    return Ratings(pool)


def rate_blocks(
    blocks: Mapping[tuple[SingleMatch, ...], int], parents: Mapping[str, str], anchors: Mapping[str, float]
) -> Ratings:
    """Rate players by blocks, given with the number of times each result occurred."""
    pool = _Pool(parents, anchors)
    for block, times in blocks.items():
        pool.add(block, times)
    return Ratings(pool)


def rate_matches(matches: Mapping[SingleMatch, int], parents: Mapping[str, str] | None = None) -> Ratings:
    """Rate players by matches that are each a block of their own, given with the number of times each result occurred."""
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
        self.parents = [(self._place(child), self._place(parent)) for child, parent in parents.items()]
        _check_ancestry(parents)
        self.fixed = anchors

    @property
    def anchors(self) -> dict[int, float]:
        """The fixed strengths, by player."""
        return {self._places[name]: (rating - MEAN) / POINTS for name, rating in self.fixed.items() if name in self._places}

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
                pairs[one, two] = points + (1.0 if first < second else 0.5 if first == second else 0.0), met + 1
        weight = times * share
        for player in players:
            self.blocks_of[player] += weight
        for pair, (points, met) in pairs.items():
            total = self._met[pair]
            total[0] += weight * points
            total[1] += weight * met
        if pairs:
            self.blocks.append((weight, [(one, two, points, met) for (one, two), (points, met) in pairs.items()]))

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
        slopes = [slope - prior * value for slope, prior, value in zip(slopes, own, values, strict=True)]
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
        """Return the groups of players that have met, directly or through others. Anchors are comparable without having met.

        The group with anchors comes first, then the largest one.
        """
        pairs, anchors = (*self._met, *self.parents), self.anchors
        members = _connected(len(self.names), [*pairs, *pairwise(anchors)])
        members.sort(key=lambda group: (anchors.keys().isdisjoint(group), -len(group), min(self.names[one] for one in group)))
        groups = [
            Variances(group, [round(self.blocks_of[member]) for member in group], not anchors.keys().isdisjoint(group))
            for group in members
        ]
        local = {member: (group, place) for group in groups for place, member in enumerate(group.members)}
        springs, _ = self.springs(values)
        for (one, two), weight in zip(pairs, springs.weights, strict=True):
            group, place = local[one]
            group.springs.append((place, local[two][1], weight))
        for weight, block in self.blocks:
            group, _ = local[block[0][0]]
            group.add_block(weight, [(local[one][1], local[two][1], surplus) for one, two, surplus in _surplus(block, values)])
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
    return [(one, two, points - met * expected(values[one] - values[two])) for one, two, points, met in block]


def _check_ancestry(parents: Mapping[str, str]) -> None:
    for name in parents:
        line = {name}
        while (name := parents.get(name, "")) in parents:
            if name in line:
                raise ValueError(f"{name!r} is its own ancestor; a version must have a parent that is older")
            line.add(name)


def expected(difference: float) -> float:
    return 1 / (1 + exp(-difference)) if difference > -700 else 0.0
