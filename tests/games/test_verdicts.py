"""Verdicts: what decided a game that is over, in words; and openings and deaths in words."""

import pytest
from msgspec.structs import replace

from botdrome.games.battleship import Battleship
from botdrome.games.bumblebots import Bumblebots
from botdrome.games.chance import Chance
from botdrome.games.gomoku import Gomoku
from botdrome.games.noughts_and_crosses import NoughtsAndCrosses
from tests.games import cubes
from tests.games.bombermen import after, drawn
from tests.games.test_battleship import shelled

CHANCE = Chance(0)
NAMES = ("ann", "bob", "cyd")
TWO = NAMES[:2]


@pytest.mark.parametrize(
    ("spaces", "words"),
    [
        ((0, 3, 1, 4, 2), "ann has three in a row: [0, 0], [0, 1], [0, 2]"),
        ((8, 2, 0, 4, 1, 6), "bob has three in a row: [0, 2], [1, 1], [2, 0]"),
        ((0, 1, 2, 4, 3, 5, 7, 6, 8), "the board is full, and nobody has three in a row"),
    ],
)
def test_noughts_and_crosses(spaces: tuple[int, ...], words: str) -> None:
    position = NoughtsAndCrosses().start(2, CHANCE)
    for number, space in enumerate(spaces):
        position = position.play({number % 2: space}, CHANCE)
    assert position.over and position.verdict(TWO) == words


def test_gomoku() -> None:
    position = Gomoku(size=5, win_length=3).start(2, CHANCE)
    for seat, point in enumerate(((0, 0), (0, 1), (1, 1), (0, 2), (2, 2))):
        position = position.play({seat % 2: point}, CHANCE)
    assert position.verdict(TWO) == "ann has 3 in a row: [0, 0], [1, 1], [2, 2]"
    assert Gomoku().verdict(TWO) == "the board is full, and nobody has 5 in a row"


@pytest.mark.parametrize(
    ("fleets", "scores", "goal", "words"),
    [
        (("aa..", "A..."), (1, 2), 0, "bob sank the last boat of ann; ann 1 hit, bob 2 hits"),
        (
            ("aa", "aa"),
            (2, 2),
            0,
            "bob sank the last boat of ann, and ann sank the last boat of bob; ann 2 hits, bob 2 "
            "hits",
        ),
        (
            ("AA", "aa", "aa"),
            (2, 1, 1),
            0,
            "all boats of bob and cyd are sunk; ann 2 hits, bob 1 hit, cyd 1 hit",
        ),
        (("AA", "aA"), (1, 0), 1, "the goal of 1 hit is reached; ann 1 hit, bob 0 hits"),
        (("AA", "AA"), (0, 0), 1, "the game ended after 2 rounds; ann 0 hits, bob 0 hits"),
    ],
)
def test_battleship(
    fleets: tuple[str, ...], scores: tuple[int, ...], goal: int, words: str
) -> None:
    position = shelled(fleets, goal=goal, scores=scores, turn=2 * len(fleets))
    assert position.verdict(NAMES[: len(fleets)]) == words


def test_bomberman() -> None:
    own = after(drawn("A..B.... .#.#.#.# ........", fuse=1), "A BOMB", "A DOWN")
    assert (
        own.verdict(TWO)
        == "ann was killed by its own bomb in round 1; bob was killed by a bomb of ann in round 1"
    )
    both = after(drawn("A..C...B .#.#.#.# ........", fuse=2), "A BOMB", "C BOMB", "")
    words = "ann was killed by its own bomb and a bomb of cyd in round 2; "
    assert (
        both.verdict(NAMES)
        == words + "cyd was killed by a bomb of ann and its own bomb in round 2; bob survived"
    )
    walls = after(drawn("A.... .#.#. ..B.. .#.#. .....", closing=1, rounds=10), "", "")
    assert walls.verdict(TWO) == "ann was crushed by the walls in round 1; bob survived"
    left = drawn("A.... .#.#. ..B.. .#.#. .....").without(1)
    assert left.verdict(TWO) == "bob left in round 0; ann survived"
    late = replace(drawn("A.... .#.#. ..B.. .#.#. .....", rounds=10), round=10, to_move=())
    assert late.verdict(TWO) == "ann and bob survived all 10 rounds"


def test_battlecube() -> None:
    position = cubes.cube((0, 0, 0), (2, 2, 2), (2, 2, 0))
    position = cubes.after(position, cubes.bomb(2, 2, 1), cubes.STAY, cubes.STAY)
    crashed = cubes.after(position, cubes.step("-X"), cubes.step("-Z"), cubes.STAY)
    assert (
        crashed.verdict(NAMES)
        == "ann moved out of the cube in tick 1; bob stepped on a bomb in tick 1; cyd survived"
    )
    alone = cubes.cube((0, 0, 0), (1, 0, 0))
    meeting = cubes.after(alone, cubes.step("+X"), cubes.STAY)
    assert (
        meeting.verdict(TWO)
        == "ann crashed into another bot in tick 0; bob crashed into another bot in tick 0"
    )
    assert "bob left in tick 0" in alone.without(1).verdict(TWO)


def test_other_games_tell_their_scores() -> None:
    assert replace(Bumblebots(), scores=(3, 1)).verdict(TWO) == "score: ann 3, bob 1"


# Openings and deaths.


@pytest.mark.parametrize(
    ("spaces", "words"),
    [
        ((4,), "opens with the centre"),
        ((1,), "opens with an edge"),
        ((0, 4), "answers a corner with the centre"),
        ((4, 8), "answers the centre with a corner"),
        ((0, 4, 8), ""),
    ],
)
def test_openings_of_noughts_and_crosses(spaces: tuple[int, ...], words: str) -> None:
    position = NoughtsAndCrosses().start(2, CHANCE)
    *before, last = spaces
    for number, space in enumerate(before):
        position = position.play({number % 2: space}, CHANCE)
    raw = {"mark": "XO"[len(before) % 2], "space": [last // 3, last % 3]}
    assert position.opening_words(len(before) % 2, raw) == words


def test_moves_of_gomoku_have_the_names_on_the_board() -> None:
    assert Gomoku().start(2, CHANCE).move_words(0, {"x": 3, "y": 4}) == "d11"
    assert NoughtsAndCrosses().start(2, CHANCE).move_words(0, {"mark": "X", "space": [0, 0]}) == ""


@pytest.mark.parametrize(
    ("points", "words"),
    [
        (((7, 7),), "opens in the centre"),
        (((0, 0),), "opens at a15"),
        (((7, 7), (7, 8)), "answers beside the first stone"),
        (((7, 7), (8, 8)), "answers diagonally to the first stone"),
        (((7, 7), (9, 7)), "answers away from the first stone"),
        (((7, 7), (9, 7), (0, 0)), ""),
    ],
)
def test_openings_of_gomoku(points: tuple[tuple[int, int], ...], words: str) -> None:
    position = Gomoku().start(2, CHANCE)
    *before, (x, y) = points
    for number, point in enumerate(before):
        position = position.play({number % 2: point}, CHANCE)
    assert position.opening_words(len(before) % 2, {"x": x, "y": y}) == words


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        ({"x": 0, "y": 9}, "fires first in a corner"),
        ({"x": 5, "y": 1}, "fires first near an edge"),
        ({"x": 5, "y": 4}, "fires first in the middle"),
        ({"skip": True}, ""),
    ],
)
def test_first_shots(raw: dict[str, int], words: str) -> None:
    position = Battleship().start(2, CHANCE).play({}, CHANCE)
    assert position.opening_words(0, raw) == words


def test_deaths() -> None:
    assert Bumblebots().opening_words(0, {}) == Gomoku().death_words(0) == ""
    burnt = after(drawn("A..B.... .#.#.#.# ........", fuse=1), "A BOMB", "A DOWN")
    assert [burnt.death_words(seat) for seat in (0, 1)] == [
        "was killed by its own bomb",
        "was killed by a bomb of another",
    ]
    walls = after(drawn("A.... .#.#. ..B.. .#.#. .....", closing=1, rounds=10), "", "")
    assert [walls.death_words(seat) for seat in (0, 1)] == ["was crushed by the walls", ""]
    assert drawn("A.... .#.#. ..B.. .#.#. .....").without(1).death_words(1) == "left"
    cube = cubes.after(cubes.cube((0, 0, 0), (2, 2, 2)), cubes.step("-X"), cubes.STAY)
    assert [cube.death_words(seat) for seat in (0, 1)] == ["moved out of the cube", ""]
