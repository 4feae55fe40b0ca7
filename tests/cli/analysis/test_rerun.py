"""`botdrome rerun`: a recorded match, played to a fresh copy of a bot."""

import json
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.analysis.files import AS_RECORDED, FIRST_FREE, bot_file, saved
from tests.cli.commands import run
from tests.match.recorded_matches import noughts
from tests.patience import PATIENCE


def test_the_same_moves_end_with_status_0(tmp_path: Path) -> None:
    result = run("rerun", saved(tmp_path), bot_file(tmp_path, AS_RECORDED))
    assert result.exit_code == 0
    assert "bob.py as player 1, bob.py\n  same: all 2 answers are as recorded\n" in result.stdout


def test_the_first_difference_ends_with_status_1(tmp_path: Path) -> None:
    match, bot = saved(tmp_path), bot_file(tmp_path, FIRST_FREE)
    result = run("rerun", match, bot)
    assert result.exit_code == 1
    assert (
        '  step 1: recorded {"mark":"O","space":[1,1]}, now {"mark":"O","space":[0,1]}\n'
        in result.stdout
    )
    assert f"botdrome fork {match} --step 1" in result.stdout
    every = run("rerun", match, bot, "--all-steps")
    assert every.exit_code == 1
    assert every.stdout.count("recorded {") == 2
    assert "  0 of 2 answers are as recorded" in every.stdout


def test_a_crash_is_reported_with_its_line(tmp_path: Path) -> None:
    match = noughts()
    match.expel(0, "crash", 0)
    result = run(
        "rerun",
        saved(tmp_path, match=match),
        bot_file(tmp_path, "def bot(view):\n    1 / 0"),
        "--player",
        "0",
    )
    assert result.exit_code == 1
    assert (
        "crashed at step 0: crash: ZeroDivisionError: division by zero (line 2 of bob.py)"
        in result.stdout
    )


def test_all_lost_matches_of_a_folder(tmp_path: Path) -> None:
    saved(tmp_path, "1-lost.jsonl")
    saved(tmp_path, "2-won.jsonl", names=("bob.py", "ada"))
    saved(tmp_path, "3-others.jsonl", names=("ada", "eve"))
    good = run("rerun", "--all", str(tmp_path), bot_file(tmp_path, AS_RECORDED))
    assert good.exit_code == 0
    assert "1 of 1 lost matches as recorded" in good.stdout
    assert "1-lost" in good.stdout and "same" in good.stdout
    bad = run(
        "rerun",
        "--all",
        str(tmp_path),
        bot_file(tmp_path, FIRST_FREE, "eve.py"),
        "--player",
        "1",
        "--json",
    )
    assert bad.exit_code == 1
    rows = json.loads(bad.stdout)
    assert [(Path(row["match"]).name, row["name"], row["same"]) for row in rows] == [
        ("1-lost.jsonl", "bob.py", False), ("2-won.jsonl", "ada", False),
        ("3-others.jsonl", "eve", False),
    ]  # fmt: skip
    assert rows[0]["divergences"][0]["step"] == 1


def test_lost_matches_become_tests_for_pytest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "matches").mkdir()
    (tmp_path / "tests").mkdir()
    saved(tmp_path / "matches")
    bot_file(tmp_path, AS_RECORDED)
    monkeypatch.chdir(tmp_path)
    written = run("rerun", "--all", "matches", "bob.py", "--pytest", "tests/test_lost.py")
    assert written.exit_code == 0
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/test_lost.py"]
    good = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert good.returncode == 0, good.stdout
    bot_file(tmp_path, FIRST_FREE)
    written_test = runpy.run_path("tests/test_lost.py")
    with pytest.raises(AssertionError, match="step 1: recorded"):
        written_test["test_the_bot_plays_as_recorded"](*written_test["MATCHES"][0])


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["lost.jsonl"], "name a match and a bot"),
        (["--all", ".", "lost.jsonl", "bob.py"], "name only the bot"),
        (["nothing.jsonl", "bob.py"], "there is no file 'nothing.jsonl'"),
        (["bob.py", "bob.py"], "this is not a match file"),
        (["lost.jsonl", "eve.py"], "no player is called 'eve.py'; the players are 0 ada, 1 bob.py"),
        (["lost.jsonl", "bob.py", "--player", "2"], "there is no player '2'; the players are"),
        (["--all", "nowhere", "bob.py"], "there is no folder 'nowhere'"),
        (["--all", "empty", "bob.py"], "there are no match files"),
        (["--all", ".", "eve.py"], "1 match found, and none was lost by eve.py"),
        (["some-id", "bob.py", "--server", "ftp://x"], "ftp://x is not the address of a server"),
        (["some-id", "bob.py", "--server", "http://127.0.0.1:1"], "http://127.0.0.1:1: "),
    ],
)
def test_bad_commands_end_with_status_2(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], why: str
) -> None:
    saved(tmp_path)
    bot_file(tmp_path, FIRST_FREE)
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path)
    result = run("rerun", *words)
    assert (result.exit_code, result.stdout) == (2, "")
    assert why in result.stderr


def test_a_bot_that_is_not_there_ends_with_status_1(tmp_path: Path) -> None:
    result = run("rerun", saved(tmp_path), str(tmp_path / "nobody.py"), "--player", "1")
    assert result.exit_code == 1
    assert result.stderr.startswith("botdrome: ")
