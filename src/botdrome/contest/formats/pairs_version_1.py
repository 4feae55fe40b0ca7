"""Swiss pairs of contests that began under version 1 of the rules: balanced seats come first.

The plan of a contest is computed from its results, so a contest keeps the rules of its start.
"""

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from botdrome.contest.formats.format import EntrantNumber
from botdrome.contest.formats.pairs import Matching, Pair, SwissHistory, bye_candidates


def swiss_pairs_1(
    players: Sequence[EntrantNumber], history: SwissHistory
) -> tuple[list[Pair], EntrantNumber | None]:
    """Return the pairs, best first, each with its first seat first, and the entrant with the bye.

    Players are given by rank.

    First of all the seats stay balanced, then nobody meets an opponent again, if any pairing allows
    it. Among such pairings the highest player gets its best opponent, then the highest one that is
    left, and so on.
    """
    most = max(history.met.values(), default=0)
    graphs = (
        _Graph(history, balanced, times) for balanced in (True, False) for times in range(most + 1)
    )
    tries = ((graph, bye) for graph in graphs for bye in bye_candidates(players, history))
    return next(found for graph, bye in tries if (found := _paired(players, bye, graph)))


def _paired(
    players: Sequence[EntrantNumber], bye: EntrantNumber | None, graph: "_Graph"
) -> tuple[list[Pair], EntrantNumber | None] | None:
    rest = [number for number in players if number != bye]
    places = range(len(rest))
    joined = [
        sum(1 << two for two in places if two != one and graph.joined(rest[one], rest[two]))
        for one in places
    ]
    matching = Matching(joined)
    if not matching.complete():
        return None
    return [_seated(pair, graph.history) for pair in _best(rest, matching, graph)], bye


class _Graph(Struct, frozen=True):
    """Who may meet whom."""

    history: SwissHistory
    balanced: bool
    most: int

    def joined(self, one: EntrantNumber, two: EntrantNumber) -> bool:
        return self.history.times_met(one, two) <= self.most and not (
            self.balanced and self.history.strain(one, two)
        )


def _best(players: Sequence[EntrantNumber], matching: Matching, graph: _Graph) -> Iterator[Pair]:
    rest, places = list(players), {number: place for place, number in enumerate(players)}
    while rest:
        first = rest.pop(0)
        other = next(
            other
            for other in _wishes(first, rest, graph)
            if matching.limit(places[first], 1 << places[other])
        )
        rest.remove(other)
        yield first, other


def _wishes(
    first: EntrantNumber, rest: Sequence[EntrantNumber], graph: _Graph
) -> Iterator[EntrantNumber]:
    """Return the possible opponents, best first: the one half a score group below, those below it,
    those above it, the rest.
    """
    points: Mapping[EntrantNumber, int] = graph.history.points
    own = points.get(first, 0)
    group = next(
        (place for place, number in enumerate(rest) if points.get(number, 0) != own), len(rest)
    )
    half = group // 2
    order = [*rest[half:group], *reversed(rest[:half]), *rest[group:]]
    met, joined = graph.history.times_met, graph.joined
    return (
        other
        for times in range(graph.most + 1)
        for other in order
        if met(first, other) == times and joined(first, other)
    )


def _seated(pair: Pair, history: SwissHistory) -> Pair:
    one, two = pair
    first, second = history.lean.get(one, 0), history.lean.get(two, 0)
    turned = first > second or (first == second and (one + two) % 2 == 1)
    return (two, one) if turned else (one, two)
