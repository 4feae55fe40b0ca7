"""The command itself: its version, its module, and the completion of a shell."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from botdrome import __version__
from botdrome.cli.app import app
from tests.cli.commands import run

MODULE = [sys.executable, "-m", "botdrome"]


def output(*words: str, **environment: str) -> str:
    result = subprocess.run(
        [*MODULE, *words], capture_output=True, text=True, check=True, env=os.environ | environment
    )
    return result.stdout


def test_the_module_is_the_command() -> None:
    assert "Usage: botdrome [OPTIONS] COMMAND" in output("--help")


def test_the_version_is_printed() -> None:
    assert run("--version").stdout == f"botdrome {__version__}\n"


@pytest.mark.parametrize(
    ("typed", "completed"), [("botdrome jo", "join"), ("botdrome join --aga", "--against")]
)
def test_a_shell_completes_commands_and_options(typed: str, completed: str) -> None:
    asked = {"COMP_WORDS": typed, "COMP_CWORD": str(len(typed.split()) - 1)}
    asked["_BOTDROME_COMPLETE"] = "complete_bash"
    result = CliRunner().invoke(app, [], prog_name="botdrome", env=asked)
    assert result.stdout.split() == [completed]


@pytest.mark.parametrize(
    "words",
    ["play", "new", "games", "check", "join", "bots list", "duel"],
)
def test_a_shell_completes_games(words: str) -> None:
    asked = {
        "_BOTDROME_COMPLETE": "complete_bash",
        "COMP_WORDS": f"botdrome {words} ba",
        "COMP_CWORD": str(len(words.split()) + 1),
    }
    result = CliRunner().invoke(app, [], prog_name="botdrome", env=asked)
    assert result.stdout.split() == ["battleship", "battlecube"]


@pytest.mark.skipif(not shutil.which("bash"), reason="there is no bash")
def test_the_script_for_bash_completes_with_the_command(tmp_path: Path) -> None:
    command = tmp_path / "botdrome"
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m botdrome "$@"\n')
    command.chmod(0o755)
    script = output("--show-completion", "bash", _TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION="1")
    ask = (
        f'{script}\nCOMP_WORDS=(botdrome cont); COMP_CWORD=1; _botdrome_completion "{command}"; '
        'echo "$COMPREPLY"'
    )
    result = subprocess.run(["bash", "-c", ask], capture_output=True, text=True, check=True)
    assert result.stdout.split() == ["contest"]
