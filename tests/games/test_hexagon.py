"""Hexagonal boards."""

import pytest

from botdrome.games.bumblebots import STEPS, around, bits, columns, opposite, rings, within


def test_the_columns_of_a_board() -> None:
    assert [list(columns(2, row)) for row in range(3)] == [[0, 1], [0, 1, 2], [1, 2]]


@pytest.mark.parametrize(("side", "count"), [(2, 1), (3, 7), (4, 19), (8, 127)])
def test_the_hexes_within_the_border(side: int, count: int) -> None:
    spots = within(side)
    assert len(set(spots)) == len(spots) == count
    assert spots == sorted(spots)
    assert sorted(opposite(spot, side) for spot in spots) == spots


def test_what_lies_around_a_hex() -> None:
    assert list(around((7, 7))) == [(6, 6), (6, 7), (7, 8), (8, 8), (8, 7), (7, 6)]
    assert list(STEPS) == ["UL", "UR", "R", "DR", "DL", "L"]


def test_rings_grow_by_six() -> None:
    ground = bits(within(5), 9)
    assert [ring.bit_count() for ring in rings(bits([(4, 4)], 9), ground, 9)] == [1, 6, 12, 18]
    assert sum(rings(bits([(1, 1)], 9), ground, 9)) == ground


@pytest.mark.parametrize("spot", [(4, 4), (3, 4), (5, 5)])
def test_the_first_ring_is_what_lies_around(spot: tuple[int, int]) -> None:
    _, ring, *_ = rings(bits([spot], 9), bits(within(5), 9), 9)
    assert ring == bits(around(spot), 9)


def test_rings_go_round_what_is_not_ground() -> None:
    ground = bits([(2, 1), (2, 3), (1, 2), (1, 1)], 5)
    assert list(rings(bits([(2, 1)], 5), ground, 5)) == [
        bits([spot], 5) for spot in [(2, 1), (1, 1), (1, 2), (2, 3)]
    ]
