"""Gomoku as the terminal shows it."""

import msgspec
from rich.text import Text

from botdrome.cli.pictures import picture_of
from botdrome.games.chance import Chance
from botdrome.games.gomoku import Gomoku, Point


def picture_after(*points: Point) -> Text:
    position = Gomoku(size=5, win_length=3).start(2, Chance(0))
    for point in points:
        position = position.play({position.to_move[0]: point}, Chance(0))
    return picture_of(
        "gomoku", msgspec.json.decode(msgspec.json.encode(position.view(None))), ["Ann", "Bob"]
    )


def set_off(picture: Text) -> str:
    """The text shown in reverse."""
    return "".join(
        picture.plain[span.start : span.end]
        for span in picture.spans
        if "reverse" in str(span.style)
    )


def test_the_board_has_its_columns_and_rows_numbered() -> None:
    assert picture_after((1, 0), (4, 2)).plain.splitlines() == [
        "X Ann  O Bob  ",
        "   0 1 2 3 4 ",
        " 0 · X · · · ",
        " 1 · · · · · ",
        " 2 · · · · O ",
        " 3 · · · · · ",
        " 4 · · · · · ",
    ]


def test_the_last_stone_is_set_off_and_then_the_row_that_won() -> None:
    assert set_off(picture_after()) == ""
    assert set_off(picture_after((1, 0), (4, 2))) == "O"
    assert set_off(picture_after((0, 0), (4, 2), (1, 1), (4, 0), (2, 2))) == "XXX"


def test_the_usual_board_fits_a_terminal() -> None:
    lines = picture_of(
        "gomoku", Gomoku().start(2, Chance(0)).view(None), ["Ann", "Bob"]
    ).plain.splitlines()
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 80
