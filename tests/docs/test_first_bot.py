"""The page of the first bot: all of its commands run, in the order of the page, up to a contest on
a server.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.cli.commands import run
from tests.docs.pages import blocks

PAGE = "first-bot.md"
BOTDROME = [sys.executable, "-m", "botdrome"]
SERVER = "http://127.0.0.1:3000"
COMMANDS = [
    line for block in blocks(PAGE) for line in block.splitlines() if line.startswith("botdrome ")
]
SERVE = COMMANDS.index("botdrome serve --house")
OFFLINE, ONLINE = COMMANDS[:SERVE], COMMANDS[SERVE + 1 :]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the two bots, and no tokens or database kept elsewhere."""
    (tmp_path / "my_bot.py").write_text(blocks(PAGE, "python")[0])
    (tmp_path / "my_bot.js").write_text(blocks(PAGE, "javascript")[0])
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("BOTDROME_DB", f"sqlite:///{tmp_path / 'botdrome.db'}")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def told_by(command: str) -> str:
    """What a command prints, run in this process."""
    _, *words = shlex.split(command)
    done = run(*words, width=80)
    assert done.exit_code == 0, done.stderr
    return done.stdout


def start(folder: Path, command: str, **environment: str) -> "subprocess.Popen[str]":
    _, *words = shlex.split(command)
    pipe = subprocess.PIPE
    return subprocess.Popen(
        [*BOTDROME, *words],
        cwd=folder,
        stdout=pipe,
        stderr=pipe,
        text=True,
        env=os.environ | environment,
    )


def output(process: "subprocess.Popen[str]") -> str:
    told, errors = process.communicate()
    assert process.returncode == 0, errors
    return told


@contextmanager
def server(folder: Path) -> Iterator[str]:
    """The page's command, on ports of the system's choice."""
    ports = {
        f"BOTDROME_{name}": "0"
        for name in ("PORT", "DUEL_PORT", "BOATS_PORT", "BOMBER_PORT", "CUBE_PORT", "CONTEST_WAIT")
    }
    process = start(folder, COMMANDS[SERVE], **ports)
    assert process.stderr is not None
    try:
        while (found := re.search(r"(http://\S+)/graphql", process.stderr.readline())) is None:
            assert process.poll() is None
        yield found[1]
    finally:
        process.kill()
        process.communicate()


@pytest.mark.skipif(not shutil.which("node"), reason="there is no node")
def test_the_bots_play_offline(folder: Path) -> None:
    assert len(OFFLINE) == 5
    for command in OFFLINE:
        told = told_by(command)
        assert told
        if " play " in command:
            assert "\nfaults: none\n" in told, "neither bot is at fault"


@pytest.mark.skipif(not shutil.which("node"), reason="there is no node")
def test_the_same_bots_play_on_a_server_and_in_a_contest(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    challenge, why, first, second, bots = ONLINE
    with server(folder) as url:
        monkeypatch.setenv("BOTDROME_SERVER", url)
        line, summary = told_by(challenge).splitlines()
        match, opponent, headline = line.split("  ")
        assert (opponent, summary) == ("house:perfect", "my_bot.py: 1 match, 1 lost")
        assert told_by(why.replace("MATCH", match)).startswith(f"my_bot.py {headline}\n")
        contest = [start(folder, command) for command in (first, second)]
        for process, name in zip(contest, ("my_bot.py", "my_bot.js"), strict=True):
            *matches, summary = output(process).splitlines()
            assert len(matches) == 10
            assert re.fullmatch(rf"{re.escape(name)}: 10 matches, \d won, \d lost", summary), (
                "neither bot fails"
            )
        assert SERVER in bots
        rows = [line.split() for line in told_by(bots.replace(SERVER, url)).splitlines()]
        assert {row[-1] for row in rows if "*" in row} == {"my_bot.py", "my_bot.js"}
