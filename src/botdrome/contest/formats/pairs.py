"""Swiss pairs: nobody meets twice, then scores are close, then seats are balanced."""

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from itertools import chain, combinations

from msgspec import Struct

from botdrome.contest.formats.format import EntrantNumber

# Matching: pair all vertices of a graph with neighbours, and keep that possible while the choice
# gets smaller.
#
# A path from an unmatched vertex over matched and unmatched edges in turn to another unmatched one
# adds a pair to the matching (Edmonds). An odd cycle on the way, a blossom, is shrunk to its base,
# so that both of its directions are tried. Sets of vertices are bits of whole numbers, so that a
# search looks at each vertex only a few times.

Vertex = int
Vertices = int
"""A set of vertices: bit 0 for vertex 0, and so on."""


def members(vertices: Vertices) -> Iterator[Vertex]:
    while vertices:
        lowest = vertices & -vertices
        yield lowest.bit_length() - 1
        vertices ^= lowest


class Matching:
    """A matching of the vertices, and the edges that are left."""

    def __init__(self, neighbours: Sequence[Vertices]) -> None:
        """`neighbours` of each vertex; an edge is there in both directions."""
        self.neighbours = list(neighbours)
        self._mate: list[Vertex | None] = [None] * len(neighbours)
        self._unmatched: Vertices = (1 << len(neighbours)) - 1

    def complete(self) -> bool:
        """Match all vertices. Return False if that is impossible."""
        return all(
            mate is not None or self._augment(vertex) for vertex, mate in enumerate(self._mate)
        )

    def limit(self, one: Vertex, others: Vertices) -> bool:
        """Let a vertex have only these neighbours.

        Return False, and change nothing, if not all can be matched then.

        The matching is complete before.
        """
        kept = self.neighbours[one] & others
        if not kept:
            return False
        mate, dropped = self._mate[one], self.neighbours[one] ^ kept
        assert mate is not None
        self._flip(one, dropped)
        if kept >> mate & 1:
            return True
        self._mate[one] = self._mate[mate] = None
        self._unmatched = 1 << one | 1 << mate
        if self._augment(one):
            return True
        self._mate[one], self._mate[mate], self._unmatched = mate, one, 0
        self._flip(one, dropped)
        return False

    def _flip(self, one: Vertex, others: Vertices) -> None:
        """Take these edges away, or bring them back."""
        self.neighbours[one] ^= others
        bit = 1 << one
        for other in members(others):
            self.neighbours[other] ^= bit

    def _augment(self, root: Vertex) -> bool:
        search = _Search(self._mate, self.neighbours, root, self._unmatched ^ 1 << root)
        end = search.end()
        if end is None:
            return False
        self._unmatched ^= 1 << root | 1 << end
        while end is not None:  # up to the root
            before = search.parent[end]
            following = self._mate[before]
            self._mate[end], self._mate[before] = before, end
            end = following
        return True


class _Search:
    """The search for a path from one unmatched vertex to another."""

    def __init__(
        self,
        mate: Sequence[Vertex | None],
        neighbours: Sequence[Vertices],
        root: Vertex,
        free: Vertices,
    ) -> None:
        """`free` are the other unmatched vertices."""
        self.parent: dict[Vertex, Vertex] = {}
        self._mate, self._neighbours, self._free = mate, neighbours, free
        self._even, self._odd, self._queue = 1 << root, 0, deque([root])
        self._base: dict[Vertex, Vertex] = {}
        self._shrunk: dict[Vertex, Vertices] = {}
        """The vertices that were shrunk to a base."""

    def end(self) -> Vertex | None:
        """Return the last vertex of a path; `parent` leads back to the root."""
        end = self._beside(self._queue[0])
        while end is None and self._queue:
            end = self._visit(self._queue.popleft())
        return end

    def _beside(self, vertex: Vertex) -> Vertex | None:
        """Return an unmatched neighbour."""
        found = self._neighbours[vertex] & self._free
        if not found:
            return None
        end = (found & -found).bit_length() - 1
        self.parent[end] = vertex
        return end

    def _visit(self, vertex: Vertex) -> Vertex | None:
        """Go on from a vertex.

        Return the end of a path if there is one beside the next vertices.
        """
        near = self._neighbours[vertex]
        while new := near & ~(self._even | self._odd):
            other = new.bit_length() - 1
            partner = self._mate[other]
            assert partner is not None
            self.parent[other] = vertex
            self._odd |= 1 << other
            self._even |= 1 << partner
            self._queue.append(partner)
            if (end := self._beside(partner)) is not None:
                return end
        while cycles := near & self._even & ~self._members(self._base_of(vertex)):
            odd = self._shrink(vertex, cycles.bit_length() - 1)
            if (
                end := next(
                    (end for inner in members(odd) if (end := self._beside(inner)) is not None),
                    None,
                )
            ) is not None:
                return end
        return None

    def _base_of(self, vertex: Vertex) -> Vertex:
        return self._base.get(vertex, vertex)

    def _members(self, base: Vertex) -> Vertices:
        return self._shrunk.get(base, 1 << base)

    def _shrink(self, one: Vertex, two: Vertex) -> Vertices:
        """Shrink the odd cycle that this edge closes.

        Return the vertices that can be gone on from now.
        """
        base, cycle = self._common_base(one, two), set[Vertex]()
        self._mark(one, two, base, cycle)
        self._mark(two, one, base, cycle)
        whole = self._members(base)
        for inner in cycle:
            whole |= self._members(inner)
        for vertex in members(whole & ~self._members(base)):
            self._base[vertex] = base
        self._shrunk[base] = whole
        odd = whole & ~self._even
        self._even |= odd
        self._queue.extend(members(odd))
        return odd

    def _common_base(self, one: Vertex, two: Vertex) -> Vertex:
        passed, vertex = set[Vertex](), self._base_of(one)
        while True:
            passed.add(vertex)
            partner = self._mate[vertex]
            if partner is None:
                break
            vertex = self._base_of(self.parent[partner])
        vertex = self._base_of(two)
        while vertex not in passed:
            partner = self._mate[vertex]
            assert partner is not None
            vertex = self._base_of(self.parent[partner])
        return vertex

    def _mark(self, vertex: Vertex, child: Vertex, base: Vertex, cycle: set[Vertex]) -> None:
        while self._base_of(vertex) != base:
            partner = self._mate[vertex]
            assert partner is not None
            cycle |= {self._base_of(vertex), self._base_of(partner)}
            self.parent[vertex] = child
            child, vertex = partner, self.parent[partner]


Pair = tuple[EntrantNumber, EntrantNumber]


class SwissHistory:
    """What the pairing of a round must know of the rounds before."""

    def __init__(self) -> None:
        self.points: Counter[EntrantNumber] = Counter()
        self.met: Counter[frozenset[EntrantNumber]] = Counter()
        self.lean: Counter[EntrantNumber] = Counter()
        """How often an entrant had the first seat more than the second."""
        self.seats: Counter[tuple[EntrantNumber, int]] = Counter()
        """How often an entrant had a seat in the first match of a meeting, if meetings leave seats
        unbalanced.
        """
        self.byes: Counter[EntrantNumber] = Counter()
        self.missing: set[EntrantNumber] = set()
        """The entrants that were absent from all their matches. They get no bye."""

    def add(self, seats: Sequence[EntrantNumber], *, level: bool) -> None:
        """Remember a meeting. Level: each of its entrants has each seat equally often."""
        self.met.update(map(frozenset, combinations(seats, 2)))
        for seat, number in enumerate(() if level else seats):
            self.seats[number, seat] += 1
            self.lean[number] += 1 if seat == 0 else -1

    def times_met(self, one: EntrantNumber, two: EntrantNumber) -> int:
        return self.met[frozenset((one, two))]

    def strain(self, one: EntrantNumber, two: EntrantNumber) -> int:
        """Return the lean of the one that does not get the seat that both are due; 0: both get the
        seat they are due.
        """
        return _strain(self.lean[one], self.lean[two])

    def bye_rank(self, number: EntrantNumber) -> tuple[bool, int]:
        """Return a value that is smallest for those that get the next bye: entrants that have
        appeared, with the fewest byes.
        """
        return number in self.missing, self.byes[number]


def _strain(one: int, two: int) -> int:
    return min(abs(one), abs(two)) if one * two > 0 else 0


def swiss_pairs(
    players: Sequence[EntrantNumber], history: SwissHistory
) -> tuple[list[Pair], EntrantNumber | None]:
    """Return the pairs, best first, each with its first seat first, and the entrant with the bye.

    Players are given by rank.

    Rematches are as few as possible, then differences in score as small, then seats as balanced.
    Each of these rules serves the highest player first, then the next one, and so on: a lower one
    never costs a higher one anything.
    """
    most = max(history.met.values(), default=0)
    tries = ((times, bye) for times in range(most + 1) for bye in bye_candidates(players, history))
    return next(found for times, bye in tries if (found := _paired(players, bye, history, times)))


def bye_candidates(
    players: Sequence[EntrantNumber], history: SwissHistory
) -> list[EntrantNumber | None]:
    """Return the entrants with the best claim to the bye, lowest first."""
    if len(players) % 2 == 0:
        return [None]
    best = min(map(history.bye_rank, players))
    return [number for number in reversed(players) if history.bye_rank(number) == best]


def _paired(
    players: Sequence[EntrantNumber], bye: EntrantNumber | None, history: SwissHistory, most: int
) -> tuple[list[Pair], EntrantNumber | None] | None:
    """Return the pairs if nobody need meet an opponent more than `most` times again."""
    rest = [number for number in players if number != bye]
    met = _met(rest, history)
    everybody = (1 << len(rest)) - 1
    far = [_union(who for times, who in row.items() if times > most) for row in met]
    matching = Matching([everybody & ~(1 << place | far[place]) for place in range(len(rest))])
    if not matching.complete():
        return None
    if most:
        rematches = [
            [everybody & ~_union(row.values()), *(row[times] for times in range(1, most + 1))]
            for row in met
        ]
        _prefer(matching, rematches.__getitem__)
    scores, leans = [history.points[one] for one in rest], [history.lean[one] for one in rest]
    _prefer(matching, _nearest(scores, lambda one, two: abs(one - two)))
    _prefer(matching, _nearest(leans, _strain))
    pairs = [(rest[one], rest[two]) for one, two in _best(matching, scores)]
    return list(_seated(pairs, history)), bye


def _union(parts: Iterable[Vertices]) -> Vertices:
    whole = 0
    for part in parts:
        whole |= part
    return whole


def _met(
    players: Sequence[EntrantNumber], history: SwissHistory
) -> list[defaultdict[int, Vertices]]:
    """Return for each player the earlier opponents by the number of their meetings."""
    places = {number: place for place, number in enumerate(players)}
    found: list[defaultdict[int, Vertices]] = [defaultdict(int) for _ in players]
    for (one, two), times in history.met.items():
        if one in places and two in places:
            found[places[one]][times] |= 1 << places[two]
            found[places[two]][times] |= 1 << places[one]
    return found


def _prefer(matching: Matching, choices: Callable[[Vertex], Iterable[Vertices]]) -> None:
    """Limit each player, the highest first, to the first of its choices with which all can be
    paired.
    """
    for place in range(len(matching.neighbours)):
        any(matching.limit(place, choice) for choice in choices(place))


def _by_value(values: Sequence[int]) -> dict[int, Vertices]:
    found: defaultdict[int, Vertices] = defaultdict(int)
    for place, value in enumerate(values):
        found[value] |= 1 << place
    return found


def _nearest(
    values: Sequence[int], distance: Callable[[int, int], int]
) -> Callable[[Vertex], list[Vertices]]:
    """Return for a player the others by the distance of their values, the smallest first."""
    groups = _by_value(values)

    @cache
    def choices(own: int) -> list[Vertices]:
        found: defaultdict[int, Vertices] = defaultdict(int)
        for value, group in groups.items():
            found[distance(value, own)] |= group
        return [found[one] for one in sorted(found)]

    return lambda place: choices(values[place])


def _best(matching: Matching, scores: Sequence[int]) -> Iterator[tuple[Vertex, Vertex]]:
    """Yield the pairs: the highest player gets its best opponent, then the highest one that is
    left, and so on.
    """
    groups, rest = _by_value(scores), (1 << len(scores)) - 1
    while rest:
        first = next(members(rest))
        rest ^= 1 << first
        other = next(
            other
            for other in _wishes(rest, groups[scores[first]])
            if matching.limit(first, 1 << other)
        )
        rest ^= 1 << other
        yield first, other


def _wishes(rest: Vertices, group: Vertices) -> Iterator[Vertex]:
    """Return the opponents, best first: the one half a score group below, those below it, those
    above it, the rest.
    """
    near = list(members(rest & group))
    half = len(near) // 2
    return chain(near[half:], reversed(near[:half]), members(rest & ~group))


def _seated(pairs: Iterable[Pair], history: SwissHistory) -> Iterator[Pair]:
    """Give each pair its seats: the one that is due the first seat has it; where nobody is, seats
    alternate down the list.
    """
    turned = False
    for one, two in pairs:
        first, second = history.lean[one], history.lean[two]
        if first == second == 0:
            yield (two, one) if turned else (one, two)
            turned = not turned
        else:
            yield (two, one) if first > second or first == second > 0 else (one, two)


# Swiss pairs of contests that began under version 1 of the rules: balanced seats come first.
#
# The plan of a contest is computed from its results, so a contest keeps the rules of its start.


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
        _Graph1(history, balanced, times) for balanced in (True, False) for times in range(most + 1)
    )
    tries = ((graph, bye) for graph in graphs for bye in bye_candidates(players, history))
    return next(found for graph, bye in tries if (found := _paired_1(players, bye, graph)))


def _paired_1(
    players: Sequence[EntrantNumber], bye: EntrantNumber | None, graph: "_Graph1"
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
    return [_seated_1(pair, graph.history) for pair in _best_1(rest, matching, graph)], bye


class _Graph1(Struct, frozen=True):
    """Who may meet whom."""

    history: SwissHistory
    balanced: bool
    most: int

    def joined(self, one: EntrantNumber, two: EntrantNumber) -> bool:
        return self.history.times_met(one, two) <= self.most and not (
            self.balanced and self.history.strain(one, two)
        )


def _best_1(players: Sequence[EntrantNumber], matching: Matching, graph: _Graph1) -> Iterator[Pair]:
    rest, places = list(players), {number: place for place, number in enumerate(players)}
    while rest:
        first = rest.pop(0)
        other = next(
            other
            for other in _wishes_1(first, rest, graph)
            if matching.limit(places[first], 1 << places[other])
        )
        rest.remove(other)
        yield first, other


def _wishes_1(
    first: EntrantNumber, rest: Sequence[EntrantNumber], graph: _Graph1
) -> Iterator[EntrantNumber]:
    """Return the possible opponents, best first: the one half a score group below, those below it,
    those above it, the rest.
    """
    points = graph.history.points
    group = next(
        (place for place, number in enumerate(rest) if points[number] != points[first]), len(rest)
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


def _seated_1(pair: Pair, history: SwissHistory) -> Pair:
    one, two = pair
    first, second = history.lean[one], history.lean[two]
    turned = first > second or (first == second and (one + two) % 2 == 1)
    return (two, one) if turned else (one, two)
