"""`botdrome contest run` as a process that is killed, interrupted, paused and resumed ends like an
undisturbed run.
"""

import json
import os
import shutil
import signal
import sys
from pathlib import Path
from subprocess import PIPE, Popen
from typing import Any

import pytest

from tests.cli.commands import run

WAITING = """\
import os
import time

def bot(view):
    if os.path.exists("wait"):
        with open("wait") as file:
            waits = file.read()
    while os.path.exists("wait"):
        try:
            os.close(os.open(waits, os.O_WRONLY | os.O_NONBLOCK))
        except OSError:
            time.sleep(0.01)
    return {"space": next([x, y] for x in range(3) for y in range(3) if not view["board"][x][y])}
"""
CUP = """\
name = "cup"
game = "noughts-and-crosses"
games = 4
clock = {limit = 600000}
entrants = [{bot = "house:random"}, {bot = "house:perfect"}, {bot = "mine.py"}]
"""


def standings(folder: Path) -> Any:
    return json.loads(run("contest", "show", str(folder / "cup.toml"), "--json").stdout)


def started(folder: Path) -> Popen[str]:
    """Run the contest until one of its bots waits. Bots of an earlier process may still do so."""
    waits = f"waits{len(list(folder.glob('waits*')))}"
    os.mkfifo(folder / waits)
    (folder / "wait").write_text(waits)
    process = Popen(
        [sys.executable, "-m", "botdrome", "contest", "run", "cup.toml", "-j", "1"],
        cwd=folder,
        stdout=PIPE,
        stderr=PIPE,
        text=True,
    )
    (folder / waits).read_bytes()  # ends when the bot opens it
    return process


def test_a_process_that_is_killed_interrupted_and_paused_continues(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disturbed, calm = tmp_path / "disturbed", tmp_path / "calm"
    disturbed.mkdir()
    (disturbed / "cup.toml").write_text(CUP)
    (disturbed / "mine.py").write_text(WAITING)
    shutil.copytree(disturbed, calm)
    monkeypatch.chdir(tmp_path)

    for _ in range(2):
        process = started(disturbed)
        process.kill()
        process.communicate()
        assert standings(disturbed)["state"] == "running"

    process = started(disturbed)
    other = run("contest", "run", str(disturbed / "cup.toml"))
    assert other.exit_code == 2 and "another process runs this contest" in other.stderr
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate()
    assert (
        process.returncode == 130
        and "Paused. Continue it with: botdrome contest run cup.toml" in errors
    )
    assert standings(disturbed)["state"] == "paused"

    process = started(disturbed)
    assert run("contest", "pause", str(disturbed / "cup.toml")).exit_code == 0
    (disturbed / "wait").unlink()
    resumed = run("contest", "resume", str(disturbed / "cup.toml"))
    assert "goes on in the process that runs it" in resumed.stdout
    output, _ = process.communicate()
    assert process.returncode == 0 and "over, 12 of 12 matches" in output

    assert run("contest", "run", str(calm / "cup.toml")).exit_code == 0
    assert standings(disturbed)["standings"] == standings(calm)["standings"]
