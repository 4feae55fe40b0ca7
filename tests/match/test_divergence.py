"""The answers of a bot, compared with the recorded ones."""

import pytest
from msgspec.structs import replace

from botdrome.match.questions import Answer, answer_text, divergence, move_text, questions
from tests.match.recorded_matches import lost_by_bob, noughts, recorded
from tests.match.telling import mark

FIRST = questions(*recorded(lost_by_bob()), 0)[0]


def test_the_same_move_does_not_diverge() -> None:
    assert divergence(FIRST, Answer(mark(0, 0, 0) | {"comment": "corner"})) is None


def test_another_move_diverges() -> None:
    found = divergence(FIRST, Answer(mark(0, 0, 1)))
    assert (
        str(found) == 'step 0: recorded {"mark":"X","space":[0,0]}, now {"mark":"X","space":[0,1]}'
    )


def test_an_illegal_move_says_why() -> None:
    assert answer_text(FIRST, Answer(5)) == "5 (illegal: a move is a JSON object, not 5)"
    assert answer_text(replace(FIRST, due=False), Answer(5)) == "5"


def test_a_fault_diverges_from_a_move() -> None:
    crash = divergence(FIRST, Answer(fault="crash: ValueError", crashed=True))
    silence = divergence(FIRST, Answer(fault="no move within 5 s"))
    assert crash is not None and crash.now == "crash: ValueError"
    assert silence is not None and silence.now == "no move (no move within 5 s)"


def test_a_move_where_none_was_recorded() -> None:
    match = noughts()
    match.wake(5000)
    (question,) = questions(*recorded(match), 0)
    found = divergence(question, Answer(mark(0, 1, 1)))
    assert found is not None
    assert found.recorded == "no move (timeout: no move within 5000 ms)"
    assert divergence(question, Answer(fault="no move within 5 s")) is None


def test_a_refused_move_is_recorded_with_the_refusal() -> None:
    match = noughts()
    match.submit(0, mark(1, 1, 1), 0)
    found = divergence(questions(*recorded(match), 0)[0], Answer(mark(0, 1, 1)))
    assert found is not None
    assert found.recorded == """{"mark":"O","space":[1,1]} (your mark is "X", not 'O')"""


def test_a_question_without_an_answer_cannot_diverge() -> None:
    (question,) = questions(*recorded(noughts()), 0)
    assert divergence(question, Answer(mark(0, 1, 1))) is None


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ({"x": 7, "y": 7}, "(7,7)"),
        ({"action": "MOVE_UP"}, "MOVE_UP"),
        ({"orders": {"a": "E"}}, '{"a":"E"}'),
        ({}, "{}"),
        (None, "null"),
        ("no" * 40, "no" * 28 + "n..."),
    ],
)
def test_moves_are_short_texts(raw: object, text: str) -> None:
    assert move_text(raw) == text
