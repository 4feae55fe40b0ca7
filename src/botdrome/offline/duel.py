"""Duel: a new and an old version of a bot, block by block, for the sequential test."""

from collections.abc import Generator, Iterator
from contextlib import closing
from itertools import count

from msgspec import Struct

from botdrome.contest.schedule import Fixture
from botdrome.contest.sequential import Seating, block_score, seatings
from botdrome.games.chance import Chance
from botdrome.offline.batches import Items
from botdrome.offline.tournament import FixtureList, MatchOutcome, TournamentPlan, play_all

SEATING_STEP = -1_000_000
"""The step of the chance that draws the seats. No match and no bot uses it."""


class DuelPlan(TournamentPlan, frozen=True):
    """The entrants are the new bot once per seat, then the old bot once per seat; `matches` is the
    number of blocks.
    """

    copies: int | None = None
    """Copies of the new bot at a table; None: half of the seats."""

    def seatings(self, seed: int) -> list[Seating]:
        return seatings(self.seats, self.copies, Chance(seed, SEATING_STEP))

    def fixtures(self) -> Items[Fixture]:
        return FixtureList(self.matches * len(self.seatings(self.seed)), self._each_fixture)

    def _each_fixture(self) -> Iterator[Fixture]:
        numbers = count()
        for seed in range(self.seed, self.seed + self.matches):
            for seating in self.seatings(seed):
                entrants = tuple(
                    seat if new else self.seats + seat for seat, new in enumerate(seating)
                )
                yield Fixture(next(numbers), entrants, seed)

    def is_new(self, entrant: int) -> bool:
        return entrant < self.seats


class PlayedBlock(Struct, frozen=True):
    """One seed in all its seatings."""

    outcomes: list[MatchOutcome]
    score: float
    """The share of the points of the new bot against the old one."""
    games: tuple[int, ...]
    """The same number for the same game in the same seats."""


def play_blocks(plan: DuelPlan, jobs: int) -> Generator[PlayedBlock, None, None]:
    """Yield the blocks in the order of their seeds: fast games would come first otherwise, and they
    may differ in result.
    """
    size = len(plan.seatings(plan.seed))
    outcomes = play_all(plan, jobs, most=size)
    return _in_order(plan, outcomes, size)


def _in_order(
    plan: DuelPlan, outcomes: Generator[MatchOutcome, None, None], size: int
) -> Generator[PlayedBlock, None, None]:
    waiting: dict[int, list[MatchOutcome]] = {}
    seed = plan.seed
    with closing(outcomes):
        for outcome in outcomes:
            waiting.setdefault(outcome.fixture.seed, []).append(outcome)
            while len(waiting.get(seed, ())) == size:
                block = waiting.pop(seed)
                seats = [_seating(plan, one) for one in block]
                score = block_score(
                    (seating, one.result.places) for seating, one in zip(seats, block, strict=True)
                )
                games = [
                    hash((seating, one.fingerprint))
                    for seating, one in zip(seats, block, strict=True)
                ]
                yield PlayedBlock(block, score, tuple(sorted(games)))
                seed += 1


def _seating(plan: DuelPlan, outcome: MatchOutcome) -> Seating:
    return tuple(plan.is_new(entrant) for entrant in outcome.fixture.entrants)
