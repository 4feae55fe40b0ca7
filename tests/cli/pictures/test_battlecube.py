"""Battlecube as the terminal shows it."""

import msgspec
from rich.text import Text

from botdrome.cli.pictures import picture_of
from botdrome.games.battlecube import Battlecube
from botdrome.games.chance import Chance
from tests.games.cubes import STAY, after, bomb, cube, step


def drawn(position: Battlecube) -> Text:
    names = [f"player {seat}" for seat in range(len(position.scores))]
    return picture_of(
        "battlecube", msgspec.json.decode(msgspec.json.encode(position.view(None))), names
    )


def test_the_cube_is_cut_into_slices_from_front_to_back() -> None:
    position = after(cube((0, 0, 0), (1, 2, 1), (2, 0, 2), edge=3), step("-X"), bomb(0, 1, 2), STAY)
    assert [line.rstrip() for line in drawn(position).plain.splitlines()] == [
        "tick 1 of 20  edge 3, bombs 1",
        "A player 0       lost 0    B player 1       1,2,1     C player 2       2,0,2",
        "z 0     z 1     z 2",
        "· · ·   · · ·   · · C",
        "· · ·   · · ·   * · ·",
        "· · ·   · B ·   · · ·",
    ]


def test_players_have_colours_of_their_own_and_losers_are_struck_out() -> None:
    picture = drawn(after(cube((0, 0, 0), (1, 2, 1), (2, 0, 2), edge=3), step("-X"), STAY, STAY))
    styles = {
        picture.plain[span.start : span.start + 10]: str(span.style) for span in picture.spans
    }
    assert styles["A player 0"] == "dim strike"
    assert styles["B player 1"] != styles["C player 2"]


def test_the_usual_cube_fits_a_terminal() -> None:
    lines = drawn(Battlecube().start(8, Chance(0))).plain.splitlines()
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 80


def test_of_a_large_cube_only_the_players_are_listed() -> None:
    assert (
        len(drawn(Battlecube(edge=12).start(64, Chance(0))).plain.splitlines()) == 1 + 22 + 4 * 13
    )
    assert len(drawn(Battlecube(edge=13).start(64, Chance(0))).plain.splitlines()) == 1 + 22
