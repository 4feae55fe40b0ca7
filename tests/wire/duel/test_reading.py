"""Messages to a duel arena, read or refused."""

from typing import Any

import pytest

from botdrome.wire.conversation import BadLogin
from botdrome.wire.duel import (
    OK,
    DuelLogin,
    Ignored,
    error,
    read_duel_login,
    read_frame,
)
from botdrome.wire.framing.streams import BadFrame
from tests.wire.duel.test_messages import Play


@pytest.mark.parametrize(
    ("x", "y", "read"),
    [
        (5, 12, (5, 12)),
        ("5", " 12 ", (5, 12)),
        (5.9, 7.0, (5, 7)),
        (True, False, (1, 0)),
        (-0.5, "-3", (0, -3)),
        (10**9, 0, (10**9, 0)),
        (10**30, -1e300, (2**53, -(2**53))),
    ],
)
def test_whatever_python_makes_a_number_of_is_one(x: Any, y: Any, read: tuple[int, int]) -> None:
    play = Play()
    play.start()
    assert play.duel.read_move(0, {"id": "id0", "x": x, "y": y, "z": 1}) == {
        "x": read[0],
        "y": read[1],
    }
    with pytest.raises(Ignored, match="no move is asked for"):
        play.duel.read_move(0, {"id": "id0", "x": x, "y": y})


def test_numbers_of_any_size_are_told_back_as_they_were_sent() -> None:
    play = Play()
    play.start()
    move = play.duel.read_move(0, {"id": "id0", "x": 10**20 + 1, "y": "-99999999999999999999"})
    (invalid, *_), _ = play.tell(play.match.submit(0, move, 0))
    assert invalid.startswith(
        '{"event": "invalid_move", "x": 100000000000000000001, "y": -99999999999999999999, '
        '"board": '
    )
    (invalid, *_) = play.move(1, 15, 0)[1]
    assert invalid.startswith('{"event": "invalid_move", "x": 15, "y": 0, "board": ')


@pytest.mark.parametrize(
    ("message", "why"),
    [
        ({"id": "id0", "x": None, "y": 1}, "x is a whole number, not None"),
        ({"id": "id0", "x": 1, "y": []}, "y is a whole number, not []"),
        ({"id": "id0", "x": "five", "y": 1}, "x is a whole number, not 'five'"),
        ({"id": "id0", "x": "", "y": 1}, "x is a whole number, not ''"),
        ({"id": "id0", "x": float("inf"), "y": 1}, "x is a whole number, not inf"),
        ({"id": "id0", "x": 1}, 'the key "y" is missing'),
        ({"x": 1, "y": 1}, "its id is not that of the open question"),
        ({"id": None, "x": 1, "y": 1}, "its id is not that of the open question"),
        ({"id": ["id0"], "x": 1, "y": 1}, "its id is not that of the open question"),
        ({"id": "id1", "x": 1, "y": 1}, "its id is not that of the open question"),
    ],
)
def test_what_cannot_be_read_may_be_said_again(message: dict[str, Any], why: str) -> None:
    play = Play()
    play.start()
    with pytest.raises(Ignored) as caught:
        play.duel.read_move(0, message)
    assert str(caught.value) == why
    assert play.duel.read_move(0, {"id": "id0", "x": 1, "y": 2}) == {"x": 1, "y": 2}


@pytest.mark.parametrize(
    ("frame", "plain"),
    [
        (b'{"event": "make_move", "id": "id0", "x": 5, "y": 12}', True),
        (b' {"y":12,"x":5,"id":"id0","event":"make_move"} ', True),
        (b'{"event": "make_move", "id": "id1", "id": "id0", "x": 1, "x": 5, "y": 12}', True),
        (b'{"event": "make_move", "id": "id0", "id": "1.5-7", "x": 5, "y": 12}', False),
        (b'{"event": "make_move", "id": "id0", "id": "2.5-8", "x": 5, "y": 12}', False),
        (b'{"event": "make_move", "id": "id0", "id": "id0", "x": 5, "y": 12}', False),
        (b'{"event": "make_move", "id": "\\u0069d0", "x": 5, "y": 12}', False),
        (b'{"event": "make_move", "id": "id0", "x": 25, "y": 12}', False),
        (b'{"event": "make_move", "id": "id0", "x": -5, "y": 12}', False),
        (b'{"event": "make_move", "id": "id0", "x": 5, "y": 12}' + b" " * 100, False),
        (b'{"event": "make_move", "id": "id0", "x": "5", "y": 12}', False),
        (b'{"event": "make_move", "id": "id0", "x": 5.0, "y": 12}', False),
        (b'{"event": "make_move", "id": "id0", "x": 5.9, "y": true}', False),
        (b'{"event": "make_move", "id": "id0", "x": 5, "y": 12, "z": "\xc5\xbd"}', False),
        (b'{"event": "make_move", "id": "id0", "x": 5, "y": 9007199254740993}', False),
        (b'{"event": "make_move", "id": "id0", "x": 5, "y": null}', False),
        (b'{"event": "make_move", "id": "id0", "x": 5}', False),
        (b'{"event": "make_move", "id": "id1", "x": 5, "y": 12}', False),
        (b'{"event": "make_move", "id": ["id0"], "x": 5, "y": 12}', False),
        (b'{"event": "make_move", "id": "id0", "x": 5, "y": 12} x', False),
        (b'{"event": "make_move", "id": "id0", "x": 5, "y": 12, "z": "\xff"}', False),
        (b'{"event": "find_opponent"}', False),
        (b'{"id": "id0", "x": 5, "y": 12}', False),
        (b"[" * 5000, False),
        (b"null", False),
    ],
)
def test_a_plain_answer_is_read_as_any_other(frame: bytes, plain: bool) -> None:
    """A message that is not plain is left to the slow path."""
    at_length, shortly = Play(), Play()
    at_length.start()
    shortly.start()
    move = shortly.duel.plain_move(0, frame)
    if plain:
        assert move == at_length.duel.read_move(0, read_frame(frame))
        assert shortly.duel.plain_move(0, frame) is None
    else:
        assert move is None
        assert shortly.duel.read_move(0, {"id": "id0", "x": 1, "y": 2}) == {"x": 1, "y": 2}


def test_nobody_answers_for_the_other() -> None:
    play = Play()
    play.start()
    assert play.duel.plain_move(1, b'{"event": "make_move", "id": "id0", "x": 5, "y": 12}') is None


@pytest.mark.parametrize(
    "frame",
    [b"null", b"{", b"\xff", b'{"a": "\xff"}', b"[" * 5000, b"nan", b" ", b"9" * 5000 + b"x"],
)
def test_frames_that_end_the_conversation(frame: bytes) -> None:
    with pytest.raises(BadFrame):
        read_frame(frame)


@pytest.mark.parametrize(
    ("frame", "value"),
    [
        (b"7", 7),
        (b"[1, 2]", [1, 2]),
        (b' {"event": "x"} ', {"event": "x"}),
        (b'{"score": -Infinity}', {"score": float("-inf")}),
        (b'{"score": 1e999}', {"score": float("inf")}),
        (b'{"half": "\\ud83d"}', {"half": "\ud83d"}),
    ],
)
def test_frames_that_are_read(frame: bytes, value: Any) -> None:
    assert read_frame(frame) == value


def test_logins() -> None:
    assert OK == b'{"status": "ok"}'
    assert read_duel_login({"username": "my.name"}) == DuelLogin("my.name", None, False)
    assert (
        read_duel_login({"username": "\u017dofie \u26a1 <b>x</b>"}).name
        == "\u017dofie \u26a1 <b>x</b>"
    )
    full = read_duel_login(
        {
            "username": "x" * 64,
            "password": "secret",
            "features": ["draw"],
            "version": "2 β",
            "more": 1,
        }
    )
    assert (full.token, full.draws, full.version) == ("secret", True, "2 β")


@pytest.mark.parametrize(
    ("message", "why"),
    [
        ({"user": "x"}, 'log in first: {"username": "NAME"}'),
        ({"event": "find_opponent"}, 'log in first: {"username": "NAME"}'),
        (["x"], 'log in first: {"username": "NAME"}'),
        ({"username": 5}, "username is text"),
        ({"username": None}, "username is text"),
        ({"username": ["a"]}, "username is text"),
        ({"username": ""}, "username has 1 to 64 characters"),
        ({"username": "x" * 65}, "username has 1 to 64 characters"),
        ({"username": "a\nb"}, "username has printable characters only"),
        (
            {"username": "a", "features": "draw"},
            "features is a list that may hold \"draw\", not 'draw'",
        ),
        (
            {"username": "a", "version": "a\nb"},
            "version is text of at most 64 printable characters, not 'a\\nb'",
        ),
        (
            {"username": "a", "features": ["draw", 7]},
            'there is no feature 7; features may hold "draw"',
        ),
    ],
)
def test_logins_that_fail_say_why(message: Any, why: str) -> None:
    with pytest.raises(BadLogin) as caught:
        read_duel_login(message)
    assert str(caught.value) == why


def test_an_error_is_a_status_that_no_client_of_the_original_takes_for_good() -> None:
    assert error("no \u26a1") == b'{"status": "error", "message": "no \\u26a1"}'
