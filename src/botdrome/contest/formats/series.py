"""A series: a meeting that must have a winner, such as best of five. It ends as soon as it is decided."""

from collections import Counter
from collections.abc import Sequence

from botdrome.contest.document import ContestDocument
from botdrome.contest.formats.format import ContestFixture, Entrant, EntrantNumber, Results
from botdrome.contest.formats.meeting import MeetingPlanner
from botdrome.contest.formats.scores import points_of

FURTHER_BLOCKS = 2
"""How often a level series is prolonged by one match per seating. After that the higher seed advances."""


class Series:
    """A meeting of a knockout. The entrants are given by seed, highest first."""

    def __init__(
        self, planner: MeetingPlanner, document: ContestDocument, place: tuple[int, int], seeds: Sequence[EntrantNumber]
    ) -> None:
        self.seeds = tuple(seeds)
        self.fixtures: list[ContestFixture] = []
        self._planner, self._length = planner, document.best_of or document.games_per_meeting
        self._round, self._meeting = place

    def prolong(self, entrants: Sequence[Entrant], results: Results) -> bool:
        """Add the matches that are certain to matter. Return False if the series is decided."""
        count = self._needed(entrants, results)
        first = len(self.fixtures) + 1
        games = range(first, first + count)
        if games:
            self.fixtures += self._planner.fixtures(self._round, self._meeting, self.seeds, games)
        return bool(games)

    def ranking(self, entrants: Sequence[Entrant], results: Results) -> list[EntrantNumber]:
        """Return the entrants, best first. Entrants that left before come last; level ones are ordered by seed."""
        points = self.points(results)
        return sorted(self.seeds, key=lambda number: (self._left(entrants[number]), -points[number]))

    def by_seed(self, entrants: Sequence[Entrant], results: Results) -> bool:
        """Return True if only the seeding decided."""
        return not self._lead(results) and self._staying(entrants) != 1

    def points(self, results: Results) -> Counter[EntrantNumber]:
        points: Counter[EntrantNumber] = Counter()
        for fixture in self.fixtures:
            result = results.get(fixture.key)
            for seat in range(len(result.places) if result else 0):
                points[fixture.entrants[seat]] += points_of(result.places, seat) if result else 0
        return points

    def _lead(self, results: Results) -> int:
        """Return by how many points the first is ahead of the second."""
        points = self.points(results)
        first, second, *_ = sorted((points[number] for number in self.seeds), reverse=True)
        return first - second

    @property
    def _rest(self) -> int:
        return max(0, self._length - len(self.fixtures))

    def _decided(self, results: Results) -> bool:
        """Return True if the remaining matches cannot change the winner."""
        return self._lead(results) > 2 * (len(self.seeds) - 1) * self._rest

    def _needed(self, entrants: Sequence[Entrant], results: Results) -> int:
        size = len(self.seeds)
        if self._decided(results) or self._staying(entrants) < 2:
            return 0
        if self._rest:
            return (2 * self._rest - self._lead(results)) // 4 + 1 if size == 2 else self._rest
        return size if len(self.fixtures) < self._length + FURTHER_BLOCKS * size else 0

    def _staying(self, entrants: Sequence[Entrant]) -> int:
        return sum(not self._left(entrants[number]) for number in self.seeds)

    def _left(self, entrant: Entrant) -> bool:
        """Return True if an entrant left before the series began. One that leaves later forfeits its matches."""
        return not entrant.plays_in(self._round)
