"""Scores: the results of each entrant summed up, and the order by score and tie-breaks."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from botdrome.contest.document import ContestDocument, TieBreak
from botdrome.contest.formats.format import ContestFixture, EntrantNumber, FixtureResult, Results, Round, Standing

Played = Callable[[], Iterable[tuple[ContestFixture, FixtureResult]]]
"""Returns the matches that count, as often as it is called."""
Values = Mapping[EntrantNumber, float]


class EntrantScore(Struct):
    """The totals of one entrant. Points are whole numbers, so that sums do not depend on their order."""

    points: int = 0
    """2 for each opponent beaten, 1 for each level one; without byes."""
    wins: int = 0
    draws: int = 0
    losses: int = 0
    byes: int = 0
    no_shows: int = 0
    crashes: int = 0
    present: int = 0
    """The matches that it did not miss."""

    @property
    def played(self) -> int:
        return self.wins + self.draws + self.losses


def points_of(places: Sequence[int], seat: int) -> int:
    """Return 2 for each opponent beaten and 1 for each level one."""
    mine = places[seat]
    return sum(2 * (mine < other) + (mine == other) for other in places) - 1


class Scores:
    """The scores of all entrants, added up result by result."""

    def __init__(self, document: ContestDocument) -> None:
        self.of: defaultdict[EntrantNumber, EntrantScore] = defaultdict(EntrantScore)
        self._whole = 2 * (document.seats - 1)
        """The points of a match won against all."""
        self._bye = int(document.bye * self._whole * document.games_per_meeting)
        self._for_all = document.pairing == 1
        """Whether entrants that never appeared have byes too."""

    def points(self, entrant: EntrantNumber) -> int:
        return self.of[entrant].points + self._byes(entrant) * self._bye

    def score(self, entrant: EntrantNumber) -> float:
        return self.points(entrant) / self._whole

    def missing(self, entrant: EntrantNumber) -> bool:
        """Return True if an entrant was absent from all its matches."""
        return self.of[entrant].no_shows > 0 == self.of[entrant].present and not self._for_all

    def _byes(self, entrant: EntrantNumber) -> int:
        return 0 if self.missing(entrant) else self.of[entrant].byes

    def share(self, entrant: EntrantNumber) -> float:
        """Return the mean score of a match."""
        return self.score(entrant) / max(1, self.of[entrant].played)

    def add(self, fixture: ContestFixture, result: FixtureResult) -> None:
        for seat in result.absent:
            self.of[fixture.entrants[seat]].no_shows += 1
        for seat in result.crashed:
            self.of[fixture.entrants[seat]].crashes += 1
        for seat, entrant in enumerate(fixture.entrants):
            self.of[entrant].present += seat not in result.absent
        places, shared = result.places, result.places.count(1) > 1
        for seat, (entrant, place) in enumerate(zip(fixture.entrants, places, strict=False)):
            score = self.of[entrant]
            score.points += points_of(places, seat)
            score.wins += place == 1 and not shared
            score.draws += place == 1 and shared
            score.losses += place > 1

    def add_bye(self, entrant: EntrantNumber) -> None:
        self.of[entrant].byes += 1

    def standing(self, entrant: EntrantNumber, place: int, tie_breaks: Sequence[float] = (), note: str = "") -> Standing:
        own = self.of[entrant]
        counts = (own.wins, own.draws, own.losses, self._byes(entrant), own.no_shows, own.crashes)
        return Standing(entrant, place, self.score(entrant), *counts, tie_breaks=tuple(tie_breaks), note=note)


def played_in(rounds: Sequence[Round], results: Results) -> Iterator[tuple[ContestFixture, FixtureResult]]:
    """Yield the fixtures that have results, in the order of the plan."""
    for round_ in rounds:
        for fixture in round_.fixtures:
            result = results.get(fixture.key)
            if result is not None:
                yield fixture, result


def scores_of(document: ContestDocument, rounds: Sequence[Round], results: Results) -> Scores:
    scores = Scores(document)
    for fixture, result in played_in(rounds, results):
        scores.add(fixture, result)
    for round_ in rounds:
        for entrant in round_.byes:
            scores.add_bye(entrant)
    return scores


def ranked_by_score(
    document: ContestDocument,
    numbers: Sequence[EntrantNumber],
    rounds: Sequence[Round],
    results: Results,
    *,
    by_share: bool = False,
) -> list[Standing]:
    """Return the standings of these entrants by score, or by the score per match, then by the document's tie-breaks."""
    scores = scores_of(document, rounds, results)
    groups = _split([list(numbers)], lambda number: scores.share(number) if by_share else scores.points(number))
    values: list[Values] = []

    def counting() -> Iterable[tuple[ContestFixture, FixtureResult]]:
        return ((fixture, result) for fixture, result in played_in(rounds, results) if result.places)

    for tie_break in document.tie_breaks:
        found = tie_break_values(tie_break, groups, scores, counting)
        values.append(found)
        groups = _split(groups, lambda number, found=found: found.get(number, 0.0))  # type: ignore[misc]
    lines, place = [], 1
    for group in groups:
        lines += [scores.standing(number, place, [value.get(number, 0.0) for value in values]) for number in group]
        place += len(group)
    return lines


def tie_break_values(name: TieBreak, groups: Sequence[Sequence[EntrantNumber]], scores: Scores, played: Played) -> Values:
    """Return the values of a tie-break; more is better. The groups are the entrants that are tied so far."""
    if name == "wins":
        return {number: float(score.wins) for number, score in scores.of.items()}
    if name == "games":
        return {number: float(score.played) for number, score in scores.of.items()}
    if name == "direct":
        return _direct(groups, played)
    total, met = _against(scores, played, by_points=name == "sonneborn-berger")
    if name == "opponents":
        return {number: total[number] / met[number] for number in total}
    return total


def _against(scores: Scores, played: Played, *, by_points: bool) -> tuple[dict[EntrantNumber, float], Counter[EntrantNumber]]:
    """Return the sum of the opponents' scores, and their number. By points, those beaten count in full and level ones half."""
    total: defaultdict[EntrantNumber, float] = defaultdict(float)
    met: Counter[EntrantNumber] = Counter()
    for fixture, result in played():
        for number, mine in zip(fixture.entrants, result.places, strict=True):
            for other, theirs in zip(fixture.entrants, result.places, strict=True):
                if other != number:
                    met[number] += 1
                    total[number] += scores.score(other) * ((mine < theirs) + (mine == theirs) / 2 if by_points else 1)
    return total, met


def _direct(groups: Sequence[Sequence[EntrantNumber]], played: Played) -> Values:
    """Return the share of points against the tied entrants, for groups in which all have met each other."""
    group_of = {number: index for index, group in enumerate(groups) for number in group if len(group) > 1}
    points: Counter[EntrantNumber] = Counter()
    met: defaultdict[EntrantNumber, Counter[EntrantNumber]] = defaultdict(Counter)
    for fixture, result in played():
        for number, mine in zip(fixture.entrants, result.places, strict=True):
            for other, theirs in zip(fixture.entrants, result.places, strict=True):
                if other != number and group_of.get(number, -1) == group_of.get(other, -2):
                    met[number][other] += 1
                    points[number] += 2 * (mine < theirs) + (mine == theirs)
    complete = [group for group in groups if all(len(met[number]) == len(group) - 1 for number in group)]
    return {number: points[number] / 2 / met[number].total() for group in complete for number in group if met[number]}


def _split(groups: Sequence[Sequence[EntrantNumber]], value: Callable[[EntrantNumber], float]) -> list[list[EntrantNumber]]:
    """Return the groups divided by value, highest first."""
    parts: list[list[EntrantNumber]] = []
    for group in groups:
        by_value: defaultdict[float, list[EntrantNumber]] = defaultdict(list)
        for number in group:
            by_value[value(number)].append(number)
        parts += [by_value[found] for found in sorted(by_value, reverse=True)]
    return parts
