"""Circular results: a beats b, b beats c and c beats a.

No order of ratings shows them, so the Nash average does.

The Nash average is the mixture of players that no player beats. A player's share in it says how
much it is needed; copies of a player share what one of them would have.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations

from msgspec import Struct

from botdrome.contest.strength import Block, CountedBlock, wilson

ROUNDS = 2000
MOST_PLAYERS = 60
"""The largest number of players among which triads are sought: their number grows with the cube."""


class HeadToHead(Struct):
    """The results of one player against another."""

    points: float = 0.0
    games: int = 0
    blocks: float = 0.0

    @property
    def share(self) -> float:
        return self.points / self.games if self.games else 0.5

    @property
    def better(self) -> bool:
        """Whether the share is above one half by more than chance explains."""
        return self.blocks > 0 and wilson(self.share, self.blocks)[0] > 0.5


Table = Mapping[tuple[str, str], HeadToHead]


class CircularResults(Struct, frozen=True):
    """Triads in which each player beats the next, and the Nash average of all players."""

    triads: list[tuple[str, str, str]]
    shares: dict[tuple[str, str], float]
    """The share of the points of each player against the next in a triad."""
    nash: dict[str, float]


def circular_results(blocks: Iterable[Block]) -> CircularResults | None:
    """Return None if no results are circular beyond chance."""
    return circular_counted((block, 1, 1.0) for block in blocks)


def circular_counted(blocks: Iterable[CountedBlock]) -> CircularResults | None:
    table = head_to_head(blocks)
    names = sorted({name for pair in table for name in pair})
    triads = _triads(table, names) if len(names) <= MOST_PLAYERS else []
    if not triads:
        return None
    shares = {
        pair: table[pair].share
        for one, two, three in triads
        for pair in ((one, two), (two, three), (three, one))
    }
    return CircularResults(triads, shares, nash_average(table, names))


def head_to_head(blocks: Iterable[CountedBlock]) -> Table:
    table: defaultdict[tuple[str, str], HeadToHead] = defaultdict(HeadToHead)
    for block, times, share in blocks:
        met = set[tuple[str, str]]()
        for places in block:
            for one, two in combinations(places, 2):
                points = (places[one] < places[two]) + (places[one] == places[two]) / 2
                for pair, own in (((one, two), points), ((two, one), 1 - points)):
                    table[pair].points += times * own
                    table[pair].games += times
                    met.add(pair)
        for pair in met:
            table[pair].blocks += times * share
    return table


def _triads(table: Table, names: Sequence[str]) -> list[tuple[str, str, str]]:
    better = {pair for pair, results in table.items() if results.better}
    return [
        triad
        for one, two, three in combinations(names, 3)
        for triad in ((one, two, three), (one, three, two))
        if {triad[:2], triad[1:], (triad[2], triad[0])} <= better
    ]


def nash_average(table: Table, names: Sequence[str]) -> dict[str, float]:
    """Return the share of each player, by regret matching: its average approaches an
    equilibrium.
    """
    nobody = HeadToHead()
    gains = [[table.get((one, two), nobody).share - 0.5 for two in names] for one in names]
    regrets, total = [0.0] * len(names), [0.0] * len(names)
    mix = [1 / len(names)] * len(names)
    for turn in range(1, ROUNDS + 1):
        outcome = [sum(gain * share for gain, share in zip(row, mix, strict=True)) for row in gains]
        regrets = [max(0.0, regret + gain) for regret, gain in zip(regrets, outcome, strict=True)]
        whole = sum(regrets)
        if whole:
            mix = [regret / whole for regret in regrets]
        total = [sum_ + turn * share for sum_, share in zip(total, mix, strict=True)]
    whole = sum(total)
    return {name: value / whole for name, value in zip(names, total, strict=True)}
