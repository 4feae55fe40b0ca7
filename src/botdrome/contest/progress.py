"""Progress of a contest: its entrants, its results and the fixtures to play now.

The caller plays the open fixtures in any order and adds their results; the next round follows by itself. Everything is derived
from the document, the entrants and the results, so a contest continues from what its journal holds.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from msgspec.structs import replace

from botdrome.contest.document import ContestDocument
from botdrome.contest.formats.by_name import CONTEST_FORMATS
from botdrome.contest.formats.format import (
    CannotContinue,
    ContestFixture,
    Entrant,
    EntrantNumber,
    FixtureResult,
    Round,
    Standing,
)
from botdrome.contest.formats.gauntlet import champion_of
from botdrome.contest.formats.planned import players_of
from botdrome.contest.formats.scores import played_in
from botdrome.contest.open_round import OpenRound
from botdrome.contest.result_book import ResultBook


class LateEntry(ValueError):
    """The format takes no entrants after the start."""


class ContestProgress:
    """A contest that is being played. It is told what happens, and never waits."""

    def __init__(
        self,
        document: ContestDocument,
        entrants: Sequence[Entrant],
        results: Mapping[str, FixtureResult],
        underway: Collection[str] = (),
    ) -> None:
        """`underway` are the fixtures that are being played. An entrant that leaves does not forfeit them."""
        self.document, self.entrants = document, list(entrants)
        self.results = ResultBook(document.games_per_meeting, results)
        self.format = CONTEST_FORMATS[document.format_]
        self.refusal = ""
        """Why the contest cannot go on; empty: it can, or it is over."""
        self.underway = underway
        self._plan_anew()

    @property
    def over(self) -> bool:
        return not self.open and not self.refusal

    @property
    def rounds(self) -> list[Round]:
        """The rounds that have begun."""
        return list(self._rounds.values())

    @property
    def fixtures(self) -> dict[str, ContestFixture]:
        """All fixtures of the rounds that have begun. This takes memory for each of them."""
        return {fixture.key: fixture for round_ in self._rounds.values() for fixture in round_.fixtures}

    @property
    def rounds_played(self) -> int:
        """The number of rounds whose fixtures all have results."""
        return len(self._rounds) - bool(self.open)

    @property
    def expected(self) -> int:
        """About how many matches the contest has in all; at least those that are planned."""
        planned = sum(len(round_.fixtures) for round_ in self._rounds.values())
        return planned if self.over else max(planned, self.format.expected(self.document, len(self.entrants)))

    def add(self, key: str, result: FixtureResult) -> bool:
        """Count a result and return True. Ignore it and return False if the fixture has one already.

        Raise KeyError if the fixture is not open.
        """
        if key in self.results:
            return False
        fixture = self.open[key]
        if result.places and len(result.places) != len(fixture.entrants):
            raise ValueError(f"fixture {key}: {len(result.places)} places for {len(fixture.entrants)} seats")
        self.results[key] = result
        self.open.left -= 1
        self._count_faults(fixture, result)
        self._go_on()
        return True

    def enter(self, entrant: Entrant) -> EntrantNumber:
        """Add an entrant and return its number. Raise LateEntry if the format takes none after the start."""
        self.entrants.append(late_entrant(self.document, entrant, max(self._rounds, default=0)))
        self._plan_anew()
        return len(self.entrants) - 1

    def withdraw(self, number: EntrantNumber) -> dict[str, FixtureResult]:
        """Let an entrant play no more. Return the results of its open fixtures: it forfeits them, or they do not count."""
        if self.entrants[number].left is not None:
            return {}
        self.entrants[number] = replace(self.entrants[number], left=max(self._rounds, default=0) + 1)
        self._plan_anew()
        return self.forfeits

    def replace_version(self, number: EntrantNumber, version: str) -> None:
        self.entrants[number] = replace(self.entrants[number], version=version)

    def penalised(self, number: EntrantNumber) -> bool:
        """Return True if an entrant has so many no-shows and crashes that it is to be withdrawn."""
        limit = self.document.penalties.withdraw_after
        return limit is not None and self.faults[number] >= limit

    def standings(self) -> list[Standing]:
        """Return the standings, best first."""
        return self.format.ranked(self.document, self.entrants, self.rounds, self.results)

    def with_results(self, numbers: Collection[EntrantNumber], failed: bool) -> list[str]:
        """Return the fixtures of these entrants (none: of all) with results; `failed`: only with no-shows or crashes."""
        return [
            fixture.key
            for fixture, result in played_in(self.rounds, self.results)
            if (not numbers or set(numbers) & set(fixture.entrants)) and (not failed or result.crashed or result.absent)
        ]

    def forget(self, keys: Iterable[str]) -> set[str]:
        """Take results back, so that their fixtures are open again. Return all keys that lost their results.

        The results of later rounds are lost too where the pairing depends on the results.
        """
        dropped = {key for key in keys if key in self.results}
        if dropped and self.format.late != "now":  # else the plan does not depend on results
            first = min(int(key.split(".")[0]) for key in dropped)
            dropped |= {key for key in self.results if int(key.split(".")[0]) > first}
        for key in dropped:
            del self.results[key]
        self._plan_anew()
        return dropped

    def _plan_anew(self) -> None:
        self._rounds: dict[int, Round] = {}
        self.open = OpenRound((), self.results, 0)
        self.faults: Counter[EntrantNumber] = Counter()
        self.forfeits: dict[str, FixtureResult] = {}
        """The results that followed from this plan alone, since entrants have left."""
        self._plan: Iterator[Round] = self.format.rounds(self.document, self.entrants, self.results)
        self._go_on()

    def _go_on(self) -> None:
        """Plan the next rounds until something is open."""
        while not self.open:
            try:
                round_ = next(self._plan, None)
                self.refusal = ""
            except CannotContinue as reason:
                self.refusal, round_ = str(reason), None
            if round_ is None:
                return
            self._open(round_)

    def _open(self, round_: Round) -> None:
        before = self._rounds.get(round_.number)
        counted = {fixture.key for fixture in before.fixtures} if before else ()
        self._rounds[round_.number] = round_
        leavers = {number for number, entrant in enumerate(self.entrants) if entrant.left is not None}
        left = 0
        for fixture in round_.fixtures:
            result = self.results.get(fixture.key)
            if result is None and not leavers.isdisjoint(fixture.entrants):
                result = self._forfeit(fixture, round_.number)
            if result is None:
                left += 1
            elif fixture.key not in counted:
                self._count_faults(fixture, result)
        self.open = OpenRound(round_.fixtures, self.results, left)

    def _forfeit(self, fixture: ContestFixture, round_: int) -> FixtureResult | None:
        """Return the result of a fixture if some of its entrants have left since it was planned."""
        leavers = ((seat, self.entrants[number].left) for seat, number in enumerate(fixture.entrants))
        absent = [seat for seat, left in leavers if left is not None and left <= round_ + 1]
        if not absent or fixture.key in self.underway:
            return None
        self.results[fixture.key] = self.forfeits[fixture.key] = unplayed(self.document, fixture, absent)
        return self.results[fixture.key]

    def _count_faults(self, fixture: ContestFixture, result: FixtureResult) -> None:
        for seat in (*result.absent, *result.crashed):
            self.faults[fixture.entrants[seat]] += 1


def start_refusal(document: ContestDocument, entrants: Sequence[Entrant]) -> str:
    """Return why a contest cannot start with these entrants; empty: it can."""
    players = players_of(entrants, 1)
    refusal = CONTEST_FORMATS[document.format_].refusal(document, len(players))
    if document.champion and not refusal and not document.entry.late:
        try:
            champion_of(document, entrants, players)
        except CannotContinue as reason:
            return str(reason)
    return refusal


def late_entrant(document: ContestDocument, entrant: Entrant, round_: int) -> Entrant:
    """Return an entrant that enters in this round. Raise LateEntry if the format takes none after the start."""
    late = CONTEST_FORMATS[document.format_].late
    if round_ and late == "never":
        raise LateEntry(f"{document.format_} takes no entrants after the start; round-robin, swiss and ladder do")
    return replace(entrant, joined=round_ + (late == "next") if round_ else 0)


def unplayed(document: ContestDocument, fixture: ContestFixture, absent: Collection[int]) -> FixtureResult:
    """Return the result of a fixture with absent players: the others share the first place, or it does not count."""
    present = len(fixture.entrants) - len(absent)
    needs_winner = CONTEST_FORMATS[document.format_].late == "never"
    if not present or (document.penalties.no_show == "skip" and not needs_winner):
        return FixtureResult((), tuple(absent))
    places = [present + 1 if seat in absent else 1 for seat in range(len(fixture.entrants))]
    return FixtureResult(tuple(places), tuple(absent))
