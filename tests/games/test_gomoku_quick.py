"""Gomoku's fast paths, of reading a move and of finding a row, equal the slow ones, over many
random games.
"""

from typing import Any

import pytest

from botdrome.games.chance import Chance
from botdrome.games.game import IllegalMove, Raw
from botdrome.games.gomoku import KNOWN_STONES, Gomoku, Point
from botdrome.games.reading import an_object, entry, whole_within

GAMES = 60
DIRECTIONS = ((1, 0), (0, 1), (1, 1), (-1, 1))
NUMBERS: tuple[Any, ...] = (
    0, 1, 4, 14, 15, 24, 25, -1, 2**70, 0.0, 3.0, 4.5, -0.0, 1e300, float("nan"), float("inf"),
    True, False, None, "3", [], {},
)  # fmt: skip


def row_through(last: Point, stones: set[Point], win_length: int) -> tuple[Point, ...] | None:
    """Stone by stone, in the order in which directions are looked at."""
    for across, down in DIRECTIONS:
        x, y = last
        while (x - across, y - down) in stones:
            x, y = x - across, y - down
        row = []
        while (x, y) in stones:
            row.append((x, y))
            x, y = x + across, y + down
        if len(row) >= win_length:
            return tuple(row)
    return None


@pytest.mark.no_cover
@pytest.mark.parametrize(
    ("size", "win_length"), [(5, 3), (5, 5), (6, 4), (7, 7), (9, 4), (15, 5), (25, 3), (25, 6)]
)
def test_a_row_is_found_where_counting_stone_by_stone_finds_it(size: int, win_length: int) -> None:
    ends = set()
    for game in range(GAMES):
        chance, stones = Chance(size * 100 + win_length, game), (set[Point](), set[Point]())
        position = Gomoku(size, win_length).start(2, chance)
        while not position.over:
            (seat,) = position.to_move
            if chance.below(50) == 0:
                position = position.play({}, chance)
                assert position.to_move == (1 - seat,)
                continue
            point = nearby(chance, size, stones[seat], stones[0] | stones[1])
            position = position.play(
                {seat: position.parse(seat, {"x": point[0], "y": point[1]})}, chance
            )
            stones[seat].add(point)
            row = row_through(point, stones[seat], win_length)
            assert position.line == row
            assert position.over == (row is not None or len(stones[0]) + len(stones[1]) == size**2)
            assert position.scores == ((0.0, 0.0) if row is None else (1.0 - seat, float(seat)))
            assert "".join(position.rows) == "".join(
                mark_at((x, y), stones) for y in range(size) for x in range(size)
            )
        ends.add(position.scores)
    assert len(ends) > 1


def nearby(chance: Chance, size: int, own: set[Point], taken: set[Point]) -> Point:
    """Anywhere, but mostly in line with a stone of one's own: so that rows come about on large
    boards, too.
    """
    if own and chance.below(4):
        x, y = chance.choice(sorted(own))
        across, down = chance.choice(DIRECTIONS)
        for step in (1, -1):
            point = x + step * across, y + step * down
            if point not in taken and 0 <= point[0] < size and 0 <= point[1] < size:
                return point
    return chance.choice([(x, y) for y in range(size) for x in range(size) if (x, y) not in taken])


def mark_at(point: Point, stones: tuple[set[Point], set[Point]]) -> str:
    return "X" if point in stones[0] else "O" if point in stones[1] else "."


def read_at_length(position: Gomoku, raw: Raw) -> Point:
    move = an_object(raw)
    x, y = (whole_within(entry(move, key), key, 0, position.size - 1) for key in ("x", "y"))
    if position.rows[y][x] != ".":
        raise IllegalMove(f"[{x}, {y}] is taken")
    return x, y


def outcome(read: Any, *given: Any) -> tuple[Any, str]:
    try:
        point = read(*given)
    except IllegalMove as why:
        return None, str(why)
    return point, repr(point)


@pytest.mark.parametrize("size", [5, 15, 25])
def test_a_move_is_read_as_at_length(size: int) -> None:
    chance = Chance(size)
    position = Gomoku(size).start(2, chance).play({0: (1, 0)}, chance).play({1: (0, 4)}, chance)
    pairs: list[Raw] = [{"x": x, "y": y} for x in NUMBERS for y in NUMBERS]
    odd: list[Raw] = [
        None,
        5,
        "x",
        [1, 2],
        [["x", 1], ["y", 2]],
        {},
        {"x": 1},
        {"y": 1},
        {"x": 1, "y": 1, "z": 1},
    ]
    read = 0
    for raw in [*pairs, *odd, *KNOWN_STONES.values()]:
        expected = outcome(read_at_length, position, raw)
        assert outcome(position.parse, 0, raw) == expected, raw
        read += expected[0] is not None
    assert 0 < read < len(pairs) + len(KNOWN_STONES)
