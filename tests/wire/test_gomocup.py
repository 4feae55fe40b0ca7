"""Gomocup's protocol, as a transcript in memory."""

from typing import Any

import pytest

from botdrome.wire.gomocup import BadOpening, GomocupError, GomocupManager, read_openings

EMPTY = "." * 15


def view(*stones: tuple[int, int], you: int = 0) -> dict[str, Any]:
    board = [list(EMPTY) for _ in range(15)]
    for number, (x, y) in enumerate(stones):
        board[y][x] = "XO"[number % 2]
    moves = [list(stone) for stone in stones]
    return {
        "you": you,
        "size": 15,
        "winLength": 5,
        "board": ["".join(row) for row in board],
        "moves": moves,
    }


def started(limit: int | None = 5000) -> GomocupManager:
    manager = GomocupManager()
    manager.begin(limit, memory=1000)
    assert manager.is_new_board(view())
    assert manager.start(view()) == ["START 15"]
    assert manager.read_start("OK") is True
    return manager


def question(manager: GomocupManager, position: dict[str, Any]) -> list[str]:
    time_left, *lines = manager.ask(position)
    assert time_left == "INFO time_left 2147483647"
    return lines


def test_the_engine_begins_and_is_told_each_stone() -> None:
    manager = started()
    assert question(manager, view()) == ["BEGIN"]
    assert manager.read_move("7,7") == {"x": 7, "y": 7}
    assert not manager.is_new_board(view((7, 7), (8, 8)))
    assert question(manager, view((7, 7), (8, 8))) == ["TURN 8,8"]


def test_the_engine_answers_a_first_stone() -> None:
    assert question(started(), view((3, 4), you=1)) == ["TURN 3,4"]


def test_a_position_with_a_past_is_told_whole() -> None:
    lines = question(started(), view((3, 4), (5, 6), (7, 8), you=1))
    assert lines == ["BOARD", "3,4,2", "5,6,1", "7,8,2", "DONE"]


def test_a_second_board_restarts_the_engine() -> None:
    manager = started()
    question(manager, view())
    manager.read_move("7,7")
    assert manager.is_new_board(view((1, 1), you=1))
    assert manager.start(view((1, 1), you=1)) == ["RESTART"]
    assert question(manager, view((1, 1), you=1)) == ["TURN 1,1"]


@pytest.mark.parametrize(("limit", "told"), [(5000, 5000), (None, 2147483647)])
def test_limits_and_rule_are_told(limit: int | None, told: int) -> None:
    assert started(limit).information() == [
        f"INFO timeout_turn {told}",
        "INFO timeout_match 0",
        "INFO max_memory 1000",
        "INFO game_type 1",
        "INFO rule 0",
    ]


def test_the_next_match_begins_anew_on_a_board_of_its_own_size() -> None:
    manager = started()
    manager.begin(5000, memory=0)
    assert manager.is_new_board(view())
    assert manager.start(view()) == ["RESTART"]
    assert manager.start(view() | {"size": 19}) == ["START 19"]


@pytest.mark.parametrize("line", ["", "MESSAGE thinking", "debug depth 7", "SUGGEST 7,7"])
def test_remarks_are_passed_over(line: str) -> None:
    manager = started()
    assert manager.read_start(line) is False
    assert manager.read_move(line) is None


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("ERROR unsupported size", "the engine answered 'ERROR unsupported size'"),
        ("UNKNOWN command", "the engine answered 'UNKNOWN command'"),
        ("h8", "the engine wrote 'h8' in place of a move such as 7,8"),
    ],
)
def test_errors_name_the_line(line: str, words: str) -> None:
    with pytest.raises(GomocupError, match=words):
        started().read_move(line)


def test_openings_count_from_the_centre() -> None:
    assert read_openings("0,0, 1,-1\r\n\n -7 , +7", 15) == {1: [[7, 7], [8, 6]], 3: [[0, 14]]}
    assert read_openings("0,0", 20) == {1: [[10, 10]]}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            "0,0\n0,0,1",
            "line 2: 3 numbers are no pairs of x,y: '0,0,1'; an opening is x,y of each stone, ",
        ),
        ("0,1.5", "line 1: '1.5' is no whole number; an opening is x,y of each stone, "),
        ("0,0,", "line 1: 3 numbers"),
        ("", "there are no openings; an opening is x,y of each stone, "),
    ],
)
def test_a_bad_opening_is_named(text: str, problem: str) -> None:
    with pytest.raises(BadOpening) as caught:
        read_openings(text, 15)
    assert str(caught.value).startswith(problem)
