"""The strategist of gomoku, and the search and the board that it uses."""

import pytest

from botdrome.bots.gomoku import (
    STRATEGIST_COMPANY,
    THREE,
    Nodes,
    Stones,
    find_attack,
    line_promises,
    random,
    stones_on,
    strategist,
    threat,
)
from botdrome.games.chance import Chance
from botdrome.games.gomoku import Gomoku, Point
from tests.bots.test_gomoku import answers, looking, winner

SIZE = 13
FLIPPED = {"X": "O", "O": "X"}


def board(crosses: str, noughts: str, flipped: int = 0) -> str:
    """The rows of a board of thirteen. A stone is its column and row, a hexadecimal digit each."""
    cells = [["."] * SIZE for _ in range(SIZE)]
    for mark, points in (("X", crosses), ("O", noughts)):
        for point in points.split():
            cells[int(point[1], 16)][int(point[0], 16)] = FLIPPED[mark] if flipped else mark
    return " ".join(map("".join, cells))


def stones(crosses: str, noughts: str) -> Stones:
    return stones_on(board(crosses, noughts).replace(" ", ""), SIZE, 5)


def attack(crosses: str, noughts: str, nodes: int = 1000) -> Point | None:
    """The first stone of an attack of crosses."""
    cell = find_attack(stones(crosses, noughts), 0, Nodes(nodes), nodes)
    return None if cell is None else (cell % SIZE, cell // SIZE)


# The board.


@pytest.mark.parametrize("win_length", [4, 5, 6])
def test_stones_know_the_promises_and_threats_of_a_whole_game(win_length: int) -> None:
    """The board changes stone by stone; each time it must equal one that rates every line anew."""
    game, chance = Gomoku(size=7, win_length=win_length), Chance(win_length)
    position, size = game.start(2, chance), 7
    while not position.over:
        (seat,) = position.to_move
        position = position.play(
            {seat: position.parse(seat, random(position.view(seat), chance))}, chance
        )
        known = stones_on(position.cells, size, win_length)
        rated = dict(rated_cells(position.cells, size, win_length))
        assert dict(known.promises()) == rated
        for player in (0, 1):
            threats = {cell: promises[player] // THREE * THREE for cell, promises in rated.items()}
            assert known.threats[player] == {
                cell: threat for cell, threat in threats.items() if threat
            }


def rated_cells(cells: str, size: int, win_length: int) -> list[tuple[int, tuple[int, int]]]:
    found = []
    for cell in (cell for cell, mark in enumerate(cells) if mark == "."):
        sums = [0, 0]
        for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
            line, at = "", 0
            for offset in range(1 - win_length, win_length):
                row, column = cell // size + offset * down, cell % size + offset * right
                if offset == 0:
                    at = len(line)
                line += cells[row * size + column] if 0 <= row < size and 0 <= column < size else ""
            pair = line_promises(line, at, win_length, STRATEGIST_COMPANY)
            sums = [sums[0] + pair[0], sums[1] + pair[1]]
        found.append((cell, (sums[0], sums[1])))
    return found


# The search.


@pytest.mark.parametrize(
    ("crosses", "noughts", "first"),
    [
        pytest.param("", "", None, id="nothing to attack with"),
        pytest.param("00 10 20 30", "02 12 22 32", (4, 0), id="the last stone of a row"),
        pytest.param("13 23 33", "80 81", (4, 3), id="an open four"),
        pytest.param("13 23 33", "00 10 20 30 80", None, id="an open four comes too late"),
        pytest.param("13 23 33 40", "00 10 20 30 80", (4, 3), id="but not if the row is blocked"),
        pytest.param("05 15 25 34 36", "90 91 82", (3, 5), id="a four that leads to an open four"),
        pytest.param("33 43 55 56", "00 01", (5, 3), id="two threes"),
        pytest.param("33 55", "00 01", None, id="too few stones"),
    ],
)
def test_an_attack(crosses: str, noughts: str, first: Point | None) -> None:
    assert attack(crosses, noughts) == first


def test_a_search_stops_when_its_nodes_are_used() -> None:
    assert attack("33 43 55 56", "00 01", nodes=0) is None


# The bot.


@pytest.mark.parametrize("you", [0, 1])
@pytest.mark.parametrize(
    ("crosses", "noughts", "best"),
    [
        pytest.param("00 10 20 30", "02 12 22 32", {(4, 0)}, id="wins rather than blocks"),
        pytest.param("12 22 32", "00 10 20 30", {(4, 0)}, id="blocks a four rather than makes one"),
        pytest.param("05 15 25 34 36", "90 91 82 83", {(3, 5)}, id="attacks"),
    ],
)
def test_strategist(you: int, crosses: str, noughts: str, best: set[Point]) -> None:
    found = answers(strategist, looking(board(crosses, noughts, you), you), tries=5)
    assert found <= best
    assert found


def test_strategist_prevents_an_attack() -> None:
    crosses, noughts = "66 57 75", "67 76 77"
    assert attack(crosses, noughts) is not None
    for x, y in answers(strategist, looking(board(crosses, noughts), 1), tries=3):
        assert attack(crosses, f"{noughts} {x:x}{y:x}") is None


def test_strategist_prepares_an_attack_that_most_answers_allow() -> None:
    crosses, noughts = "66 77 58", "67 76 55"
    assert attack(crosses, noughts) is None
    ((x, y),) = answers(strategist, looking(board(crosses, noughts)), tries=3)
    crosses += f" {x:x}{y:x}"
    attacks = [attack(crosses, f"{noughts} {column:x}2") for column in range(SIZE)]
    assert None not in attacks


@pytest.mark.parametrize("win_length", [3, 7])
def test_strategist_plays_like_threat_where_a_row_is_short_or_long(win_length: int) -> None:
    view = looking(board("66 77", "67 76"), win_length=win_length)
    assert answers(strategist, view) == answers(threat, view)


@pytest.mark.parametrize(("size", "win_length"), [(5, 4), (6, 6), (5, 5)])
def test_strategist_fills_small_boards(size: int, win_length: int) -> None:
    game = Gomoku(size=size, win_length=win_length)
    for seed in range(4):
        assert winner((strategist, random), seed, game) in (0, None)


@pytest.mark.no_cover
def test_strategist_beats_threat() -> None:
    """On either side."""
    assert winner((strategist, threat), 1, Gomoku()) == 0
    assert winner((threat, strategist), 1, Gomoku()) == 1
