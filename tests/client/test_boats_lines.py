"""Lines are read without fuss and written with care."""

import pytest

from botdrome.client.boats_lines import (
    LONGEST_HEARD,
    LONGEST_LINE,
    Splitter,
    Unreadable,
    Unsuited,
    fields_of,
    line_of,
    place,
    square_in,
    summary_in,
)
from botdrome.client.terminal_text import shown

STREAM = b"G|1.2.0|A\r\nN|bob\n\nM||h\xe9\n"
LINES = [b"G|1.2.0|A\r", b"N|bob", b"", b"M||h\xe9"]


def test_lines_come_whole_however_the_bytes_arrive() -> None:
    assert Splitter().feed(STREAM) == LINES
    splitter = Splitter()
    assert [line for byte in STREAM for line in splitter.feed(bytes([byte]))] == LINES
    splitter = Splitter()
    assert splitter.feed(STREAM + b"N|al") == LINES
    assert splitter.feed(b"ice\n") == [b"N|alice"]


def test_a_line_without_an_end_does_not_fill_the_memory() -> None:
    splitter = Splitter()
    for _ in range(5):
        assert splitter.feed(b"x" * LONGEST_HEARD) == []
    assert splitter.feed(b"x\nN|bob\n") == [b"x" * LONGEST_HEARD, b"N|bob"]


@pytest.mark.parametrize(
    ("line", "fields"),
    [
        (b"N|bob", ["N", "bob"]),
        (b"N | bob  ", ["N", "bob"]),
        (b"N|bob\r|cut", ["N", "bob"]),
        (b"B|bob||...|0|0", ["B", "bob", "", "...", "0", "0"]),
        (b"", [""]),
    ],
)
def test_fields_are_trimmed(line: bytes, fields: list[str]) -> None:
    assert fields_of(line) == fields


def test_bytes_that_are_no_text_are_sent_back_as_they_came() -> None:
    name = fields_of(b"J|J\xf6rg")[1]
    assert line_of("S", name, "1", "2") == b"S|J\xf6rg|1|2\n"
    assert fields_of("J|Jörg".encode())[1] == "Jörg"


def test_nothing_breaks_out_of_a_line() -> None:
    assert line_of("M", "bob", "a|b\nK\r\n") == b"M|bob|a/b K\n"
    assert len(line_of("M", "", "ä" * 5000)) == LONGEST_LINE + 1


def test_what_others_write_is_safe_for_a_terminal() -> None:
    assert shown("a\x1b[31mb\x07\u202ec\udce9é") == "a␛[31mb␇�c�é"


def test_the_offer_of_a_server() -> None:
    game = summary_in(fields_of(b"G|1.2.0|Golden two|N|2|9|1|17|10|12|5|A5|B4|C3|D3|E2|more"))
    assert (game.version, game.title, game.started) == ("1.2.0", "Golden two", False)
    assert (game.least, game.most, game.joined, game.goal) == (2, 9, 1, 17)
    assert (game.width, game.height, game.squares) == (10, 12, 120)
    assert game.boats.names == ("A5", "B4", "C3", "D3", "E2")
    assert summary_in(fields_of(b"G|2|x|Y|2|9|1|4|10|12|1|A5")).goal == 4
    assert summary_in(fields_of(b"G|2|x|y|2|9|1|?|10|12|1|A5")).goal == 5


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (b"G|1.2.0|x|N|2|9|1|17|0|10|1|A5", "a board of 0 by 10"),
        (b"G|1.2.0|x|N|2|9|1|17|10|27|1|A5", "a board of 10 by 27"),
        (b"G|1.2.0|x|N|2|9|1|17|10|10|1|A9", "'A9' is not a boat"),
        (b"G|1.2.0|x|N|2|9|1|17|10|10|2|A5|A4", "two boats A"),
        (b"G|1.2.0|x|N|2|9|1|17|10|10|0", "there is none"),
        (b"G", "a board of 0 by 0"),
    ],
)
def test_an_offer_that_cannot_be_played(line: bytes, words: str) -> None:
    with pytest.raises(Unreadable, match=words):
        summary_in(fields_of(line))


@pytest.mark.parametrize(("text", "square"), [("a1", (0, 0)), (" E5 ", (4, 4)), ("j12", (9, 11)), ("b 3", (1, 2))])
def test_squares_by_name(text: str, square: tuple[int, int]) -> None:
    assert square_in(text, 10, 12) == square
    assert place(*square) == text.replace(" ", "").lower()


@pytest.mark.parametrize("text", ["", "5", "e", "e0", "e13", "k1", "5e", "e5x", "e٥", "ee5", "e-1", "e9999999"])
def test_no_squares(text: str) -> None:
    with pytest.raises(Unsuited, match="a square is from a1 to j12"):
        square_in(text, 10, 12)
