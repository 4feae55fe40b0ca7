"""Odds: how likely a boat lies on each square of a board of which only hits and misses are known.

No one says which boat was hit, so the hits are explained in every way there is: hit by hit, each in turn is given a boat that
covers it and perhaps others. Ways that have come to the same hits left and the same boats left go on as one, so there are some
hundreds of steps and not millions. Each way counts by how many whole fleets agree with it: boats that it has no use for may lie
anywhere in the open. That two boats may want the same open square is left out of account.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from heapq import nlargest
from operator import itemgetter

from msgspec import Struct

from botdrome.bots.boat_chart import FULL, Chart, Field, OpenWater, Sea, chart_for, numbers_in, open_water, sea_of, squares_in
from botdrome.games.fleet import Mask, Rows

CERTAIN = 1 << 24
"""The odds of a square on which a boat must lie."""
EFFORT = 5000
"""About so many steps are taken at most to explain the hits: of more ways than that allows, the likeliest go on."""
NARROW = 4
"""But so many go on in any case."""
UNEXPLAINED = 0.2
"""What a way still counts for each hit that it has no boat for, where there is none otherwise."""
NO_ROOM = 0.01
"""How many berths in the open a length has that has none: such a boat must explain some hit."""
DIGIT = 5
"""Bits for the number of boats of one length: there are 23 boats at most."""
MOST = (1 << DIGIT) - 1

State = int
"""The hits that are not explained yet, above them the boats that are left, a digit for each length, and above these the squares
that boats may still take up beside the hits."""


class Cover(Struct, frozen=True, gc=False):
    """All berths of one length over exactly these hits."""

    hits: Mask
    length: int
    berths: int
    over: Field
    """How many of them go over each square."""


Boat = tuple[State, int, int, float, int]
"""What a cover takes from a state, its squares beside the hits, the place of its digit, its weight, and its number among all."""
Choices = dict[Mask, dict[Mask, list[Boat]]]
"""By the first of the hits that they cover, and by all of them."""
Step = tuple[State, State, float, float, int]
"""From a state to a state: the weight of the ways up to there, the weight of this step alone, and the number of the cover."""


class Ways(Struct, frozen=True):
    """What came of explaining the hits, all by weight."""

    weight: float
    shares: Sequence[float]
    """Cover by cover: the ways that it is in."""
    left: Sequence[float]
    """Length by length: the boats that nothing needed."""


@lru_cache(64)
def odds(board: Rows, boats: tuple[str, ...]) -> list[int]:
    """Square by square, with one more at the end of each row; 0 where somebody has shot."""
    chart, sea = chart_for(board, boats), sea_of(board)
    waters = open_water(chart, sea.open)
    covers = [cover for square in squares_in(sea.hits) for cover in covers_near(chart, sea, square)]
    ways = _explained(chart, sea, waters, covers)
    unit = CERTAIN / ways.weight
    field = 0
    for cover, share in zip(covers, ways.shares, strict=False):
        if share:
            field += int(share / cover.berths * unit) * cover.over
    for water, left in zip(waters.values(), ways.left, strict=True):
        if water.berths:
            field += int(left / water.berths * unit) * water.over
    return numbers_in(field & sea.open * FULL, chart)


def covers_near(chart: Chart, sea: Sea, first: int) -> list[Cover]:
    """The covers whose first hit this is."""
    reach = chart.reach[first]
    return _covers(chart, first, sea.hits & reach, sea.misses & reach)


@lru_cache(1 << 12)
def _covers(chart: Chart, first: int, hits: Mask, misses: Mask) -> list[Cover]:
    """Of all that is known only what is in reach counts, and little of that changes from shot to shot: so it is kept."""
    lowest = 1 << first
    found: dict[tuple[Mask, int], list[int]] = {}
    for berth in chart.over[first]:
        if not berth.mask & misses:
            covered = berth.mask & hits
            if covered & -covered == lowest:
                sums = found.setdefault((covered, berth.length), [0, 0])
                sums[0] += 1
                sums[1] += berth.field
    return [Cover(covered, length, berths, over) for (covered, length), (berths, over) in found.items()]


def _explained(chart: Chart, sea: Sea, waters: Mapping[int, OpenWater], covers: Sequence[Cover]) -> Ways:
    """In full, or where that cannot be, with hits that stay unexplained."""
    digits = {length: chart.squares + DIGIT * place for place, length in enumerate(chart.counts)}
    always = chart.squares + DIGIT * len(digits)
    start = sea.hits + sum(count << digits[length] for length, count in chart.counts.items()) + (1 << always)
    start += max(0, chart.afloat - sea.hits.bit_count()) << always + DIGIT
    boats = _boats(sea.hits, covers, digits, waters)
    ways = _ways(start, sea.hits, boats, len(covers), digits)
    if ways.weight:
        return ways
    for hit, choices in boats.items():
        choices.setdefault(hit, []).append((hit, 0, always, UNEXPLAINED, len(covers)))
    return _ways(start, sea.hits, boats, len(covers) + 1, digits)


def _boats(hits: Mask, covers: Sequence[Cover], digits: Mapping[int, int], waters: Mapping[int, OpenWater]) -> Choices:
    room = {length: water.berths or NO_ROOM for length, water in waters.items()}
    slack = max(digits.values()) + 2 * DIGIT
    boats: Choices = {1 << square: {} for square in squares_in(hits)}
    for number, cover in enumerate(covers):
        covered, digit = cover.hits, digits[cover.length]
        bare = cover.length - covered.bit_count()
        boat = (covered + (1 << digit) + (bare << slack), bare, digit, cover.berths / room[cover.length], number)
        boats[covered & -covered].setdefault(covered, []).append(boat)
    return boats


def _ways(start: State, hits: Mask, boats: Choices, covers: int, digits: Mapping[int, int]) -> Ways:
    """There, collecting the steps, and back, to see which of them lead to an end."""
    slack = max(digits.values()) + 2 * DIGIT
    steps, ends = _steps(start, hits, boats, slack, max(NARROW, EFFORT // (covers + 1)))
    onward = dict.fromkeys(ends, 1.0)
    shares = [0.0] * covers
    for state, after, weight, alone, number in reversed(steps):
        if after in onward:
            ways = onward[after]
            shares[number] += weight * ways
            onward[state] = onward.get(state, 0.0) + alone * ways
    left = [sum([weight * (state >> digit & MOST) for state, weight in ends.items()]) for digit in digits.values()]
    return Ways(sum(ends.values()), shares, left)


def _steps(start: State, hits: Mask, boats: Choices, slack: int, beam: int) -> tuple[list[Step], dict[State, float]]:
    """Every step from the start on, in order, and the states at the end with their weights."""
    states: dict[Mask, dict[State, float]] = {hit: {} for hit in boats}
    states[0] = {}
    states[hits & -hits][start] = 1.0
    steps: list[Step] = []
    for hit, choices in boats.items():
        reached = states[hit]
        for state, weight in reached.items() if len(reached) <= beam else nlargest(beam, reached.items(), key=itemgetter(1)):
            left, spare = state & hits, state >> slack
            for covered, fitting in choices.items():
                if left & covered == covered:
                    rest = left ^ covered
                    after = states[rest & -rest]
                    for cost, bare, digit, alone, number in fitting:
                        if bare <= spare and (count := state >> digit & MOST):
                            there, odd = state - cost, alone * count
                            share = weight * odd
                            after[there] = after.get(there, 0.0) + share
                            steps.append((state, there, share, odd, number))
    return steps, states[0]
