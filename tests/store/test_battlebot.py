"""Bots and games of a Battlebot database, in the form of our own exports."""

import json
from typing import Any

import pytest

from botdrome.games.noughts_and_crosses import NoughtsAndCrosses
from botdrome.match.record import read, verify
from botdrome.store.archive import AnyExportLine, ExportedBot
from botdrome.store.archive import _line as archive_line
from botdrome.store.battlebot import DECODER, translated
from botdrome.store.entries import BotEntry, hashed
from tests.store.battlebot_database import (
    LEFT_COLUMN,
    PASSWORD,
    START,
    bot,
    bumblebots,
    cut_short,
    noughts,
    turn,
)


def taken(*given: Any) -> tuple[list[AnyExportLine], list[str]]:
    """The lines between the first and the last, and the reports."""
    reports: list[str] = []
    numbered = [
        (number, DECODER.decode(json.dumps(document))) for number, document in enumerate(given, 1)
    ]
    lines = [archive_line.decode(line) for line in translated(numbered, reports.append)]
    return lines[1:-1], reports


def one(document: Any) -> Any:
    (line,), reports = taken(document)
    assert not reports
    return line


def test_a_bot_keeps_its_password() -> None:
    entry = one(bot("Ada")).entry
    assert entry == BotEntry("Ada", "noughts-and-crosses", "David", START, hashed(PASSWORD))
    assert one(bot(" ", "BUMBLEBOTS", owner="")).entry.game == "bumblebots"


def test_a_finished_game_is_played_again_and_has_a_record() -> None:
    line = one(noughts("0123456789abcdef", contest="cup"))
    entry = line.entry
    assert (entry.id, entry.players, entry.started, entry.contest) == (
        "0123456789abcdef",
        ("Ada", "Bob"),
        START,
        "cup",
    )
    assert (entry.status, entry.ended, entry.result.places) == ("ended", START + 300, (1, 2))
    assert entry.view["board"] == [["X", "O", ""], ["X", "O", ""], ["X", "", ""]]
    record = read(line.record)
    verify(record, NoughtsAndCrosses())
    assert [told.t for told in record.lines] == [120, 140, 200, 250, 300]
    assert record.lines[1].say == {"mark": "O", "space": [0, 1], "comment": "hi"}
    assert one(noughts("m", contest="")).entry.contest is None


def test_a_draw() -> None:
    spaces = [(0, 0), (0, 1), (0, 2), (1, 1), (1, 0), (1, 2), (2, 1), (2, 0), (2, 2)]
    turns = [
        turn(("Ada", "Bob")[n % 2], "XO"[n % 2], row, column, n)
        for n, (row, column) in enumerate(spaces)
    ]
    board = [["X", "O", "X"], ["X", "O", "O"], ["O", "X", "X"]]
    line = one(noughts("m", victor=None, turns=turns, board=board))
    assert line.entry.result.places == (1, 1)
    assert line.record is not None


@pytest.mark.parametrize(
    ("reason", "cause"),
    [
        ("timeout", "timeout"),
        ("disconnect", "disconnect"),
        ("Didn't write unit tests", "illegal moves"),
    ],
)
@pytest.mark.parametrize("victor", ["Ada", "Bob"])
def test_a_game_that_ended_by_a_fault(reason: str, cause: str, victor: str) -> None:
    line = one(cut_short("m", reason, victor))
    assert line.entry.result.places == ((1, 2) if victor == "Ada" else (2, 1))
    assert line.entry.result.causes == (
        ("complete", cause) if victor == "Ada" else (cause, "complete")
    )
    verify(read(line.record), NoughtsAndCrosses())


def test_a_game_without_turns() -> None:
    line = one(cut_short("m", "timeout", "Bob", turns=[], board=[["", "", ""]] * 3))
    assert line.entry.ended == START
    assert line.record is not None


@pytest.mark.parametrize(
    "document",
    [
        noughts("m", victor="Bob"),
        noughts("m", board=[["X", "X", "X"], ["", "O", "O"], ["", "", ""]]),
        noughts("m", turns=[]),
        noughts("m", turns=[*LEFT_COLUMN, {"mark": "X"}]),
        noughts("m", turns=[turn("Ada", "X", 1, 0, 10) | {"space": [1, 0.5]}, *LEFT_COLUMN]),
        cut_short("m", "timeout", "Ada", result={"reason": "timeout", "victor": None}),
    ],
)
def test_turns_that_lead_elsewhere_leave_the_result_as_it_was_and_no_record(
    document: dict[str, Any],
) -> None:
    line = one(document)
    victor = document["result"]["victor"]
    assert line.record is None
    assert line.entry.ended is None
    assert line.entry.view["board"] == document["board"]
    assert line.entry.result.places == {"Ada": (1, 2), "Bob": (2, 1), None: (1, 1)}[victor]
    assert line.entry.result.winner == {"Ada": 0, "Bob": 1, None: None}[victor]


def test_bumblebots_have_a_result_and_a_last_position() -> None:
    line = one(bumblebots("m"))
    entry = line.entry
    assert (entry.started, entry.ended, line.record) == (START - 123, None, None)
    assert (entry.result.places, entry.result.scores, entry.result.causes) == (
        (2, 1),
        (2, 5),
        ("complete", "complete"),
    )
    assert entry.view["drones"] == [{"KindAnn": {"position": [1, 3]}}, {}]
    assert (entry.view["turnNumber"], entry.view["score"], entry.view["territory"]) == (
        2,
        [2, 5],
        [5, 6],
    )
    assert "record" not in entry.view
    both_gone = one(bumblebots("m", "BUMBLEBOTS_DISCONNECT", None, turns=[])).entry
    assert (both_gone.result.causes, both_gone.view["turnNumber"]) == (
        ("disconnect", "disconnect"),
        0,
    )


@pytest.mark.parametrize(
    ("document", "words"),
    [
        (5, "line 1: this is neither a bot (with a password) nor a game (with bots)"),
        ({"name": "cup"}, "line 1: this is neither a bot (with a password) nor a game (with bots)"),
        (bot("Ada", "CHESS"), "line 1: gameType is NOUGHTS_AND_CROSSES or BUMBLEBOTS, not 'CHESS'"),
        (bot("Ada", password=None), "line 1: Expected `str`, got `null` - at `$.password`"),
        (bot("house:random"), "line 1: the bot 'house:random' has the name of a house bot"),
        (bot("Ada", dateRegistered={"$date": "never"}), "line 1: time data "),
        (bot("\ud800"), "line 1: "),
        (noughts("m", gameType="CHESS"), "line 1: gameType is "),
        (noughts("m", bots=["Ada"]), "line 1: Expected `array` of length 2, got 1 - at `$.bots`"),
        (noughts("m", result=None), "line 1: Expected `object`, got `null` - at `$.result`"),
        (
            noughts("m", reason="bored"),
            "line 1: result.reason is one of complete, timeout, disconnect, ",
        ),
        (noughts("m", victor="Eve"), "line 1: the victor 'Eve' is none of the bots"),
        (noughts("m" * 401), "line 1: "),
        (noughts("m", startTime=1 << 60), "line 1: time data "),
        (
            bumblebots("m", score={"Abe": 1}),
            "line 1: score has an entry for each of 'Abe', 'Bea', not for 'Abe'",
        ),
    ],
)
def test_what_cannot_be_taken_in_is_left_out_and_reported(document: Any, words: str) -> None:
    lines, (report,) = taken(document, bot("Bob"))
    assert report.startswith(words)
    assert [line.entry.name for line in lines if isinstance(line, ExportedBot)] == ["Bob"]
