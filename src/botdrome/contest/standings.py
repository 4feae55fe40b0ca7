"""Standings: the results of many matches, summed up per entrant."""

from collections import Counter
from collections.abc import Iterable, Sequence

from msgspec import Struct, field

from botdrome.match.events import Result


class Tally(Struct):
    """The totals of one entrant."""

    entrant: int
    wins: int = 0
    draws: int = 0
    losses: int = 0
    half_points: Counter[int] = field(default_factory=Counter)
    """Twice the sum of (opponents beaten + level / 2), by the number of opponents.

    Whole numbers have one sum in any order.
    """
    causes: Counter[str] = field(default_factory=Counter)

    @property
    def points(self) -> float:
        """The sum over its matches of (opponents beaten + level / 2) / opponents: a win against one
        opponent is 1 point.
        """
        return float(sum(half / (2 * others) for others, half in sorted(self.half_points.items())))

    @property
    def played(self) -> int:
        return self.wins + self.draws + self.losses

    def add(self, place: int, others: Sequence[int], cause: str) -> None:
        sharers = 1 + others.count(1)
        if place > 1:
            self.losses += 1
        elif sharers > 1:
            self.draws += 1
        else:
            self.wins += 1
        if others:
            self.half_points[len(others)] += sum(
                2 * (place < other) + (place == other) for other in others
            )
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
        return sorted(
            self.tallies,
            key=lambda tally: (-tally.points, -tally.wins, tally.losses, tally.entrant),
        )
