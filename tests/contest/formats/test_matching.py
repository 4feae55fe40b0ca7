"""Matching: compared with trying everything."""

from collections.abc import Sequence
from itertools import combinations

from hypothesis import given, settings
from hypothesis import strategies as st

from botdrome.contest.formats.matching import Matching

Edges = set[frozenset[int]]


def possible(vertices: Sequence[int], edges: Edges) -> bool:
    if not vertices:
        return True
    first, *rest = vertices
    return any(frozenset((first, two)) in edges and possible([v for v in rest if v != two], edges) for two in rest)


@st.composite
def graphs(draw: st.DrawFn) -> tuple[int, Edges]:
    size = 2 * draw(st.integers(1, 5))
    pairs = [frozenset(pair) for pair in combinations(range(size), 2)]
    kept = draw(st.lists(st.sampled_from(pairs), unique=True, min_size=min(len(pairs), size // 2)))
    return size, set(kept)


def of(size: int, edges: Edges) -> Matching:
    return Matching(range(size), lambda one, two: frozenset((one, two)) in edges)


@given(graphs())
@settings(max_examples=120, deadline=None, derandomize=True)
def test_a_complete_matching_is_found_if_there_is_one_and_kept_while_pairs_leave(graph: tuple[int, Edges]) -> None:
    size, edges = graph
    matching, left = of(size, edges), list(range(size))
    assert matching.complete() == possible(left, edges)
    if possible(left, edges):
        for one, two in map(sorted, sorted(edges, key=sorted)):
            rest = [vertex for vertex in left if vertex not in (one, two)]
            if one in left and two in left:
                taken = matching.take(one, two)
                assert taken == possible(rest, edges)
                left = rest if taken else left


def test_odd_cycles_are_crossed_in_both_directions() -> None:
    triangles = {(0, 1), (1, 2), (0, 2), (2, 3), (3, 4), (4, 5), (3, 5)}
    assert of(6, set(map(frozenset, triangles))).complete()
