"""Several matches on one connection: transcripts of clients with the feature `again`."""

import json
from typing import Any

import pytest

from botdrome.wire.battlebot.conversation import BattlebotConversation, Seek
from botdrome.wire.conversation import Admitted, Close, Resign, Seated, Submit
from tests.wire.conversing import MemoryTable, Talk

LOGIN = {
    "gameType": "NOUGHTS_AND_CROSSES",
    "name": "ada",
    "password": "token",
    "features": ["again"],
}
FRAMES = LOGIN | {"features": ["again", "frames"]}
HEADER = {
    "match": "m1", "game": "noughts-and-crosses", "players": ["ada", "bob"], "contest": None,
    "started": 5, "pace": "usual",
}  # fmt: skip
AGAIN, RESIGN = {"again": True}, {"resign": True}


def admitted(login: dict[str, Any]) -> Talk:
    one = Talk(BattlebotConversation(10.0, 1.0, 1000, 0.0))
    one.say(login)
    one.hear(Admitted("ada"))
    return one


def seated(login: dict[str, Any]) -> tuple[Talk, MemoryTable]:
    """A client at its first table, and the table, before the match starts."""
    one, other = (
        admitted(login),
        admitted({key: LOGIN[key] for key in ("gameType", "name", "password")}),
    )
    table = MemoryTable("noughts-and-crosses", one, other)
    assert other.hear(Seated(1, table.writers)) == ([], []), "other clients see no difference"
    return one, table


def test_a_client_plays_match_after_match() -> None:
    ada, table = seated(LOGIN)
    assert ada.hear(Seated(0, table.writers)) == ([HEADER], []), "it is told which match begins"
    table.start()
    table.play(0, {"space": [0, 0], "mark": "X"})
    assert table.dismiss() == [([], []), ([], [])]
    assert ada.conversation.deadline == 10
    assert ada.say({"space": [1, 1], "mark": "X"}) == ([], []), "a move after the end is ignored"
    sent, (seek,) = ada.say(AGAIN)
    assert sent == [] and isinstance(seek, Seek) and seek.login.name == "ada"
    assert ada.conversation.deadline is None
    assert ada.hear(Seated(1, table.writers)) == ([HEADER], [])


def test_the_match_after_a_return_is_any_match() -> None:
    ada, table = seated(LOGIN | {"match": "m1"})
    ada.hear(Seated(0, table.writers))
    table.start()
    table.dismiss()
    _, (seek,) = ada.say(AGAIN)
    assert isinstance(seek, Seek) and seek.login.match is None


def test_a_client_asks_for_the_next_match_only_between_two() -> None:
    early = {"error": "ask for the next match when this one is over"}
    ada, table = seated(LOGIN)
    assert ada.say(AGAIN) == ([early], []), "it still waits for the first match"
    ada.hear(Seated(0, table.writers))
    table.start()
    assert ada.say(AGAIN) == ([early], [])


def test_a_client_that_does_not_ask_in_time_is_closed() -> None:
    ada, table = seated(LOGIN)
    ada.hear(Seated(0, table.writers))
    table.start()
    table.dismiss()
    assert ada.wake() == ([{"error": "you did not ask for the next match in time"}], [Close()])
    assert ada.say(AGAIN) == ([], [])


@pytest.mark.parametrize("end", [{"failed": True}, {"stopping": True}])
def test_there_is_no_next_match_after_a_failure_or_on_a_server_that_stops(
    end: dict[str, bool],
) -> None:
    ada, table = seated(LOGIN)
    ada.hear(Seated(0, table.writers))
    table.start()
    (_, (close,)), _ = table.dismiss(**end)
    assert isinstance(close, Close)
    assert ada.say(AGAIN) == ([], [])


def test_a_client_resigns_and_stays() -> None:
    ada, table = seated(LOGIN)
    assert ada.say(RESIGN) == ([], []), "there is no match yet"
    ada.hear(Seated(0, table.writers))
    table.start()
    assert ada.say(RESIGN) == ([], [Resign(b'{"resign": true}')])


@pytest.mark.parametrize("features", [[], ["frames"], ["views"]])
def test_a_resignation_may_have_a_reason(features: list[str]) -> None:
    ada, table = seated(LOGIN | {"features": ["again", *features]})
    ada.hear(Seated(0, table.writers))
    table.start()
    _, (resign,) = ada.say({"resign": "ValueError:\n no idea" + "a" * 200})
    assert isinstance(resign, Resign)
    assert resign.reason == "ValueError: no idea" + "a" * 181


@pytest.mark.parametrize(("feature", "listed"), [("frames", True), ("views", False)])
def test_legal_moves_come_with_frames_alone(feature: str, listed: bool) -> None:
    ada, table = seated(LOGIN | {"features": ["again", feature]})
    ada.hear(Seated(0, table.writers))
    (_, began), _ = table.start()
    assert ("legal" in began) == listed and "timeLeft" in began


def test_a_client_with_frames_plays_match_after_match() -> None:
    ada, table = seated(FRAMES)
    assert ada.hear(Seated(0, table.writers)) == ([], []), "the snapshot names the match"
    (snapshot, _), _ = table.start()
    assert HEADER.items() <= snapshot.items()
    assert ada.say({"move": 1}) == ([], [Submit(1, b'{"move": 1}')])
    assert ada.say(RESIGN) == ([], [Resign(b'{"resign": true}')])
    table.dismiss()
    assert ada.say({"move": 1}) == ([], [])
    assert ada.say({"ping": 7}) == ([{"pong": 7}], [])
    _, (seek,) = ada.say(AGAIN)
    assert isinstance(seek, Seek)


def test_a_client_that_moves_with_its_match_is_told_nothing() -> None:
    _, table = seated(LOGIN)
    conversation = BattlebotConversation(10.0, 1.0, 1000, 0.0)
    assert (
        conversation.resume(json.dumps(LOGIN).encode()).name == "ada"
        and conversation.deadline is None
    )
    ada = Talk(conversation)
    assert ada.hear(Seated(0, table.writers, moved=True)) == ([], [])
    assert ada.say({"resign": True}) == ([], [Resign(b'{"resign": true}')])
