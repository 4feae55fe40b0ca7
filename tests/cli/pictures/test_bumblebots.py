"""Bumblebots in the terminal."""

import msgspec

from botdrome.cli.pictures import bumblebots_picture
from tests.games.bumblebots.arranged import START, position

NAMES = ["Bumble1", "Bumble2"]


def test_the_start() -> None:
    lines = [
        line.rstrip() for line in bumblebots_picture(START.view(None), NAMES).plain.splitlines()
    ]
    assert lines == [
        "tick 0 of 100   Bumble1 0   Bumble2 0",
        "       █ █ █ █ █ █ █ █",
        "      █ · · A A A · · █",
        "     █ · · · · · · · · █",
        "    █ · · █ █ · █ █ · · █",
        "   █ · · █ ✿ · · · █ · · █",
        "  █ · · · · · · · · · · · █",
        " █ · · █ · · · · · · █ · · █",
        "█ · · █ · · · · · · · █ ✿ · █",
        " █ · · █ · · · · · · █ · · █",
        "  █ · · · · · · · · · · · █",
        "   █ · · █ · · · · █ · · █",
        "    █ ✿ · █ █ · █ █ · · █",
        "     █ · · · · · · · · █",
        "      █ · · B B B · · █",
        "       █ █ █ █ █ █ █ █",
    ]


def test_zones_and_drones_in_a_view_that_came_over_the_wire() -> None:
    view = msgspec.json.decode(
        msgspec.json.encode(position({"Ann": (1, 4)}, {"Bob": (7, 7)}).view(None))
    )
    lines = bumblebots_picture(view, NAMES).plain.splitlines()
    assert lines[2].split() == ["█", "·", "·", "+", "A", "+", "·", "·", "█"]
    assert lines[14].split() == ["█", "·", "·", "x", "x", "x", "·", "·", "█"]
    assert lines[8].split()[7] == "B"
