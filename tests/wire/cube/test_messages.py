"""The requests of Battlecube's organisers, and the recorded faults with the original's messages."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from botdrome.games.battlecube import NO_STARTS, TOO_MANY, Battlecube
from botdrome.games.game import BadOption
from botdrome.games.options import with_options
from botdrome.wire.cube import (
    MOST_EDGE,
    MOST_PLAYERS,
    MOST_TASKS,
    MOST_TICKS,
    NOT_UNIQUE,
    SAME_START,
    CubePlayer,
    CubeSetup,
    Fault,
    claim_in,
    empty_game,
    error,
    game_id_in,
    new_game_in,
    update_in,
)

RECORDING = (
    Path(__file__).parents[2] / "server" / "rooms" / "cube" / "recordings" / "50-errors.jsonl"
)
SETUP = {"maxNumOfTicks": 20, "edgeLength": 4, "speed": 10, "numOfTasksPerTick": 2}
ANN, BOB = (
    {"name": "Ann", "url": "http://127.0.0.1:4701"},
    {"name": "Bob", "url": "http://127.0.0.1:4702/bot?x=1"},
)


def recorded_faults() -> list[Any]:
    """The request and the error of the original; None: no answer."""
    cases: list[Any] = []
    for line in map(json.loads, RECORDING.read_text().splitlines()):
        if line["kind"] == "note":
            name = line["text"].removeprefix("case: ")
        elif line["kind"] == "sio_out":
            cases.append([line["args"], None, name])
        elif line["kind"] == "sio_in":
            cases[-1][1] = line["args"][0]
    return [pytest.param(args, told, id=name) for args, told, name in cases]


def fault_in(*args: Any) -> Any:
    with pytest.raises(Fault) as found:
        new_game_in(list(args))
    return error(found.value).payload


def with_setup(**changes: Any) -> dict[str, Any]:
    return {"setup": SETUP | changes, "players": [ANN, BOB]}


def named(name: str) -> dict[str, Any]:
    return {"setup": SETUP, "players": [ANN | {"name": name}]}


def at(name: str, x: int, y: int, z: int) -> dict[str, Any]:
    return {"name": name, "x": x, "y": y, "z": z}


@pytest.mark.parametrize(("args", "told"), recorded_faults())
def test_a_recorded_fault_is_told_in_the_same_words(args: list[Any], told: Any) -> None:
    ours = fault_in(*args)
    if told is not None:
        assert json.loads(json.dumps(ours)) == told
    else:
        (detail,) = ours["details"]
        assert detail["type"] == "any.required"


@pytest.mark.parametrize(
    ("args", "message"), [([], "value"), ([{}], "setup"), ([{"setup": SETUP}], "players")]
)
def test_where_the_original_was_silent_or_died_the_missing_key_is_named(
    args: list[Any], message: str
) -> None:
    told = fault_in(*args)
    assert told["error"] == "INVALID_GAME_CONFIGURATION"
    assert told["details"][0]["message"] == f'"{message}" is required'


def test_a_game_as_it_was_asked_for() -> None:
    wanted = new_game_in([{"setup": SETUP, "players": [ANN, BOB]}])
    assert wanted.setup.options == {"edge": 4, "ticks": 20, "tasks": 2}
    assert wanted.setup.game == Battlecube(4, 20, 2)
    assert wanted.setup.terms(5000).pace.pause == 10
    assert wanted.setup.starts is None
    assert wanted.players == (CubePlayer("Ann", ANN["url"]), CubePlayer("Bob", BOB["url"]))


def test_json_in_text_is_read_and_speed_is_optional() -> None:
    setup = {"maxNumOfTicks": "20", "edgeLength": " 4.0 ", "numOfTasksPerTick": 2.0}
    wanted = new_game_in([json.dumps({"setup": json.dumps(setup), "players": json.dumps([ANN])})])
    assert wanted.setup.options == {"edge": 4, "ticks": 20, "tasks": 2}
    assert wanted.setup.speed == 0
    assert [player.name for player in wanted.players] == ["Ann"]


def test_the_order_is_that_of_the_start_positions_and_zero_is_allowed() -> None:
    wanted = new_game_in(
        [with_setup(playerStartPositions=[at("Bob", 0, 0, 0), at("Ann", 3, 3, 3)])]
    )
    assert [player.name for player in wanted.players] == ["Bob", "Ann"]
    assert wanted.setup.game.starts == ((0, 0, 0), (3, 3, 3))


@pytest.mark.parametrize(
    ("given", "details"),
    [
        ([at("Ann", 1, 1, 1), at("Ann", 2, 2, 2)], NO_STARTS),
        ([at("Ann", 1, 1, 1), at("Eve", 2, 2, 2)], NO_STARTS),
        ([at("Ann", 1, 1, 1), at("Bob", 1, 1, 1)], SAME_START),
    ],
)
def test_start_positions_that_do_not_fit(given: list[dict[str, Any]], details: str) -> None:
    assert fault_in(with_setup(playerStartPositions=given))["details"] == details


def test_a_start_outside_of_the_cube() -> None:
    (detail,) = fault_in(with_setup(playerStartPositions=[at("Ann", 1, 4, 1), at("Bob", 2, 2, 2)]))[
        "details"
    ]
    assert detail == {
        "message": '"y" must be less than 4',
        "path": ["setup", "playerStartPositions", 0, "y"],
        "type": "number.less",
        "context": {"limit": 4, "value": 4, "key": "y", "label": "y"},
    }


def test_names_are_unique_and_the_cube_has_room() -> None:
    assert fault_in({"setup": SETUP, "players": [ANN, ANN]})["details"] == NOT_UNIQUE
    assert fault_in(with_setup(edgeLength=1))["details"] == TOO_MANY


@pytest.mark.parametrize(
    ("payload", "message"),
    [
        (with_setup(edgeLength=MOST_EDGE + 1), '"edgeLength" must be less than or equal to 1000'),
        (with_setup(maxNumOfTicks=10**400), '"maxNumOfTicks" must be a number'),
        (with_setup(maxNumOfTicks=True), '"maxNumOfTicks" must be a number'),
        (with_setup(maxNumOfTicks=float("nan")), '"maxNumOfTicks" must be a number'),
        (with_setup(maxNumOfTicks="1.5"), '"maxNumOfTicks" must be an integer'),
        (with_setup(speed="-1"), '"speed" must be a positive number'),
        (with_setup(playerStartPositions="["), '"playerStartPositions" must be an array'),
        ({"setup": [], "players": []}, '"setup" must be an object'),
        ({"setup": SETUP, "players": [5]}, '"0" must be an object'),
        (
            {"setup": SETUP, "players": [ANN] * 65},
            '"players" must contain less than or equal to 64 items',
        ),
        (
            {"setup": SETUP, "players": [ANN | {"name": "n" * 65}]},
            '"name" length must be less than or equal to 64 characters long',
        ),
        (named("half \ud83d"), '"name" must be a string'),
        ({"setup": SETUP, "players": [ANN | {"token": 5}]}, '"token" must be a string'),
        (
            {"setup": SETUP, "players": [ANN | {"version": "a\n"}]},
            '"version" must have printable characters only',
        ),
    ],
)
def test_faults_that_the_original_missed_are_reported_in_its_form(
    payload: Any, message: str
) -> None:
    (detail,) = fault_in(payload)["details"]
    assert detail["message"] == message
    json.dumps(detail).encode()


@pytest.mark.parametrize(
    "url",
    [
        "ftp://x/y",
        "localhost:4702",
        "http://[::1]:80/?q#f",
        "house:survivor",
        "bot:my bot",
        "connect:x",
    ],
)
def test_any_absolute_address_passes_the_check(url: str) -> None:
    assert (
        new_game_in(
            [{"setup": SETUP, "players": [ANN | {"url": url, "token": "t", "version": "7"}]}]
        )
        .players[0]
        .url
        == url
    )


def test_a_long_value_is_not_echoed_whole() -> None:
    (detail,) = fault_in({"setup": SETUP, "players": [ANN | {"url": "é" * 2000}]})["details"]
    assert len(detail["context"]["value"]) < 50


def test_the_limits_are_those_of_the_rules() -> None:
    most = {"edge": MOST_EDGE, "ticks": MOST_TICKS, "tasks": MOST_TASKS}
    assert with_options(Battlecube(), most) == Battlecube(MOST_EDGE, MOST_TICKS, MOST_TASKS)
    for key, value in most.items():
        with pytest.raises(BadOption):
            with_options(Battlecube(), {key: value + 1})
    assert Battlecube.players.stop - 1 == MOST_PLAYERS


def test_an_update_is_a_whole_setup_and_may_name_a_game() -> None:
    game_id, setup = update_in([SETUP | {"id": "abc"}])
    assert (game_id, setup.speed, setup.options["edge"]) == ("abc", 10, 4)
    assert update_in([SETUP])[0] is None
    with pytest.raises(Fault):
        update_in([{"speed": 5}])


@pytest.mark.parametrize(
    ("args", "game_id"),
    [
        ([], None),
        ([None], None),
        ([{}], None),
        ([{"id": "a"}], "a"),
        (["a"], "a"),
        (['{"id": 1}'], '{"id": 1}'),
    ],
)
def test_our_own_events_name_a_game_or_none(args: list[Any], game_id: str | None) -> None:
    assert game_id_in(args) == game_id


@pytest.mark.parametrize("given", [5, {"id": 5}, {"id": ""}, {"game": "a"}, [], True])
def test_our_own_events_are_checked_too(given: Any) -> None:
    with pytest.raises(Fault):
        game_id_in([given])


def test_a_claim_names_a_game_and_its_key() -> None:
    assert claim_in([{"id": "abc", "key": "k"}]) == ("abc", "k")
    for wrong in ([], [{"id": "abc"}], [{"id": "abc", "key": "k", "more": 1}], ["abc"]):
        with pytest.raises(Fault):
            claim_in(wrong)


def test_a_game_without_players_is_a_tie_after_one_tick() -> None:
    told = empty_game("abc", new_game_in([{"setup": SETUP, "players": []}]).setup.game)
    assert [(event.name, event.payload) for event in told] == [
        ("GAME_STARTED", {"id": "abc"}),
        (
            "NEXT_TICK",
            {
                "gameInfo": {
                    "id": "abc",
                    "edgeLength": 4,
                    "numOfTasksPerTick": 2,
                    "numOfBotsInPlay": 0,
                    "currentTick": 0,
                },
                "players": [],
                "items": [],
            },
        ),
        ("GAME_ENDED", {"scores": [], "id": "abc", "result": "TIE"}),
    ]


WORDS = st.text(st.characters(exclude_categories=()), max_size=5) | st.sampled_from(
    ["4", "house:x"]
)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | WORDS
KEYS = (
    st.sampled_from(
        ["setup", "players", "name", "url", "x", "y", "z", *SETUP, "playerStartPositions"]
    )
    | WORDS
)
ANYTHING = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=6),
    max_leaves=20,
)


@pytest.mark.no_cover
@given(ANYTHING, ANYTHING, ANYTHING)
def test_whatever_is_sent_is_a_game_or_a_fault_that_can_be_told(
    whole: Any, setup: Any, players: Any
) -> None:
    near = {"setup": SETUP | setup if isinstance(setup, dict) else setup, "players": players}
    for payload in (whole, near, {"setup": SETUP, "players": [ANN | near]}):
        try:
            new_game_in([payload])
        except Fault as problem:
            assert error(problem).packet


def test_ticks_that_are_planned_ahead_leave_room_for_others() -> None:
    """Without a pause a thousand of them would be played in one go, and everybody else at the
    server would wait.
    """
    assert [
        CubeSetup(10, 8, tasks, speed).pause for tasks, speed in ((1, 0), (2, 0), (2, 50), (1, 50))
    ] == [0, 1, 50, 50]
    assert CubeSetup(10, 8, 2).terms(5000).pace.pause == 1
