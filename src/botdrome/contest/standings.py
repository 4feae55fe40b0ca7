"""Standings: the results of many matches, summed up per entrant."""

from collections import Counter
from collections.abc import Iterable, Sequence

from msgspec import Struct, field

from botdrome.contest.rating import EloDifference, elo_difference
from botdrome.match.events import Result


class Tally(Struct):
    """The totals of one entrant."""

    entrant: int
    wins: int = 0
    draws: int = 0
    losses: int = 0
    points: float = 0.0
    """1 point for a win; players that share first place share the point."""
    beat: int = 0
    """`beat`, `level` and `beaten_by` count opponents ranked below, equal and above; the rating uses them."""
    level: int = 0
    beaten_by: int = 0
    causes: Counter[str] = field(default_factory=Counter)

    @property
    def played(self) -> int:
        return self.wins + self.draws + self.losses

    @property
    def elo(self) -> EloDifference:
        return elo_difference(self.beat, self.level, self.beaten_by)

    def add(self, place: int, others: Sequence[int], cause: str) -> None:
        sharers = 1 + others.count(1)
        if place > 1:
            self.losses += 1
        elif sharers > 1:
            self.draws += 1
        else:
            self.wins += 1
        self.points += 1 / sharers if place == 1 else 0
        self.beat += sum(place < other for other in others)
        self.level += others.count(place)
        self.beaten_by += sum(place > other for other in others)
        self.causes[cause] += 1


class Standings:
    """Totals that are updated match by match."""

    def __init__(self, entrants: int) -> None:
        self.tallies = [Tally(entrant) for entrant in range(entrants)]
        self.matches = 0

    def add(self, entrants: Iterable[int], result: Result) -> None:
        self.matches += 1
        for seat, entrant in enumerate(entrants):
            others = [place for other, place in enumerate(result.places) if other != seat]
            self.tallies[entrant].add(result.places[seat], others, result.causes[seat])

    def ranked(self) -> list[Tally]:
        """Return the standings, best first."""
        return sorted(self.tallies, key=lambda tally: (-tally.points, -tally.wins, tally.losses, tally.entrant))
