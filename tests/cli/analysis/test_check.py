"""`botdrome check`: the report, the files, and the exit status."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from botdrome.analysis.position_file import encoded, position_file
from botdrome.cli.app import app
from botdrome.match.questions import questions
from tests.cli.analysis.files import AS_RECORDED, FIRST_FREE, bot_file, saved
from tests.cli.commands import run
from tests.match.recorded_matches import lost_by_bob, recorded

SMALL = ("--positions", "30", "--matches", "2")
CORNER = 'def bot(view):\n    return {"mark": "O", "space": [0, 2]}'
ILLEGAL = FIRST_FREE.replace("free[0]}", "free[0] if len(free) > 6 else [1, 1]}")
OTHER_CORNER = CORNER.replace("[0, 2]", "[2, 0]")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_good_bot_ends_with_status_0(tmp_path: Path) -> None:
    bot_file(tmp_path, FIRST_FREE)
    result = run("check", "noughts-and-crosses", "bob.py", *SMALL)
    assert result.exit_code == 0, result.stdout
    assert "bob.py, noughts-and-crosses: 30 positions, 2 matches\n" in result.stdout
    for line in (
        "illegal moves   none",
        "crashes         none",
        "nondeterminism  none in ",
        "time            p50 ",
        "memory growth   0.",
    ):
        assert f"  {line}" in result.stdout
    assert result.stdout.endswith("no problems\n")
    assert Path("check-noughts-and-crosses/slowest.json").exists()


@pytest.mark.parametrize(
    ("bot", "options", "why"),
    [
        ("bob.py", ["--in-process"], "the bot plays in the process of this command"),
        ("house:random", [], "the bot plays in the process of this command"),
        ("bob.py", ["--memory", "512"], "no process gave 20 answers; try more --positions"),
    ],
)
def test_memory_that_was_not_judged_is_not_called_zero(
    tmp_path: Path, bot: str, options: list[str], why: str
) -> None:
    bot_file(tmp_path, FIRST_FREE)
    words = [
        "check",
        "noughts-and-crosses",
        bot,
        "--positions",
        "6",
        "--matches",
        "1",
        *options,
    ]
    assert f"memory growth not judged: {why} matches" in " ".join(run(*words).stdout.split())
    assert json.loads(run(*words, "--json").stdout)["memoryGrowth"] is None


def test_memory_of_a_bot_that_never_answers_is_not_judged(tmp_path: Path) -> None:
    bot_file(tmp_path, "def bot(view):\n    raise KeyError('no')\n")
    words = (
        "check",
        "noughts-and-crosses",
        "bob.py",
        "--positions",
        "6",
        "--matches",
        "0",
    )
    assert "not judged: the bot gave no answer" in " ".join(run(*words).stdout.split())


def test_a_bad_bot_ends_with_status_1_and_its_positions_can_be_asked_again(tmp_path: Path) -> None:
    bot_file(tmp_path, ILLEGAL)
    command = ["check", "noughts-and-crosses", "bob.py", *SMALL, "--save", "found"]
    result = CliRunner().invoke(
        app, command, env={"COLUMNS": "80", "TERM": "dumb"}, catch_exceptions=False
    )
    assert result.exit_code == 1
    assert "space [1, 1] is taken" in " ".join(result.stdout.split())
    assert "found/illegal-move-1.json" in result.stdout
    assert max(map(len, result.stdout.splitlines())) <= 80
    again = run("check", "bob.py", "--position", "found/illegal-move-1.json")
    assert again.exit_code == 1
    assert "illegal: space [1, 1] is taken" in again.stdout
    bot_file(tmp_path, FIRST_FREE)
    repaired = run("check", "bob.py", "--position", "found/illegal-move-1.json")
    assert repaired.exit_code == 0
    assert run("fork", "found/illegal-move-1.json").exit_code == 0


def test_json_has_all_problems(tmp_path: Path) -> None:
    bot_file(tmp_path, "def bot(view):\n    return 1 / 0")
    result = run("check", "noughts-and-crosses", "bob.py", *SMALL, "--json")
    assert result.exit_code == 1
    told = json.loads(result.stdout)
    assert (told["ok"], told["game"], told["matches"]) == (
        False,
        "noughts-and-crosses",
        {"wins": 0, "draws": 0, "losses": 2},
    )
    assert {problem["kind"] for problem in told["problems"]} == {"crash"}
    assert "ZeroDivisionError" in told["problems"][0]["text"]
    files = [problem["file"] for problem in told["problems"] if problem["file"]]
    assert len(files) == min(5, len(told["problems"]))
    assert all(Path(file).exists() for file in files)


@pytest.mark.parametrize(("code", "status"), [(CORNER, 0), (AS_RECORDED, 1), (OTHER_CORNER, 1)])
def test_puzzles_must_be_solved(tmp_path: Path, code: str, status: int) -> None:
    saved(tmp_path)
    assert run("blunders", "lost.jsonl").exit_code == 0
    bot_file(tmp_path, code)
    result = run("check", "bob.py", "--puzzles", "puzzles", "--positions", "0", "--matches", "0")
    assert result.exit_code == status, result.stdout
    assert f"puzzles         {1 - status} of 1 solved" in " ".join(result.stdout.split("\n"))
    one = run("check", "bob.py", "--position", "puzzles/lost-player-1-step-3.json")
    assert one.exit_code == status
    assert ", solved" in one.stdout if status == 0 else ", not solved" in one.stdout


@pytest.mark.parametrize(
    ("words", "status", "why"),
    [
        (["bob.py"], 2, "the game is missing"),
        (["chess", "bob.py"], 2, "there is no game 'chess'"),
        (["gomoku", "bob.py", "-o", "size=2"], 2, "size"),
        (["bob.py", "--puzzles", "nowhere"], 2, "there are no puzzles"),
        (["bob.py", "--position", "nothing.json"], 2, "there is no file"),
        (["bob.py", "--position", "lost.jsonl"], 2, "is a match file"),
        (
            [
                "gomoku",
                "bob.py",
                "--puzzles",
                "positions",
                "--positions",
                "0",
                "--matches",
                "0",
            ],
            2,
            "no position file of gomoku",
        ),
        (["gomoku", "nobody.py"], 1, "nobody.py"),
        (["gomoku", "house:nobody"], 1, "the house has"),
    ],
)
def test_bad_commands(tmp_path: Path, words: list[str], status: int, why: str) -> None:
    saved(tmp_path)
    bot_file(tmp_path, FIRST_FREE)
    record, game = recorded(lost_by_bob())
    (tmp_path / "positions").mkdir()
    (tmp_path / "positions" / "one.json").write_bytes(
        encoded(position_file(questions(record, game, 1)[-1], record))
    )
    result = run("check", *words)
    assert (result.exit_code, result.stdout) == (status, "")
    assert why in result.stderr
