"""Plans: the fixtures of a contest that can be played now, as plain data that another process may have computed."""

from collections import Counter
from collections.abc import Iterable, Sequence

from msgspec import Struct

from botdrome.contest.formats.format import ContestFixture, EntrantNumber, FixtureResult
from botdrome.contest.progress import ContestProgress


class PlanSummary(Struct, frozen=True):
    """A plan without its fixtures."""

    number: int
    """Unique among all plans of a server; 0: nothing is planned yet."""
    round: int = 0
    """The latest round that has begun."""
    fixtures: int = 0
    """How many are open."""
    results: int = 0
    """How many results it follows from."""
    refusal: str = ""
    """Why the contest cannot continue; empty: it can, or it is over."""
    faults: dict[EntrantNumber, int] = {}
    """The no-shows and crashes of each entrant."""

    @property
    def over(self) -> bool:
        return bool(self.number) and not self.fixtures and not self.refusal


def plan_summary(number: int, progress: ContestProgress) -> PlanSummary:
    round_, faults = max((one.number for one in progress.rounds), default=0), dict(progress.faults)
    return PlanSummary(number, round_, len(progress.open), len(progress.results), progress.refusal, faults)


class OpenFixtures:
    """The fixtures of a plan that have no results yet."""

    def __init__(self, plan: PlanSummary, names: Sequence[str]) -> None:
        """`names` are those of the entrants, by their numbers."""
        self.plan, self._names = plan, names
        self.by_key: dict[str, ContestFixture] = {}
        self.of: dict[str, dict[str, ContestFixture]] = {}
        """By the name of an entrant, and by key."""
        self.added: dict[str, FixtureResult] = {}
        """The results since the plan."""
        self.faults = Counter(plan.faults)

    @property
    def results(self) -> int:
        return self.plan.results + len(self.added)

    @property
    def all_played(self) -> bool:
        """True if the next plan is due."""
        return bool(self.plan.fixtures) and not self.by_key

    def open(self, fixtures: Iterable[ContestFixture]) -> None:
        for fixture in fixtures:
            self.by_key[fixture.key] = fixture
            for number in fixture.entrants:
                self.of.setdefault(self._names[number], {})[fixture.key] = fixture

    def add(self, key: str, result: FixtureResult) -> None:
        """Count a result. Ignore it if the fixture is not open: the plan knows the result already."""
        fixture = self.by_key.pop(key, None)
        if fixture is None:
            return
        self.added[key] = result
        for number in fixture.entrants:
            self.of[self._names[number]].pop(key, None)
        for seat in (*result.absent, *result.crashed):
            self.faults[fixture.entrants[seat]] += 1
