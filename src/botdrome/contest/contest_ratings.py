"""The ratings of a contest's entrants. The matches of a meeting on one seed are a block."""

from botdrome.contest.block_counts import BlockCounts
from botdrome.contest.formats.scores import played_in
from botdrome.contest.progress import ContestProgress
from botdrome.contest.strength import Ratings, rate_counted


def contest_blocks(progress: ContestProgress) -> BlockCounts:
    """Return the matches that were played; forfeits do not count."""
    blocks = BlockCounts([entrant.name for entrant in progress.entrants])
    for fixture, result in played_in(progress.rounds, progress.results):
        if result.places and not result.absent:
            blocks.add((fixture.meeting, fixture.seed), fixture.entrants, result.places, result.fingerprint)
    return blocks


def contest_ratings(progress: ContestProgress) -> Ratings:
    return rate_counted(contest_blocks(progress).counted())
