"""The sandbox: a bot in it has no network, no files but its own, and limited resources; it sees no other process."""

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tools import bubblewrap

from botdrome.client import sandbox
from botdrome.client.program import CannotStart
from botdrome.client.sandbox import SANDBOXED
from botdrome.match.terms import Pace, Terms
from botdrome.runner.bot_process import Isolation, close_idle
from botdrome.runner.seats import check_bot
from botdrome.runner.table import OfflineTable
from tests.runner import failing_bots, programs
from tests.runner.failing_bots import GAME, NEVER, played, played_by
from tests.runner.programs import program

IN_SANDBOX = Isolation(sandbox=True, limits=SANDBOXED)
NEEDED = "NEED_BUBBLEWRAP"
"""With this variable set, a missing bubblewrap is a failure."""


@pytest.fixture
def bwrap() -> Iterator[None]:
    if shutil.which("bwrap") is None:
        assert not os.environ.get(NEEDED), sandbox.NO_BUBBLEWRAP
    if why := bubblewrap.problem():
        pytest.skip(why)
    yield
    close_idle()


def answer(folder: Path, code: str, isolation: Isolation = IN_SANDBOX) -> str:
    """What a bot says that raises an exception."""
    body = "\n".join(f"    {line}" for line in code.strip().splitlines())
    _, table, _ = played(
        folder, f"import glob, os, socket, sys\ndef bot(view):\n{body}\n    raise ValueError(said)", NEVER, isolation
    )
    return table.faults[0].removeprefix("crash: ValueError: ").rpartition(" (line ")[0]


def steals(folder: Path, isolation: Isolation) -> tuple[Any, OfflineTable]:
    """A match of the thief against the best house bot."""
    path = folder / "thief.py"
    path.write_text(failing_bots.THIEF)
    match, table, _ = played_by(str(path), Terms(Pace(None)), isolation, "house:hunter", "battleship")
    return match, table


def test_an_in_process_bot_can_read_the_fleet_of_its_opponent_and_others_cannot(tmp_path: Path) -> None:
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
    assert answer(tmp_path, f"said = open('/proc/{runner}/mem', 'rb')").startswith("crash: FileNotFoundError: ")
    assert answer(tmp_path, ATTACH.replace("RUNNER", runner)) in ("No such process", "Operation not permitted")


PROCESSES = """
words = [open(f"/proc/{pid}/cmdline").read().split(chr(0)) for pid in os.listdir("/proc") if pid.isdigit()]
said = " ".join(sorted(os.path.basename(one[0]).rstrip("0123456789.") for one in words))
"""
"""A process that sees the runner could read its memory."""


@pytest.mark.usefixtures("bwrap")
def test_a_bot_in_the_sandbox_sees_no_other_process(tmp_path: Path) -> None:
    assert len(answer(tmp_path, PROCESSES, Isolation()).split()) > 2
    assert answer(tmp_path, PROCESSES) == "bwrap python"


@pytest.mark.usefixtures("bwrap")
@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("said = os.path.exists('/etc/passwd')", "False"),
        (f"said = os.path.exists({__file__!r})", "False"),
        ("said = os.path.exists(__file__)", "True"),
        ("said = os.environ.get('SECRET')", "None"),
        ("said = [name for _, name in socket.if_nameindex()]", "['lo']"),
        ("said = os.getuid()", "65534"),
        ("open(__file__, 'a')", "crash: OSError: [Errno 30] Read-only file system: "),
        ("open('/x', 'w')", "crash: OSError: [Errno 30] Read-only file system: '/x'"),
        ("open('/dev/x', 'w')", "crash: OSError: [Errno 30] Read-only file system: '/dev/x'"),
        ("open('/tmp/x', 'w').write('x')\nsaid = os.listdir('/tmp')[0]", ""),
        (
            "[open(f'/tmp/{n}', 'wb').write(bytes(30 << 20)) for n in range(3)]",
            "crash: OSError: [Errno 28] No space left on device",
        ),
        (
            "[open(f'/dev/shm/{n}', 'wb').write(bytes(30 << 20)) for n in range(3)]",
            "crash: OSError: [Errno 28] No space left on device",
        ),
        ("open('/tmp/x', 'wb').write(bytes(65 << 20))", "crash: OSError: [Errno 2"),
        ("said = len(os.sched_getaffinity(0))", "1"),
        ("kept = bytearray(2 << 30)", "crash: MemoryError"),
    ],
)
def test_a_bot_in_the_sandbox_has_nothing_but_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str, said: str
) -> None:
    monkeypatch.setenv("SECRET", "do not tell")
    assert answer(tmp_path, code).startswith(said)


@pytest.mark.usefixtures("bwrap")
def test_processes_in_the_sandbox_are_counted(tmp_path: Path) -> None:
    _, table, _ = played(tmp_path, failing_bots.FORK_BOMB, isolation=IN_SANDBOX)
    assert table.faults[0].startswith("crash: it had more than 64 processes")


@pytest.mark.usefixtures("bwrap")
def test_a_program_plays_in_the_sandbox(tmp_path: Path) -> None:
    _, table, _ = played_by(program(tmp_path, programs.GOOD), NEVER, IN_SANDBOX, "house:random")
    assert table.faults == {}
    spy = program(tmp_path, f"import os, sys\nsys.stdin.readline()\nsys.exit(str(os.path.exists({__file__!r})))")
    _, table, _ = played_by(spy, NEVER, IN_SANDBOX, "house:random")
    assert table.faults[0] == "crash: it ended with status 1: False"


def test_a_missing_bubblewrap_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    sandbox.bubblewrap.cache_clear()
    with pytest.raises(CannotStart, match="--sandbox needs bubblewrap; on Debian: apt-get install bubblewrap"):
        check_bot("house:random", GAME, IN_SANDBOX)
    (tmp_path / "bwrap").write_text(f"#!{sys.executable}\nimport sys\nsys.exit('bwrap: No permissions to create new namespace')")
    (tmp_path / "bwrap").chmod(0o755)
    with pytest.raises(CannotStart, match="bubblewrap cannot run here: bwrap: No permissions to create new namespace"):
        check_bot("house:random", GAME, IN_SANDBOX)
    sandbox.bubblewrap.cache_clear()
