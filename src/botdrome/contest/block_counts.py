"""Counts of equal blocks, so that a tournament of any length is rated in little memory."""

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Sequence
from typing import NamedTuple

from msgspec import Struct

from botdrome.contest.formats.format import played_in
from botdrome.contest.progress import ContestProgress
from botdrome.contest.strength import CountedBlock, Ratings, SingleMatch, rate
from botdrome.games.reading import plural

MOST_COMPARED = 200_000
"""Matches whose games are compared with earlier ones; later matches are taken to repeat games as
often.
"""


class Repetition(Struct, frozen=True):
    """How many different games were played, and how many blocks count."""

    games: int
    matches: int
    counted: int
    blocks: int

    def words(self) -> str:
        """Say that games were repeated; empty: all blocks count."""
        if self.counted == self.blocks:
            return ""
        games = plural(self.games, "distinct game")
        return (
            f"{games} in {self.matches}: the interval counts {self.counted} of {self.blocks} "
            "blocks."
        )


class _PlayedMatch(NamedTuple):
    places: list[tuple[int, int]]
    """Entrants and their places."""
    game: int | None
    """The same number for the same game in the same seats; None: unknown."""


class _MeetingBlocks:
    """The blocks of one meeting."""

    def __init__(self, counts: Counter[bytes], compared: int, different: set[int]) -> None:
        """The key of a block is the places of its entrants, match after match."""
        self.counts, self.compared, self.different = counts, compared, different

    def add(self, block: list[_PlayedMatch]) -> None:
        self.counts[
            b"".join(sorted(bytes([place for _, place in match.places]) for match in block))
        ] += 1
        games = [match.game for match in block if match.game is not None]
        if len(games) == len(block):
            self.compared += 1
            self.different.add(hash(tuple(sorted(games))))

    def copy(self) -> "_MeetingBlocks":
        return _MeetingBlocks(Counter(self.counts), self.compared, set(self.different))

    @property
    def share(self) -> float:
        """The share of its blocks that are different games."""
        return len(self.different) / self.compared if self.compared else 1.0


class BlockCounts:
    """The results of a tournament by block: the matches of one meeting on one seed.

    They may be added in any order.

    Bots that always answer alike repeat their games. Such a block tells nothing new, so the blocks
    of a meeting count only as often as there are different ones. All results still weigh the same:
    bots that draw their moves repeat games by chance.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self._names = names
        self._open: defaultdict[Hashable, list[_PlayedMatch]] = defaultdict(list)
        """The matches of incomplete blocks."""
        self._meetings: dict[tuple[int, ...], _MeetingBlocks] = {}
        self._games: set[int] = set()
        self._compared = 0
        """Matches whose games were compared."""

    def add(
        self, name: Hashable, entrants: Sequence[int], places: Sequence[int], fingerprint: int = 0
    ) -> None:
        """Add a match to the block of this name.

        A block is complete when each seating is played; the last one may never be.

        `fingerprint` is the same for the same game; 0: it is unknown.
        """
        game = None
        if fingerprint and self._compared < MOST_COMPARED:
            game = hash((fingerprint, tuple(entrants)))
            self._games.add(game)
            self._compared += 1
        block = self._open[name]
        block.append(_PlayedMatch(sorted(zip(entrants, places, strict=True)), game))
        if len(block) == len(entrants):
            _add(self._open.pop(name), self._meetings)

    def counted(self) -> Iterator[CountedBlock]:
        """Yield each block, in an order that depends on the results alone."""
        for meeting, blocks in sorted(self._all().items()):
            for key, times in sorted(blocks.counts.items()):
                yield self._block(meeting, key), times, blocks.share

    def repetition(self) -> Repetition:
        meetings = self._all().values()
        counted = sum(len(blocks.different) for blocks in meetings)
        return Repetition(
            len(self._games), self._compared, counted, sum(blocks.compared for blocks in meetings)
        )

    def _all(self) -> dict[tuple[int, ...], _MeetingBlocks]:
        """Return the blocks of all meetings, with those that are incomplete."""
        meetings = {meeting: blocks.copy() for meeting, blocks in self._meetings.items()}
        for block in self._open.values():
            _add(block, meetings)
        return meetings

    def _block(self, meeting: tuple[int, ...], key: bytes) -> list[SingleMatch]:
        names, seats = [self._names[entrant] for entrant in meeting], len(meeting)
        places = (key[at : at + seats] for at in range(0, len(key), seats))
        return [tuple(zip(names, one, strict=True)) for one in places]


def _add(block: list[_PlayedMatch], meetings: dict[tuple[int, ...], _MeetingBlocks]) -> None:
    meeting = tuple([entrant for entrant, _ in block[0].places])
    meetings.setdefault(meeting, _MeetingBlocks(Counter(), 0, set())).add(block)


# The ratings of a contest's entrants. The matches of a meeting on one seed are a block.


def contest_blocks(progress: ContestProgress) -> BlockCounts:
    """Return the matches that were played; forfeits do not count."""
    blocks = BlockCounts([entrant.name for entrant in progress.entrants])
    for fixture, result in played_in(progress.rounds, progress.results):
        if result.places and not result.absent:
            blocks.add(fixture.seed, fixture.entrants, result.places, result.fingerprint)
    return blocks


def contest_ratings(progress: ContestProgress) -> Ratings:
    return rate(contest_blocks(progress).counted())
