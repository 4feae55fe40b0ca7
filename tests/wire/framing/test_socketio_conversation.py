"""Conversations on socket.io, from the handshake to the end."""

from typing import Any

import msgspec
import pytest

from botdrome.wire.conversation import CannotPlay, Dismissed, Outs, Removed, Reply, Unreadable
from botdrome.wire.framing.socketio import AN_EVENT, SocketIoConversation
from tests.wire.framing.socketio_transcripts import LIMITS, Client, check, handshake, shown


class Echo(SocketIoConversation):
    def on_event(self, name: str, args: list[Any]) -> Outs:
        return (AN_EVENT + msgspec.json.encode((name, args)),)


def echo(version: int) -> Echo:
    return Echo(handshake(version), LIMITS, 0.0)


THIRD = """
    < 0{"sid":"secret","upgrades":["websocket"],"pingInterval":25000,"pingTimeout":60000}
    < 40
    ! SocketConnected(sid='secret')
"""
FOURTH = """
    < 0{"sid":"secret","upgrades":["websocket"],"pingInterval":25000,"pingTimeout":60000,"maxPayload":100000}
    > 40
    < 40{"sid":"public1"}
    ! SocketConnected(sid='public1')
"""
GREETING = FOURTH.strip().splitlines()[0]
CLOSED = "! Close(code=1002, reason={0!r}, refused='socketio')"

ALIKE = {
    "an event": """
        > 42["hello",{"a":"😀"}]
        < 42["hello",[{"a":"😀"}]]""",
    "an event with attachments": """
        > 452-["hello",{"_placeholder":true,"num":1},{"_placeholder":true,"num":0}]
        > bytes one
        > bytes two
        < 42["hello",["dHdv","b25l"]]""",
    "a second connect, a pong, an upgrade, a noop and an acknowledgement say nothing": """
        > 40
        > 3
        > 5
        > 6
        > 43[1]""",
    "the client closes": """
        > 1
        ! Close(code=1000, reason='', refused='')
        > 42["hello"]""",
    "the client leaves the namespace and stays": """
        > 41
        ! SocketDisconnected()
        @ 10
        < 44%s
        ! Close(code=1002, reason='the client has disconnected', refused='socketio')""",
}


@pytest.mark.parametrize("name", ALIKE)
@pytest.mark.parametrize("version", [3, 4])
def test_both_versions(version: int, name: str) -> None:
    words = (
        '"the client has disconnected"'
        if version == 3
        else '{"message":"the client has disconnected"}'
    )
    check(echo(version), (THIRD if version == 3 else FOURTH) + ALIKE[name].replace("%s", words))


def test_a_client_2_x_pings() -> None:
    check(echo(3), THIRD + "\n> 2\n< 3\n> 2probe\n< 3probe")


def test_a_client_4_x_is_pinged_and_is_gone_after_a_silence() -> None:
    check(
        echo(4),
        FOURTH + "\n@ 25\n< 2\n> 3\n@ 25\n< 2\n@ 25\n< 2\n@ 25\n< 2\n@ 10\n"
        "! Close(code=1000, reason='ping timeout', refused='')",
    )


def test_a_client_4_x_connects_in_time() -> None:
    words = "the client did not connect to a namespace"
    check(echo(4), f'{GREETING}\n@ 10\n< 44{{"message":"{words}"}}\n{CLOSED.format(words)}')


def test_another_namespace_is_refused() -> None:
    check(echo(3), THIRD + '\n> 40/admin\n< 44/admin,"Invalid namespace"')
    check(echo(4), FOURTH + '\n> 40/admin\n< 44/admin,{"message":"Invalid namespace"}')


BAD = [
    ("", "a packet begins with its type, 0 to 6"),
    ("x", "a packet begins with its type, 0 to 6"),
    ("0", "that is for the server to send"),
    ("44", "that is for the server to send"),
    ("42[]", "an event is a list that begins with its name"),
    ('42/admin,["x"]', "not connected to the namespace /admin"),
    ("bytes lost", "an attachment came without its event"),
]


@pytest.mark.parametrize(("sent", "words"), BAD)
def test_a_client_that_breaks_the_rules_is_told_and_closed(sent: str, words: str) -> None:
    """A client of 4.x that is connected would not connect again after an error, so it is only
    closed.
    """
    check(echo(3), f'{THIRD}\n> {sent}\n< 44"{words}"\n{CLOSED.format(words)}')
    check(echo(4), f"{FOURTH}\n> {sent}\n{CLOSED.format(words)}")


def test_attachments_come_in_time_and_before_the_next_event() -> None:
    begun = THIRD + '\n> 451-["x",{"_placeholder":true,"num":0}]\n'
    words = "the attachments of an event did not come"
    check(echo(3), f'{begun}@ 10\n< 44"{words}"\n{CLOSED.format(words)}')
    words = "an event came before the attachments of the last one"
    check(echo(3), f'{begun}> 42["x"]\n< 44"{words}"\n{CLOSED.format(words)}')
    check(echo(4), FOURTH + '\n> 452-["x",{"_placeholder":true,"num":0}]\n> bytes one\n@ 5')


def test_a_client_of_4_x_sends_no_ping() -> None:
    check(echo(4), f"{FOURTH}\n> 2\n{CLOSED.format('that is for the server to send')}")


def test_text_is_utf_8() -> None:
    assert (
        shown(echo(4).receive(b"4\xff", 0.0))[-1]
        == "! Close(code=1007, reason='text is UTF-8', refused='socketio')"
    )


def test_the_rate_is_limited() -> None:
    flood = '> 42["x"]\n< 42["x",[]]\n'
    close = "! Close(code=1008, reason='too many messages', refused='socketio')"
    check(echo(3), f'{THIRD}\n{flood * 6}> 42["x"]\n< 44"too many messages"\n{close}')
    check(echo(3), f"{THIRD}\n{flood * 6}@ 3\n{flood * 3}")


def test_decisions_of_the_server() -> None:
    replies: list[tuple[Reply, str]] = [
        (
            Unreadable("not a payload"),
            "! Close(code=1002, reason='not a payload', refused='socketio')",
        ),
        (Removed("by the operator"), "! Close(code=1000, reason='', refused='')"),
        (
            CannotPlay({"error": "the server is stopping"}, 1001),
            "! Close(code=1001, reason='the server is stopping', refused='')",
        ),
    ]
    for reply, last in replies:
        client = Client(echo(3))
        assert shown(client.conversation.answer(reply, 0.0))[-1] == last
        assert client.conversation.deadline is None
        assert client.conversation.answer(reply, 0.0) == client.conversation.wake(0.0) == ()
    conversation = echo(3)
    assert conversation.answer(Dismissed(False, False), 0.0) == ()
    assert conversation.wake(1.0) == ()


def test_events_are_for_a_subclass() -> None:
    with pytest.raises(NotImplementedError):
        SocketIoConversation(handshake(3), LIMITS, 0.0).on_event("x", [])
