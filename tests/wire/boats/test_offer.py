"""Lines as clients read and write them, and the offer of a server."""

import pytest

from botdrome.wire.boats.lines import LONGEST_SENT, BadOffer, line_of, offer_in, text_fields


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
    assert text_fields(line) == fields


def test_bytes_that_are_no_text_are_sent_back_as_they_came() -> None:
    name = text_fields(b"J|J\xf6rg")[1]
    assert line_of("S", name, "1", "2") == b"S|J\xf6rg|1|2\n"
    assert text_fields("J|Jörg".encode())[1] == "Jörg"


def test_nothing_breaks_out_of_a_line() -> None:
    assert line_of("M", "bob", "a|b\nK\r\n") == b"M|bob|a/b K\n"
    assert len(line_of("M", "", "ä" * 5000)) == LONGEST_SENT + 1


def test_the_offer_of_a_server() -> None:
    game = offer_in(text_fields(b"G|1.2.0|Golden two|N|2|9|1|17|10|12|5|A5|B4|C3|D3|E2|more"))
    assert (game.version, game.title, game.started) == ("1.2.0", "Golden two", False)
    assert (game.least, game.most, game.joined, game.goal) == (2, 9, 1, 17)
    assert (game.width, game.height, game.squares) == (10, 12, 120)
    assert game.boats.names == ("A5", "B4", "C3", "D3", "E2")
    assert offer_in(text_fields(b"G|2|x|Y|2|9|1|4|10|12|1|A5")).goal == 4
    assert offer_in(text_fields(b"G|2|x|y|2|9|1|?|10|12|1|A5")).goal == 5


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
    with pytest.raises(BadOffer, match=words):
        offer_in(text_fields(line))
