"""The input log of a match is bounded, for any length of the match and any input."""

import pytest

from botdrome.catalogue import CATALOGUE
from botdrome.games.battlecube import Battlecube
from botdrome.match import inputs
from botdrome.match import match as matches
from botdrome.match.inputs import InputLine, InputLog
from botdrome.match.match import Match
from botdrome.match.record import match_file, read, unchecked_file, verify
from tests.match.telling import mark, told

BEES = CATALOGUE["bumblebots"]
BOATS = CATALOGUE["battleship"]
CUBE = CATALOGUE["battlecube"]
WAIT = [{"task": "NOOP"}]


@pytest.fixture
def little_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inputs, "ROOM", 20_000)


@pytest.mark.usefixtures("little_room")
def test_who_says_more_than_there_is_room_for_is_out_and_is_not_listened_to() -> None:
    match = Match(BEES.game, 2, BEES.terms, 1)
    match.start()
    assert told(match.submit(0, ["x" * 9_000], 1))[0].startswith("0 refused")
    assert told(match.submit(0, ["x" * 9_000], 2))[0].startswith(
        "0 refused (0): more was said than there is room for"
    )
    match.submit(1, {}, 3)
    kept = len(match.inputs)
    assert told(match.submit(0, "more", 4)) == ["0 refused (0): you are out"], (
        "nothing more of it is kept"
    )
    assert len(match.inputs) == kept
    assert told(match.wake(500)) == [
        "0 out: flood",
        "board 0 ended (2, 1)",
        "ended (2, 1) ('flood', 'complete')",
    ]
    verify(read(match_file(match, ["a", "b"])), BEES.game)
    verify(read(unchecked_file(match, ["a", "b"])), BEES.game)


@pytest.mark.usefixtures("little_room")
def test_the_room_of_one_is_not_the_room_of_another() -> None:
    match = Match(BEES.game, 2, BEES.terms, 1)
    match.start()
    match.submit(0, ["x" * 12_000], 1)
    assert told(match.submit(1, ["x" * 8_000], 2))[0].startswith("1 refused")


@pytest.mark.usefixtures("little_room")
def test_in_a_game_of_turns_the_match_ends_at_once() -> None:
    row = CATALOGUE["noughts-and-crosses"]
    match = Match(row.game, 2, row.terms, 1)
    match.start()
    assert told(match.submit(0, mark(0, 1, 1) | {"words": "x" * 10_000}, 1)) == [
        "0 refused (0): more was said than there is room for in the record of a match",
        "0 out: flood",
        "board 0 ended (2, 1)",
        "ended (2, 1) ('flood', 'complete')",
    ]
    verify(read(match_file(match, ["a", "b"])), row.game)


@pytest.mark.usefixtures("little_room")
def test_to_come_and_go_takes_room_too() -> None:
    match = Match(BOATS.game, 3, BOATS.terms, 2)
    match.start()
    times = 0
    while match.leave(1, times) and match.rejoin(1, times):
        times += 1
    least = inputs.OVERHEAD + len('{"t":0,"do":"leave","by":1}')
    assert 20_000 // 3 // least // 2 - 3 <= times <= 20_000 // 3 // least // 2
    assert told(match.leave(2, times)) == ["left 2"]
    assert match.result is None


def test_changes_that_follow_each_other_are_kept_as_one() -> None:
    game = Battlecube(ticks=5)
    match = Match(game, 2, CUBE.terms, 3)
    match.start()
    for number in range(1000):
        match.amend({"edge": 4 + number % 3}, number, pause=number)
        match.amend({"ticks": 3}, number)
    assert match.inputs == [(999, "amend", None, [{"edge": 4, "ticks": 3}, 999])]
    match.submit(0, WAIT, 1000)
    match.amend({"tasks": 1}, 1001)
    match.submit(1, WAIT, 1002)
    match.stall(7, 1003)
    kinds = [kind for _, kind, _, _ in match.inputs]
    assert kinds == ["amend", "move", "amend", "move", "stall"]
    assert match.input_log.moves == 2
    verify(read(match_file(match, ["a", "b"])), game)


@pytest.mark.parametrize("tasks", [1, 10])
def test_a_match_that_is_too_long_to_be_remembered_ends_as_it_stands(
    monkeypatch: pytest.MonkeyPatch, tasks: int
) -> None:
    monkeypatch.setattr(matches, "MOST_TURNS", 60)
    match = Match(Battlecube(ticks=1_000_000, tasks=tasks), 3, CUBE.terms, 4)
    match.start()
    while match.result is None:
        for player in tuple(match.awaited):
            match.submit(player, WAIT * tasks, 0)
    assert match.steps == 20
    assert match.result.causes == ("complete",) * 3
    assert match.result.places == (1, 1, 1)


def test_what_is_allowed_to_be_played_has_room() -> None:
    """However many players share it: long words for a task, in every turn that there is."""
    words = [{"task": "BOMB", "x": 999, "y": 999, "z": 999}]
    for players in (1, 2, 64):
        kept, turns = InputLog(players), matches.MOST_TURNS // players
        spent = turns * (
            inputs.OVERHEAD + len(inputs.ENCODE(InputLine(86_400_000, "move", 1, words)))
        )
        assert spent < inputs.ROOM // players, players
        assert kept.add(0, "move", 0, words) and not kept.full(0)


def test_lines_that_are_not_saved_yet() -> None:
    kept = InputLog(2)
    kept.add(1, "wake", None)
    kept.amend(2, {}, 5)
    assert (len(kept), kept.unsaved(0, b"")) == (2, (0, kept.some(0, 2)))
    last = kept.some(1, 2)[0]
    assert kept.unsaved(2, last) == (2, [])
    kept.amend(3, {}, 7)
    assert kept.unsaved(2, last) == (1, [b'{"t":3,"do":"amend","say":[{},7]}'])
