"""The ratings of a contest's entrants. The matches of a meeting on one seed are a block."""

from collections import defaultdict

from botdrome.contest.progress import ContestProgress
from botdrome.contest.strength import Places, Ratings, rate


def contest_ratings(progress: ContestProgress) -> Ratings:
    """Rate the entrants by the matches that were played; forfeits do not count."""
    blocks: defaultdict[tuple[str, int], list[Places]] = defaultdict(list)
    for key, fixture in progress.fixtures.items():
        result = progress.results.get(key)
        if result is not None and result.places and not result.absent:
            names = [progress.entrants[number].name for number in fixture.entrants]
            blocks[fixture.meeting, fixture.seed].append(dict(zip(names, result.places, strict=True)))
    return rate(blocks.values())
