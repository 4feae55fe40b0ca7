"""Swiss pairs: entrants with similar scores that have not met, so that everybody can be paired."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations

from msgspec import Struct, field

from botdrome.contest.formats.format import EntrantNumber
from botdrome.contest.formats.matching import Matching

Pair = tuple[EntrantNumber, EntrantNumber]


class SwissHistory(Struct):
    """What the pairing of a round must know of the rounds before."""

    points: dict[EntrantNumber, int] = field(default_factory=dict)
    met: dict[frozenset[EntrantNumber], int] = field(default_factory=dict)
    lean: dict[EntrantNumber, int] = field(default_factory=dict)
    """How often an entrant had the first seat more than the second."""
    seats: dict[tuple[EntrantNumber, int], int] = field(default_factory=dict)
    """How often an entrant had a seat in the first match of a meeting, if meetings leave seats unbalanced."""
    byes: dict[EntrantNumber, int] = field(default_factory=dict)

    def add(self, seats: Sequence[EntrantNumber], *, level: bool) -> None:
        """Remember a meeting. Level: each of its entrants has each seat equally often."""
        for one, two in combinations(seats, 2):
            pair = frozenset((one, two))
            self.met[pair] = self.met.get(pair, 0) + 1
        for seat, number in enumerate(() if level else seats):
            self.seats[number, seat] = self.seat_count(number, seat) + 1
            self.lean[number] = self.lean.get(number, 0) + (1 if seat == 0 else -1)

    def add_byes(self, byes: Iterable[EntrantNumber]) -> None:
        for number in byes:
            self.byes[number] = self.byes.get(number, 0) + 1

    def seat_count(self, number: EntrantNumber, seat: int) -> int:
        return self.seats.get((number, seat), 0)

    def times_met(self, one: EntrantNumber, two: EntrantNumber) -> int:
        return self.met.get(frozenset((one, two)), 0)

    def clash(self, one: EntrantNumber, two: EntrantNumber) -> bool:
        """Return True if both are due the same seat."""
        return self.lean.get(one, 0) * self.lean.get(two, 0) > 0


def swiss_pairs(players: Sequence[EntrantNumber], history: SwissHistory) -> tuple[list[Pair], EntrantNumber | None]:
    """Return the pairs, best first, each with its first seat first, and the entrant with the bye. Players are given by rank.

    First of all the seats stay balanced, then nobody meets an opponent again, if any pairing allows it. Among such pairings the
    highest player gets its best opponent, then the highest one that is left, and so on.
    """
    most = max(history.met.values(), default=0)
    graphs = (_Graph(history, balanced, times) for balanced in (True, False) for times in range(most + 1))
    tries = ((graph, bye) for graph in graphs for bye in _bye_candidates(players, graph))
    return next(found for graph, bye in tries if (found := _paired(players, bye, graph)))


def _paired(
    players: Sequence[EntrantNumber], bye: EntrantNumber | None, graph: "_Graph"
) -> tuple[list[Pair], EntrantNumber | None] | None:
    rest = [number for number in players if number != bye]
    matching = Matching(rest, graph.joined)
    if not matching.complete():
        return None
    return [_seated(pair, graph.history) for pair in _best(rest, matching, graph)], bye


class _Graph(Struct, frozen=True):
    """Who may meet whom."""

    history: SwissHistory
    balanced: bool
    most: int

    def joined(self, one: EntrantNumber, two: EntrantNumber) -> bool:
        return self.history.times_met(one, two) <= self.most and not (self.balanced and self.history.clash(one, two))


def _bye_candidates(players: Sequence[EntrantNumber], graph: _Graph) -> list[EntrantNumber | None]:
    """Return the entrants with the fewest byes, lowest first; nobody if too many are due the same seat for any pairing."""
    history, odd = graph.history, len(players) % 2
    leans = [history.lean.get(number, 0) for number in players] if graph.balanced else []
    if 2 * max(sum(lean > 0 for lean in leans), sum(lean < 0 for lean in leans)) > len(players) + odd:
        return []
    if not odd:
        return [None]
    fewest = min(history.byes.get(number, 0) for number in players)
    return [number for number in reversed(players) if history.byes.get(number, 0) == fewest]


def _best(players: Sequence[EntrantNumber], matching: Matching, graph: _Graph) -> Iterator[Pair]:
    rest = list(players)
    while rest:
        first = rest.pop(0)
        other = next(other for other in _wishes(first, rest, graph) if matching.take(first, other))
        rest.remove(other)
        yield first, other


def _wishes(first: EntrantNumber, rest: Sequence[EntrantNumber], graph: _Graph) -> Iterator[EntrantNumber]:
    """Return the possible opponents, best first: the one half a score group below, those below it, those above it, the rest."""
    points: Mapping[EntrantNumber, int] = graph.history.points
    own = points.get(first, 0)
    group = next((place for place, number in enumerate(rest) if points.get(number, 0) != own), len(rest))
    half = group // 2
    order = [*rest[half:group], *reversed(rest[:half]), *rest[group:]]
    met, joined = graph.history.times_met, graph.joined
    return (other for times in range(graph.most + 1) for other in order if met(first, other) == times and joined(first, other))


def _seated(pair: Pair, history: SwissHistory) -> Pair:
    one, two = pair
    first, second = history.lean.get(one, 0), history.lean.get(two, 0)
    turned = first > second or (first == second and (one + two) % 2 == 1)
    return (two, one) if turned else (one, two)
