"""Options are checked without random draws, with the same errors as a start."""

from typing import Any

import pytest

from botdrome.catalogue import CATALOGUE
from botdrome.games.chance import Chance
from botdrome.games.game import BadOption
from botdrome.games.options import with_options

CASES: list[tuple[str, int, dict[str, Any]]] = [
    ("noughts-and-crosses", 2, {}),
    ("gomoku", 2, {"size": 5, "win_length": 5}),
    ("gomoku", 2, {"size": 5, "win_length": 6}),
    ("gomoku", 2, {"opening": [[7, 7], [8, 8]]}),
    ("gomoku", 2, {"opening": [[7, 7], [7, 7]]}),
    ("battleship", 9, {"width": 5, "height": 5, "boats": "A2"}),
    ("battleship", 2, {"width": 5, "height": 5, "boats": "A8"}),
    ("battleship", 2, {"boats": "A2", "goal": 3}),
    ("battlecube", 64, {"edge": 4}),
    ("battlecube", 64, {"edge": 3}),
    ("battlecube", 2, {"starts": [[0, 0, 0], [0, 0, 0]]}),
    ("bomberman", 8, {"height": 25, "width": 25}),
    ("bomberman", 2, {"height": 12}),
    ("bumblebots", 2, {"arena": "drawn", "side": 16, "walls": 40, "drones": 8, "flowers": 20}),
    ("bumblebots", 2, {"arena": "drawn", "side": 4, "drones": 4}),
    ("bumblebots", 2, {"arena": "drawn", "side": 4, "flowers": 20}),
    ("bumblebots", 2, {"side": 16}),
]


def complaint(game: str, players: int, options: dict[str, Any], by: str) -> str:
    try:
        made = with_options(CATALOGUE[game].game, options)
        made.check(players) if by == "check" else made.start(players, Chance(0))
    except BadOption as problem:
        return str(problem)
    return ""


@pytest.mark.parametrize(("game", "players", "options"), CASES)
def test_a_check_says_what_a_start_says(game: str, players: int, options: dict[str, Any]) -> None:
    assert complaint(game, players, options, "check") == complaint(game, players, options, "start")


def test_some_of_these_are_refused_and_some_are_not() -> None:
    said = [complaint(*case, "check") for case in CASES]
    assert 0 < said.count("") < len(said)
