"""The duel arena's conversation as transcripts: the client's messages, the answers, and the
commands to the server.
"""

from itertools import count
from typing import Any

import pytest

from botdrome.wire.conversation import (
    Admit,
    Admitted,
    CannotPlay,
    Close,
    Command,
    ContestComplete,
    EndOfInput,
    LoginRefused,
    RecordMessage,
    Removed,
    Reply,
    Seated,
    TokenChanged,
    Unreadable,
)
from botdrome.wire.duel import (
    SURPLUS,
    Duel,
    DuelConversation,
    Enter,
    Entered,
    FindOpponent,
    Superseded,
)
from botdrome.wire.writers import MatchHeader, match_status
from tests.wire.conversing import MemoryTable, Talk

OK, FREE = {"status": "ok"}, {"event": "player_is_free"}
FIND = {"event": "find_opponent"}


def writer(header: MatchHeader) -> Duel:
    ids = count(1)
    return Duel(header.players, 1, lambda: b"q%d" % next(ids))


def talk(burst: int = 1000) -> Talk:
    return Talk(DuelConversation(writer, 10.0, 1.0, burst, 0.0))


def entered(burst: int = 1000, **login: Any) -> Talk:
    one = talk(burst)
    one.say({"username": "ada", **login})
    one.hear(Admitted("ada"))
    assert one.hear(Entered()) == ([OK, FREE], [])
    return one


def playing(*talks: Talk) -> MemoryTable:
    table = MemoryTable("gomoku", *talks)
    table.seat_all()
    return table


def test_a_match_from_login_to_the_next_wish() -> None:
    ada, bob = talk(), entered(features=["draw"])
    assert ada.say({"username": "ada", "password": "t"}) == ([], [Admit("ada", "t", "gomoku")])
    assert ada.say(FIND) == ([], []), "it asks before it is free"
    assert ada.hear(Admitted("ada")) == ([], [Enter("ada", "t")])
    assert ada.hear(Entered()) == ([OK, FREE], [FindOpponent()])
    assert bob.say(FIND) == ([], [FindOpponent()])
    table = playing(ada, bob)
    assert ada.say(FIND) == ([], []), "a match is about to start"
    (start, question), _ = table.start()
    assert (start["event"], question["event"]) == ("starting_game", "get_move")
    _, (question,) = table.play(0, {"event": "make_move", "id": question["id"], "x": 7, "y": 7})
    assert question["board"]["_moves"] == [[7, 7]]
    (question,), _ = table.play(1, {"event": "make_move", "id": question["id"], "x": "6", "y": 6})
    assert ada.say(FIND) == ([], [])
    assert table.dismiss() == [([FREE], [FindOpponent()]), ([FREE], [])]


def test_ignored_answers_are_recorded_and_count_against_the_limit_only_in_great_number() -> None:
    ada = entered(burst=1)
    table = playing(ada, entered())
    (_, question), _ = table.start()
    table.play(0, {"event": "make_move", "id": question["id"], "x": 1, "y": 1})
    late = {"event": "make_move", "id": "old", "x": 1, "y": 1}
    for _ in range(SURPLUS):
        _, (record,) = ada.say(late)
        assert (
            isinstance(record, RecordMessage) and record.verdict == "ignored: no move is asked for"
        )
    ada.now = 1.0
    ada.say(late)
    sent, (_, _, close) = ada.say(late)
    assert sent == [{"status": "error", "message": "too many messages"}]
    assert close == Close(reason="too many messages", refused="flood")
    assert ada.say(FIND) == ([], [])


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ({"event": "dance"}, "ignored: neither make_move nor find_opponent"),
        ({"event": "make_move"}, ""),
    ],
)
def test_messages_that_ask_for_nothing(message: Any, words: str) -> None:
    _, commands = entered().say(message)
    assert [command.verdict for command in commands if isinstance(command, RecordMessage)] == (
        [words] if words else []
    )


def test_a_frame_that_is_no_json_is_told_and_closes() -> None:
    sent, (record, close) = entered().say(b"{")
    assert sent[0]["status"] == "error"
    assert isinstance(record, RecordMessage) and record.message == b"{"
    assert isinstance(close, Close) and close.refused == "frame"


@pytest.mark.parametrize("login", [7, {"name": "ada"}, {"username": ""}])
def test_a_bad_login_is_told_why(login: Any) -> None:
    (answer,), commands = talk().say(login)
    assert answer["status"] == "error" and commands == [Close(refused="login")]


def test_a_login_that_does_not_come_in_time_fails() -> None:
    assert talk().wake() == (
        [{"status": "error", "message": "no login within 10 seconds"}],
        [Close(refused="login")],
    )


@pytest.mark.parametrize(
    ("reply", "sent", "commands"),
    [
        (LoginRefused("banned"), ["banned"], [Close(refused="login")]),
        (
            Removed("bye"),
            ["bye"],
            [RecordMessage(b"", "bye"), Close(reason="bye", refused="removed")],
        ),
        (
            Unreadable("too long"),
            ["too long"],
            [RecordMessage(b"", "too long"), Close(reason="too long", refused="frame")],
        ),
        (CannotPlay({"error": "the server is stopping"}), [], [Close()]),
        (TokenChanged(), [], [Close()]),
        (ContestComplete("cup"), [], []),
    ],
)
def test_what_the_server_decides(reply: Reply, sent: list[str], commands: list[Command]) -> None:
    one = entered()
    told, asked = one.hear(reply)
    assert ([message["message"] for message in told], asked) == (sent, commands)
    if commands:
        assert one.hear(reply) == ([], [])


@pytest.mark.parametrize(
    "end",
    [LoginRefused("banned"), Removed("bye"), Unreadable("too long"), TokenChanged(), b"{"],
)
def test_a_client_that_is_closed_plays_no_more(end: Reply | bytes) -> None:
    one = entered()
    (_, question), _ = playing(one, entered()).start()
    if isinstance(end, bytes):
        one.say(end)
    else:
        one.hear(end)
    assert one.say({"event": "make_move", "id": question["id"], "x": 7, "y": 7}) == ([], [])


def test_a_client_that_sends_no_more_is_answered_and_closed() -> None:
    one = talk()
    one.say({"username": "ada"})
    one.hear(EndOfInput())
    assert one.hear(Admitted("ada")) == ([OK, FREE], [Close()])


def test_a_newcomer_takes_over_the_seat_of_its_name() -> None:
    one, two, newcomer = entered(features=["draw"]), entered(), talk()
    table = playing(one, two)
    early = talk()
    early.hear(Seated(0, table.writers))
    assert early.hear(Entered()) == ([OK], []), "the match has not started"
    table.start()
    newcomer.say({"username": "ada"})
    newcomer.hear(Seated(0, table.writers))
    sent, _ = newcomer.hear(Entered(match_status(table.match, 0)))
    assert [sent[0], *[message["event"] for message in sent[1:]]] == [
        OK,
        "starting_game",
        "get_move",
    ]
    assert newcomer.say(FIND) == ([], [])


@pytest.mark.parametrize(("failed", "stopping"), [(True, False), (False, True)])
def test_after_a_match_that_could_not_be_stored_the_client_is_closed(
    failed: bool, stopping: bool
) -> None:
    table = playing(entered(), entered())
    assert table.dismiss(failed, stopping) == [([], [Close()])] * 2


def test_a_guest_whose_name_was_registered_leaves_after_its_match() -> None:
    table = playing(entered(), entered())
    table.talks[0].hear(Superseded())
    assert table.dismiss() == [([], [Close()]), ([FREE], [])]
