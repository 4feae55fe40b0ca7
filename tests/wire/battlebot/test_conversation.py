"""Battlebot's conversation as transcripts: the client's messages, the answers, and the commands to
the server.
"""

from collections.abc import Callable
from typing import Any

import pytest

from botdrome.wire.battlebot.conversation import BattlebotConversation, Seek
from botdrome.wire.conversation import (
    AdmitGuest,
    Admitted,
    Authenticate,
    CannotPlay,
    Close,
    Command,
    ContestComplete,
    EndOfInput,
    LoginRefused,
    NoMatchNow,
    RecordMessage,
    Removed,
    Reply,
    Resign,
    Submit,
    TokenChanged,
    WaitLimit,
)
from botdrome.wire.framing.websocket import MALFORMED
from tests.wire.conversing import MemoryTable, Talk

LOGIN = {"gameType": "NOUGHTS_AND_CROSSES", "name": "ada", "password": "token"}
NOTICES = LOGIN | {"features": ["notices"]}
GUEST = {
    "gameType": "NOUGHTS_AND_CROSSES",
    "name": "ann",
    "guest": True,
    "secret": "x" * 16,
    "features": ["frames"],
}
OK = {"authentication": "OK", "gameType": "NOUGHTS_AND_CROSSES", "name": "ada"}
FAILED = {"authentication": "failed"}


def talk(burst: int = 1000) -> Talk:
    return Talk(BattlebotConversation(10.0, 1.0, burst, 0.0))


def admitted(login: dict[str, Any] = LOGIN) -> Talk:
    one = talk()
    one.say(login)
    sent, (seek,) = one.hear(Admitted("ada"))
    assert sent[0]["authentication"] == "OK" and isinstance(seek, Seek)
    return one


def test_a_match_from_login_to_goodbye() -> None:
    ada, bob = talk(), admitted()
    assert ada.say(LOGIN) == ([], [Authenticate("ada", "token", "noughts-and-crosses")])
    sent, (seek,) = ada.hear(Admitted("ada"))
    assert sent == [OK] and isinstance(seek, Seek) and seek.login.name == "ada"
    assert ada.conversation.deadline is None
    assert ada.say({"x": 1}) == ([], []), "nothing is asked for yet"
    table = MemoryTable("noughts-and-crosses", ada, bob)
    table.seat_all()
    told, _ = table.start()
    assert told[0]["state"]["board"] == [["", "", ""]] * 3
    _, (update,) = table.play(0, {"space": [0, 0], "mark": "X"})
    assert update["turn"]["valid"]
    assert table.dismiss() == [([], []), ([], [])]
    assert ada.say({"x": 1}) == ada.hear(TokenChanged()) == ([], []), "it is over"
    assert ada.conversation.deadline == pytest.approx(0.01)
    assert ada.wake() == ([], [Close()])


def test_a_login_that_does_not_come_in_time_fails() -> None:
    one = talk()
    assert one.conversation.deadline == 10
    assert one.wake() == ([FAILED], [Close(refused="login")])


@pytest.mark.parametrize("login", [7, LOGIN | {"gameType": "CHESS"}])
def test_a_bad_login_fails(login: Any) -> None:
    assert talk().say(login) == ([FAILED], [Close(refused="login")])


@pytest.mark.parametrize(
    ("login", "reply", "sent", "close"),
    [
        (LOGIN, LoginRefused("banned"), FAILED, Close(refused="login")),
        (LOGIN, LoginRefused("the store is away", try_later=True), FAILED, Close(refused="login")),
        (NOTICES, LoginRefused(), FAILED, Close(refused="login")),
        (NOTICES, LoginRefused("banned"), FAILED | {"why": "banned"}, Close(refused="login")),
        (
            NOTICES,
            LoginRefused("the store is away", try_later=True),
            {"error": "the store is away"},
            Close(1013),
        ),
    ],
)
def test_a_refused_login_is_explained_to_clients_that_know_notices(
    login: Any, reply: Reply, sent: Any, close: Command
) -> None:
    one = talk()
    one.say(login)
    assert one.hear(reply) == ([sent], [close])


@pytest.mark.parametrize("begin", [talk, admitted])
def test_a_message_that_is_no_json_closes_without_a_message(begin: Callable[[], Talk]) -> None:
    sent, (record, close) = begin().say(b"{")
    assert (sent, close) == ([], Close(MALFORMED, "ERROR"))
    assert isinstance(record, RecordMessage) and record.verdict.startswith("unreadable: ")


def test_a_flood_is_cut_off() -> None:
    one = talk(burst=1)
    one.say(NOTICES)
    words = "too many messages"
    sent, commands = one.say({})
    assert sent == [{"error": words}]
    expected: list[Command] = [RecordMessage(b"", words), Close(1008, words, "flood")]
    assert commands == expected
    assert one.say({}) == ([], [])


def test_a_client_that_waits_may_go_on() -> None:
    one = talk(burst=1)
    one.say(NOTICES)
    one.now = 1.0
    assert one.say({}) == ([], [])
    one.now = 1.5
    assert one.say({})[0] == [{"error": "too many messages"}]


@pytest.mark.parametrize(
    ("reply", "sent", "commands"),
    [
        (ContestComplete("cup"), [{"contest": "cup", "complete": True}], [Close()]),
        (
            CannotPlay({"error": "the server is stopping"}, 1001),
            [{"error": "the server is stopping"}],
            [Close(1001)],
        ),
        (
            Removed("bye"),
            [{"error": "bye"}],
            [RecordMessage(b"", "bye"), Close(1008, "bye", "removed")],
        ),
        (TokenChanged(), [], [Close(1000, "the token was changed")]),
        (EndOfInput(), [], []),
    ],
)
def test_what_the_server_decides(reply: Reply, sent: list[Any], commands: list[Command]) -> None:
    assert admitted(NOTICES).hear(reply) == (sent, commands)


def test_a_client_of_the_original_waits_without_end() -> None:
    one = admitted()
    assert (
        one.hear(WaitLimit(5, "no opponent came")) == one.hear(ContestComplete("cup")) == ([], [])
    )
    assert one.conversation.deadline is None


def test_a_client_with_notices_is_told_that_nobody_came() -> None:
    one = admitted(NOTICES)
    one.hear(WaitLimit(5, "no opponent came"))
    assert one.conversation.deadline == 5
    assert one.wake() == ([{"error": "no opponent came"}], [Close()])


def test_while_no_match_begins_only_a_client_of_the_original_waits_on() -> None:
    later = NoMatchNow({"error": "try again later"}, 1013)
    assert admitted().hear(later) == ([], [])
    assert admitted(NOTICES).hear(later) == ([{"error": "try again later"}], [Close(1013)])


def test_a_guest_asks_for_its_next_match_under_a_name_that_may_be_a_bot_s_by_now() -> None:
    guest, other = admitted(GUEST | {"features": ["again", "frames"]}), admitted()
    table = MemoryTable("noughts-and-crosses", guest, other)
    table.seat_all()
    table.start()
    table.dismiss()
    assert guest.say({"again": True}) == ([], [AdmitGuest("ann", "x" * 16, "noughts-and-crosses")])
    messages, (seek,) = guest.hear(Admitted("ann"))
    assert not messages and isinstance(seek, Seek), "no second answer to the login"


def test_a_guest_plays_with_frames() -> None:
    one = talk()
    assert one.say(GUEST) == ([], [AdmitGuest("ann", "x" * 16, "noughts-and-crosses")])
    one.hear(Admitted("ann"))
    assert one.say({"ping": 7}) == ([{"pong": 7}], [])
    assert one.say({"move": {}}) == ([], []), "it has no seat yet"
    assert "send" in one.say({"jump": 1})[0][0]["error"]
    other = admitted(LOGIN | {"features": ["extras"]})
    table = MemoryTable("noughts-and-crosses", one, other)
    table.seat_all()
    (snapshot, _), (update, *_) = table.start()
    assert snapshot["snapshot"] and "state" in update
    assert one.say({"move": 1}) == ([], [Submit(1, b'{"move": 1}')])
    assert one.say({"resign": True}) == ([], [Resign(b'{"resign": true}')])
    assert table.dismiss(failed=True) == [
        (
            [{"error": "the result could not be stored"}],
            [Close(1011, "the result could not be stored")],
        ),
        ([], [Close(1011, "the result could not be stored")]),
    ]


def test_a_server_that_stops_closes_at_once() -> None:
    one, two = admitted(), admitted()
    table = MemoryTable("noughts-and-crosses", one, two)
    table.seat_all()
    assert table.dismiss(stopping=True) == [([], [Close()])] * 2
