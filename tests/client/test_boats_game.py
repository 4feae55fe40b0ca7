"""The game of a line server, line by line; mostly as the original was heard to tell it."""

import re
from pathlib import Path

import pytest

from botdrome.client.boats_game import Phase, ResultRow, TrackedGame, join, shoot
from tests.client.boat_server import FLEET

TRANSCRIPTS = Path(__file__).parents[1] / "transcripts"


def recorded(name: str, who: str) -> list[tuple[str, str]]:
    """Every line of one connection: the direction and the text."""
    text = (TRANSCRIPTS / f"xbs-{name}.txt").read_text().partition("# ----")[0]
    found = re.findall(rf"^\[ *[\d.]+\] {re.escape(who)} +(<-|->) (.*)$", text, re.MULTILINE)
    assert found, f"there is no {who} in {name}"
    return found


def replayed(name: str, *connections: str) -> tuple[TrackedGame, list[str]]:
    """The game as this client tracked it. Its own lines must equal the recorded ones."""
    boats, sent = TrackedGame(), []
    for number, who in enumerate(connections):
        if number:
            boats.begin_again()
        for direction, text in recorded(name, who):
            if direction == "<-":
                boats.hear(text.encode())
                continue
            sent.append(text)
            order(boats, text)
    return boats, sent


def order(boats: TrackedGame, text: str) -> None:
    kind, *words = text.split("|")
    if kind == "J":
        boats.fleet = words[1] if len(words) > 1 else boats.fleet
        assert join(boats, words[0]) == f"{text}\n".encode()
    elif kind == "S":
        target = boats.player_called(words[0])
        assert shoot(boats, target, int(words[1]) - 1, int(words[2]) - 1) == f"{text}\n".encode()


@pytest.mark.parametrize(("who", "other"), [("alice", "bob"), ("bob", "alice")])
def test_a_whole_recorded_game(who: str, other: str) -> None:
    boats, sent = replayed("2player", who)
    assert (boats.phase, boats.me, boats.finished, boats.complete) == (Phase.OVER, who, True, True)
    assert (boats.game.title, boats.rounds) == ("Golden two", 62)
    assert boats.results == [ResultRow("alice", 17, 0, 62, ""), ResultRow("bob", 13, 0, 62, "")]
    assert list(boats.players) == ["bob", "alice"]
    assert boats.players[who].board.count("X") == (13 if who == "alice" else 17)
    assert {boats.players["alice"].score, boats.players["bob"].score} == {17, 13}
    assert boats.last is not None
    assert boats.last.shooter == "alice", "the last shot of a game is known too"
    assert len([line for line in sent if line.startswith("S")]) == 62


def test_a_recorded_tie() -> None:
    boats, _ = replayed("tie", "alice")
    assert [place.score for place in boats.results] == [17, 17]
    assert boats.finished


def test_recorded_chat() -> None:
    bob, _ = replayed("chat", "bob")
    said = [(one.sender, one.text, one.to) for one in bob.messages if "started" not in one.text]
    assert said == [
        ("alice", "hello all", "All"),
        ("alice", "hello bob", ""),
        ("alice", "a", "All"),
        ("server", "host here", ""),
        ("server", "just bob", ""),
    ]


def test_recorded_taunts_come_as_messages() -> None:
    bob, _ = replayed("taunts", "bob")
    assert [one.text for one in bob.messages if one.sender == "alice"][:2] == [
        "you got lucky",
        "nice splash",
    ]


def test_recorded_refusals_of_names() -> None:
    boats = TrackedGame()
    for direction, text in recorded("names", "c2"):
        if direction == "<-":
            boats.hear(text.encode())
        elif text.startswith("J|"):
            name = text.split("|")[1]
            boats.fleet = FLEET
            assert join(boats, name) == f"J|{name.strip()}|{FLEET}\n".encode()
            assert boats.refusal == ""
        if text.startswith("E|"):
            assert (boats.phase, boats.refusal) == (Phase.OFFERED, text[2:])
    assert (boats.phase, boats.me) == (Phase.WAITING, "TURKEY")
    assert {"turkey", "TURKEY"} <= set(boats.players)


def test_a_recorded_rejoin() -> None:
    """The connection breaks; two attempts of another name go before the right one."""
    boats = TrackedGame()
    for direction, text in recorded("rejoin", "alice"):
        boats.hear(text.encode()) if direction == "<-" else order(boats, text)
    before = boats.players["bob"].board
    boats.begin_again()
    boats.fleet = ""
    for direction, text in recorded("rejoin", "new conn2"):
        boats.hear(text.encode()) if direction == "<-" else order(boats, text)
        if text == "E|name in use":
            assert boats.refusal == "name in use"
    assert boats.fleet == FLEET, "the server has told it"
    assert (boats.phase, boats.me, list(boats.players)) == (
        Phase.PLAYING,
        "alice",
        ["bob", "alice"],
    )
    assert before.count("X") == boats.players["bob"].board.count("X") == 1
    assert boats.players["alice"].board.count("X") == 2
    assert boats.messages[-2].text == "alice reconnected"


def test_a_stranger_is_turned_away_from_a_running_game() -> None:
    boats = TrackedGame()
    for direction, text in recorded("rejoin", "new conn"):
        boats.hear(text.encode()) if direction == "<-" else order(boats, text)
    assert (boats.phase, boats.last_words) == (Phase.JOINING, "game is already started")
