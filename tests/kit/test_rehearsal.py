"""Contests of 64 bots on all protocols and as files, on one server that is killed twice."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from botdrome.cli.contest_documents import share
from botdrome.cli.terminal import CommandError
from botdrome.contest.document import document_from
from botdrome.kit.rehearsal import RehearsalPlan, rehearse
from botdrome.kit.synthetic_bots import FaultRates
from tests.cli.commands import run

FIRST_FREE = """
def bot(view):
    free = [[row, column] for row in range(3) for column in range(3) if not view["board"][row][column]]
    return {"mark": view["marks"][view["you"]], "space": free[0]}
"""
SWISS = {"format": "swiss", "rounds": 2, "games": 2, "players": 2}
CONTESTS: list[dict[str, Any]] = [
    {"name": "noughts", "game": "noughts-and-crosses"},
    {"name": "five", "game": "gomoku"},
    {"name": "fleets", "game": "battleship"},
    {"name": "cubes", "game": "battlecube"},
    {"name": "bombs", "game": "bomberman", "options": {"rounds": 5}},
]


def test_64_bots_play_to_the_end_on_a_server_that_is_killed_twice(tmp_path: Path) -> None:
    files = tuple(str(tmp_path / f"bot{number}.py") for number in range(4))
    for file in files:
        Path(file).write_text(FIRST_FREE)
    documents = tuple(document_from(SWISS | one) for one in CONTESTS)
    plan = RehearsalPlan(documents, 12, FaultRates(drop=0.1), kills=2, files=files)
    report = asyncio.run(rehearse(plan, lambda *_: None))
    assert report.passed, report
    assert (report.kills, [one.played for one in report.contests]) == (2, [32, 24, 24, 24, 24])


def test_bad_documents_and_options_are_refused(tmp_path: Path) -> None:
    cup = tmp_path / "cup.toml"
    cup.write_text('name = "cup"\ngame = "go"\n')
    result = run("contest", "rehearse", str(cup))
    assert (
        result.exit_code == 2 and "cup.toml: line 2: game: there is no game 'go'" in result.stderr
    )
    assert run("contest", "rehearse", str(tmp_path / "none.toml")).exit_code == 2
    with pytest.raises(CommandError, match="--slow is a share such as 5%"):
        share("slow", "often")
    assert (share("slow", "5%"), share("slow", "0.05")) == (0.05, 0.05)
