"""Kinds of messages: questions, news, and messages that may need another answer."""

import pytest

from botdrome.kit.traffic import Kind, ProtocolName, kind_of, may_repeat, miscounted

MESSAGES: list[tuple[ProtocolName, str, Kind]] = [
    ("duel", '{"status": "ok"}', "news"),
    ("duel", '{"status": "error", "message": "no"}', "other"),
    ("duel", '{"event": "player_is_free"}', "other"),
    ("duel", '{"event": "starting_game", "against": "b"}', "news"),
    ("duel", '{"event": "get_move", "id": "1"}', "question"),
    ("boats", "G|1.2.0|title", "other"),
    ("boats", "B|me||...|0|0", "news"),
    ("boats", "N|other", "news"),
    ("boats", "N|me\r", "question"),
    ("boats", "", "other"),
    ("boats", "Name in use", "other"),
    ("battlebot", '{"authentication": "OK"}', "news"),
    ("battlebot", '{"authentication": "failed"}', "other"),
    ("battlebot", '{"state": {"waitingFor": ["other"], "result": null}}', "news"),
    ("battlebot", '{"state": {"waitingFor": ["me"], "result": null}}', "question"),
    ("battlebot", '{"state": {"waitingFor": [], "result": {"reason": "complete"}}}', "other"),
    ("battlebot", '{"turnNumber": 3, "result": null}', "question"),
    ("battlebot", '{"error": "the server is stopping"}', "other"),
    ("battlebot", '{"state": 5}', "other"),
    ("bomber", '{"response": "ACCEPTED"}', "question"),
    ("bomber", '{"state_number": 1}', "other"),
    ("bomber", "[]", "other"),
    ("battlecube", '{"gameInfo": {}}', "question"),
]


@pytest.mark.parametrize(("protocol", "body", "kind"), MESSAGES)
def test_messages_have_kinds(protocol: ProtocolName, body: str, kind: Kind) -> None:
    assert kind_of(body.encode(), protocol, "me") == kind


def test_only_open_questions_come_twice() -> None:
    assert may_repeat(b'{"event": "get_move"}', "duel", "me")
    assert not may_repeat(b'{"event": "win"}', "duel", "me")
    assert may_repeat(b'{"state": {"waitingFor": ["me", "b"], "result": null}}', "battlebot", "me")
    assert not may_repeat(b'{"state": {"waitingFor": ["me"], "result": null}}', "battlebot", "me")
    assert not may_repeat(b"pong", "battlebot", "me")


def test_a_message_that_is_longer_than_announced_is_told() -> None:
    login = '{"username": "Zoë"}'.encode()
    assert miscounted((19).to_bytes(4, "big") + login).startswith(
        "its first message announces 19 bytes and has 20"
    )
    assert not miscounted((20).to_bytes(4, "big") + login)
    assert not miscounted((20).to_bytes(4, "big") + login + b"\0\0\0\2{}")
    assert not miscounted(b"")
