"""The house bots of gomoku."""

from collections import Counter

import pytest

from botdrome.bots.gomoku import random, threat
from botdrome.bots.house import HouseBot
from botdrome.games.chance import Chance
from botdrome.games.game import View
from botdrome.games.gomoku import Gomoku, Point


def looking(board: str, you: int = 0, win_length: int = 5) -> View:
    """A bot's view of a board; spaces separate the rows."""
    rows = board.split()
    return {
        "you": you,
        "toMove": [you],
        "size": len(rows),
        "winLength": win_length,
        "board": rows,
        "moves": [],
        "line": None,
    }


def answers(bot: HouseBot, view: View, tries: int = 20) -> set[Point]:
    """The cells that the bot chooses with different chances."""
    moves = [bot(view, Chance(seed)) for seed in range(tries)]
    return {(move["x"], move["y"]) for move in moves}


def winner(bots: tuple[HouseBot, HouseBot], seed: int, game: Gomoku) -> int | None:
    chance = Chance(seed)
    position = game.start(2, chance)
    while not position.over:
        (seat,) = position.to_move
        position = position.play(
            {seat: position.parse(seat, bots[seat](position.view(seat), chance))}, chance
        )
    return position.scores.index(1.0) if 1.0 in position.scores else None


# random


def test_random_chooses_every_free_cell_about_equally_often() -> None:
    view, chance = looking("X.... .O... ..... ...X. ....O"), Chance(5)
    counts = Counter((move["x"], move["y"]) for move in (random(view, chance) for _ in range(4200)))
    free = {(x, y) for x in range(5) for y in range(5)} - {(0, 0), (1, 1), (3, 3), (4, 4)}
    assert set(counts) == free
    assert all(140 < count < 260 for count in counts.values())


def test_random_finds_the_last_free_cells() -> None:
    view = looking("XXOOX OOXXO XXO.X OOXXO XX.OX")
    assert answers(random, view) == {(3, 2), (2, 4)}


# threat


def test_threat_opens_in_the_centre() -> None:
    assert answers(threat, Gomoku().start(2, Chance(0)).view(0)) == {(7, 7)}


def test_threat_stays_with_the_stones() -> None:
    view = looking(" ".join(["." * 15] * 3 + ["...X..........."] + ["." * 15] * 11), you=1)
    assert all(abs(x - 3) <= 2 and abs(y - 3) <= 2 for x, y in answers(threat, view))


@pytest.mark.parametrize("you", [0, 1])
@pytest.mark.parametrize(
    ("stones", "best"),
    [
        pytest.param(
            {"X": "00 10 20 30", "O": "02 12 22 32"}, {(4, 0)}, id="wins rather than blocks"
        ),
        pytest.param({"X": "00 10 20 40", "O": "02 12 22 32"}, {(3, 0)}, id="wins in a gap"),
        pytest.param(
            {"X": "12 22 32", "O": "00 10 20 30"},
            {(4, 0)},
            id="blocks a four rather than makes an open four",
        ),
        pytest.param(
            {"X": "13 23 33", "O": "16 26 36"},
            {(4, 3)},
            id="makes an open four rather than blocks one",
        ),
        pytest.param(
            {"X": "41 42 43 14 24 34", "O": "40 04 17 27 37"}, {(4, 4)}, id="makes two fours"
        ),
        pytest.param(
            {"X": "42 43 14 24 34", "O": "04 17 27 37"}, {(4, 4)}, id="makes a four and a three"
        ),
        pytest.param({"X": "80 00", "O": "17 27 37"}, {(4, 7)}, id="blocks an open three"),
        pytest.param({"X": "32 42 53 54", "O": "80 00"}, {(5, 2)}, id="makes two threes"),
        pytest.param({"X": "80 00", "O": "32 42 53 54"}, {(5, 2)}, id="blocks two threes"),
        pytest.param(
            {"X": "00 10 40 50", "O": "14 24 34"},
            {(4, 4)},
            id="takes two rows that lack the same cell for one four",
        ),
        pytest.param(
            {"X": "03 43 53 30 34 35", "O": "63 36 88 98 A9 AA"},
            {(10, 8)},
            id="takes two rows that lack the same cells for no three",
        ),
    ],
)
def test_threat_sees_one_stone_ahead(you: int, stones: dict[str, str], best: set[Point]) -> None:
    """Stones by column and row, a hexadecimal digit each, on a board of thirteen; the same must
    hold with the colours changed.
    """
    cells = [["."] * 13 for _ in range(13)]
    for mark, points in stones.items():
        for point in points.split():
            cells[int(point[1], 16)][int(point[0], 16)] = (
                mark if not you else {"X": "O", "O": "X"}[mark]
            )
    assert answers(threat, looking(" ".join(map("".join, cells)), you)) == best


@pytest.mark.no_cover
@pytest.mark.parametrize(
    ("game", "games", "wins"),
    [
        (Gomoku(), 200, 198),
        (Gomoku(size=25, win_length=6), 6, 6),
        (Gomoku(size=9, win_length=4), 40, 40),
        (Gomoku(size=5, win_length=3), 40, 40),
        (Gomoku(size=6, win_length=6), 40, 36),
    ],
    ids=lambda value: f"{value.size}-{value.win_length}" if isinstance(value, Gomoku) else "",
)
def test_threat_beats_random(game: Gomoku, games: int, wins: int) -> None:
    """99 of 100 games on the usual board, half of them as second; where a row is as long as the
    board, some are drawn.
    """
    outcomes = [
        winner((threat, random) if seed % 2 == 0 else (random, threat), seed, game) == seed % 2
        for seed in range(games)
    ]
    assert sum(outcomes) >= wins
