"""Matching: compared with trying everything."""

from collections.abc import Sequence
from itertools import combinations

from hypothesis import given, settings
from hypothesis import strategies as st

from botdrome.contest.formats.pairs import Matching

Edges = set[frozenset[int]]


def possible(vertices: Sequence[int], edges: Edges) -> bool:
    if not vertices:
        return True
    first, *rest = vertices
    return any(
        frozenset((first, two)) in edges and possible([v for v in rest if v != two], edges)
        for two in rest
    )


@st.composite
def graphs(draw: st.DrawFn) -> tuple[int, Edges]:
    size = 2 * draw(st.integers(1, 5))
    pairs = [frozenset(pair) for pair in combinations(range(size), 2)]
    kept = draw(st.lists(st.sampled_from(pairs), unique=True, min_size=min(len(pairs), size // 2)))
    return size, set(kept)


def of(size: int, edges: Edges) -> Matching:
    return Matching(
        [
            sum(1 << two for two in range(size) if frozenset((one, two)) in edges)
            for one in range(size)
        ]
    )


@given(graphs(), st.lists(st.tuples(st.integers(0, 9), st.integers(1, 1023)), max_size=8))
@settings(max_examples=200, deadline=None, derandomize=True)
def test_a_complete_matching_is_found_if_there_is_one_and_kept_while_edges_leave(
    graph: tuple[int, Edges], limits: list[tuple[int, int]]
) -> None:
    size, edges = graph
    matching, everybody = of(size, edges), range(size)
    assert matching.complete() == possible(everybody, edges)
    if possible(everybody, edges):
        for one, others in ((one, others) for one, others in limits if one < size):
            left = {
                edge
                for edge in edges
                if one not in edge or any(others >> two & 1 for two in edge - {one})
            }
            limited = matching.limit(one, others)
            assert limited == possible(everybody, left)
            edges = left if limited else edges
            assert matching.neighbours == of(size, edges).neighbours


def test_odd_cycles_are_crossed_in_both_directions() -> None:
    triangles = {(0, 1), (1, 2), (0, 2), (2, 3), (3, 4), (4, 5), (3, 5)}
    assert of(6, set(map(frozenset, triangles))).complete()
