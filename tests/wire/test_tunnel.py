"""The conversation of `botdrome connect` as transcripts: messages in and out, and commands for the
server.
"""

from typing import Any

import pytest

from botdrome.wire.conversation import (
    Admitted,
    Authenticate,
    CannotPlay,
    Close,
    LoginRefused,
    Removed,
    Reply,
    TokenChanged,
    WaitLimit,
)
from botdrome.wire.tunnel import OpenTunnel, TakeAnswer, TunnelCall, TunnelConversation, UnknownCall
from tests.wire.conversing import Talk

LOGIN = {"name": "ada", "password": "secret"}


def refused(words: str, code: int = 1008, kind: str = "") -> Any:
    return [{"error": words}], [Close(code, words, kind)]


def stranger(burst: int = 2) -> Talk:
    return Talk(TunnelConversation(5.0, 1.0, burst, 65536, 0.0))


def bot(burst: int = 2) -> Talk:
    talk = stranger(burst)
    assert talk.say(LOGIN) == ([], [Authenticate("ada", "secret")])
    told = {"connected": "ada", "gameType": "gomoku", "longest": 65536}
    assert talk.hear(Admitted("ada", "gomoku")) == ([told], [OpenTunnel()])
    return talk


def test_a_call_and_its_answer() -> None:
    talk = bot()
    assert talk.conversation.deadline is None
    call = TunnelCall(1, 2.5, {"x-botdrome-match": "m"}, '{"q":1}')
    assert talk.conversation.answer(call, 0.0) == (
        b'{"call":1,"limit":2.5,"headers":{"x-botdrome-match":"m"},"body":"{\\"q\\":1}"}',
    )
    assert talk.say({"call": 1, "status": 200, "body": "x"}) == ([], [TakeAnswer(1, 200, "x")])
    assert talk.say({"call": 2, "failed": "refused"}) == ([], [TakeAnswer(2, failed="refused")])


def test_a_bot_that_does_not_log_in_in_time() -> None:
    talk = stranger()
    assert talk.conversation.deadline == 5.0
    assert talk.wake() == refused("no login came")


@pytest.mark.parametrize("message", [b"{", b"[]", {"name": "ada"}, {"name": "ada", "password": 5}])
def test_an_unreadable_login(message: Any) -> None:
    (said,), (close,) = stranger().say(message)
    assert said["error"].startswith("unreadable: ")
    assert close == Close(1008, said["error"])


@pytest.mark.parametrize(
    "message", [b"{", {"call": "1"}, {"status": 200}, b"[" * 20_000, b'"\xff"']
)
def test_an_unreadable_answer(message: Any) -> None:
    (said,), _ = bot().say(message)
    assert said["error"].startswith("unreadable: ")


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        (LoginRefused(), "the name or the password is wrong"),
        (LoginRefused("ada is banned", banned=True), "ada is banned"),
        (LoginRefused("the store is away", try_later=True), "the bot cannot be looked up"),
    ],
)
def test_a_login_that_is_refused(reply: Reply, words: str) -> None:
    talk = stranger()
    talk.say(LOGIN)
    assert talk.say({"call": 1}) == ([], [TakeAnswer(1)]), "there is one login"
    assert talk.hear(reply) == refused(words)


def test_answers_to_unknown_calls_are_limited() -> None:
    talk = bot(burst=2)
    assert [talk.hear(UnknownCall()) for _ in range(3)] == [
        ([], []),
        ([], []),
        refused("too many messages", kind="flood"),
    ]


@pytest.mark.parametrize(
    ("reply", "words", "code"),
    [
        (Removed("too slow"), "too slow", 1008),
        (TokenChanged(), "the token was changed", 1008),
        (CannotPlay({"error": "the server is stopping"}, 1001), "the server is stopping", 1001),
    ],
)
def test_how_it_ends(reply: Reply, words: str, code: int) -> None:
    assert bot().hear(reply) == refused(words, code)


def test_it_takes_no_seat() -> None:
    talk = bot()
    assert talk.hear(WaitLimit(5, "wait")) == ([], [])
