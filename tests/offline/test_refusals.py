"""A move that was answered in time and refused is reported with its refusal, never as a timeout."""

import sys
from pathlib import Path

import pytest

from botdrome.catalogue import CATALOGUE
from botdrome.match.record import match_file, read, verify
from botdrome.match.terms import Pace, Terms, offline
from botdrome.offline.isolation import Isolation
from tests.offline.failing_bots import played_by

IN_PROCESS = Isolation(in_process=True)


def bot_of(folder: Path, code: str) -> str:
    path = folder / "my_bot.py"
    path.write_text(code)
    return str(path)


@pytest.mark.usefixtures("answers_in_no_time")
def test_a_step_into_a_crate_is_an_illegal_move(tmp_path: Path) -> None:
    bot = bot_of(tmp_path, "def bot(view):\n    return {'action': 'MOVE_UP'}")
    match, table, _ = played_by(
        bot, offline(CATALOGUE["bomberman"].terms), IN_PROCESS, bot, "bomberman"
    )
    assert set(match.result.causes) <= {"illegal moves", "complete"}
    assert "illegal moves" in match.result.causes
    assert not any("timeout" in fault for fault in table.faults.values())
    verify(read(match_file(match, ("one", "two"))), CATALOGUE["bomberman"].game)


CRATE = """
def bot(view):
    return {"action": "MOVE_UP" if view["you"] == 0 else "WAIT"}
"""
SHOT = """
FLEET = ["AAAAA.....", "BBBB......", "CCC.......", "DDD.......", "EE........"] + ["." * 10] * 5
def bot(view):
    return {"board": FLEET} if view["phase"] == "placement" else {"target": 1, "x": "A", "y": 3}
"""


@pytest.mark.parametrize(
    ("game", "code", "headline"),
    [
        (
            "bomberman",
            CRATE,
            "lost at step 4: CANNOT_MOVE: there is a crate on [7, 12], third illegal move",
        ),
        ("battleship", SHOT, "lost at step 1: x is a whole number, not 'A', third illegal move"),
    ],
)
def test_the_refusal_is_the_headline(tmp_path: Path, game: str, code: str, headline: str) -> None:
    terms = Terms(Pace(3_600_000), late="pass", patience=1)
    bot = bot_of(tmp_path, code)
    match, table, _ = played_by(bot, terms, IN_PROCESS, bot, game)
    assert table.headline(0) == headline
    assert match.result.causes == ("illegal moves", "complete")


@pytest.mark.usefixtures("answers_in_no_time")
@pytest.mark.parametrize("game", ["bomberman", "bumblebots", "battleship"])
def test_nonsense_in_time_is_no_timeout(tmp_path: Path, game: str) -> None:
    bot = bot_of(tmp_path, "def bot(view):\n    return 'nonsense'")
    match, table, _ = played_by(bot, offline(CATALOGUE[game].terms), IN_PROCESS, bot, game)
    assert match.result.causes[0] == "illegal moves"
    assert table.headline(0).endswith(" illegal move") or " illegal move;" in table.headline(0)
    assert table.refused[0] == 30, "three tries in each of ten steps"


def test_a_program_that_falls_silent_after_a_refused_move_made_an_illegal_move(
    tmp_path: Path,
) -> None:
    path = tmp_path / "prog.py"
    path.write_text(
        "import sys\nfor _ in range(2): sys.stdin.readline()\nprint('5', flush=True)\n"
        "sys.stdin.read()"
    )
    match, table, _ = played_by(
        f"cmd:{sys.executable} {path}", Terms(Pace(1)), Isolation(), "house:random"
    )
    assert match.result.causes == ("illegal moves", "complete")
    assert table.headline(0) == "lost at step 0: a move is a JSON object, not 5, first illegal move"
