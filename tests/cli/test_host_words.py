"""The words that are typed at the console of `botdrome host`."""

import re
from typing import Any

import pytest

from botdrome.cli.boats.host import BadCommand, headline, order_in


@pytest.mark.parametrize(
    ("typed", "order"),
    [
        ("start", {"do": "start"}),
        ("S", {"do": "start"}),
        ("message hello there", {"do": "message", "text": "hello there"}),
        ('tell "Cap\'n R." hello', {"do": "message", "to": "Cap'n R.", "text": "hello"}),
        ("tell 2 hello", {"do": "message", "to": "2", "text": "hello"}),
        ("boot Cap'n R.", {"do": "boot", "player": "Cap'n R."}),
        ('b "ann"', {"do": "boot", "player": "ann"}),
        ("blacklist player ann lee", {"do": "blacklist player", "player": "ann lee"}),
        ('p "ann"', {"do": "blacklist player", "player": "ann"}),
        ("a 10.0.0.1", {"do": "blacklist address", "address": "10.0.0.1"}),
        ("skip #2 too slow", {"do": "skip", "reason": "too slow", "game": 2}),
        ("k slow", {"do": "skip", "reason": "slow"}),
        ("abort #3", {"do": "abort", "game": 3}),
        ("message #2 well done", {"do": "message", "text": "well done", "game": 2}),
        ("message #2nd place!", {"do": "message", "text": "#2nd place!"}),
        ("tell #2 ann well done", {"do": "message", "to": "ann", "text": "well done", "game": 2}),
        ("boot #2 ann lee", {"do": "boot", "player": "ann lee", "game": 2}),
        (" clear ", {"do": "clear"}),
        ("help", {"do": "help"}),
    ],
)
def test_what_is_typed(typed: str, order: dict[str, Any]) -> None:
    assert order_in(typed) == order


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ("dance", "'dance' is no command"),
        ("tell", "who?"),
        ("tell #2", "who?"),
        ("startle", "'startle' is no command"),
        ("blacklist", "blacklist player NAME"),
        ("blacklist foo bar", "blacklist address ADDRESS"),
    ],
)
def test_what_makes_no_sense(typed: str, words: str) -> None:
    with pytest.raises(BadCommand, match=re.escape(words)):
        order_in(typed)


def test_the_headline_changes_with_who_is_there_and_not_with_every_shot() -> None:
    room: dict[str, Any] = {"max": 2, "gathering": [], "games": []}
    assert headline(room) == "0 of 2 joined"
    player = {"name": "ann", "status": "", "score": 1}
    away = {"name": "bob", "status": "brb", "score": 0}
    assert (
        headline(room | {"gathering": None, "games": [{"number": 1, "players": [player, away]}]})
        == "nobody can join; game 1: ann, bob (brb)"
    )
