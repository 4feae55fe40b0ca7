"""Results of a contest in ten bytes each, so that contests of any length fit in memory."""

from array import array
from collections.abc import Iterator, Mapping, MutableMapping
from typing import TYPE_CHECKING

from msgspec.structs import replace

from botdrome.contest.formats.format import FixtureResult

if TYPE_CHECKING:
    Cells = array[int]
    """A number for each fixture of a round, in the order of the plan; 0: it has no such result."""

MOST_KINDS = 65_535
MOST_CELLS = 20_000_000
"""The largest round of a round robin."""


class ResultBook(MutableMapping[str, FixtureResult]):
    """Results by the keys of their fixtures. Equal results are kept once; those with the id of a match are kept in full."""

    def __init__(self, games: int, results: Mapping[str, FixtureResult]) -> None:
        """`games` are the matches of a meeting."""
        self._games = games
        self._kinds: list[FixtureResult] = []
        self._numbers: dict[FixtureResult, int] = {}
        """One more than the index of each kind."""
        self._rounds: dict[int, Cells] = {}
        self._fingerprints: dict[int, Cells] = {}
        self._others: dict[str, FixtureResult] = {}
        """The results that have no cell: further matches of a series, and whatever is rare."""
        self._in_cells = 0
        self.update(results)

    def __len__(self) -> int:
        return self._in_cells + len(self._others)

    def __iter__(self) -> Iterator[str]:
        for round_, cells in self._rounds.items():
            for index, number in enumerate(cells):
                if number:
                    yield f"{round_}.{index // self._games + 1}.{index % self._games + 1}"
        yield from self._others

    def __getitem__(self, key: str) -> FixtureResult:
        if (other := self._others.get(key)) is not None:
            return other
        round_, index = self._cell(key)
        cells = self._rounds.get(round_, ())
        if index >= len(cells) or not cells[index]:
            raise KeyError(key)
        kind, fingerprint = self._kinds[cells[index] - 1], self._fingerprints[round_][index]
        return replace(kind, fingerprint=fingerprint) if fingerprint else kind

    def __setitem__(self, key: str, result: FixtureResult) -> None:
        self.pop(key, None)
        round_, index = self._cell(key)
        number = 0 if result.match or index >= MOST_CELLS else self._number(result)
        if not number:
            self._others[key] = result
            return
        cells = self._rounds.setdefault(round_, array("H"))
        fingerprints = self._fingerprints.setdefault(round_, array("Q"))
        if (more := index + 1 - len(cells)) > 0:
            cells.extend(array("H", bytes(2 * more)))
            fingerprints.extend(array("Q", bytes(8 * more)))
        cells[index], fingerprints[index] = number, result.fingerprint
        self._in_cells += 1

    def __delitem__(self, key: str) -> None:
        if key in self._others:
            del self._others[key]
            return
        self[key]  # KeyError if there is none
        round_, index = self._cell(key)
        self._rounds[round_][index] = 0
        self._in_cells -= 1

    def _cell(self, key: str) -> tuple[int, int]:
        """Return the round of a fixture, and its place in that round; MOST_CELLS: it has none."""
        try:
            round_, meeting, game = map(int, key.split("."))
        except ValueError:
            return 0, MOST_CELLS
        return round_, (meeting - 1) * self._games + game - 1 if meeting > 0 < game <= self._games else MOST_CELLS

    def _number(self, result: FixtureResult) -> int:
        """Return the number of a kind of results; 0: there are too many kinds."""
        result = replace(result, fingerprint=0)
        number = self._numbers.get(result, 0)
        if not number and len(self._kinds) < MOST_KINDS:
            self._kinds.append(result)
            number = self._numbers[result] = len(self._kinds)
        return number
