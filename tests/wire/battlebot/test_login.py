"""Logins: valid ones, and failures with or without a message."""

import json
from typing import Any

import pytest

from botdrome.wire.battlebot.conversation import LONGEST_CONTEST, failed, read_login
from botdrome.wire.conversation import BadLogin

LOGIN = {"gameType": "NOUGHTS_AND_CROSSES", "name": "ada", "password": "x"}
BOATS = LOGIN | {"gameType": "BATTLESHIP"}
GUEST = {"gameType": "GOMOKU", "name": "eve", "guest": True, "secret": "s" * 16}
KNOWN = '"again", "extras", "frames", "notices" and "views"'


def test_a_plain_login_is_for_two_and_nothing_else() -> None:
    login = read_login(LOGIN)
    assert (login.game, login.name, login.password, login.players) == (
        "noughts-and-crosses",
        "ada",
        "x",
        2,
    )
    assert (login.options, login.contest, login.opponent, login.match) == ({}, None, None, None)
    assert json.loads(login.answer()) == {
        "authentication": "OK",
        "gameType": "NOUGHTS_AND_CROSSES",
        "name": "ada",
    }


@pytest.mark.parametrize("contest", [None, "", 0, False])
def test_a_falsy_contest_is_none_and_echoed_as_it_was_sent(contest: Any) -> None:
    login = read_login(LOGIN | {"contest": contest})
    assert login.contest is None
    assert json.loads(login.answer())["contest"] == contest


def test_further_keys_are_read() -> None:
    login = read_login(
        BOATS | {"players": 4, "options": {"width": 12}, "contest": "cup", "match": "m1", "foo": 1}
    )
    assert (login.players, login.options, login.contest, login.match) == (
        4,
        {"width": 12},
        "cup",
        "m1",
    )
    assert read_login(LOGIN | {"opponent": "bob"}).opponent == "bob"
    assert read_login(BOATS | {"opponent": "house:random", "players": 3}).players == 3
    assert read_login(LOGIN | {"features": ["extras", "notices"]}).features == {"extras", "notices"}


@pytest.mark.parametrize(
    ("extra", "notices"),
    [
        ({}, False),
        ({"contest": "cup"}, False),
        ({"features": []}, False),
        ({"features": ["extras"]}, False),
        ({"features": ["notices"]}, True),
        ({"opponent": "bob"}, True),
        ({"match": "m1"}, True),
        ({"invite": "w"}, True),
        ({"version": "1.2"}, True),
        ({"version": ""}, False),
        ({"pace": "usual"}, False),
        ({"pace": "slow"}, True),
        ({"features": ["frames"]}, True),
        ({"features": ["views"]}, True),
        ({"guest": True, "secret": "s" * 16}, True),
    ],
)
def test_notices_are_for_bots_that_cannot_be_clients_of_the_original(
    extra: dict[str, Any], notices: bool
) -> None:
    assert read_login(LOGIN | extra).notices is notices


def test_a_guest_shows_a_secret_of_its_own_and_plays_at_a_pace_for_people() -> None:
    login = read_login(GUEST | {"features": ["frames"], "invite": "w"})
    assert (login.guest, login.password, login.pace, login.invite, login.features) == (
        True,
        "s" * 16,
        "slow",
        "w",
        frozenset({"frames"}),
    )
    assert read_login(GUEST | {"pace": "stepped"}).pace == "stepped"


def test_options_in_other_words_are_the_same() -> None:
    login = read_login(BOATS | {"options": {"width": "12", "height": 10}})
    assert login.options == {"width": 12}


@pytest.mark.parametrize(
    ("message", "why"),
    [
        (None, ""),
        ([], ""),
        ({}, ""),
        (LOGIN | {"gameType": "CHESS"}, ""),
        (LOGIN | {"gameType": 5}, ""),
        (LOGIN | {"name": None}, ""),
        (LOGIN | {"password": {"$ne": None}}, ""),
        (LOGIN | {"contest": 7}, ""),
        (LOGIN | {"contest": []}, ""),
        (LOGIN | {"contest": {}}, ""),
        (LOGIN | {"players": True}, "players is from 2 to 2"),
        (BOATS | {"players": 10}, "players is from 2 to 9"),
        (
            BOATS | {"players": 3, "opponent": "bob"},
            "an opponent can be named at a table of two only, unless it is a house bot",
        ),
        (BOATS | {"options": "large"}, "options is an object"),
        (BOATS | {"options": {"width": 99}}, "battleship: width: expected `int` <= 26"),
        (BOATS | {"options": {"goal": 99}}, "goal: 99 is more than the 17 squares of a fleet"),
        (LOGIN | {"opponent": []}, "opponent is text"),
        (LOGIN | {"match": 7}, "match is text"),
        (
            LOGIN | {"features": "notices"},
            f"features is a list that may hold {KNOWN}, not 'notices'",
        ),
        (LOGIN | {"features": ["news"]}, f"there is no feature 'news'; features may hold {KNOWN}"),
        (LOGIN | {"pace": "fast"}, """the pace is "usual" or "slow" or "stepped", not 'fast'"""),
        (LOGIN | {"pace": None}, 'the pace is "usual" or "slow" or "stepped", not None'),
        (GUEST | {"pace": "usual"}, """the pace of a guest is "slow" or "stepped", not 'usual'"""),
        (LOGIN | {"guest": 1}, "guest is true or false, not 1"),
        (GUEST | {"secret": "s" * 15}, "the secret of a guest is text of 16 to 200 characters"),
        (GUEST | {"secret": 7}, "the secret of a guest is text of 16 to 200 characters"),
        (GUEST | {"contest": "cup"}, "a contest is for bots at the usual pace, without an invite"),
        (
            LOGIN | {"contest": "cup", "invite": "w"},
            "a contest is for bots at the usual pace, without an invite",
        ),
        (
            LOGIN | {"invite": "w", "opponent": "bob"},
            "a login has an opponent or an invite, not both",
        ),
        (LOGIN | {"ladder": 1}, "ladder is true or false, not 1"),
        (
            LOGIN | {"ladder": True, "opponent": "bob"},
            "a ladder is for registered bots at tables of two and at the usual pace; leave out "
            "contest, opponent and invite",
        ),
        (LOGIN | {"invite": "w" * 65}, "an invite has at most 64 characters, not 65"),
        (LOGIN | {"version": 1.2}, "version is text of at most 64 printable characters, not 1.2"),
        (LOGIN | {"features": [[]]}, f"there is no feature []; features may hold {KNOWN}"),
    ],
)
def test_what_fails_says_why_only_where_the_original_had_no_such_key(
    message: Any, why: str
) -> None:
    with pytest.raises(BadLogin) as caught:
        read_login(message)
    answer = {"authentication": "failed"}
    assert json.loads(failed(str(caught.value))) == (answer | {"why": why} if why else answer)


def test_the_name_of_a_contest_is_bounded_and_only_what_is_echoed_is_kept() -> None:
    login = {"gameType": "GOMOKU", "name": "ada", "password": "x", "padding": "y" * 60_000}
    kept = read_login(login | {"contest": "c" * LONGEST_CONTEST})
    assert kept.echoed == "c" * LONGEST_CONTEST
    with pytest.raises(
        BadLogin, match="the name of a contest has at most 1000 characters, not 60000"
    ):
        read_login(login | {"contest": "c" * 60_000})
