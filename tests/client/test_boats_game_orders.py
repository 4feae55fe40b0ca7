"""The lines of a boats client, and how it handles any line of a server."""

import pytest

from botdrome.client.boats_game import (
    KEPT_MESSAGES,
    MOST_PLAYERS,
    LastTurn,
    NotPossible,
    Phase,
    TrackedGame,
    join,
    leave,
    say,
    shoot,
    skip,
    taunt,
    taunts_in,
)
from tests.client.boat_server import BLANK, FLEET, GAME, RUNNING, start


def aboard(*names: str) -> TrackedGame:
    """Ada in a game that has started, in this order of turns."""
    boats = TrackedGame()
    boats.hear(GAME.encode())
    boats.fleet = FLEET
    assert join(boats, "ada") == f"J|ada|{FLEET}\n".encode()
    for line in ("J|ada", *(f"J|{name}" for name in names if name != "ada"), *start(*names)):
        boats.hear(line.encode())
    return boats


def test_what_does_not_suit_the_game_is_not_sent() -> None:
    boats = aboard("ada", "bob")
    ada, bob = boats.players["ada"], boats.players["bob"]
    with pytest.raises(NotPossible, match="yourself"):
        shoot(boats, ada, 0, 0)
    assert shoot(boats, bob, 4, 9) == b"S|bob|5|10\n"
    with pytest.raises(NotPossible, match="not answered"):
        shoot(boats, bob, 4, 9)
    boats.hear(f"B|bob||{'.' * 94}0{'.' * 5}|0|0".encode())
    boats.hear(b"N|bob")
    with pytest.raises(NotPossible, match="not your turn"):
        skip(boats)
    boats.hear(b"N|ada")
    with pytest.raises(NotPossible, match="e10 of bob has already been shot at"):
        shoot(boats, bob, 4, 9)
    assert skip(boats, " no | idea ") == b"K|no / idea\n"
    boats.hear(b"F|aborted|1|2")
    with pytest.raises(NotPossible, match="over"):
        skip(boats)
    with pytest.raises(NotPossible, match="not started"):
        skip(TrackedGame())


def test_a_refused_shot_may_be_tried_again() -> None:
    boats = aboard("ada", "bob")
    shoot(boats, boats.players["bob"], 0, 0)
    boats.hear(b"M||that spot has already been shot")
    assert (boats.refused, boats.spent) == (1, False)
    assert shoot(boats, boats.players["bob"], 1, 0) == b"S|bob|2|1\n"
    boats.hear(b"M|bob|illegal coordinates are fun")
    assert boats.refused == 1, "others may say what they like"


def test_messages_taunts_and_farewell() -> None:
    boats = aboard("ada", "bob")
    assert say(boats, None, "hello | all\n") == b"M||hello / all\n"
    assert say(boats, boats.players["bob"], "psst") == b"M|bob|psst\n"
    assert [(one.sender, one.to) for one in boats.messages[-2:]] == [("ada", "All"), ("ada", "bob")]
    with pytest.raises(NotPossible, match="nothing"):
        say(boats, None, "  ")
    with pytest.raises(NotPossible, match="that is you"):
        say(boats, boats.players["ada"], "hm")
    assert (taunt("hit", "ouch"), taunt("miss", ""), leave()) == (
        b"T|hit|ouch\n",
        b"T|miss|\n",
        b"L\n",
    )


def test_a_file_of_taunts() -> None:
    text = "# mine\n; too\n[taunts]\nhit=ouch = pain\nHIT = again\nmiss=splash|x\nmiss=\n\n"
    assert taunts_in(text) == [b"T|hit|ouch = pain\n", b"T|hit|again\n", b"T|miss|splash/x\n"]
    for bad in ("hit", "sunk=x"):
        with pytest.raises(NotPossible, match="line 2: a taunt is"):
            taunts_in(f"hit=x\n{bad}\n")


def test_names_and_tokens() -> None:
    boats = TrackedGame()
    with pytest.raises(NotPossible, match="not offered its game"):
        join(boats, "ada")
    boats.hear(RUNNING.encode())
    assert join(boats, "ada") == b"J|ada\n"
    assert join(boats, "ada", "abc123") == f"J|ada|{BLANK}|abc123\n".encode()
    boats.begin_again()
    boats.hear(GAME.encode())
    boats.fleet = FLEET
    assert join(boats, " Cap'n R. ", "abc123") == f"J|Cap'n R.|{FLEET}|abc123\n".encode()
    for name in ("", "  ", "a|b", "a\nb", "a\x1bb"):
        with pytest.raises(NotPossible, match="a name is"):
            join(boats, name)
    with pytest.raises(NotPossible, match="a token is"):
        join(boats, "ada", "a|b")


def test_players_are_called_by_name_beginning_or_number() -> None:
    boats = aboard("Bob", "ada", "bobby", "Cap'n R.", "7up")
    for word, name in [
        ("bobby", "bobby"),
        ("Bob", "Bob"),
        ("c", "Cap'n R."),
        ("2", "ada"),
        (" A ", "ada"),
        ("7", "7up"),
    ]:
        assert boats.player_called(word).name == name
    for word in ("bo", "x", "", "0", "6", "99999999999", "²"):
        with pytest.raises(NotPossible):
            boats.player_called(word)
    assert boats.square_called("b3") == (1, 2)


def test_coming_going_and_skipping() -> None:
    boats = TrackedGame()
    boats.hear(GAME.encode())
    join(boats, "ada")
    for line in ("J|ada", "J|bob", "J|bob", "J|eve", "L|bob|bored", "L|nobody|", "J|dan"):
        boats.hear(line.encode())
    assert list(boats.players) == ["ada", "eve", "dan"]
    assert boats.messages[-1].text == "bob has left: bored"
    for line in start("dan", "eve", "ada"):
        boats.hear(line.encode())
    boats.hear(f"B|dan|disconnected|{BLANK}|0|0".encode())
    boats.hear(f"B|dan|disconnected|{BLANK}|0|0".encode())
    assert [one.text for one in boats.messages].count("dan is away: disconnected") == 1
    boats.hear(b"K|dan|out of time")
    assert (boats.players["dan"].skips, boats.last) == (1, LastTurn("dan"))
    assert boats.messages[-1].text == "dan skips: out of time"
    boats.hear(b"N|eve")
    boats.hear(b"L|eve")
    assert boats.players["eve"].status == "disconnected"
    boats.hear(f"B|dan||{BLANK}|3|1".encode())
    assert (boats.players["dan"].status, boats.players["dan"].score) == ("", 3)


def test_shots_are_told_hits_aloud_and_misses_for_the_account() -> None:
    boats = aboard("ada", "bob")
    [hit] = boats.hear(b"H|ada|bob|c1")
    assert (hit.text, hit.quiet) == ("ada hits bob at c1", False)
    assert boats.hear(f"B|bob||..X{'.' * 97}|0|0".encode()) == []
    assert boats.last == LastTurn("ada", "bob", 2, True)
    boats.hear(b"N|bob")
    [miss] = boats.hear(f"B|ada||{'.' * 99}0|0|0".encode())
    assert (miss.text, miss.quiet, miss in boats.messages) == ("bob misses ada at j10", True, False)


def test_messages_are_bounded_and_can_be_cleared() -> None:
    boats = aboard("ada", "bob")
    for number in range(KEPT_MESSAGES + 10):
        boats.hear(f"M|bob|{number}".encode())
    assert len(boats.messages) == KEPT_MESSAGES
    boats.hear(b"M||from the server")
    boats.forget("bob")
    assert [one.text for one in boats.messages] == ["from the server"]
    boats.forget()
    assert boats.messages == []


@pytest.mark.parametrize("phase", ["knocking", "invited", "joining", "waiting", "playing", "over"])
def test_a_server_may_say_anything_at_any_time(phase: str) -> None:
    lines = [
        "", "protocol error", "Z|1", "g", "G", GAME, "G|x|y|N|2|2|0|17|99|10|1|A5", "J", "J|",
        "J|ada", "E", "E|x", "L", "L|ada", "B", "B|ada", "B|ada||xx|1|1", f"B|zed||{BLANK}|1|1",
        "S", "S|x|y", "N", "N|x", "H", "H|a|b", "K", "K|x", "M", "M|a", "Y", f"Y|{FLEET}", "F", "R",
        "R|a", "P", "P|x", "B|ada||" + "?" * 100 + "|-1|9999999999999", "N|ada",
        "F|finished|x|9999", "R|a|1|2|3",
    ]  # fmt: skip
    for line in lines:
        boats = {"knocking": TrackedGame}.get(phase, lambda: aboard("ada", "bob"))()
        if phase == "invited":
            boats.begin_again()
            boats.hear(GAME.encode())
        elif phase == "joining":
            boats.begin_again()
            boats.hear(GAME.encode())
            join(boats, "ada")
        elif phase == "waiting":
            boats.phase = Phase.WAITING
        elif phase == "over":
            boats.hear(b"F|finished|3|2")
        for text in (line, *lines):
            boats.hear(text.encode())
            boats.hear(text.encode() + b"\xff\r")
        if boats.offer:
            assert all(len(player.board) == 100 for player in boats.players.values())


def test_a_server_cannot_fill_the_memory_with_players() -> None:
    boats = aboard("ada", "bob")
    for number in range(300):
        boats.hear(f"J|p{number}".encode())
        boats.hear(f"B|q{number}||{BLANK}|0|0".encode())
    assert len(boats.players) == MOST_PLAYERS
    boats.hear(("S" + "|x" * 10).encode())
    boats.hear(("S|" + "|".join(f"r{number}" for number in range(300))).encode())
    assert len(boats.players) == MOST_PLAYERS
    boats.hear(b"F|finished|1|300")
    for number in range(300):
        boats.hear(f"R|r{number}|0|0|0".encode())
    assert len(boats.results) == MOST_PLAYERS
    assert boats.complete
