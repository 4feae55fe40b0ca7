"""The fixtures of a round that have no results yet. They are not kept: the plan makes them when they are asked for."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from botdrome.contest.formats.format import ContestFixture, Results
from botdrome.contest.formats.meeting import MeetingFixtures


class OpenRound(Mapping[str, ContestFixture]):
    """By key, in the order of play. Results may be added while it is iterated over."""

    def __init__(self, planned: Sequence[ContestFixture], results: Results, left: int) -> None:
        """`left` of the fixtures have no results. The caller counts down with each result."""
        self.left = left
        self._planned, self._results = planned, results
        self._named: Callable[[str], ContestFixture] = (
            planned.named if isinstance(planned, MeetingFixtures) else {one.key: one for one in planned}.__getitem__
        )
        self._at = planned.in_turn if isinstance(planned, MeetingFixtures) else planned.__getitem__
        self._first = 0
        """All fixtures before this one have results."""

    def __len__(self) -> int:
        return self.left

    def __getitem__(self, key: str) -> ContestFixture:
        if key in self._results:
            raise KeyError(key)
        return self._named(key)

    def __iter__(self) -> Iterator[str]:
        return (fixture.key for fixture in self.fixtures())

    def fixtures(self) -> Iterator[ContestFixture]:
        while self._first < len(self._planned) and self._at(self._first).key in self._results:
            self._first += 1
        for place in range(self._first, len(self._planned)):
            fixture = self._at(place)
            if fixture.key not in self._results:
                yield fixture
