"""Battleship as the terminal shows it."""

import msgspec
from rich.text import Text

from botdrome.bots.battleship import random
from botdrome.cli.pictures import picture_of
from botdrome.games.battleship import Battleship
from botdrome.games.chance import Chance
from botdrome.games.game import Raw

SMALL = Battleship(width=5, height=5, boats="A2", goal=1)
FLEET = {"board": "AA......................."}


def picture_after(*shots: Raw) -> Text:
    position = SMALL.start(2, Chance(0))
    for step in ({0: FLEET, 1: FLEET}, *[{turn % 2: shot} for turn, shot in enumerate(shots)]):
        position = position.play(
            {seat: position.parse(seat, raw) for seat, raw in step.items()}, Chance(0)
        )
    return picture_of(
        "battleship", msgspec.json.decode(msgspec.json.encode(position.view(None))), ["Ann", "Bob"]
    )


def styles(picture: Text, part: str) -> set[str]:
    return {
        str(span.style)
        for span in picture.spans
        if picture.plain[span.start : span.end].strip() == part
    }


def test_boards_stand_side_by_side_with_names_and_scores() -> None:
    picture = picture_after({"x": 0, "y": 0})
    assert [line.rstrip() for line in picture.plain.splitlines()] == [
        "round 0, goal 1: Ann hits Bob at x 0, y 0",
        "   Ann 1         Bob 0",
        "   0 1 2 3 4     0 1 2 3 4",
        " 0 · · · · ·   0 X · · · ·",
        " 1 · · · · ·   1 · · · · ·",
        " 2 · · · · ·   2 · · · · ·",
        " 3 · · · · ·   3 · · · · ·",
        " 4 · · · · ·   4 · · · · ·",
    ]
    assert styles(picture, "X") == {"bold red"}
    assert styles(picture, "Bob 0") == {"bold yellow"}, "who is to move stands out"
    assert styles(picture, "Ann 1") == {"bold"}


def test_when_it_is_over_the_fleets_show() -> None:
    picture = picture_after({"x": 0, "y": 0}, {"x": 2, "y": 0})
    lines = [line.rstrip() for line in picture.plain.splitlines()]
    assert lines[0] == "round 1, goal 1: Bob misses Ann at x 2, y 0"
    assert lines[3] == " 0 A A o · ·   0 a A · · ·"
    assert (styles(picture, "a"), styles(picture, "A"), styles(picture, "o")) == (
        {"bold red"},
        {"green"},
        {"blue"},
    )


def test_the_headline_tells_of_skips() -> None:
    assert picture_after().plain.splitlines()[0] == "round 0, goal 1"
    assert picture_after({"skip": True}).plain.splitlines()[0] == "round 0, goal 1: Ann skips"


def test_the_standard_boards_of_nine_fit_the_width_of_a_terminal() -> None:
    chance, names = Chance(2), [f"someone with a name as long as this {seat}" for seat in range(9)]
    position = Battleship().start(9, chance)
    for _ in range(2):
        moves = {
            seat: position.parse(seat, random(position.view(seat), chance))
            for seat in position.to_move
        }
        position = position.play(moves, chance)
    lines = picture_of("battleship", position.view(None), names).plain.splitlines()
    assert len(lines) == 1 + 2 * 12
    assert max(map(len, lines)) <= 80


def test_boards_that_are_too_wide_stand_one_below_the_other() -> None:
    large = Battleship(width=26, height=26).start(4, Chance(0)).view(None)
    assert (
        len(picture_of("battleship", large, ["a", "b", "c", "d"]).plain.splitlines()) == 1 + 2 * 28
    )
