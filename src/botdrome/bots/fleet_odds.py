"""Odds: the chance that a boat lies on each square of a board, given its hits and misses.

The game does not tell which boat was hit, so the search tries every explanation. It assigns to each hit in turn a boat that
covers it and perhaps other hits. Explanations with the same remaining hits and boats are merged, so there are hundreds of
steps instead of millions. The weight of an explanation is the number of fleets that agree with it; unused boats may lie
anywhere in open water. Overlaps of boats in open water are ignored.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from heapq import nlargest
from operator import itemgetter

from msgspec import Struct

from botdrome.bots.boat_chart import FULL, Chart, Field, OpenWater, Sea, chart_for, numbers_in, open_water, sea_of, squares_in
from botdrome.games.fleet import Mask, Rows

CERTAIN = 1 << 24
"""The odds of a square that must hold a boat."""
EFFORT = 5000
"""The approximate limit of search steps. Beyond it only the likeliest explanations are continued."""
NARROW = 4
"""The number of explanations that are continued in any case."""
UNEXPLAINED = 0.2
"""The factor for each unexplained hit, if no full explanation exists."""
NO_ROOM = 0.01
"""The berth count for a length without open berths: such a boat must explain some hit."""
DIGIT = 5
"""Bits for the number of boats of one length: there are at most 23 boats."""
MOST = (1 << DIGIT) - 1

State = int
"""The unexplained hits in the low bits; above them the remaining boats, one digit per length; above these the number of open
squares that boats may still cover."""


class Cover(Struct, frozen=True, gc=False):
    """All berths of one length over exactly these hits."""

    hits: Mask
    length: int
    berths: int
    over: Field
    """The number of these berths over each square."""


Boat = tuple[State, int, int, float, int]
"""The cover's change to a state, its squares without hits, the position of its digit, its weight, and its index."""
Choices = dict[Mask, dict[Mask, list[Boat]]]
"""By the first hit that they cover, then by all hits that they cover."""
Step = tuple[State, State, float, float, int]
"""The state before and after, the weight of the explanations before, the weight of this step, and the index of the cover."""


class Ways(Struct, frozen=True):
    """The explanations of the hits, as sums of weights."""

    weight: float
    shares: Sequence[float]
    """For each cover, the explanations that use it."""
    left: Sequence[float]
    """For each length, the boats that no hit needed."""


@lru_cache(64)
def odds(board: Rows, boats: tuple[str, ...]) -> list[int]:
    """Return the odds of each square, with one extra square at the end of each row; 0 for squares already shot at."""
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
    """Return the covers whose first hit is `first`."""
    reach = chart.reach[first]
    return _covers(chart, first, sea.hits & reach, sea.misses & reach)


@lru_cache(1 << 12)
def _covers(chart: Chart, first: int, hits: Mask, misses: Mask) -> list[Cover]:
    """Return the covers for the hits and misses in reach. These rarely change from shot to shot, so the result is cached."""
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
    """Explain all hits; if that is impossible, leave some unexplained."""
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
    """Search forward to collect the steps, then backward to find those that lead to an end."""
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
    """Return every step from the start, in order, and the final states with their weights."""
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
