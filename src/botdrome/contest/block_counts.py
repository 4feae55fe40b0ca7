"""Counts of equal blocks, so that a tournament of any length is rated in little memory."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from botdrome.contest.strength import Block, Places


class BlockCounts:
    """The results of a tournament by block: the matches of one meeting on one seed. They may be added in any order."""

    def __init__(self, names: Sequence[str], seats: int) -> None:
        """A block has as many matches as there are seats; the last one of a meeting may have fewer."""
        self._names, self._seats = names, seats
        self._open: defaultdict[int, list[Sequence[tuple[int, int]]]] = defaultdict(list)
        """The matches of incomplete blocks by seed, since no two meetings share one."""
        self._counts: defaultdict[tuple[int, ...], Counter[bytes]] = defaultdict(Counter)
        """By meeting. The key of a block is the places of its entrants, match after match."""

    def add(self, seed: int, entrants: Sequence[int], places: Sequence[int]) -> None:
        block = self._open[seed]
        block.append(sorted(zip(entrants, places, strict=True)))
        if len(block) == self._seats:
            meeting, key = _key_of(self._open.pop(seed))
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
