"""Moves and fleets that are judged in a short way are judged as in the long one, over many cases
drawn by chance.
"""

from typing import Any

import pytest

from botdrome.games.battleship import WATER, Battleship, boats_in, check_fleet, cutter, random_fleet
from botdrome.games.chance import Chance
from botdrome.games.game import IllegalMove, Raw

WIDTH, HEIGHT = 7, 5
BOATS = "A3 B2"


def in_play(players: int, chance: Chance) -> Battleship:
    position = (
        Battleship(width=WIDTH, height=HEIGHT, boats=BOATS)
        .start(players, Chance(0))
        .play({}, chance)
    )
    for _ in range(chance.below(30)):
        (seat,) = position.to_move or (0,)
        raw = chance.choice(list(position.moves(seat)))
        position = position.play({seat: position.parse(seat, raw)}, Chance(0))
    return position


def judged(position: Battleship, seat: int, raw: Raw) -> object:
    try:
        return position.parse(seat, raw)
    except IllegalMove as fault:
        return str(fault)


def the_long_way(raw: dict[str, Any]) -> Raw:
    """The same with 1.0 for 1, which the quick checks do not take."""
    return {key: float(word) if type(word) is int else word for key, word in raw.items()}


@pytest.mark.parametrize("seed", range(30))
def test_shots_are_judged_as_in_the_long_way(seed: int) -> None:
    chance = Chance(seed)
    players = 2 + seed % 3
    position = in_play(players, chance)
    words = [*range(-2, 10), True, None, "3", 2.5, [1]]
    for _ in range(200):
        raw = {key: chance.choice(words) for key in ("target", "x", "y") if chance.below(12)}
        if not chance.below(6):
            raw["skip"] = chance.choice([True, False, "yes"])
        seat = chance.below(players)
        assert judged(position, seat, raw) == judged(position, seat, the_long_way(raw)), raw


def marked(rows: tuple[str, ...], x: int, y: int, mark: str) -> tuple[str, ...]:
    squares = [list(row) for row in rows]
    squares[y][x] = mark
    return tuple("".join(row) for row in squares)


@pytest.mark.parametrize("seed", range(30))
def test_a_shot_marks_one_square_of_one_board_and_fleet(seed: int) -> None:
    chance = Chance(seed)
    position = in_play(3, chance)
    for _ in range(20):
        if position.over:
            break
        (seat,) = position.to_move or (0,)
        raw = chance.choice([move for move in position.moves(seat) if "x" in move])
        target, x, y = raw["target"], raw["x"], raw["y"]
        before, after = position, position.play({seat: position.parse(seat, raw)}, Chance(0))
        own = before.view(target)["own"]
        hit = own[y][x] != WATER
        boards = list(before.view(None)["boards"])
        boards[target] = marked(boards[target], x, y, "X" if hit else "0")
        assert after.view(None)["boards"] == tuple(boards)
        assert after.view(target)["own"] == marked(own, x, y, own[y][x].lower() if hit else "0")
        assert after.hit is hit
        assert sum(after.scores) - sum(before.scores) == hit
        position = after


def the_first_strange(squares: str) -> str:
    for square, letter in enumerate(squares):
        if letter not in ".AB":
            return (
                f"{letter!r} at x {square % WIDTH}, y {square // WIDTH} is neither a boat nor "
                "water, which is '.'"
            )
    return ""


def test_what_is_neither_a_boat_nor_water_is_found_wherever_it_is() -> None:
    chance, boats = Chance(1), boats_in(BOATS)
    for _ in range(1000):
        squares = list("".join(random_fleet(WIDTH, HEIGHT, boats.names, chance)))
        check_fleet("".join(squares), boats, WIDTH)
        for _ in range(1 + chance.below(3)):
            squares[chance.below(len(squares))] = chance.choice("Cab0X \u00e9\u4e2d\U0001f6a2")
        with pytest.raises(IllegalMove) as fault:
            check_fleet("".join(squares), boats, WIDTH)
        assert str(fault.value) == the_first_strange("".join(squares))


@pytest.mark.parametrize(("width", "height"), [(5, 5), (7, 5), (5, 26), (26, 26)])
def test_rows_are_cut_all_at_once(width: int, height: int) -> None:
    rows = tuple(chr(65 + y) * width for y in range(height))
    assert cutter(width, height)("".join(rows)) == rows
