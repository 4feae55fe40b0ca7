"""The conversation with a host as transcripts: messages in and out, and commands for the server."""

from typing import Any

import pytest

from botdrome.wire.boats.conversation import (
    NO_ORDER,
    REDRAW,
    EnterAsHost,
    GiveOrder,
    HostConversation,
    HostTold,
    RoomChanged,
)
from botdrome.wire.conversation import Admitted, Close, LoginRefused, Redeliver, Redelivered
from tests.wire.conversing import Talk

NOTHING: Any = ([], [])


def refused(words: str, kind: str = "") -> Any:
    return [{"error": words}], [Close(1008, words, kind)]


def entered(*held: bytes) -> Any:
    return [], [GiveOrder(), Redeliver(held)]


def stranger() -> Talk:
    return Talk(HostConversation(5.0, 3, 0.0))


def host() -> Talk:
    talk = stranger()
    assert talk.say({"token": "t", "room": "Tea"}) == ([], [EnterAsHost("t", "Tea")])
    assert talk.hear(Admitted("Tea")) == entered()
    assert talk.hear(Redelivered()) == NOTHING
    return talk


def test_an_order_and_its_answer() -> None:
    talk = host()
    assert talk.say({"do": "start"}) == ([], [GiveOrder({"do": "start"})])
    assert talk.conversation.answer(HostTold({"done": "started"}), 0.0) == (b'{"done":"started"}',)


@pytest.mark.parametrize(
    ("message", "command"),
    [({}, EnterAsHost(None, "")), ({"token": 7, "room": 8}, EnterAsHost(7, 8))],
)
def test_the_server_judges_the_token_and_the_title(message: Any, command: EnterAsHost) -> None:
    talk = stranger()
    assert talk.say(message) == ([], [command])
    assert talk.hear(LoginRefused("no")) == refused("no")


def test_a_host_that_sends_no_token_in_time() -> None:
    talk = stranger()
    assert talk.conversation.deadline == 5.0
    assert talk.wake() == refused("no token came")


@pytest.mark.parametrize("message", [b"no JSON", b"[]", b'"\xff"', b"[" * 20_000])
def test_a_stranger_has_one_word_and_a_host_may_err(message: bytes) -> None:
    assert stranger().say(message) == refused(NO_ORDER)
    assert host().say(message) == ([{"error": NO_ORDER}], [])


def test_orders_wait_for_the_login_but_only_a_few() -> None:
    talk = stranger()
    talk.say({"token": "t"})
    assert [talk.say(b"one"), talk.say(b"two"), talk.say(b"three")] == [NOTHING] * 3
    assert talk.hear(Admitted("Tea")) == entered(b"one", b"two", b"three")
    talk = stranger()
    talk.say({"token": "t"})
    assert [talk.say(b"one") for _ in range(4)][-1] == refused("too many messages", "flood")


def test_changes_are_shown_together() -> None:
    talk = host()
    talk.now = 1.0
    assert talk.hear(RoomChanged()) == NOTHING
    talk.now = 1.05
    assert talk.hear(RoomChanged()) == NOTHING
    assert talk.conversation.deadline == 1.0 + REDRAW
    assert talk.wake() == ([], [GiveOrder()])
    assert talk.conversation.deadline is None
