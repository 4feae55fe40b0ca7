"""Matching: pair all vertices of a graph with neighbours, and keep that possible while pairs are taken out.

A path from an unmatched vertex over matched and unmatched edges in turn to another unmatched one adds a pair to the matching
(Edmonds). An odd cycle on the way, a blossom, is shrunk to its base, so that both of its directions are tried.
"""

from collections import deque
from collections.abc import Callable, Iterable

Vertex = int


class Matching:
    """A matching of the vertices that are left."""

    def __init__(self, vertices: Iterable[Vertex], joined: Callable[[Vertex, Vertex], bool]) -> None:
        self._mate: dict[Vertex, Vertex | None] = dict.fromkeys(vertices)
        self._joined = joined

    def complete(self) -> bool:
        """Match all vertices. Return False if that is impossible."""
        return all(self._mate[vertex] is not None or self._augment(vertex) for vertex in self._mate)

    def take(self, one: Vertex, two: Vertex) -> bool:
        """Take a pair out of a complete matching. Return False, and change nothing, if the rest cannot be matched then."""
        left, right = self._mate.pop(one), self._mate.pop(two)
        if left == two:
            return True
        assert left is not None and right is not None
        self._mate[left] = self._mate[right] = None
        if self._augment(left):
            return True
        self._mate |= {one: left, left: one, two: right, right: two}
        return False

    def _augment(self, root: Vertex) -> bool:
        search = _Search(self._mate, self._joined, root)
        end = search.end()
        while end is not None:
            before = search.parent[end]
            following = self._mate[before]
            self._mate[end], self._mate[before] = before, end
            end = following
        return self._mate[root] is not None


class _Search:
    """The search for a path from one unmatched vertex to another."""

    def __init__(self, mate: dict[Vertex, Vertex | None], joined: Callable[[Vertex, Vertex], bool], root: Vertex) -> None:
        self.parent: dict[Vertex, Vertex] = {}
        self._mate, self._joined, self._root = mate, joined, root
        self._base: dict[Vertex, Vertex] = {}
        self._even, self._queue = {root}, deque([root])
        self._free = [vertex for vertex, partner in mate.items() if partner is None and vertex != root]

    def end(self) -> Vertex | None:
        """Return the last vertex of a path; `parent` leads back to the root."""
        while self._queue:
            vertex = self._queue.popleft()
            for free in self._free:
                if self._joined(vertex, free):
                    self.parent[free] = vertex
                    return free
            for other in self._mate:
                if other != vertex and self._mate[vertex] != other and self._joined(vertex, other):
                    self._visit(vertex, other)
        return None

    def _visit(self, vertex: Vertex, other: Vertex) -> None:
        if self._base_of(vertex) == self._base_of(other):
            return
        if other in self._even:
            self._shrink(vertex, other)
        elif other not in self.parent:
            self.parent[other] = vertex
            partner = self._mate[other]
            assert partner is not None
            self._even.add(partner)
            self._queue.append(partner)

    def _base_of(self, vertex: Vertex) -> Vertex:
        return self._base.get(vertex, vertex)

    def _shrink(self, one: Vertex, two: Vertex) -> None:
        """Shrink the odd cycle that this edge closes."""
        base, cycle = self._common_base(one, two), set[Vertex]()
        self._mark(one, two, base, cycle)
        self._mark(two, one, base, cycle)
        for vertex in self._mate:
            if self._base_of(vertex) in cycle:
                self._base[vertex] = base
                if vertex not in self._even:
                    self._even.add(vertex)
                    self._queue.append(vertex)

    def _common_base(self, one: Vertex, two: Vertex) -> Vertex:
        passed, vertex = set[Vertex](), self._base_of(one)
        while True:
            passed.add(vertex)
            partner = self._mate[vertex]
            if vertex == self._root or partner is None:
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
