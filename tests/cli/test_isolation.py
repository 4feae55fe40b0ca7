"""`--in-process`, `--sandbox` and `--memory` of the commands that play with bots."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from botdrome.client import sandbox
from botdrome.client.sandbox import bubblewrap
from botdrome.offline.isolation import close_idle
from tests.cli.analysis.files import bot_file, saved
from tests.cli.commands import run

PLAY = ("play", "noughts-and-crosses", "bob.py", "house:random", "-n", "1")
RERUN = ("rerun", "lost.jsonl", "bob.py")
FORK = ("fork", "lost.jsonl", "--step", "3", "house:perfect", "bob.py")
CHECK = ("check", "noughts-and-crosses", "bob.py", "--positions", "4", "--matches", "1")
COMMANDS = pytest.mark.parametrize(
    "command", [PLAY, RERUN, FORK, CHECK], ids=lambda words: words[0]
)
TELLS_ITS_PROCESS = """
import os
def bot(view):
    with open("processes", "a") as file:
        file.write(f"{os.getpid()}\\n")
    free = [[r, c] for r in range(3) for c in range(3) if not view["board"][r][c]]
    return {"mark": view["marks"][view["you"]], "space": free[0]}
"""
HUNGRY = "kept = []\ndef bot(view):\n    kept.append(bytearray(400_000_000))\n    return None"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    close_idle()  # a process of an earlier test would play in that test's folder
    monkeypatch.chdir(tmp_path)
    saved(tmp_path)
    return tmp_path


@COMMANDS
def test_a_bot_plays_in_its_own_process_or_in_this_one(
    tmp_path: Path, command: tuple[str, ...]
) -> None:
    bot_file(tmp_path, TELLS_ITS_PROCESS)
    for options, here in (((), False), (("--in-process",), True)):
        Path("processes").unlink(missing_ok=True)
        assert run(*command, *options).exit_code in (0, 1)
        assert (str(os.getpid()) in Path("processes").read_text().split()) is here


@COMMANDS
def test_memory_is_limited(tmp_path: Path, command: tuple[str, ...]) -> None:
    bot_file(tmp_path, HUNGRY)
    assert "MemoryError" in run(*command, "--memory", "200").stdout


@COMMANDS
@pytest.mark.parametrize("option", [["--sandbox"], ["--memory", "64"]])
def test_options_that_contradict_each_other_are_refused(
    tmp_path: Path, command: tuple[str, ...], option: list[str]
) -> None:
    bot_file(tmp_path, TELLS_ITS_PROCESS)
    result = run(*command, "--in-process", *option)
    assert (result.exit_code, result.stdout) == (2, "")
    assert (
        "--in-process cannot be combined with --sandbox and --memory, which need processes"
        in result.stderr
    )


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The only folder in which programs are found."""
    bubblewrap.cache_clear()
    with monkeypatch.context() as changed:
        changed.setenv("PATH", str(tmp_path))
        yield tmp_path
    bubblewrap.cache_clear()
    close_idle()


@COMMANDS
def test_a_missing_sandbox_is_told(path: Path, command: tuple[str, ...]) -> None:
    bot_file(path, TELLS_ITS_PROCESS)
    result = run(*command, "--sandbox")
    assert result.exit_code == 1
    assert "--sandbox needs bubblewrap" in result.stderr


@COMMANDS
def test_bots_are_started_by_bubblewrap(
    path: Path, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    """The sandbox itself is tested in tests/offline/test_sandbox.py; this one only notes the
    command, and runs it.
    """
    monkeypatch.setattr(sandbox, "_user", lambda folders: 0)
    bot_file(path, TELLS_ITS_PROCESS)
    script = (
        "import os, sys\nwords = sys.argv[sys.argv.index('--') + 1:]\n"
        "open('started', 'a').write(words[-1] + chr(10))"
    )
    (path / "bwrap").write_text(f"#!{sys.executable}\n{script}\nos.execvp(words[0], words)")
    (path / "bwrap").chmod(0o755)
    (path / "true").symlink_to("/bin/true")
    assert run(*command, "--sandbox").exit_code in (0, 1)
    assert str(path / "bob.py") in Path("started").read_text().split("\n")
    assert Path("processes").exists()
