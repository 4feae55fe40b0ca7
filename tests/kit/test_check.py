"""Deliberately broken bots are diagnosed."""

from pathlib import Path

import pytest

from botdrome.analysis.position_file import encoded, read_position
from botdrome.catalogue import CATALOGUE
from botdrome.kit.check import Checker, CheckPlan, Kind, ask_position, house_records, windows
from botdrome.match.questions import questions
from botdrome.offline.isolation import Isolation
from tests.offline import programs
from tests.offline.programs import program

FIRST_FREE = """
def free(view):
    return [[r, c] for r in range(3) for c in range(3) if not view["board"][r][c]]

def played(view, space):
    return {"mark": view["marks"][view["you"]], "space": space}
"""
GOOD = FIRST_FREE + "def bot(view): return played(view, free(view)[0])"
ILLEGAL = (
    FIRST_FREE
    + "def bot(view): return played(view, [1, 1] if len(free(view)) == 6 else free(view)[0])"
)
CRASHING = (
    FIRST_FREE + "def bot(view): return played(view, free(view)[4 - 4 * (len(free(view)) > 4)])"
)
UNSTEADY = (
    FIRST_FREE + "import itertools\nturn = itertools.count()\n"
    "def bot(view): return played(view, free(view)[next(turn) % 2])"
)
SEEDED = (
    FIRST_FREE
    + """
import random
class bot:
    def begin(self, match): self.random = random.Random(match["seed"])
    def move(self, view): return played(view, self.random.choice(free(view)))
"""
)
SLOW = "import time\ndef bot(view):\n    time.sleep(0.3)\n    return {'action': 'WAIT'}"
HANGING = "def bot(view):\n    while True: pass"
LEAKING = (
    FIRST_FREE + "kept = []\ndef bot(view):\n    kept.append(b'x' * 2_000_000)\n"
    "    return played(view, free(view)[0])"
)
LEAKING_PROGRAM = """
import json, sys
kept = []
for line in sys.stdin:
    message = json.loads(line)
    if "turnNumber" in message and not message["result"]:
        kept.append(b"x" * 2_000_000)
        print('{"orders": {}}', flush=True)
"""


NO_HURRY = 3600.0


@pytest.fixture(autouse=True)
def time_for_each_move(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Of a busy machine nobody knows how long an answer takes, or the start of a process."""
    for module in ("check", "rerun"):
        monkeypatch.setattr(f"botdrome.kit.{module}.seconds_for", lambda terms: NO_HURRY)
    for module in ("kit.rerun", "offline.table"):
        monkeypatch.setattr(f"botdrome.{module}.START", NO_HURRY)
    return monkeypatch


def checked(
    entrant: str, game: str = "noughts-and-crosses", positions: int = 60, matches: int = 0
) -> Checker:
    checker = Checker(CheckPlan(entrant, game, {}, positions, matches, 1))
    assert sum(checker.positions()) == positions
    assert sum(checker.matches()) == matches
    return checker


def written(folder: Path, code: str) -> str:
    (folder / "my_bot.py").write_text(code)
    return str(folder / "my_bot.py")


def kinds(checker: Checker) -> set[Kind]:
    return {finding.kind for finding in checker.report.findings}


@pytest.mark.usefixtures("answers_in_no_time")
@pytest.mark.parametrize("game", CATALOGUE)
def test_house_bots_have_no_problems(game: str) -> None:
    report = checked("house:random", game, positions=40, matches=2).report
    assert (report.findings, report.positions, sum(report.matches)) == ([], 40, 2)
    assert report.repeated >= 10


@pytest.mark.parametrize("game", CATALOGUE)
def test_positions_come_from_all_seats_and_phases(game: str) -> None:
    plan = CheckPlan("house:random", game, {}, 120, 0, 1)
    parts = list(windows(plan))
    assert sum(part.length for part in parts) == 120
    assert {part.player for part in parts} >= {0, 1}
    for part in parts:
        asked = [question.step for question in questions(part.record, plan.rules, part.player)]
        assert part.first in asked


def test_good_bots_pass(tmp_path: Path) -> None:
    report = checked(written(tmp_path, GOOD), matches=4).report
    assert report.findings == []
    assert report.positions == len(report.seconds) == 60
    assert report.slowest is not None
    assert report.slowest.note.startswith("the slowest answer took ")
    report = checked(program(tmp_path, programs.POLITE), positions=12, matches=2).report
    assert report.findings == []
    assert len(report.starts) + len(report.seconds) == 12


def test_an_illegal_move_comes_with_its_position(tmp_path: Path) -> None:
    checker = checked(written(tmp_path, ILLEGAL))
    assert kinds(checker) == {"illegal move"}
    finding = checker.report.findings[0]
    assert finding.text.endswith("space [1, 1] is taken")
    assert finding.position is not None
    file, game = read_position(encoded(finding.position))
    question, answer = ask_position(file, game, written(tmp_path, ILLEGAL))
    assert (question.step, answer.raw["space"]) == (3, [1, 1])


def test_illegal_moves_in_whole_matches(tmp_path: Path) -> None:
    checker = checked(written(tmp_path, "def bot(view): return 5"), positions=0, matches=1)
    assert kinds(checker) == {"illegal move"}
    assert "in a match: 5: " in checker.report.findings[0].text
    assert checker.report.matches == (0, 0, 1)


def test_crashes_are_told_with_the_line(tmp_path: Path) -> None:
    checker = checked(written(tmp_path, CRASHING), matches=2)
    assert kinds(checker) == {"crash"}
    assert any("in a match: crash: " in finding.text for finding in checker.report.findings)
    assert (
        "IndexError: list index out of range (line 7 of my_bot.py)"
        in checker.report.findings[0].text
    )
    dead = checked(program(tmp_path, programs.CRASHING), positions=4)
    assert kinds(dead) == {"crash"}
    assert "ValueError: no idea" in dead.report.findings[0].text


def test_nondeterminism_is_found_and_seeds_are_respected(tmp_path: Path) -> None:
    unsteady = checked(written(tmp_path, UNSTEADY))
    assert kinds(unsteady) == {"nondeterminism"}
    assert "for the same view and seed" in unsteady.report.findings[0].text
    (tmp_path / "seeded").mkdir()
    assert checked(written(tmp_path / "seeded", SEEDED)).report.findings == []


def test_slow_answers_and_bots_that_hang(
    tmp_path: Path, time_for_each_move: pytest.MonkeyPatch
) -> None:
    time_for_each_move.undo()
    with time_for_each_move.context() as patch:
        patch.setattr("botdrome.kit.rerun.BEYOND", NO_HURRY)
        slow = checked(written(tmp_path, SLOW), "bomberman", positions=1)
    assert kinds(slow) == {"too slow"}
    assert "the limit is 0.2 s" in slow.report.findings[0].text
    (tmp_path / "hanging").mkdir()
    hanging = checked(written(tmp_path / "hanging", HANGING), "bomberman", positions=1)
    assert kinds(hanging) == {"timeout"}


def test_a_growing_process_is_found(tmp_path: Path) -> None:
    function = checked(written(tmp_path, LEAKING))
    assert kinds(function) == {"memory growth"}
    assert (function.report.growth or 0) > 20_000_000
    leaking = checked(program(tmp_path, LEAKING_PROGRAM), "bumblebots", positions=144)
    assert kinds(leaking) == {"memory growth"}
    assert (leaking.report.growth or 0) > 20_000_000


def test_a_bot_without_a_process_is_not_judged(tmp_path: Path) -> None:
    checker = Checker(
        CheckPlan(
            written(tmp_path, LEAKING),
            "noughts-and-crosses",
            {},
            40,
            0,
            1,
            Isolation(in_process=True),
        )
    )
    assert sum(checker.positions()) == 40
    assert (checker.report.growth, checker.report.memory, checker.report.findings) == (None, {}, [])


def test_matches_of_the_house_have_several_numbers_of_players() -> None:
    records = house_records(CheckPlan("house:random", "battlecube", {}, 10, 0, 1))
    assert [len(next(records).setup.names) for _ in range(4)] == [2, 3, 4, 2]
