"""Xterm Boat Sinker's lines: read and written."""

import pytest

from botdrome.games.battleship import Battleship, boats_in
from botdrome.games.chance import Chance
from botdrome.wire.boats.lines import (
    NO_SQUARE,
    NO_TARGET,
    SHOT_BEFORE,
    TAUNT_BYTES,
    YOURSELF,
    Offer,
    RefusedShot,
    Taunts,
    aimed,
    display_name,
    fields_of,
    is_fleet,
    joined,
    left,
    name_problem,
    plain,
    player_called,
    results,
    retry,
    said,
    text_of,
    value,
)
from botdrome.wire.framing.streams import Lines

NAMES = (b"ann", b"Bob", b"bobby", b"Zo\xc3\xab")

STREAMS: list[tuple[bytes, list[bytes]]] = [
    (b"", []),
    (b"G\n", [b"G"]),
    (b"G\nP|x\nhalf", [b"G", b"P|x"]),
    (b"\n\n", [b"", b""]),
    (b"12345678\n", [b"12345678"]),
    (b"123456789\n", [b"12345678", b"9"]),
    (b"1234567812345678\n\n", [b"12345678", b"12345678", b""]),
    (b"12345678123456789", [b"12345678", b"12345678"]),
    (b"a\n123456781\nb\n", [b"a", b"12345678", b"1", b"b"]),
    (b"a\r\n\xff\n", [b"a\r", b"\xff"]),
]


@pytest.mark.parametrize(("stream", "lines"), STREAMS)
@pytest.mark.parametrize("piece", [1, 2, 3, 7, 100])
def test_lines_are_the_same_however_they_come(
    stream: bytes, lines: list[bytes], piece: int
) -> None:
    framing = Lines(longest=8)
    got = [
        line
        for at in range(0, len(stream), piece)
        for line in framing.feed(stream[at : at + piece])
    ]
    assert got + framing.feed(b"") == lines


def test_lines_are_packed_into_one_piece() -> None:
    assert Lines().pack([b"J|ann", b"J|bob"]) == b"J|ann\nJ|bob\n"


@pytest.mark.parametrize(
    ("line", "fields"),
    [
        (b"G", [b"G"]),
        (b" J | ann \t| ...\r and more", [b"J", b"ann", b"..."]),
        (b"T|hit|", [b"T", b"hit"]),
        (b"M||x", [b"M", b"", b"x"]),
        (b"", [b""]),
        (b"|||", [b""]),
    ],
)
def test_fields(line: bytes, fields: list[bytes]) -> None:
    assert fields_of(line) == fields
    assert value(fields, 5) == b""


def test_the_offer() -> None:
    offer = Offer("Tea", 2, 4, 5, 9, 8, boats_in("A3 B2"))
    assert offer.info(False, 0) == b"G|1.2.0|Tea|N|2|4|0|5|9|8|2|A3|B2"
    assert offer.info(True, 3) == b"G|1.2.0|Tea|Y|2|4|3|5|9|8|2|A3|B2"


@pytest.mark.parametrize(
    "name", [b"ab", b"Cap'n Rob", b"Hal-9000", b"a/b", b"Zo\xeb", b"new", b"server2"]
)
def test_these_are_names(name: bytes) -> None:
    assert name_problem(name, 10) == b""


@pytest.mark.parametrize(
    "name",
    [
        b"",
        b"a",
        b"1a",
        b"_a",
        b"\xe9a",
        b"SERVER",
        b"All",
        b"you",
        b"Me",
        b"a<b",
        b"a]b",
        b"a\x1bb",
        b"a|b",
    ],
)
def test_these_are_no_names(name: bytes) -> None:
    assert name_problem(name, 10) == b"invalid name"


def test_a_name_is_as_long_as_the_board_is_wide_at_most() -> None:
    assert name_problem(b"abcdefghij", 10) == b""
    assert name_problem(b"abcdefghijk", 10) == b"name too long"
    assert name_problem(b"Zo\xc3\xab", 3) == b"name too long", "in bytes"


def test_names_for_the_rest_of_the_house() -> None:
    assert text_of(b"Zo\xc3\xab") == text_of(b"Zo\xeb") == "Zo\xeb"


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("robot", b"robot"),
        ("a name that is too long", b"a name tha"),
        ("house:random", b"house:rand"),
        ("99 bottles", b"bottles"),
        ("all", b"all2"),
        ("<>", b"bot"),
        ("\u4e2d\u6587", b"bot"),
        ("x", b"x2"),
        ("a|b", b"ab"),
        (" padded", b"padded"),
        ("taken", b"taken2"),
        ("takenagain", b"takenagai2"),
        ("twice", b"twice3"),
        ("Zo\xeb", b"Zo\xc3\xab"),
    ],
)
def test_a_name_that_lines_can_carry(name: str, shown: bytes) -> None:
    taken = {b"taken", b"takenagain", b"twice", b"twice2"}
    assert display_name(name, 10, taken) == shown
    assert not name_problem(shown, 10)


@pytest.mark.parametrize(
    ("board", "fits"),
    [
        (b"AAA.." + b"BB..." + b"....." * 3, True),
        (b"A...." + b"A...." + b"A.BB." + b"....." * 2, True),
        (b"AAABB" + b"....." * 4, True),
        (b"AAA.." + b"BB..." + b"....." * 2 + b"....", False),
        (b"AAA.." + b"BB..." + b"....." * 3 + b".", False),
        (b"AA..." + b"BB..." + b"....." * 3, False),
        (b"...AA" + b"ABB.." + b"....." * 3, False),
        (b"AAA0." + b"BB..." + b"....." * 3, False),
        (b"AAA\xff." + b"BB..." + b"....." * 3, False),
        (b"", False),
    ],
)
def test_boards(board: bytes, fits: bool) -> None:
    assert is_fleet(board, "A3 B2", 5, 5) is fits


@pytest.mark.parametrize(
    ("word", "player"),
    [(b"ann", 0), (b"Bob", 1), (b"bobby", 2), (b"bob", None), (b"BOBB", 2), (b"a", 0), (b"2", 1), (b"4", 3), (b"5", None),
     (b"0", None),
     (b"+1", None), (b"", None), (b"carl", None)],
)  # fmt: skip
def test_who_is_meant(word: bytes, player: int | None) -> None:
    assert player_called(word, NAMES) == player


def small() -> Battleship:
    game = Battleship(width=5, height=6, boats="A3 B2").start(4, Chance(1))
    fleet = "AAA.." + "BB..." + "....." * 4
    placed = game.play(dict.fromkeys(range(4), fleet), Chance(1))
    return placed.play({0: placed.parse(0, {"target": 1, "x": 0, "y": 0})}, Chance(1))


@pytest.mark.parametrize(
    ("line", "shot"),
    [
        (b"S|Bob|2|1", {"target": 1, "x": 1, "y": 0}),
        (b"S|4|5|6", {"target": 3, "x": 4, "y": 5}),
        (b"S|ann|+5|06", {"target": 0, "x": 4, "y": 5}),
    ],
)
def test_a_shot(line: bytes, shot: dict[str, int]) -> None:
    assert aimed(fields_of(line), NAMES, 2, small()) == shot


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (b"S|carl|1|1", NO_TARGET),
        (b"S|bobby|9|9", YOURSELF),
        (b"S|Bob|1|1", SHOT_BEFORE),
        (b"S|Bob|6|1", NO_SQUARE),
        (b"S|Bob|1|7", NO_SQUARE),
        (b"S|Bob|x|1", NO_SQUARE),
        (b"S|Bob", NO_SQUARE),
        (b"S|Bob|0|1", NO_SQUARE),
    ],
)
def test_a_shot_that_cannot_be(line: bytes, words: bytes) -> None:
    with pytest.raises(RefusedShot) as refusal:
        aimed(fields_of(line), NAMES, 2, small())
    assert refusal.value.words == words
    assert str(refusal.value) == words.decode()


def test_lines_to_clients() -> None:
    assert joined(b"ann") == b"J|ann"
    assert left(b"ann", b"") == b"L|ann|"
    assert retry(b"name in use") == b"E|name in use"
    assert said(b"ann", b"hi", to_all=True) == b"M|ann|hi|All"
    assert said(b"", b"hi") == b"M||hi"
    assert len(said(b"ann", b"x" * 5000)) == 4094
    assert plain(" two\nlines | one\r") == b"two lines / one"


def test_results_have_the_best_first_and_ties_in_the_order_of_turns() -> None:
    rows = [(b"ann", 1, 0, 3, b""), (b"bob", 2, 1, 3, b"gone"), (b"carl", 2, 0, 2, b"")]
    assert results(b"finished", 3, rows) == [
        b"F|finished|3|3",
        b"R|bob|2|1|3|gone",
        b"R|carl|2|0|2|",
        b"R|ann|1|0|3|",
    ]


def test_taunts() -> None:
    taunts, chance = Taunts(), Chance(1)
    assert taunts.draw(True, chance) is None
    taunts.set(b"HIT", b"ouch")
    taunts.set(b"hit", b"lucky")
    taunts.set(b"other", b"x")
    assert {taunts.draw(True, chance) for _ in range(50)} == {b"ouch", b"lucky"}
    assert taunts.draw(False, chance) is None
    taunts.set(b"miss", b"y" * TAUNT_BYTES)
    assert taunts.draw(False, chance) is None, "that was too much"
    taunts.set(b"hit", b"")
    assert taunts.draw(True, chance) is None
