"""Matching: pair all vertices of a graph with neighbours, and keep that possible while the choice gets smaller.

A path from an unmatched vertex over matched and unmatched edges in turn to another unmatched one adds a pair to the matching
(Edmonds). An odd cycle on the way, a blossom, is shrunk to its base, so that both of its directions are tried. Sets of vertices
are bits of whole numbers, so that a search looks at each vertex only a few times.
"""

from collections import deque
from collections.abc import Iterator, Sequence

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
        return all(mate is not None or self._augment(vertex) for vertex, mate in enumerate(self._mate))

    def limit(self, one: Vertex, others: Vertices) -> bool:
        """Let a vertex have only these neighbours. Return False, and change nothing, if not all can be matched then.

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

    def __init__(self, mate: Sequence[Vertex | None], neighbours: Sequence[Vertices], root: Vertex, free: Vertices) -> None:
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
        """Go on from a vertex. Return the end of a path if there is one beside the next vertices."""
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
            if (end := next((end for inner in members(odd) if (end := self._beside(inner)) is not None), None)) is not None:
                return end
        return None

    def _base_of(self, vertex: Vertex) -> Vertex:
        return self._base.get(vertex, vertex)

    def _members(self, base: Vertex) -> Vertices:
        return self._shrunk.get(base, 1 << base)

    def _shrink(self, one: Vertex, two: Vertex) -> Vertices:
        """Shrink the odd cycle that this edge closes. Return the vertices that can be gone on from now."""
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
