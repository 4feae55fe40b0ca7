"""Duel: a new and an old version of a bot, block by block, for the sequential test."""

from collections.abc import Generator
from contextlib import closing

from msgspec import Struct

from botdrome.contest.formats.format import Fixture
from botdrome.contest.progress import ContestProgress
from botdrome.contest.sequential import DuelBlocks, Seating, block_score
from botdrome.offline.tournament import MatchOutcome, TournamentPlan, play_all


class DuelPlan(TournamentPlan, frozen=True):
    """The entrants are the new bot once per seat, then the old bot once per seat; `matches` is the
    number of blocks.
    """

    copies: int | None = None
    """Copies of the new bot at a table; None: half of the seats."""

    @property
    def block(self) -> int:
        """The number of matches on one seed."""
        return 2 if self.copies is None else self.seats

    def progress(self) -> ContestProgress:
        return self._in_format(DuelBlocks(self.copies))

    def number(self, fixture: Fixture) -> int:
        _, block, game = fixture.place
        return (block - 1) * self.block + game - 1

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
    return _in_order(plan, play_all(plan, jobs, most=plan.block), plan.block)


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
