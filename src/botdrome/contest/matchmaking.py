"""Matchmaking: choose the pairs whose games say most about all strengths, with a hard bound on
waiting.

The longest waiting player gets the partner that lowers the sum of the variances of all strengths
most. That is rarely the nearest in rating: games against players whose strength is uncertain say
more.
"""

from collections.abc import Callable, Sequence
from operator import mul

from msgspec import Struct

from botdrome.contest.strength import PRIOR, expected

MOST_KNOWN = 64
"""The largest number of players whose strengths are followed; the one that was paired longest ago
is forgotten first.
"""

Legal = Callable[[str, str], bool]


class WaitingPlayer(Struct, frozen=True):
    name: str
    since: float
    """When it came: seconds, or the number of a round."""


class Knowledge:
    """What is known about the strengths of players: their means, and the covariance S."""

    def __init__(self) -> None:
        self._places: dict[str, int] = {}
        self._strengths: list[float] = []
        self._rows: list[list[float]] = []

    def __len__(self) -> int:
        return len(self._places)

    def _place(self, name: str) -> int:
        if name not in self._places:
            if len(self._places) == MOST_KNOWN:
                self._forget(next(iter(self._places)))
            self._places[name] = len(self._strengths)
            self._strengths.append(0.0)
            for row in self._rows:
                row.append(0.0)
            self._rows.append([0.0] * len(self._rows) + [1 / PRIOR])
        return self._places[name]

    def _forget(self, name: str) -> None:
        gone = self._places.pop(name)
        del self._strengths[gone], self._rows[gone]
        for row in self._rows:
            del row[gone]
        self._places = {other: place - (place > gone) for other, place in self._places.items()}

    def _apart(self, one: str, two: str) -> tuple[list[float], float, float]:
        """Return S d for the difference d of two players, the weight of their game, and 1 + w d^T S
        d.
        """
        self._place(one)
        self._place(two)  # the first one may be forgotten for it, and comes back as new
        first, second = self._place(one), self._place(two)
        p = expected(self._strengths[first] - self._strengths[second])
        weight = p * (1 - p)
        row = [a - b for a, b in zip(self._rows[first], self._rows[second], strict=True)]
        return row, weight, 1 + weight * (row[first] - row[second])

    def gain(self, one: str, two: str) -> float:
        """Return by how much a game of the two lowers the sum of all variances."""
        row, weight, whole = self._apart(one, two)
        return weight * float(sum(map(mul, row, row))) / whole

    def pair(self, one: str, two: str) -> None:
        """Count a game that the two will play."""
        row, weight, whole = self._apart(one, two)
        factor = weight / whole
        for own, mine in zip(self._rows, row, strict=True):
            scale = factor * mine
            own[:] = [value - scale * other for value, other in zip(own, row, strict=True)]
        for name in (one, two):
            self._places[name] = self._places.pop(name)  # now the last to be forgotten

    def learn(self, one: str, two: str, points: float) -> None:
        """Move the strengths by the result of a game that was counted: the points of the first, 0
        to 1.
        """
        if one in self._places and two in self._places:
            row, _, _ = self._apart(one, two)
            surplus = points - expected(self.strength(one) - self.strength(two))
            self._strengths = [
                value + surplus * pull for value, pull in zip(self._strengths, row, strict=True)
            ]

    def strength(self, name: str) -> float:
        return self._strengths[self._place(name)]

    def variance(self, name: str) -> float:
        return self._rows[self._place(name)][self._place(name)]


def pairs_now(
    waiting: Sequence[WaitingPlayer], knowledge: Knowledge, legal: Legal, now: float, bound: float
) -> list[tuple[str, str]]:
    """Return the pairs to make now: a partner for each player that has waited `bound`, as long as
    it has a legal one.

    Call it whenever a player comes, and when the wait of one reaches the bound. Then no player
    waits longer than the bound while a legal opponent waits, too.
    """
    left = {player.name: player for player in sorted(waiting, key=lambda player: player.since)}
    pairs = []
    for name, player in list(left.items()):
        if name not in left or now < player.since + bound:
            continue
        others = [other for other in left if other != name and legal(name, other)]
        if others:
            best = max(others[: MOST_KNOWN // 2], key=lambda other: knowledge.gain(name, other))
            knowledge.pair(name, best)
            pairs.append((name, best))
            del left[name], left[best]
    return pairs
