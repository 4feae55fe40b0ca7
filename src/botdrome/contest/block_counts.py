"""Counts of equal blocks, so that a tournament of any length is rated in little memory."""

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Sequence

from botdrome.contest.strength import Block, Places


class BlockCounts:
    """The results of a tournament by block: the matches of one meeting on one seed. They may be added in any order."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = names
        self._open: defaultdict[Hashable, list[Sequence[tuple[int, int]]]] = defaultdict(list)
        """The matches of incomplete blocks."""
        self._counts: defaultdict[tuple[int, ...], Counter[bytes]] = defaultdict(Counter)
        """By meeting. The key of a block is the places of its entrants, match after match."""

    def add(self, name: Hashable, entrants: Sequence[int], places: Sequence[int]) -> None:
        """Add a match to the block of this name. A block is complete when each seating is played; the last one may never be."""
        block = self._open[name]
        block.append(sorted(zip(entrants, places, strict=True)))
        if len(block) == len(entrants):
            meeting, key = _key_of(self._open.pop(name))
            self._counts[meeting][key] += 1

    def counted(self) -> Iterator[tuple[Block, int]]:
        """Yield each block with the number of times it occurred, in an order that depends on the results alone."""
        counts = {meeting: Counter(blocks) for meeting, blocks in self._counts.items()}
        for block in self._open.values():
            meeting, key = _key_of(block)
            counts.setdefault(meeting, Counter())[key] += 1
        for meeting in sorted(counts):
            for key, times in sorted(counts[meeting].items()):
                yield self._block(meeting, key), times

    def _block(self, meeting: tuple[int, ...], key: bytes) -> list[Places]:
        names, seats = [self._names[entrant] for entrant in meeting], len(meeting)
        return [dict(zip(names, key[at : at + seats], strict=True)) for at in range(0, len(key), seats)]


def _key_of(block: list[Sequence[tuple[int, int]]]) -> tuple[tuple[int, ...], bytes]:
    matches = sorted(bytes([place for _, place in match]) for match in block)
    return tuple([entrant for entrant, _ in block[0]]), b"".join(matches)
