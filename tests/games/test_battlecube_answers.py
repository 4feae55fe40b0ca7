"""Valid answers in battlecube, and the refusals of all others."""

from typing import Any

import pytest

from botdrome.games.battlecube import FARTHEST, Battlecube, Plan
from botdrome.games.chance import Chance
from botdrome.games.game import IllegalMove


def read(answer: Any, tasks: int = 1) -> Plan:
    return Battlecube(tasks=tasks).start(2, Chance(0)).parse(0, answer)


def refusal(answer: Any, tasks: int = 1) -> str:
    with pytest.raises(IllegalMove) as caught:
        read(answer, tasks)
    return str(caught.value)


def bomb(x: Any, y: Any = 2, z: Any = 3, word: str = "BOMB") -> list[Any]:
    return [{"task": word, "x": x, "y": y, "z": z}]


def step(direction: Any) -> list[Any]:
    return [{"task": "MOVE", "direction": direction}]


@pytest.mark.parametrize("direction", ["+X", "-X", "+Y", "-Y", "+Z", "-Z"])
def test_a_step_has_a_direction(direction: str) -> None:
    assert read(step(direction)) == (direction,)


@pytest.mark.parametrize(
    ("sent", "meant"),
    [
        ("+y", "+Y"),
        ("-z", "-Z"),
        ("*Y", "-Y"),
        ("yY", "-Y"),
        ("+Yellow", "+Y"),
        ("+XYZ", "+X"),
        (" x", "-X"),
        ("++", None),
        ("+", None),
    ],
)
def test_only_the_first_two_characters_of_a_direction_count(sent: str, meant: str | None) -> None:
    if meant:
        assert read(step(sent)) == (meant,)
    else:
        assert (
            refusal(step(sent))
            == f'task at position 0: "direction" is a sign and an axis such as "+X", not {sent!r}'
        )


@pytest.mark.parametrize("word", ["BOMB", "PLACE_BOMB"])
def test_a_bomb_has_a_cell_which_may_lie_outside_the_cube(word: str) -> None:
    assert read(bomb(1, word=word)) == ((1, 2, 3),)
    assert read(bomb(0, 8, FARTHEST, word)) == ((0, 8, FARTHEST),)


@pytest.mark.parametrize("word", ["NOOP", "FOO", "move", "bomb", " MOVE", " "])
def test_any_other_word_does_nothing(word: str) -> None:
    assert read([{"task": word}]) == (None,)
    assert read([{"task": word, "direction": "junk"}]) == (None,)
    assert read(bomb(1, word=word)) == (None,)


@pytest.mark.parametrize(
    ("sent", "meant"),
    [
        (4.0, 4),
        (-0.0, 0),
        ("4", 4),
        (" 4 ", 4),
        ("+4", 4),
        ("4.0", 4),
        ("4.", 4),
        ("4e2", 400),
        ("-0", 0),
    ],
)
def test_a_whole_number_may_be_written_in_other_ways(sent: Any, meant: int) -> None:
    assert read(bomb(sent)) == ((meant, 2, 3),)


@pytest.mark.parametrize(
    "coordinate",
    [
        None,
        True,
        False,
        1.5,
        float("nan"),
        float("inf"),
        [],
        {},
        "",
        " ",
        "x",
        "1.5",
        "1_0",
        "0x1",
        "١",
    ],
)
def test_what_is_no_whole_number_is_refused(coordinate: Any) -> None:
    assert refusal(bomb(coordinate)).startswith('task at position 0: "x" is a whole number, not ')


@pytest.mark.parametrize("coordinate", [-1, "-1", FARTHEST + 1, 10**30, "1e9", 1e300])
def test_a_bomb_too_far_away_is_refused(coordinate: Any) -> None:
    words = refusal([{"task": "BOMB", "x": 0, "y": 0, "z": coordinate}])
    assert words.startswith(f'task at position 0: "z" is from 0 to {FARTHEST}, not ')


def test_coordinates_must_be_right_even_where_they_mean_nothing() -> None:
    assert refusal(bomb(0, -1, word="NOOP")).startswith('task at position 0: "y" is from 0')


def test_the_answer_or_a_task_may_be_json_in_a_text() -> None:
    assert read('[{"task": "NOOP"}]') == (None,)
    assert read(['{"task": "MOVE", "direction": "+X"}']) == ("+X",)
    assert read('["{\\"task\\": \\"NOOP\\"}"]') == (None,)
    assert read(tuple(step("+X"))) == ("+X",)


@pytest.mark.parametrize(
    "answer",
    [5, None, True, {}, {"task": "NOOP"}, "", "hello", "5", "[" * 100_000, "\ud800", '"[]"'],
)
def test_an_answer_is_a_list(answer: Any) -> None:
    assert refusal(answer).startswith("an answer is a JSON list of tasks, not ")


@pytest.mark.parametrize("task", [None, 5, True, [], [{"task": "NOOP"}], "NOOP", "[]", '"{}"'])
def test_a_task_is_an_object(task: Any) -> None:
    words = refusal([{"task": "NOOP"}, task], tasks=2)
    assert words.startswith(
        'task at position 1: a task is {"task"}, {"task", "direction"} or {"task", "x", "y", "z"}, '
        "not "
    )


@pytest.mark.parametrize("word", ["", None, 1, True, [], {}])
def test_a_task_has_a_word(word: Any) -> None:
    assert refusal([{"task": word}]).startswith(
        'task at position 0: "task" is a text that is not empty, not '
    )
    assert (
        refusal([{"direction": "+X"}])
        == 'task at position 0: "task" is a text that is not empty, not None'
    )


@pytest.mark.parametrize("direction", ["", None, 1, True, ["+X"]])
def test_a_direction_is_a_text(direction: Any) -> None:
    for word in ("MOVE", "NOOP"):
        words = refusal([{"task": word, "direction": direction}])
        assert words.startswith('task at position 0: "direction" is a text that is not empty, not ')


@pytest.mark.parametrize(
    "rest",
    [
        {"why": "x"},
        {"x": 1},
        {"x": 1, "y": 1},
        {"direction": "+X", "x": 1, "y": 1, "z": 1},
        {"direction": "+X", "why": 1},
    ],
)
def test_other_keys_are_refused(rest: dict[str, Any]) -> None:
    words = refusal([{"task": "NOOP"} | rest])
    assert words.startswith("task at position 0: a task is ")
    assert "not one with ['task', " in words


def test_a_step_with_other_keys_is_refused() -> None:
    for rest in ({"x": 1}, {"x": 1, "y": 1, "z": 1}):
        words = refusal([step("+X")[0] | rest])
        assert words.startswith("task at position 0: a task is ")


def test_a_step_needs_a_direction_and_a_bomb_a_cell() -> None:
    assert refusal([{"task": "MOVE"}]) == 'task at position 0: MOVE needs a "direction"'
    assert refusal(bomb(1, word="MOVE")) == 'task at position 0: MOVE needs a "direction"'
    assert refusal([{"task": "BOMB"}]) == 'task at position 0: BOMB needs "x", "y" and "z"'
    assert (
        refusal([{"task": "PLACE_BOMB", "direction": "+X"}])
        == 'task at position 0: PLACE_BOMB needs "x", "y" and "z"'
    )


@pytest.mark.parametrize(("count", "tasks"), [(0, 1), (2, 1), (2, 3), (4, 3)])
def test_the_number_of_tasks_is_exact(count: int, tasks: int) -> None:
    words = refusal([{"task": "NOOP"}] * count, tasks)
    assert words == f"Invalid amount of directions sent: {count}, where exactly {tasks} must be"


def test_the_shape_is_judged_before_the_number_and_that_before_the_sense() -> None:
    assert refusal([{"task": "MOVE"}, None]).startswith("task at position 1: a task is ")
    assert refusal([{"task": "MOVE"}, {"task": "BOMB"}]).startswith(
        "Invalid amount of directions sent"
    )
    assert refusal([{"task": "NOOP"}, {"task": "BOMB"}], tasks=2).startswith(
        "task at position 1: BOMB needs"
    )


def test_what_is_quoted_stays_short() -> None:
    assert len(refusal("x" * 10_000)) < 120
    assert len(refusal([{"task": "NOOP", "y" * 10_000: 1}])) < 200
