"""The arenas of bumblebots."""

from itertools import product

import pytest

from botdrome.games.bumblebots import FLOWER, TERRITORY, WALL, Bumblebots, Hex, Starts, around
from botdrome.games.chance import Chance
from botdrome.games.game import BadOption

Cells = dict[Hex, int]

STARTS: tuple[Starts, ...] = ("facing", "drawn")
SETUPS = [
    Bumblebots(arena="drawn", side=side, walls=walls, starts=starts, drones=drones, flowers=flowers)
    for (side, drones, flowers), walls, starts in product(
        ((4, 1, 0), (4, 3, 4), (8, 2, 7), (11, 8, 4)), (0, 14, 40), STARTS
    )
]


def cells(position: Bumblebots) -> Cells:
    return {
        (r, c): cell
        for r, row in enumerate(position.board)
        for c, cell in enumerate(row)
        if cell is not None
    }


def spots(position: Bumblebots, value: int) -> set[Hex]:
    return {spot for spot, cell in cells(position).items() if cell == value}


def reach(position: Bumblebots, seat: int) -> set[Hex]:
    """Where the drones of a seat can get from its first spawn point, step by step."""
    ways = {
        spot for spot, cell in cells(position).items() if cell not in (WALL, TERRITORY[1 - seat])
    }
    reached, edge = set(), [position.spawn_points[seat][0]]
    while edge:
        spot = edge.pop()
        reached.add(spot)
        edge += [near for near in around(spot) if near in ways and near not in reached]
    return reached


@pytest.mark.parametrize("setup", SETUPS)
@pytest.mark.parametrize("seed", range(3))
def test_a_drawn_arena(setup: Bumblebots, seed: int) -> None:
    position = setup.start(2, Chance(seed))
    last = 2 * setup.side - 2
    board = cells(position)
    swap = {TERRITORY[0]: TERRITORY[1], TERRITORY[1]: TERRITORY[0]}
    assert board == {
        (last - r, last - c): swap.get(cell, cell) for (r, c), cell in board.items()
    }, "both ends look alike"
    for seat in (0, 1):
        others = set(position.spawn_points[1 - seat])
        assert reach(position, seat) == board.keys() - spots(position, WALL) - others, (
            "nothing is cut off"
        )
        assert spots(position, TERRITORY[seat]) == set(position.spawn_points[seat])
        assert tuple(position.swarms[seat].values()) == position.spawn_points[seat]
        assert (
            len(set(position.spawn_points[seat]))
            == setup.drones
            == position.view(seat)["maxDrones"]
        )
    assert len(spots(position, FLOWER)) == setup.flowers


@pytest.mark.parametrize("setup", SETUPS)
def test_the_shape_of_a_drawn_arena(setup: Bumblebots) -> None:
    side, board = setup.side, setup.start(2, Chance(5)).board
    assert [len(row) for row in board] == [
        min(side + row, 2 * side - 1) for row in range(2 * side - 1)
    ]
    assert [row.count(None) for row in board] == [
        max(0, row - side + 1) for row in range(2 * side - 1)
    ]
    assert all(row[row.count(None)] == row[-1] == WALL for row in board)
    assert set(board[0]) == {WALL}
    assert set(board[-1]) == {None, WALL}


@pytest.mark.parametrize(("percent", "walls"), [(0, 0), (1, 0), (14, 16), (40, 50)])
def test_the_share_of_walls(percent: int, walls: int) -> None:
    position = Bumblebots(arena="drawn", walls=percent).start(2, Chance(0))
    border = 6 * (8 - 1)
    assert len(spots(position, WALL)) - border == walls


def test_walls_stop_where_they_would_cut_something_off() -> None:
    small = Bumblebots(arena="drawn", side=4, walls=40, flowers=13).start(2, Chance(0))
    assert len(spots(small, WALL)) == 6 * (4 - 1)


def test_facing_starts_are_where_the_documented_ones_are() -> None:
    drawn = Bumblebots(arena="drawn").start(2, Chance(0))
    assert drawn.spawn_points == Bumblebots().start(2, Chance(0)).spawn_points


def test_drawn_starts_are_anywhere() -> None:
    setup = Bumblebots(arena="drawn", side=5, starts="drawn", drones=1, walls=0, flowers=0)
    seen = {setup.start(2, Chance(seed)).spawn_points[0][0] for seed in range(200)}
    assert len(seen) == (37 - 1) // 2


def test_an_odd_flower_stands_in_the_centre() -> None:
    assert Bumblebots(arena="drawn", flowers=5).start(2, Chance(0)).board[7][7] == FLOWER


def test_each_seed_draws_its_own() -> None:
    setup = Bumblebots(arena="drawn")
    assert setup.start(2, Chance(1)).board == setup.start(2, Chance(1)).board
    assert len({setup.start(2, Chance(seed)).board for seed in range(20)}) == 20


@pytest.mark.parametrize("side", [4, 5, 6])
def test_there_is_room_for_the_most_drones(side: int) -> None:
    setup = Bumblebots(
        arena="drawn", side=side, walls=0, starts="drawn", drones=side - 1, flowers=0
    )
    for seed in range(60):
        position = setup.start(2, Chance(seed))
        assert [len(points) for points in position.spawn_points] == [side - 1] * 2
        assert reach(position, 0) == cells(position).keys() - spots(position, WALL) - set(
            position.spawn_points[1]
        )


@pytest.mark.parametrize("starts", STARTS)
def test_too_many_drones(starts: Starts) -> None:
    setup = Bumblebots(arena="drawn", side=4, starts=starts, drones=4)
    with pytest.raises(
        BadOption, match=r"^drones: 4 are too many where the side is 4; there is room for 3$"
    ):
        setup.start(2, Chance(0))


def test_too_many_flowers() -> None:
    with pytest.raises(
        BadOption, match=r"^flowers: 14 are too many where the side is 4; there is room for 13$"
    ):
        Bumblebots(arena="drawn", side=4, flowers=14).start(2, Chance(0))
