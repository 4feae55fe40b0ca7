"""The sandbox: a bot in it has no network, no files but its own, and limited resources; it sees no
other process.
"""

import gc
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from time import perf_counter
from typing import Any

import pytest
from tools import bubblewrap

from botdrome.client import sandbox
from botdrome.client.guard import descendants
from botdrome.client.program import CannotStart, Program
from botdrome.client.sandbox import NOBODY, SANDBOXED, BotFiles, files_of_command
from botdrome.match.terms import Pace, Terms
from botdrome.offline.isolation import Isolation, close_idle
from botdrome.offline.seats import check_bot
from botdrome.offline.table import OfflineTable
from tests.offline import failing_bots, programs
from tests.offline.failing_bots import GAME, NEVER, played, played_by
from tests.offline.programs import program

IN_SANDBOX = Isolation(sandbox=True, limits=SANDBOXED)
NEEDED = "NEED_BUBBLEWRAP"
"""With this variable set, a missing bubblewrap is a failure."""


def skip_without_sandbox() -> None:
    if shutil.which("bwrap") is None:
        assert not os.environ.get(NEEDED), sandbox.NO_BUBBLEWRAP
    if why := bubblewrap.problem():
        pytest.skip(why)


@pytest.fixture
def bwrap() -> Iterator[None]:
    skip_without_sandbox()
    yield
    close_idle()


def answer(folder: Path, code: str, isolation: Isolation = IN_SANDBOX) -> str:
    """What a bot says that raises an exception."""
    body = "\n".join(f"    {line}" for line in code.strip().splitlines())
    _, table, _ = played(
        folder,
        f"import glob, os, socket, sys\ndef bot(view):\n{body}\n    raise ValueError(said)",
        NEVER,
        isolation,
    )
    return table.faults[0].removeprefix("crash: ValueError: ").rpartition(" (line ")[0]


def steals(folder: Path, isolation: Isolation) -> tuple[Any, OfflineTable]:
    """A match of the thief against the best house bot."""
    path = folder / "thief.py"
    path.write_text(failing_bots.THIEF)
    gc.collect()  # matches of other tests may still be in memory
    match, table, _ = played_by(
        str(path), Terms(Pace(None)), isolation, "house:hunter", "battleship"
    )
    return match, table


def test_an_in_process_bot_can_read_the_fleet_of_its_opponent_and_others_cannot(
    tmp_path: Path,
) -> None:
    match, table = steals(tmp_path, Isolation(in_process=True))
    assert (match.result.places, table.faults) == ((1, 2), {})
    assert match.position.scores[0] == match.position.turns[0] == 17, "every shot hits"
    _, table = steals(tmp_path, Isolation())
    assert table.faults[0].startswith("crash: LookupError: there is no match in memory")
    close_idle()


@pytest.mark.usefixtures("bwrap")
def test_a_bot_in_the_sandbox_cannot_read_the_fleet_of_its_opponent(tmp_path: Path) -> None:
    _, table = steals(tmp_path, IN_SANDBOX)
    assert table.faults[0].startswith("crash: LookupError: there is no match in memory")


ATTACH = """
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
attached = libc.ptrace(16, RUNNER, 0, 0)
said = "attached" if attached == 0 else os.strerror(ctypes.get_errno())
"""
"""PTRACE_ATTACH."""


@pytest.mark.usefixtures("bwrap")
def test_a_bot_in_the_sandbox_cannot_reach_the_memory_of_the_runner(tmp_path: Path) -> None:
    runner = str(os.getpid())
    assert answer(tmp_path, f"said = open('/proc/{runner}/mem', 'rb')").startswith(
        "crash: FileNotFoundError: "
    )
    assert answer(tmp_path, ATTACH.replace("RUNNER", runner)) in (
        "No such process",
        "Operation not permitted",
    )


@pytest.mark.usefixtures("bwrap")
def test_no_process_in_the_sandbox_belongs_to_root() -> None:
    with closing(Program(["sleep", "600"], SANDBOXED, sees=BotFiles())) as program:
        statuses = [
            Path(f"/proc/{one}/status").read_text()
            for one in (program.pid, *descendants(program.pid))
        ]
    users = {
        word for status in statuses for word in status.partition("Uid:")[2].splitlines()[0].split()
    }
    assert users == {str(os.geteuid() or NOBODY)}


@pytest.mark.usefixtures("bwrap")
def test_no_process_of_a_sandbox_survives_its_guard() -> None:
    program = Program(
        ["sh", "-c", "sleep 600 & echo started; setsid sleep 600"], SANDBOXED, sees=BotFiles()
    )
    assert program.next_lines(perf_counter() + 600) == [b"started"]
    processes = [program.pid, *descendants(program.pid)]
    assert len(processes) > 3
    program.close()
    assert [one for one in processes if Path(f"/proc/{one}").exists()] == []


@pytest.mark.usefixtures("bwrap")
@pytest.mark.skipif(os.geteuid() != 0, reason="an ordinary user reads its own folders")
def test_root_is_told_which_folder_its_bots_cannot_read(tmp_path: Path) -> None:
    folder = tmp_path / "project"
    folder.mkdir(mode=0o700)
    (folder / "bot.py").write_text(failing_bots.PLAY)
    with pytest.raises(
        CannotStart,
        match=f"run as the user 65534 in the sandbox, which cannot read {folder}: chmod -R o",
    ):
        check_bot(str(folder), GAME, IN_SANDBOX)


def test_a_link_shows_no_secret_to_a_program(tmp_path: Path) -> None:
    (tmp_path / "key").touch(mode=0o600)
    (tmp_path / "weights").symlink_to("key")
    with pytest.raises(
        CannotStart,
        match="weights is a link to a file that not every user may read; give the file itself",
    ):
        Program(
            ["cat", "weights"], SANDBOXED, sees=files_of_command(["cat", str(tmp_path / "weights")])
        )


@pytest.mark.skipif(shutil.which("unshare") is None, reason="there is no unshare")
def test_root_that_cannot_become_another_user_is_told_what_to_do(tmp_path: Path) -> None:
    """In this namespace root is the only user."""
    (tmp_path / "bot.py").write_text(failing_bots.PLAY)
    words = ("play", GAME, "bot.py", "house:random", "--sandbox")
    command = ["unshare", "--user", "--map-root-user", sys.executable, "-m", "botdrome", *words]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    if done.stderr.startswith("unshare:"):
        pytest.skip(done.stderr)
    assert done.returncode == 1
    assert "root cannot become the user 65534 here" in done.stderr
    assert "run the command as an ordinary user" in done.stderr


@pytest.mark.usefixtures("bwrap")
@pytest.mark.parametrize(
    ("needs", "fault"),
    [("import helper", "No module named 'helper'"), ("open('weights')", "'weights'")],
)
def test_a_bot_sees_the_files_beside_it_in_a_folder_or_project_alone(
    tmp_path: Path, needs: str, fault: str
) -> None:
    folder = tmp_path / "mine"
    folder.mkdir(mode=0o755)
    for name, text in (
        ("bot.py", f"{needs}\n{failing_bots.PLAY}\nbot = play"),
        ("helper.py", ""),
        ("weights", ""),
    ):
        (folder / name).write_text(text)
    (folder / "bot.py").write_text(
        f"import os; os.chdir(os.path.dirname(__file__))\n{(folder / 'bot.py').read_text()}"
    )
    _, table, _ = played_by(str(folder / "bot.py"), NEVER, IN_SANDBOX, "house:random")
    assert fault in table.faults[0]
    assert (
        "with the bot as bot or main and an empty file positions.jsonl, which makes it a project"
        in table.faults[0]
    )
    _, table, _ = played_by(str(folder), NEVER, IN_SANDBOX, "house:random")
    assert table.faults == {}
    close_idle()
    (folder / "positions.jsonl").touch()
    _, table, _ = played_by(str(folder / "bot.py"), NEVER, IN_SANDBOX, "house:random")
    assert table.faults == {}


@pytest.mark.usefixtures("bwrap")
def test_a_module_plays_in_the_sandbox(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    package = tmp_path / "package"
    package.mkdir(mode=0o755)
    (package / "__init__.py").touch()
    (tmp_path / "secret").touch()
    body = "assert set(os.listdir()) <= {NAME, '__pycache__'}\n    return play(view)"
    code = f"{failing_bots.PLAY}\nimport os\ndef bot(view):\n    {body}"
    (package / "module.py").write_text(code.replace("NAME", "'package'"))
    (tmp_path / "alone.py").write_text(code.replace("NAME", "'alone.py'"))
    for entrant in ("package.module:bot", "alone:bot"):
        _, table, _ = played_by(entrant, NEVER, IN_SANDBOX, "house:random")
        assert table.faults == {}


@pytest.mark.usefixtures("bwrap")
def test_a_program_plays_in_the_sandbox(tmp_path: Path) -> None:
    _, table, _ = played_by(program(tmp_path, programs.GOOD), NEVER, IN_SANDBOX, "house:random")
    assert table.faults == {}
    spy = program(
        tmp_path,
        f"import os, sys\nsys.stdin.readline()\nsys.exit(str(os.path.exists({__file__!r})))",
    )
    _, table, _ = played_by(spy, NEVER, IN_SANDBOX, "house:random")
    assert table.faults[0] == "crash: it ended with status 1: False"


@pytest.mark.parametrize(
    ("words", "mode", "used"),
    [("--disable-userns", 0o755, True), ("--disable-userns", 0o4755, False), ("", 0o755, False)],
)
def test_older_bubblewraps_get_the_options_that_they_know(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: str, mode: int, used: bool
) -> None:
    (tmp_path / "bwrap").write_text(f"#!/bin/sh\necho '{words}'")
    (tmp_path / "bwrap").chmod(mode)
    monkeypatch.setenv("PATH", str(tmp_path))
    sandbox.bubblewrap.cache_clear()
    assert ("--disable-userns" in sandbox.bubblewrap()) is used
    sandbox.bubblewrap.cache_clear()


def test_a_machine_without_a_filter_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox, "MACHINES", {})
    sandbox._filter.cache_clear()
    with pytest.raises(
        CannotStart, match="--sandbox needs a filter of system calls, which exists for"
    ):
        check_bot("house:random", GAME, IN_SANDBOX)
    sandbox._filter.cache_clear()


def test_a_missing_bubblewrap_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(sandbox, "_user", lambda folders: 0)
    sandbox.bubblewrap.cache_clear()
    with pytest.raises(
        CannotStart, match="--sandbox needs bubblewrap; on Debian: apt-get install bubblewrap"
    ):
        check_bot("house:random", GAME, IN_SANDBOX)
    (tmp_path / "bwrap").write_text(
        f"#!{sys.executable}\nimport sys\nsys.exit('bwrap: No permissions to create new namespace')"
    )
    (tmp_path / "bwrap").chmod(0o755)
    with pytest.raises(
        CannotStart,
        match="bwrap: No permissions to create new namespace; ordinary users need user name",
    ):
        check_bot("house:random", GAME, IN_SANDBOX)
    sandbox.bubblewrap.cache_clear()
