"""How rooms for boat games are set up."""

from pathlib import Path
from typing import Any

import pytest

from botdrome.protocols import load_settings
from botdrome.server.rooms.boat_settings import (
    BadRoomSettings,
    BoatRoomSettings,
    BoatsSection,
    original_settings,
    pairs_in,
    room_settings,
)
from botdrome.server.settings import BadSetting

FILE = """
# a game of the original
name = Tea
minPlayers=2
maxPlayers=4
pointGoal=5
width=9
height=8
boat=A3
boat=B2
"""


def test_a_file_of_the_original_is_read() -> None:
    plan = room_settings(original_settings(FILE))
    assert plan == BoatRoomSettings(
        title="Tea", min=2, max=4, goal=5, width=9, height=8, boats="A3 B2"
    )
    assert plan.offer.info(False, 1) == b"G|1.2.0|Tea|N|2|4|1|5|9|8|2|A3|B2"
    assert plan.options == {"width": 9, "height": 8, "boats": "A3 B2", "goal": 5}


def test_the_later_version_calls_boats_ships() -> None:
    assert original_settings("name=x\nship=A3\nship=B2\n")["boats"] == "A3 B2"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("boat=A3\n", "a configuration has a name and boats"),
        ("name=x\n", "a configuration has a name and boats"),
        ("name=x\nboat=A3\nwidth=wide\n", "width: 'wide' is not a number"),
        ("name=x\nboat=A3\nnonsense\n", "line 3: 'nonsense' is not key=value"),
        ("name=x\nboat=A9\n", "x: boats: 'A9' is not a boat"),
        ("name=x\nboat=A3\nmaxPlayers=1\n", "x: max is from min"),
        ("name=x\nboat=A3\nmaxPlayers=10\n", "x: max is from min"),
        ("name=x\nboat=A3\nminPlayers=1\n", "min: expected `int` >= 2, not 1"),
        ("name=x\nboat=A3\nwidth=27\n", "x: battleship: width: expected `int` <= 26"),
        ("name=x|y\nboat=A3\n", "a title has 1 to 60 printable characters"),
        ("name=x\nboat=A3\npointGoal=4\n", "x: goal: 4 is more than the 3 squares"),
    ],
)
def test_a_file_that_makes_no_game_is_refused_in_words(text: str, words: str) -> None:
    with pytest.raises(BadRoomSettings) as problem:
        room_settings(original_settings(text))
    assert str(problem.value).startswith(words)


def test_pairs_may_come_again() -> None:
    assert pairs_in("a=1\n  b = 2 = 3\n#c=4\n\na=5\n") == {"a": ["1", "5"], "b": ["2 = 3"]}


def test_times_are_terms() -> None:
    terms = BoatRoomSettings(turn_limit=1.5, absence=0.25).terms
    assert (terms.pace.limit, terms.absence, terms.gone, terms.late) == (1500, 250, "wait", "pass")
    unlimited = BoatRoomSettings(turn_limit=0).terms
    assert (unlimited.pace.limit, unlimited.pace.first) == (None, 60_000), (
        "native bots still have to place their fleets"
    )


def test_rooms_come_from_a_file_or_as_json(tmp_path: Path) -> None:
    file = tmp_path / "botdrome.toml"
    one, two = 'title = "One"\nmax = 4', 'title = "Two"\nport = 7949\nauto_start = false'
    file.write_text(f"[[boats.rooms]]\n{one}\n\n[[boats.rooms]]\n{two}\n")
    rooms = (
        BoatRoomSettings(title="One", max=4),
        BoatRoomSettings(title="Two", port=7949, auto_start=False),
    )
    assert load_settings({}, {}, file).of(BoatsSection).rooms == rooms
    assert (
        load_settings({}, {"BOTDROME_BOATS_ROOMS": '[{"title": "One", "max": 4}]'}, None)
        .of(BoatsSection)
        .rooms
        == rooms[:1]
    )


@pytest.mark.parametrize(
    "rooms", ["{", '[{"tilte": "x"}]', '[{"max": 1}]', '[{"width": 4}]', '[{"port": -2}]', "7"]
)
def test_rooms_that_cannot_be_are_refused(rooms: Any) -> None:
    with pytest.raises(BadSetting, match=r"^boats.rooms: "):
        load_settings({"boats.rooms": rooms}, {}, None)
