"""Position files: written, read again, asked and continued."""

import msgspec
import pytest
from msgspec.structs import replace

from botdrome.analysis.position_file import (
    BadPosition,
    PositionFile,
    encoded,
    is_position_file,
    last_question,
    match_at,
    position_file,
    read_position,
)
from botdrome.match.questions import questions
from botdrome.match.record import BadRecord, match_file
from tests.match.recorded_matches import NAMES, lost_by_bob, new_match, recorded
from tests.match.telling import mark


def written() -> PositionFile:
    record, game = recorded(lost_by_bob())
    return position_file(questions(record, game, 1)[-1], record, "the last chance")


def test_a_file_asks_the_same_question_again() -> None:
    data = encoded(written())
    assert is_position_file(data)
    file, game = read_position(data)
    assert (file.step, file.player, file.note, len(file.inputs)) == (3, 1, "the last chance", 3)
    question = last_question(file, game)
    assert (question.step, question.seat, question.answered) == (3, 1, False)
    assert msgspec.json.decode(msgspec.json.encode(question.view)) == file.view


def test_a_match_file_is_no_position_file() -> None:
    data = match_file(lost_by_bob(), NAMES)
    assert not is_position_file(data)
    with pytest.raises(BadPosition, match="this is not a position file"):
        read_position(data)


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"position": 9}, "version 9"),
        ({"player": 2}, "there is no player 2; the match has 2"),
        ({"player": -1}, "there is no player -1"),
    ],
)
def test_bad_files_are_refused(changes: dict[str, int], why: str) -> None:
    with pytest.raises(BadPosition, match=why):
        read_position(encoded(replace(written(), **changes)))


def test_a_bad_set_up_is_refused() -> None:
    file = written()
    with pytest.raises(BadRecord, match="hexadecimal"):
        read_position(encoded(replace(file, setup=replace(file.setup, seed="xyz"))))
    with pytest.raises(BadRecord, match="not a match file"):
        read_position(encoded(replace(file, setup=replace(file.setup, botdrome=99))))


def test_a_player_that_is_not_asked_has_no_question() -> None:
    record, game = recorded(lost_by_bob())
    file = written()
    with pytest.raises(BadPosition, match="player 0 is not asked at step 3"):
        last_question(replace(file, player=0), game)
    over = replace(file, inputs=record.lines, player=0)
    with pytest.raises(BadPosition, match="not asked"):
        last_question(over, game)
    with pytest.raises(BadPosition, match="not asked"):
        last_question(replace(file, inputs=()), game)


def test_a_match_is_restored_at_a_step() -> None:
    record, game = recorded(lost_by_bob())
    match = match_at(record, game, 3)
    assert (match.steps, match.awaited, len(match.inputs)) == (3, [1], 3)
    match.submit(1, mark(1, 0, 2), 50)
    assert match.result is None


def test_there_is_no_step_after_the_last_one() -> None:
    record, game = recorded(lost_by_bob())
    for step in (5, -1):
        with pytest.raises(BadPosition, match="the match has steps 0 to 4"):
            match_at(record, game, step)


def test_a_simultaneous_step_is_restored_before_any_move_of_it() -> None:
    match = new_match("bumblebots", ticks=3)
    match.submit(0, {"orders": {}}, 1)
    match.wake(500)
    match.submit(0, {"orders": {}}, 501)
    match.submit(1, {"orders": {}}, 502)
    record, game = recorded(match)
    assert len(match_at(record, game, 1).inputs) == 2
    assert len(position_file(questions(record, game, 1)[-1], record).inputs) == 2
