"""Boards, standings and matches, drawn."""

import io
import json
import re
from pathlib import Path
from typing import Any

import msgspec
import pytest
from PIL import Image

from botdrome.catalogue import CATALOGUE, restored
from botdrome.drawing import (
    HEIGHT,
    LAST,
    MARGIN,
    MOST_LINES,
    PAINTERS,
    PAPER,
    SEATS,
    WIDTH,
    DrawnScene,
    StandingsRow,
    animation,
    match_picture,
    scenes,
    standings_picture,
    titled,
)
from botdrome.games.game import Game
from botdrome.match.record import Record
from tests.golden.test_golden import file_of

CSS = Path(__file__).parents[1] / "web" / "src" / "styles" / "base.css"
LONG = "Wilhelmina" * 6 + "Anna"


def golden(game: str) -> tuple[Record, Game[Any]]:
    return restored(file_of(game, 2).read_bytes())


def opened(data: bytes) -> Any:
    return Image.open(io.BytesIO(data))


def pixels(data: bytes) -> bytes:
    return bytes(opened(data).convert("RGB").tobytes())


def test_every_game_has_a_painter() -> None:
    assert PAINTERS.keys() == CATALOGUE.keys()


def test_the_colours_of_players_are_those_of_the_pages() -> None:
    light = CSS.read_text().partition(":root[data-theme")[0]
    assert tuple(re.findall(r"--seat-\d: (#\w+);", light)) == SEATS


@pytest.mark.parametrize("game", CATALOGUE)
def test_the_board_of_a_match_is_drawn(game: str) -> None:
    record, rules = golden(game)
    names, shown = record.setup.names, scenes(record, rules, 5)
    first, last = (
        match_picture(game, names, scene, ["1"] * len(names), "bot 0 wins")
        for scene in (shown[0], shown[-1])
    )
    assert opened(first).size == (WIDTH, HEIGHT) and opened(first).format == "PNG"
    assert pixels(first) != pixels(last)


def test_texts_stay_in_the_picture() -> None:
    record, rules = golden("noughts-and-crosses")
    names = [LONG, "a\nb", "名前", "", *["x"] * 5]
    scene = scenes(record, rules)[0]
    drawings = (
        match_picture("noughts-and-crosses", names, scene, ["12.5"] * 9, f"{LONG} wins"),
        standings_picture(LONG, LONG, [StandingsRow("1", LONG, "1500")]),
    )
    for drawn in drawings:
        edge = opened(drawn).convert("RGB").crop((WIDTH - MARGIN, 0, WIDTH, HEIGHT))
        assert edge.getcolors() == [(MARGIN * HEIGHT, (0xFB, 0xFA, 0xF7))]
    assert PAPER == "#fbfaf7"


@pytest.mark.parametrize("game", PAINTERS)
def test_a_board_stays_in_its_square(game: str) -> None:
    """Whatever the order of the keys of its view."""
    record, rules = golden(game)
    last = scenes(record, rules)[-1]
    stored = json.loads(msgspec.json.encode(last.view))
    for view in (stored, dict(reversed(stored.items()))):
        drawn = match_picture(game, [], DrawnScene(last.step, last.order, view), [], "")
        beside = opened(drawn).convert("RGB").crop((HEIGHT - MARGIN + 12, 0, HEIGHT + MARGIN, 500))
        assert len(beside.getcolors()) == 1


def test_standings_have_as_many_rows_as_fit() -> None:
    rows = [StandingsRow(str(place), f"bot {place}", "5") for place in range(1, 21)]
    assert standings_picture("Cup", "", rows) == standings_picture("Cup", "", rows[:MOST_LINES])
    assert standings_picture("Cup", "", rows) != standings_picture("Cup", "", rows[:3])


@pytest.mark.parametrize("view", [{"grid": [["a", None], [1, 2]]}, {"rows": ("ab", "cd")}, {}])
def test_a_game_without_a_painter_is_drawn_by_its_rows(view: Any) -> None:
    assert match_picture("chess", ["a", "b"], DrawnScene(0, (0, 1), view), [], "live")


def test_titles_of_games() -> None:
    assert [titled(game) for game in ("noughts-and-crosses", "gomoku")] == [
        "Noughts and crosses",
        "Gomoku",
    ]


def test_of_a_long_match_some_positions_are_shown() -> None:
    record, rules = golden("battleship")
    every, some = scenes(record, rules), scenes(record, rules, 7)
    assert len(some) <= 8 and (some[0], some[-1]) == (every[0], every[-1])
    assert every[-2].view["fleets"] is None and every[-1].view["fleets"]
    assert [one.step for one in every] == list(range(len(every)))


@pytest.mark.parametrize("game", CATALOGUE)
def test_a_match_is_animated(game: str) -> None:
    record, rules = golden(game)
    shown, checks = scenes(record, rules, 6), list[int]()
    gif = opened(animation(game, record.setup.names, shown, 4, lambda: checks.append(1)))
    assert (gif.format, gif.n_frames, gif.info["loop"]) == ("GIF", len(shown), 0)
    assert gif.info["duration"] == 250 and len(checks) == len(shown)
    gif.seek(len(shown) - 1)
    assert gif.info["duration"] == LAST


def test_an_animation_can_be_given_up() -> None:
    record, rules = golden("gomoku")

    def late() -> None:
        raise TimeoutError

    with pytest.raises(TimeoutError):
        scenes(record, rules, check=late)
    with pytest.raises(TimeoutError):
        animation("gomoku", record.setup.names, scenes(record, rules, 3), 4, late)
