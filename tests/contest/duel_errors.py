"""How often the sequential test errs, in worlds with known truths.

`python -m tests.contest.duel_errors` prints the table.
"""

from collections.abc import Sequence
from math import exp
from operator import mul
from random import Random

from msgspec import Struct

from botdrome.contest.sequential import BlockScores, Decision, SequentialTest
from botdrome.contest.strength import expected_share
from tests.contest.worlds import CROSSED, PLAIN, World, advantage_at, duel_blocks

POOL = 4000
"""Blocks of an ordinary world that are simulated; each run draws from them."""
MOST_BLOCKS = 20_000


class DrawishWorld(Struct, frozen=True):
    """The shares of the blocks that the new bot wins and loses; all others are tied."""

    name: str
    won: float
    lost: float
    test: SequentialTest = SequentialTest()
    truth: Decision = "not better"

    def scores(self, random: Random, blocks: int) -> list[float]:
        return random.choices(
            (1.0, 0.0, 0.5), (self.won, self.lost, 1 - self.won - self.lost), k=blocks
        )


SMALL = SequentialTest(elo1=3)
"""Bots that tie 99 % of their blocks differ by 3.5 Elo at most."""
DRAWISH = [
    DrawishWorld("88 % tied, equal", 0.06, 0.06),
    DrawishWorld("88 % tied, +20.9 Elo", 0.09, 0.03, truth="better"),
    DrawishWorld("94 % tied, equal", 0.03, 0.03),
    DrawishWorld("94 % tied, +20.9 Elo", 0.06, 0.0, truth="better"),
    DrawishWorld("99 % tied, equal", 0.005, 0.005),
    DrawishWorld("99 % tied, equal, --sprt 0,3", 0.005, 0.005, SMALL),
    DrawishWorld("99 % tied, +3.5 Elo, --sprt 0,3", 0.01, 0.0, SMALL, "better"),
]


class Errors(Struct, frozen=True):
    """The share of wrong answers, and the mean number of blocks until an answer."""

    share: float
    blocks: float


def errors(
    draw: "DrawishWorld | Sequence[float]",
    test: SequentialTest,
    truth: Decision,
    runs: int,
    random: Random,
) -> Errors:
    """Run the test until it decides; `draw` is a world, or the scores of blocks to draw from."""
    wrong = blocks = 0
    for _ in range(runs):
        found, decision = BlockScores(), None
        while decision is None and found.blocks < MOST_BLOCKS:
            for score in (
                draw.scores(random, 16)
                if isinstance(draw, DrawishWorld)
                else random.choices(draw, k=16)
            ):
                found.add(score)
                if decision := found.decision(test):
                    break
        wrong += decision not in (truth, None)
        blocks += found.blocks
    return Errors(wrong / runs, blocks / runs)


def ordinary_scores(world: World, seats: int, elo: float, random: Random) -> list[float]:
    """Return the scores of blocks whose mean is exactly that of the Elo difference."""
    advantage = advantage_at(world, seats, elo) if elo else 0.0
    scores = [sum(games) / 2 for games in duel_blocks(world, seats, advantage, POOL, random)]
    if not elo:
        return [*scores, *(1 - score for score in scores)]
    low, high = -1.0, 1.0
    for _ in range(40):
        middle = (low + high) / 2
        weights = [exp(middle * score) for score in scores]
        low, high = (
            (middle, high)
            if sum(map(mul, weights, scores)) < expected_share(elo, 0) * sum(weights)
            else (low, middle)
        )
    return random.choices(scores, weights, k=25 * POOL)


def table(runs: int) -> list[str]:
    """Return the rows of the table in `docs/how-sure-is-that.md`."""
    test, rows = SequentialTest(), []
    for name, world in (("plain", PLAIN), ("seats and seeds matter", CROSSED)):
        for seats in (2, 4, 8):
            for elo, words in ((0, "equal"), (20, "+20 Elo"), (30, "+30 Elo")):
                random = Random(seats)
                scores = ordinary_scores(world, seats, elo, random)
                found = errors(scores, test, "better" if elo else "not better", runs, random)
                rows.append(_row(f"{name}, {seats} players, {words}", found))
    return rows + [
        _row(one.name, errors(one, one.test, one.truth, runs, Random(1))) for one in DRAWISH
    ]


def _row(name: str, found: Errors) -> str:
    return f"| {name} | {found.share:.1%} | {found.blocks:,.0f} |".replace("%", " %").replace(
        "  %", " %"
    )


if __name__ == "__main__":
    print("\n".join(table(2000)))
