"""Bomberman's answers, its dialect for the record, and the page of rules."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from botdrome.games.bomberman import Bomberman
from botdrome.match.events import Began, Ended, Late, Left, Played, Refused, Result
from botdrome.match.match import Match
from botdrome.match.terms import Pace, Terms
from botdrome.wire.bomber.conversation import (
    CAME_LATE,
    IS_DEAD,
    BomberWriter,
    Response,
    read_action,
    refusal,
    refusal_in,
)
from botdrome.wire.bomber.request import DEFAULT, LITERAL, BadRequest
from botdrome.wire.bomber.rules import RESOLUTIONS, rules, rules_page
from botdrome.wire.bomber.state import (
    FINISHED,
    PLAYING,
    REGISTRATION,
    State,
    beginning,
    beginning_for,
    whereabouts,
)
from botdrome.wire.writers import match_status
from tests.games.bombermen import after, drawn

ROOM = {
    "name": "default", "players": 4, "least": 2, "registration": 10.0, "round": 200, "early": False,
    "wrapped_responses": False,
}  # fmt: skip
POSITION = drawn("A....\n.#.#.\n.....\n.#.#.\n....B")
MATCH = Match(Bomberman(), 2, Terms(Pace(200, beat=True)), seed=1)
MATCH.start()
STANDING = match_status(MATCH, 10)


@pytest.mark.parametrize("word", ["MOVE_UP", "move_up", "UP", "up", "Up"])
def test_an_action_by_any_word(word: str) -> None:
    assert read_action(word) == "MOVE_UP"


@pytest.mark.parametrize("word", ["JUMP", "", 3, [], {"a": 1}, True, "x" * 10_000])
def test_an_unknown_action_is_named(word: object) -> None:
    with pytest.raises(BadRequest) as caught:
        read_action(word)
    assert caught.value.word == "UNKNOWN_ACTION"
    assert "PLACE_BOMB, WAIT, STATE, not " in caught.value.sentence
    assert len(caught.value.sentence) < 200


def test_responses_as_the_list_and_as_the_example_has_them() -> None:
    assert IS_DEAD.fields(False) == {
        "response": "DEAD",
        "information": "DEAD",
        "detail": "your user is dead",
    }
    assert IS_DEAD.fields(True) == {
        "response": "DECLINED",
        "information": "DEAD",
        "detail": "your user is dead",
    }
    assert Response("ACCEPTED").fields(True) == {"response": "ACCEPTED"}


def test_refusals_of_the_rules_and_of_the_match() -> None:
    assert refusal("NO_BOMBS_LEFT: all lie") == Response("CANNOT_MOVE", "NO_BOMBS_LEFT", "all lie")
    assert refusal("it is not your turn") == Response(
        "CANNOT_MOVE", "CANNOT_MOVE", "it is not your turn"
    )


def test_the_record_of_a_seat_has_the_numbers_of_the_states_and_what_was_refused() -> None:
    dialect, result = BomberWriter(False), Result((1, 2), (2.0, 0.0), ("complete", "complete"), ())
    events = [
        Began(0, (0, 1)),
        Played(0, {}),
        Left(1),
        Refused(0, "CANNOT_MOVE: the map ends at [0, 0]", {}, 0),
        Refused(1, "CANNOT_MOVE: not for you", {}, 0),
        Late(0, 3),
        Late(1, 3),
        Ended(result),
    ]
    told = dialect.on_news([(event, POSITION) for event in events], STANDING, [0])
    assert [json.loads(message) for message in told[0]] == [
        {"state_number": 1, "time_left": 190},
        {"state_number": 2, "time_left": 190},
        {
            "response": "CANNOT_MOVE",
            "information": "CANNOT_MOVE",
            "detail": "the map ends at [0, 0]",
        },
        {
            "response": "CANNOT_MOVE",
            "information": "TOO_LATE",
            "detail": "the round of that state_number is over",
        },
        {"phase": "FINISHED"},
    ]
    assert list(told) == [0]


def test_a_room_without_a_map_has_a_state_too() -> None:
    state = State(REGISTRATION, 0, (13, 13), ("Ada",))
    told = json.loads(beginning(DEFAULT, 9000, {}) + state.spelled(DEFAULT))
    assert told == {
        "time_left": 9000,
        "actual_state": {},
        "state_number": 0,
        "map_size": [13, 13],
        "phase": "REGISTRATION",
        "game_id": None,
        "users": [{"user_name": "Ada"}],
        "explosions": [],
    }
    assert (beginning(LITERAL, 9000, {}) + state.spelled(LITERAL)).startswith(
        b"{'time_left': 9000, 'actual_state': {}, "
    )


@pytest.mark.parametrize("place", [None, (0, 0), (12, 3)])
def test_the_beginning_that_is_written_out_is_the_usual_one(place: tuple[int, int] | None) -> None:
    assert beginning_for(place, 190) == beginning(DEFAULT, 190, whereabouts(place))


def test_a_game_that_was_broken_off_has_no_winner() -> None:
    aborted = Result((1, 1), (0.0, 0.0), ("aborted", "aborted"), ())
    tie = Result((1, 1), (1.0, 1.0), ("complete", "complete"), ())
    for result, outcome in (
        (None, {"winner": None, "scores": {}, "aborted": True}),
        (aborted, {"winner": None, "scores": {}, "aborted": True}),
        (tie, {"winner": None, "scores": {"Ada": 1, "Bob": 1}}),
    ):
        state = State(FINISHED, 3, (5, 5), ("Ada", "Bob"), "id", POSITION, result)
        told = json.loads(b"{" + state.spelled(DEFAULT))
        assert {key: told[key] for key in ("winner", "scores", "aborted") if key in told} == outcome


def test_the_walls_that_close_next_are_in_the_state() -> None:
    position = drawn("A....\n.#.#.\n.....\n.#.#.\n....B", closing=2, rounds=10)
    told = json.loads(
        b"{" + State(PLAYING, 1, (5, 5), ("Ada", "Bob"), "id", position).spelled(DEFAULT)
    )
    assert told["closing"] == {"state_number": 3, "positions": [[0, 0], [0, 4], [4, 0], [4, 4]]}


DEADLY = after(drawn("AC..B... .#.#.#.# ........", fuse=1), "A BOMB, B BOMB", "B RIGHT")
"""C stands between the bombs of A and B; each of these dies by its own bomb."""


def test_the_state_says_who_was_killed_by_whom_and_by_which_bombs() -> None:
    names = ("Ada", "Bob", "Cid")
    state = State(FINISHED, 3, (3, 8), names, "id", DEADLY)
    users = json.loads(b"{" + state.spelled(DEFAULT))["users"]
    bombs = [
        {"user_name": "Ada", "position": [0, 0], "placed_in": 1},
        {"user_name": "Bob", "position": [0, 4], "placed_in": 1},
    ]
    assert users[2]["death"] == {
        "state_number": 2,
        "cause": "BOMBS",
        "killed_by": ["Ada", "Bob"],
        "bombs": bombs,
    }
    assert users[0]["death"]["killed_by"] == ["Ada"]


def test_the_record_of_a_seat_says_who_was_killed() -> None:
    dialect = BomberWriter(False, ("Ada", "Bob", "Cid"))
    told = dialect.on_news([(Played(1, {}), DEADLY)], STANDING, [2])
    (message,) = map(json.loads, told[2])
    killers = {death["user_name"]: death["killed_by"] for death in message["deaths"]}
    assert killers == {"Ada": ["Ada"], "Bob": ["Bob"], "Cid": ["Ada", "Bob"]}


@pytest.mark.parametrize(
    ("verdict", "response"),
    [
        (
            "illegal: NO_BOMB: you have none left",
            Response("CANNOT_MOVE", "NO_BOMB", "you have none left"),
        ),
        (
            "illegal: it is not your turn",
            Response("CANNOT_MOVE", "CANNOT_MOVE", "it is not your turn"),
        ),
        (
            "late by 5 ms; illegal: it is not your turn",
            Response("CANNOT_MOVE", "CANNOT_MOVE", "it is not your turn"),
        ),
        ("late by 5 ms", CAME_LATE),
    ],
)
def test_an_action_is_answered_by_the_verdict_of_the_table(
    verdict: str, response: Response
) -> None:
    assert refusal_in(verdict) == response


@pytest.mark.parametrize(
    ("options", "room", "said"),
    [
        ({"fuse": 9}, {}, {17: "9. Placed", 19: "Yes:", 33: "response is the word"}),
        ({"radius": 5, "flame_pierces": True}, {}, {18: "5 more", 19: "No:"}),
        ({"rounds": 77, "closing": 0}, {}, {45: "after 77 rounds; walls never"}),
        ({"height": 7, "width": 9, "crates": 60}, {}, {8: "7x9", 11: "60 %", 45: "from round 300"}),
        ({}, {"early": True, "round": 250}, {48: "or after 250 ms"}),
        ({}, {"wrapped_responses": True, "least": 3}, {33: "DECLINED", 47: "3 to 4"}),
    ],
)
def test_the_rules_are_those_of_the_room(
    options: dict[str, Any], room: dict[str, Any], said: dict[int, str]
) -> None:
    found = rules(Bomberman(**options), ROOM | room)
    for number, words in said.items():
        assert words in found["resolutions"][number - 1]["rule"]


def test_the_rules_name_all_fifty_resolutions_and_everything_that_is_set() -> None:
    found = rules(Bomberman(rounds=77), ROOM | {"name": 'a<b&"c'})
    assert (
        [row["number"] for row in found["resolutions"]]
        == list(range(1, 51))
        == [row[0] for row in RESOLUTIONS]
    )
    assert found["game"]["rounds"] == 77
    assert found["game"].keys() == found["game_options"].keys()
    assert found["short_words"]["BOMB"] == "PLACE_BOMB"
    assert json.loads(json.dumps(found)) == found
    page = rules_page(found)
    assert "a&lt;b&amp;&quot;c" in page
    assert "a<b" not in page
    assert page.count("<tr>") > 70


def test_every_row_of_the_resolutions_has_a_test_that_names_it() -> None:
    folder = Path(__file__).parents[2]
    files = [
        *folder.glob("wire/bomber/test_*rows.py"),
        *folder.glob("server/rooms/bomber/test_*rows.py"),
    ]
    named = {
        int(number)
        for file in files
        for number in re.findall(r"def test_row_(\d+)_", file.read_text())
    }
    assert named == set(range(1, 51))
