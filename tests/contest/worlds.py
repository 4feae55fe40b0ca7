"""Simulated worlds, in which the true strengths are known: seats, seeds and ties distort the
results of matches.

A player's performance in a match is its strength, plus effects of its seat, of the seed on that
seat and of the seed on that player, plus chance. Players whose performances fall into one cell of a
grid are level.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations, permutations
from math import exp, log, log1p
from random import Random
from statistics import NormalDist

from msgspec import Struct

from botdrome.contest.formats.format import moved_on
from botdrome.contest.sequential import block_score, seatings
from botdrome.contest.strength import POINTS, Ratings, SingleMatch, elo_points, expected, rate
from botdrome.games.chance import Chance

Places = Mapping[str, int]
"""The places of the players of one match."""
Block = Sequence[Places]


def rated(blocks: Iterable[Block], parents: Mapping[str, str] | None = None) -> Ratings:
    """Rate players by blocks that each count once."""
    matches = ([tuple(places.items()) for places in block] for block in blocks)
    return rate(((block, 1, 1.0) for block in matches), parents)


def rated_matches(
    matches: Mapping[SingleMatch, int],
    parents: Mapping[str, str] | None = None,
    anchors: Mapping[str, float] | None = None,
) -> Ratings:
    """Rate players by matches that are each a block of their own, given with the number of times
    each result occurred.
    """
    return rate((([match], times, 1.0) for match, times in matches.items()), parents, anchors)


class World(Struct, frozen=True):
    """The sizes of the effects in Elo points; those of seeds are standard deviations."""

    seats: float = 0.0
    """The advantage of the first seat, and the disadvantage of the last one."""
    seed_and_seat: float = 0.0
    seed_and_bot: float = 0.0
    cell: float = 1e-3

    def of_seat(self, seat: int, seats: int) -> float:
        return self.seats * (1 - 2 * seat / (seats - 1))

    def score(self, difference: float, seats: int) -> float:
        """Return the share of the points against an opponent that is weaker by this difference,
        over balanced seats.
        """
        width, both = self.cell / POINTS, 2 * (self.seed_and_seat**2 + self.seed_and_bot**2)
        total, cases = 0.0, 0
        for one, two in permutations(range(seats), 2):
            apart = difference + self.of_seat(one, seats) - self.of_seat(two, seats)
            for luck in LUCK:
                x = (apart + both**0.5 * luck) / POINTS
                total += (_softplus(x + width) - _softplus(x - width)) / (2 * width)
                cases += 1
        return total / cases


LUCK = NormalDist().quantiles(40)
PLAIN = World()
CROSSED = World(seats=100, seed_and_seat=100, seed_and_bot=150, cell=40)


def _softplus(x: float) -> float:
    return max(x, 0.0) + log1p(exp(-abs(x)))


class Seed:
    """The effects that all matches on one seed share."""

    def __init__(self, world: World, seats: int, random: Random) -> None:
        self._world, self._random = world, random
        self._seats = [
            world.of_seat(seat, seats) + random.gauss(0, world.seed_and_seat)
            for seat in range(seats)
        ]
        self._bots: dict[int, float] = {}

    def levels(self, bots: Sequence[int], strengths: Sequence[float]) -> list[float]:
        """Play a match of these bots, by seat. The highest level wins; equal ones are level."""
        random, cell = self._random, self._world.cell
        shift, found = random.random() * cell, []
        for bot, seat in zip(bots, self._seats, strict=True):
            if bot not in self._bots:
                self._bots[bot] = random.gauss(0, self._world.seed_and_bot)
            chance = -POINTS * log(random.expovariate(1))
            found.append((strengths[bot] + seat + self._bots[bot] + chance + shift) // cell)
        return found


def tournament(
    world: World, strengths: Sequence[float], seats: int, seeds: int, random: Random
) -> list[Block]:
    """Every meeting plays that many seeds of its own, each once per seating."""
    return [
        _block(Seed(world, seats, random), meeting, strengths)
        for meeting in combinations(range(len(strengths)), seats)
        for _ in range(seeds)
    ]


def _block(seed: Seed, meeting: Sequence[int], strengths: Sequence[float]) -> Block:
    block = []
    for turn in range(len(meeting)):
        bots = moved_on(meeting, turn)
        levels = seed.levels(bots, strengths)
        block.append(
            {
                str(bot): 1 + sum(other > level for other in levels)
                for bot, level in zip(bots, levels, strict=True)
            }
        )
    return block


def true_ratings(world: World, strengths: Sequence[float], seats: int) -> list[float]:
    """Return what the ratings of an endless tournament approach, around 0: a world may shrink the
    differences.
    """
    pairs = list(combinations(range(len(strengths)), 2))
    shares = [world.score(strengths[one] - strengths[two], seats) for one, two in pairs]
    values = [strength / POINTS for strength in strengths]
    for _ in range(500):
        surplus = [0.0] * len(values)
        for (one, two), share in zip(pairs, shares, strict=True):
            extra = share - expected(values[one] - values[two])
            surplus[one] += extra
            surplus[two] -= extra
        values = [
            value + 2 * extra / len(values) for value, extra in zip(values, surplus, strict=True)
        ]
    mean = sum(values) / len(values)
    return [POINTS * (value - mean) for value in values]


def duel_blocks(
    world: World, seats: int, advantage: float, blocks: int, random: Random
) -> list[list[float]]:
    """Return the scores of the two games of each block, in which the new bot is stronger by this
    advantage.
    """
    found = []
    for _ in range(blocks):
        seed, scores = Seed(world, seats, random), []
        for seating in seatings(seats, None, Chance(random.getrandbits(64))):
            levels = seed.levels([int(new) for new in seating], (0.0, advantage))
            scores.append(block_score([(seating, [int(-level) for level in levels])]))
        found.append(scores)
    return found


def advantage_at(world: World, seats: int, elo: float) -> float:
    """Return the strength that gives this Elo difference in the scores, which seats and seeds
    shrink.
    """
    low, high = 0.0, 500.0
    for _ in range(30):
        middle = (low + high) / 2
        low, high = (
            (middle, high) if elo_points(world.score(middle, seats)) < elo else (low, middle)
        )
    return low
