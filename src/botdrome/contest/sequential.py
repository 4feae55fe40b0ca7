"""Sequential test: whether a new bot is better than an old one, decided as soon as the results
allow it.

The unit is a block: one seed with balanced seats. Its score is the mean over all pairs of a new and
an old bot in its games, since games on one seed are not independent. The test is a generalised
likelihood ratio of two Elo differences.

Blocks that are all level show no variance, and without a prior sixteen of them would look like
proof. So the test starts from a few blocks of its own, half of them won and half lost: a rare win
is not ruled out before enough blocks have shown none.
"""

from collections.abc import Iterable, Iterator, Sequence
from math import log, sqrt
from typing import Literal

from msgspec import Struct

from botdrome.contest.document import ContestDocument
from botdrome.contest.formats.format import (
    ContestFormat,
    Entrant,
    Fixture,
    PlannedFixtures,
    Results,
    Round,
)
from botdrome.contest.strength import Z95, elo_points, expected_share
from botdrome.games.chance import Chance

LEAST_BLOCKS = 16
SEATING_STEP = -1_000_000
"""The step of the chance that draws the seats. No match and no bot uses it."""
PRIOR_BLOCKS = 3.0
"""The weight of the prior.

With less, bots that are level in 94 % of the blocks are rejected too often.
"""

Decision = Literal["better", "not better"]
Seating = tuple[bool, ...]
"""Whether the new bot has the seat, by seat."""


class SequentialTest(Struct, frozen=True):
    """The question: is the new bot better by `elo1`, or only by `elo0`?"""

    elo0: float = 0.0
    elo1: float = 20.0
    alpha: float = 0.05
    """The probability to accept a bot that is only `elo0` better."""
    beta: float = 0.05
    """The probability to reject a bot that is `elo1` better."""

    @property
    def lower(self) -> float:
        return log(self.beta / (1 - self.alpha))

    @property
    def upper(self) -> float:
        return log((1 - self.beta) / self.alpha)


class BlockScores(Struct):
    """The scores of the blocks so far."""

    blocks: int = 0
    distinct: int = 0
    """Blocks whose games are no repetition.

    Only so many count, since a repeated block tells nothing new.
    """
    total: float = 0.0
    squares: float = 0.0

    def add(self, score: float, new: bool = True) -> None:
        """`new`: no earlier block has the same games."""
        self.blocks += 1
        self.distinct += new
        self.total += score
        self.squares += score * score

    @property
    def mean(self) -> float:
        return self.total / self.blocks if self.blocks else 0.5

    def with_prior(self) -> tuple[float, float]:
        """Return the mean and the variance of the blocks together with those of the prior."""
        share = self.distinct / self.blocks if self.blocks else 0.0
        blocks = self.distinct + PRIOR_BLOCKS
        mean = (share * self.total + PRIOR_BLOCKS / 2) / blocks
        return mean, (share * self.squares + PRIOR_BLOCKS / 2) / blocks - mean * mean

    def llr(self, test: SequentialTest) -> float:
        """Return the logarithm of the likelihood ratio."""
        mean, variance = self.with_prior()
        far0, far1 = mean - expected_share(test.elo0, 0), mean - expected_share(test.elo1, 0)
        return self.distinct / 2 * log((variance + far0 * far0) / (variance + far1 * far1))

    def decision(self, test: SequentialTest) -> Decision | None:
        if self.distinct < LEAST_BLOCKS:
            return None
        llr = self.llr(test)
        return "better" if llr >= test.upper else "not better" if llr <= test.lower else None

    def elo(self) -> tuple[float, float, float]:
        """Return the Elo difference, and the ends of an ordinary 95 % interval, which holds less
        often after a decision.
        """
        _, variance = self.with_prior()
        reach = Z95 * sqrt(variance / self.distinct) if self.distinct else 1.0
        low, high = max(0.0, self.mean - reach), min(1.0, self.mean + reach)
        return elo_points(self.mean), elo_points(low), elo_points(high)


def seatings(seats: int, copies: int | None, chance: Chance) -> list[Seating]:
    """Return the seatings of one block, in which both bots have every seat as often.

    By default the new bot has a random half of the seats, then the others. With a number of copies,
    that many random seats rotate around the table.
    """
    new = set(chance.sample(range(seats), seats // 2 if copies is None else copies))
    first = tuple(seat in new for seat in range(seats))
    if copies is None:
        return [first, tuple(not taken for taken in first)]
    return [first[turn:] + first[:turn] for turn in range(seats)]


class DuelFixtures(PlannedFixtures):
    """Each seed in all its seatings.

    The first entrants are the new bot, once per seat; the others are the old bot, once per seat.
    """

    def __init__(self, document: ContestDocument, copies: int | None) -> None:
        self._document, self._seats, self._copies = document, document.seats, copies
        self.size = 2 if copies is None else document.seats
        """The number of matches in a block."""

    def __len__(self) -> int:
        return self._document.games_per_meeting * self.size

    def _at(self, place: int) -> Fixture:
        block, turn = divmod(place, self.size)
        seed = self._document.seed + block
        seating = seatings(self._seats, self._copies, Chance(seed, SEATING_STEP))[turn]
        entrants = tuple(seat if new else self._seats + seat for seat, new in enumerate(seating))
        return Fixture(f"1.{block + 1}.{turn + 1}", entrants, seed)

    def _place(self, meeting: int, game: int) -> int:
        return (meeting - 1) * self.size + game - 1 if 0 < game <= self.size else -1


class DuelBlocks(ContestFormat):
    """The matches of `botdrome duel`. The document's `games` are the blocks."""

    late = "never"

    def __init__(
        self,
        copies: int | None,
        document: ContestDocument,
        entrants: Sequence[Entrant],
        results: Results,
    ) -> None:
        """`copies` of the new bot sit at a table; None: half of the seats."""
        super().__init__(document, entrants, results)
        self._fixtures = DuelFixtures(document, copies)

    def expected(self, entrants: int) -> int:
        return len(self._fixtures)

    def rounds(self) -> Iterator[Round]:
        yield Round(1, self._fixtures)


def block_score(games: Iterable[tuple[Seating, Sequence[int]]]) -> float:
    """Return the share of the points of the new bot, over all its pairs with the old one.

    A game has its places by seat.
    """
    points = list(_points(games))
    return sum(points) / len(points)


def _points(games: Iterable[tuple[Seating, Sequence[int]]]) -> Iterator[float]:
    for seating, places in games:
        old = [place for place, new in zip(places, seating, strict=True) if not new]
        for place, new in zip(places, seating, strict=True):
            if new:
                yield from ((place < other) + (place == other) / 2 for other in old)
