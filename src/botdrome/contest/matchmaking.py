"""Matchmaking: choose the pairs whose games say most about all strengths, with a hard bound on
waiting.

The longest waiting player gets the partner that lowers the sum of the variances of all strengths
most. That is rarely the nearest in rating: games against players whose strength is uncertain say
more.
"""

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from operator import mul

from msgspec import Struct

from botdrome.contest.strength import MEAN, POINTS, PRIOR, SETTLED_MARGIN, Z95, expected

MOST_KNOWN = 64
"""The largest number of players whose strengths are followed; the one that was paired longest ago
is forgotten first.
"""

REAL = 2.0
"""A match against a house bot has to say so much more than one against a bot that waits."""

Legal = Callable[[str, str], bool]


class WaitingPlayer(Struct, frozen=True):
    name: str
    since: float
    """When it came: seconds, or the number of a round."""


class Knowledge:
    """What is known about the strengths of players: their means, and the covariance S."""

    def __init__(self, fixed: Mapping[str, float] | None = None, most: int = MOST_KNOWN) -> None:
        """`fixed` are players whose ratings are certain."""
        self._fixed, self._most = fixed or {}, most
        self._places: dict[str, int] = {}
        self._strengths: list[float] = []
        self._rows: list[list[float]] = []

    def __len__(self) -> int:
        return len(self._places)

    def _place(self, name: str) -> int:
        if name not in self._places:
            if len(self._places) == self._most:
                self._forget(next(iter(self._places)))
            self._places[name] = len(self._strengths)
            fixed = name in self._fixed
            self._strengths.append((self._fixed[name] - MEAN) / POINTS if fixed else 0.0)
            for row in self._rows:
                row.append(0.0)
            self._rows.append([0.0] * len(self._rows) + [0.0 if fixed else 1 / PRIOR])
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
        place = self._places.get(name)
        return 1 / PRIOR if place is None else self._rows[place][place]


def pairs_now(
    waiting: Sequence[WaitingPlayer],
    knowledge: Knowledge,
    legal: Legal,
    now: float,
    bound: float,
    house: Sequence[str] = (),
) -> list[tuple[str, str]]:
    """Return the pairs to make now: a partner for each player that has waited `bound`, as long as
    it has a legal one.

    Call it whenever a player comes, and when the wait of one reaches the bound. Then no player
    waits longer than the bound while a legal opponent waits, too. Each of `house` may play any
    number of matches.
    """
    left = {player.name: player for player in sorted(waiting, key=lambda player: player.since)}
    pairs = []
    for name, player in list(left.items()):
        if name not in left or now < player.since + bound:
            continue
        others = [other for other in left if other != name and legal(name, other)]
        if candidates := (*others[: MOST_KNOWN // 2], *house):
            gains = {other: knowledge.gain(name, other) for other in candidates}
            gains |= {other: gains[other] / REAL for other in house}
            best = max(candidates, key=gains.__getitem__)
            knowledge.pair(name, best)
            pairs.append((name, best))
            del left[name]
            left.pop(best, None)
    return pairs


# A ladder: players that are paired again and again.

HOUR = 3600.0
SETTLED = (SETTLED_MARGIN / POINTS / Z95) ** 2
"""The variance of a strength that is certain enough."""
MOST_ON_LADDER = 200
"""As MOST_KNOWN, of a ladder."""


def ladder_key(name: str, version: str) -> str:
    """Return the name of a version on a ladder: a new version is a player whose strength is
    uncertain. No name has a line end.
    """
    return f"{name}\n{version}" if version else name


class Ladder:
    """The players of one ladder, and whose turn it is. Each bot has a budget of matches an hour.

    A player with an uncertain strength seeks its next match as soon as the budget allows it. The
    others seek one at equal intervals. A player that waits may be chosen at any time that its
    budget allows, so that those that seek find each other, and newcomers find opponents. A player
    that has sought for the wait gets one at once: that which says most, among those that wait and
    the house bots, which tie all strengths to one scale.
    """

    def __init__(self, budget: int, house: Mapping[str, float]) -> None:
        """`house` has the house bots with their fixed ratings."""
        self._budget, self._house = budget, house
        self.knowledge = Knowledge(house, MOST_ON_LADDER)
        self._begun: dict[str, deque[float]] = {}
        """When the last matches of each bot began, as many as its budget."""

    def _allowed(self, key: str) -> float:
        begun = self._begun.get(bot_of(key))
        return begun[0] + HOUR if begun and len(begun) == self._budget else 0.0

    def seeks(self, key: str) -> float:
        """Return the time from which on a player seeks its next match."""
        begun = self._begun.get(bot_of(key))
        if not begun or self.knowledge.variance(key) > SETTLED:
            return self._allowed(key)
        return max(self._allowed(key), begun[-1] + HOUR / self._budget)

    def pairs(
        self, waiting: Sequence[WaitingPlayer], now: float, wait: float
    ) -> list[tuple[str, str]]:
        """Return the matches to begin now; the second player may be a house bot.

        Call it whenever a player comes, and when one has sought for the wait.
        """
        free = [
            WaitingPlayer(player.name, max(player.since, self.seeks(player.name)))
            for player in waiting
            if self._allowed(player.name) <= now
        ]
        pairs = pairs_now(free, self.knowledge, _any, now, wait, list(self._house))
        for pair in pairs:
            self.note(pair, now)
        return pairs

    def note(self, players: Sequence[str], now: float) -> None:
        """Count a match that begins for the budgets of its players."""
        for bot in map(bot_of, {*players} - self._house.keys()):
            if bot not in self._begun:  # forget those whose budget is whole
                self._begun = {bot: at for bot, at in self._begun.items() if at[-1] > now - HOUR}
            self._begun.setdefault(bot, deque(maxlen=self._budget)).append(now)


def bot_of(key: str) -> str:
    return key.partition("\n")[0]


def _any(_: str, __: str) -> bool:
    return True
