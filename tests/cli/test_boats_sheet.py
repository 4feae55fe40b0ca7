"""Boards side by side: the layout, and the squares under clicks."""

import pytest
from rich.text import Text

from botdrome.cli.boats.widgets import BoardSheet, Panel, Spot

SQUARES = "A.X0a" + "." * 15
"""Five columns, four rows."""


def panel(name: str) -> Panel:
    return Panel((Text(name), Text("(0, 0%)")), SQUARES)


def drawn(sheet: BoardSheet, *names: str) -> list[str]:
    return sheet.draw([panel(name) for name in names]).plain.split("\n")


def test_boards_are_wrapped_to_the_width() -> None:
    """A board of five columns takes 13, and two are left free between boards."""
    sheet = BoardSheet(3, 5, 4, 28)
    lines = drawn(sheet, "ada", "a name that is too long", "cy")
    assert lines[:4] == [
        "ada            a name that i",
        "(0, 0%)        (0, 0%)      ",
        "   a b c d e      a b c d e ",
        " 1 A . X 0 a    1 A . X 0 a ",
    ]
    assert lines[7:9] == ["", "cy           "]
    assert len(lines) == sheet.lines == 15


@pytest.mark.parametrize(
    ("width", "per_line", "lines"),
    [(27, 1, 23), (28, 2, 15), (42, 2, 15), (43, 3, 7), (13, 1, 23), (5, 1, 23)],
)
def test_as_many_as_fit(width: int, per_line: int, lines: int) -> None:
    sheet = BoardSheet(3, 5, 4, width)
    assert (sheet.per_line, sheet.lines) == (per_line, lines)


def test_in_a_narrow_terminal_the_squares_move_together() -> None:
    assert drawn(BoardSheet(1, 5, 4, 12), "ada")[2:4] == ["   abcde", " 1 A.X0a"]


def test_no_boards_take_no_lines() -> None:
    assert BoardSheet(0, 5, 4, 80).lines == 0


def test_every_square_is_found_where_it_was_drawn() -> None:
    for width in (12, 28, 80):
        sheet = BoardSheet(3, 5, 4, width)
        lines = drawn(sheet, "one", "two", "six")
        seen = [
            spot
            for y, line in enumerate(lines)
            for x, letter in enumerate(line)
            if letter == "A" and (spot := sheet.spot(x, y)) is not None
        ]
        assert seen == [Spot(board, (0, 0)) for board in range(3)]


@pytest.mark.parametrize(
    ("x", "y", "spot"),
    [
        (3, 3, Spot(0, (0, 0))),
        (4, 3, Spot(0, (0, 0))),
        (12, 6, Spot(0, (4, 3))),
        (2, 3, Spot(0, None)),
        (3, 2, Spot(0, None)),
        (0, 0, Spot(0, None)),
        (13, 3, None),
        (15, 0, Spot(1, None)),
        (18, 4, Spot(1, (0, 1))),
        (30, 3, None),
        (3, 7, Spot(0, None)),
        (3, 11, Spot(2, (0, 0))),
        (18, 11, None),
        (3, 40, None),
        (-1, 3, None),
        (3, -1, None),
    ],
)
def test_what_is_under_the_mouse(x: int, y: int, spot: Spot | None) -> None:
    assert BoardSheet(3, 5, 4, 28).spot(x, y) == spot
