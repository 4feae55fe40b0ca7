"""Fleets: the boats that options name, the boards that bots send, and fleets by chance."""

from collections import Counter
from unittest.mock import patch

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from botdrome.games import battleship as fleets
from botdrome.games.battleship import (
    berths,
    boats_in,
    check_fleet,
    check_room,
    random_fleet,
    rows_of,
    squares_from,
)
from botdrome.games.chance import Chance, SplitMix
from botdrome.games.game import BadOption, IllegalMove

STANDARD = "A5 B4 C3 D3 E2"
EXAMPLE = [
    "..........",
    "..........",
    ".....B..EE",
    ".....B....",
    "CCC..B....",
    ".....B....",
    "..........",
    "......DDD.",
    "..........",
    ".AAAAA....",
]

SMALL = "A3 B2"
GOOD = "AAA.. ..... ....B ....B ....."


def judge(board: str, boats: str = SMALL) -> None:
    """The rows are parted by spaces."""
    rows = board.split()
    check_fleet("".join(rows), boats_in(boats), len(rows[0]))


# Boats.


def test_boats_are_read_in_their_order() -> None:
    boats = boats_in("  C3 A5\tW2 ")
    assert boats.names == ("C3", "A5", "W2")
    assert list(boats.lengths.items()) == [("C", 3), ("A", 5), ("W", 2)]
    assert boats.squares == 10


@pytest.mark.parametrize(
    "name", ["X3", "a3", "A1", "A9", "A", "A33", "3A", "AB", "A²", "A-2", "A5,B4", "A" * 500]
)
def test_what_is_not_a_boat_is_refused(name: str) -> None:
    with pytest.raises(
        BadOption,
        match=r"boats: '.+ is not a boat; A5 is boat A of length 5, from A to W and from 2 to 8",
    ):
        boats_in(f"B4 {name}")


def test_a_letter_stands_for_one_boat_and_there_is_one() -> None:
    with pytest.raises(BadOption, match="boats: there are two boats A"):
        boats_in("A5 B4 A3")
    with pytest.raises(BadOption, match="boats: there is none"):
        boats_in(" ")


def test_a_boat_needs_one_side_that_is_as_long() -> None:
    check_room(boats_in("A8"), 5, 8)
    check_room(boats_in("A8"), 8, 5)
    with pytest.raises(BadOption, match="boats: B8 is too long for a board of 7 by 6"):
        check_room(boats_in("A2 B8"), 7, 6)


def test_boats_leave_half_of_the_board_free() -> None:
    check_room(boats_in("A5 B5 C2"), 5, 5)
    with pytest.raises(
        BadOption, match="boats: they cover 13 squares, more than half of a board of 5 by 5"
    ):
        check_room(boats_in("A5 B5 C3"), 5, 5)


# Boards that bots send.


def test_a_board_is_one_text_or_a_list_of_rows() -> None:
    assert squares_from("".join(EXAMPLE), 10, 10) == "".join(EXAMPLE)
    assert squares_from(EXAMPLE, 10, 10) == "".join(EXAMPLE)
    assert squares_from(tuple(EXAMPLE), 10, 10) == "".join(EXAMPLE)
    assert rows_of("".join(EXAMPLE), 10) == tuple(EXAMPLE)


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        ("." * 29, "a board has 30 squares (5 rows of 6), not 29"),
        ("." * 31, "a board has 30 squares (5 rows of 6), not 31"),
        (None, "a board is a text of 30 squares or a list of 5 rows, not None"),
        (
            {"0": "......"},
            "a board is a text of 30 squares or a list of 5 rows, not {'0': '......'}",
        ),
        (["......"] * 6, "a board has 5 rows, not 6"),
        (["......"] * 4 + ["....."], "row 4 of a board is a text of 6 squares, not '.....'"),
        (
            ["......", 7, "......", "......", "......"],
            "row 1 of a board is a text of 6 squares, not 7",
        ),
        (
            [["."] * 6] * 5,
            "row 0 of a board is a text of 6 squares, not ['.', '.', '.', '.', '.', '.']",
        ),
    ],
)
def test_a_board_of_another_shape_is_refused(raw: object, words: str) -> None:
    with pytest.raises(IllegalMove) as refusal:
        squares_from(raw, 6, 5)
    assert str(refusal.value) == words


@pytest.mark.parametrize(
    "board",
    [
        pytest.param(GOOD, id="apart"),
        pytest.param("AAABB ..... ..... ..... .....", id="end to end"),
        pytest.param("BBAAA ..... ..... ..... .....", id="in any order"),
        pytest.param("..... ..... AB... AB... A....", id="side by side"),
        pytest.param("..... ..... BB..A ....A ....A", id="up to the corner"),
    ],
)
def test_boats_lie_straight_and_may_touch(board: str) -> None:
    judge(board)


def test_the_example_of_the_manual_is_a_fleet() -> None:
    judge(" ".join(EXAMPLE), STANDARD)


@pytest.mark.parametrize(
    ("board", "words"),
    [
        ("AAA.. ..... ..... ..... .....", "boat B is missing"),
        (
            "AA... ..... ....B ....B .....",
            "boat A is 2 long, it should be 3 (it begins at x 0, y 0)",
        ),
        (
            "..... .AAAA ....B ....B .....",
            "boat A is 4 long, it should be 3 (it begins at x 1, y 1)",
        ),
        (
            "AA.A. ..... ....B ....B .....",
            "boat A is not one straight line (it begins at x 0, y 0)",
        ),
        (
            "AA... .A... ....B ....B .....",
            "boat A is not one straight line (it begins at x 0, y 0)",
        ),
        (
            "..A.. .A... A...B ....B .....",
            "boat A is not one straight line (it begins at x 2, y 0)",
        ),
        (
            "A.... A.... ..... A...B ....B",
            "boat A is not one straight line (it begins at x 0, y 0)",
        ),
        (
            "AAA.. ....B B.... ..... .....",
            "boat B is not one straight line (it begins at x 4, y 1)",
        ),
        (
            "..... ..... ..... BB..A A...A",
            "boat A is not one straight line (it begins at x 4, y 3)",
        ),
        (
            "AAA.. ..C.. ....B ....B .....",
            "'C' at x 2, y 1 is neither a boat nor water, which is '.'",
        ),
        (
            "AAA.. ..... ....B ....B ...0.",
            "'0' at x 3, y 4 is neither a boat nor water, which is '.'",
        ),
        (
            "aaa.. ..... ....B ....B .....",
            "'a' at x 0, y 0 is neither a boat nor water, which is '.'",
        ),
    ],
)
def test_any_other_board_is_refused(board: str, words: str) -> None:
    with pytest.raises(IllegalMove) as refusal:
        judge(board)
    assert str(refusal.value) == words


# Fleets by chance.


def test_berths_lie_across_and_down_without_a_wrap() -> None:
    assert list(berths(3, 2, 2).values()) == [
        (0, 1),
        (1, 2),
        (3, 4),
        (4, 5),
        (0, 3),
        (1, 4),
        (2, 5),
    ]
    assert list(berths(3, 2, 3)) == [0b000_111, 0b111_000]
    assert not berths(3, 2, 4)


@pytest.mark.parametrize(
    ("width", "height", "boats"),
    [
        (10, 10, STANDARD),
        (5, 5, "A5 B5 C2"),
        (5, 5, "A2 B2 C2 D2 E2 F2"),
        (5, 8, "A8 B7 C5"),
        (26, 5, "A8 B8 C8 D8 E8 F8 G8 H8"),
        (26, 26, "A8 B8 C8 D8 E8 F8 G8 H8 I8 J8 K8 L8 M8 N8 O8 P8 Q8 R8 S8 T8 U8 V8 W8"),
    ],
)
def test_chance_lays_out_legal_fleets(width: int, height: int, boats: str) -> None:
    for seed in range(10):
        fleet = random_fleet(width, height, boats.split(), Chance(seed))
        assert len(fleet) == height
        judge(" ".join(fleet), boats)


def test_a_lone_boat_takes_every_berth_about_equally_often() -> None:
    chance = Chance(4)
    counts = Counter(random_fleet(5, 5, ["A4"], chance) for _ in range(2000))
    assert len(counts) == 20
    assert all(65 < count < 140 for count in counts.values())


def test_chance_is_all_that_a_fleet_hangs_on() -> None:
    assert random_fleet(10, 10, STANDARD.split(), Chance(1)) == random_fleet(
        10, 10, STANDARD.split(), Chance(1)
    )
    assert random_fleet(10, 10, STANDARD.split(), Chance(1)) != random_fleet(
        10, 10, STANDARD.split(), Chance(2)
    )


FULL = [f"{letter}5" for letter in "ABCDEFGHIJKLMNOPQRST"]


@pytest.mark.parametrize(
    ("width", "height", "first"),
    [(10, 10, "AAAAABBBBB"), (20, 5, "AAAAABBBBBCCCCCDDDDD"), (5, 20, "AEIMQ")],
)
def test_boats_that_chance_cannot_place_are_packed(width: int, height: int, first: str) -> None:
    """A board without any water: every attempt by chance walls some boat out."""
    fleet = random_fleet(width, height, FULL, SplitMix(0))
    assert fleet[0] == first
    judge(" ".join(fleet), " ".join(FULL))


@pytest.mark.no_cover
@given(
    sides=st.tuples(st.integers(5, 12), st.integers(5, 12)),
    lengths=st.lists(st.integers(2, 8), min_size=1, max_size=23),
)
@settings(max_examples=300, deadline=None)
def test_boats_for_which_there_is_room_can_always_be_packed(
    sides: tuple[int, int], lengths: list[int]
) -> None:
    names = [
        f"{letter}{length}"
        for letter, length in zip("ABCDEFGHIJKLMNOPQRSTUVW", lengths, strict=False)
    ]
    boats = boats_in(" ".join(names))
    try:
        check_room(boats, *sides)
    except BadOption:
        assume(False)
    with patch.object(fleets, "RESTARTS", 0):
        judge(" ".join(random_fleet(*sides, names, Chance(0))), " ".join(names))
