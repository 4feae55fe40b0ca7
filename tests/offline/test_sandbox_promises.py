"""What a sandboxed bot can and cannot do: one tries each line of docs/playing-offline.md, for root
and for another user.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import botdrome
from tests.offline import attacks, failing_bots
from tests.offline.test_sandbox import skip_without_sandbox

PAGE = Path(__file__).parents[2] / "docs" / "playing-offline.md"
ORDINARY = 12345
"""A user without an entry in /etc/passwd."""
AS_ORDINARY = f"""
import os, sys
from botdrome.client.guard import give_way
give_way([sys.argv[1], sys.prefix, sys.base_prefix, {str(Path(botdrome.__file__).parents[1])!r}])
os.setgroups([])
os.setresgid(*[{ORDINARY}] * 3)
os.setresuid(*[{ORDINARY}] * 3)
os.execv(sys.executable, [sys.executable, *sys.argv[2:]])
"""
"""Start Python as another user, who can reach it even if it belongs to root alone."""
DENIED, UNKNOWN = "EPERM", "ENOSYS"

ATTACKS: dict[str, dict[str, Any]] = {
    # It can:
    "read its file, or its project": {"own_files": [True, ["attacks.py"]]},
    "use its interpreter, and what is in `/usr` and `/opt`": {"libraries": 2500},
    "write to `/tmp` and `/dev/shm`": {"temporary_folders": [[64, "ENOSPC"], [64, "ENOSPC"]]},
    "start threads and processes": {"threads_and_processes": [[1], "42"]},
    "use pipes, Unix sockets and its own 127.0.0.1": {"own_sockets": "x"},
    # It cannot:
    "see files beside its own, of other bots, of your home or of `/etc`": {
        "own_files": [True, ["attacks.py"]],
        "files_of_others": [],
    },
    "use open files and sockets of the runner": {"open_files": []},
    "change files elsewhere": {"writing": [], "chmod": "EROFS"},
    "reach a network": {"network": [["lo"], "ENETUNREACH"]},
    "read your environment variables": {
        "environment": [["HOME", "LANG", "PATH", "PWD", "PYTHONHASHSEED", "PYTHONPATH"], "", False]
    },
    "become root, or have its rights": {"user": [65534, 65534, "EINVAL", "0" * 16]},
    "change settings of the kernel in `/proc/sys`": {"settings_of_the_kernel": ["EROFS"]},
    "see other processes, or send them signals": {
        "processes": ["bwrap", "python"],
        "signals": [["ESRCH"], 1],
    },
    "use a second core": {"cores": [1, DENIED]},
    "raise its limits": {
        "limits_of_a_process": [64 << 20, 3600, 0, 256, 1024, "ValueError"],
        "memory": "MemoryError",
    },
    "hide memory from the limit": {"hidden_memory": [DENIED, "ENODEV", "00000000"]},
    "make namespaces": {"namespaces": [DENIED] * 7},
    "open raw, packet or netlink sockets": {"unusual_sockets": [DENIED]},
    "make system calls of other machines": {"foreign_calls": [UNKNOWN, UNKNOWN]},
    "make these system calls": {
        "calls": {
            name: UNKNOWN if name.startswith(("io_uring", "clone3")) else DENIED
            for name in attacks.CALLS
        }
    },
}
"""The lines of the page, and the answers of the bot that tries them."""
KILLED = {
    "have more than 64 processes": (failing_bots.FORK_BOMB, "it had more than 64 processes"),
    "have more than 512 threads": (failing_bots.THREAD_BOMB, "it had more than 512 threads"),
    "have more than 1024 open files": (
        failing_bots.SOCKET_BOMB,
        "it had more than 1024 open files",
    ),
    "use more memory with all its processes than `--memory`": (
        failing_bots.GREEDY_FAMILY,
        "it used more than 200 MB of memory",
    ),
}
"""The lines about bots that are killed: such a bot, and the reason that its author reads."""
ELSEWHERE = {
    "write to its log": "test_a_bot_in_the_sandbox_can_do_what_the_page_says_and_nothing_else",
    "find the token of `botdrome join`, its client or its connection": (
        "test_a_hostile_bot_finds_neither_the_token_nor_the_client_nor_a_network"
    ),
    "outlive its match": "test_no_process_of_a_sandbox_survives_its_guard",
}


def python(who: str, folder: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    """Run Python as a user, who owns the folder."""
    env = os.environ | {"SECRET": "do not tell", "HOME": str(folder)}
    if who == "ordinary" and not os.geteuid():
        for path in (folder, *folder.iterdir()):
            os.chown(path, ORDINARY, ORDINARY)
        words = ("-c", AS_ORDINARY, str(folder), *words)
    return subprocess.run(
        [sys.executable, *words], cwd=folder, env=env, capture_output=True, text=True, check=False
    )


def played(who: str, folder: Path, code: str, name: str = "attacks.py") -> Any:
    """Return the match of a bot in the sandbox, as `--json` tells it."""
    (folder / name).write_text(code)
    (folder / "opponent.py").write_text("# a secret opening")
    words = (
        "play",
        "noughts-and-crosses",
        name,
        "house:random",
        "-n",
        "1",
        "--sandbox",
        "--memory",
        "200",
        "--json",
    )
    done = python(who, folder, "-m", "botdrome", *words)
    assert done.stdout, done.stderr
    return json.loads(done.stdout)["matches"][0]


@pytest.fixture(params=["root", "ordinary"])
def who(request: pytest.FixtureRequest) -> str:
    skip_without_sandbox()
    if request.param == "root" and os.geteuid():
        pytest.skip("the tests do not run as root")
    return str(request.param)


def test_a_bot_in_the_sandbox_can_do_what_the_page_says_and_nothing_else(
    who: str, tmp_path: Path
) -> None:
    """One bot tries everything, since a start takes longer than all tries together.

    Its answers come by its log.
    """
    (log,) = played(who, tmp_path, Path(attacks.__file__).read_text())["logs"].values()
    answers = json.loads(next(line for line in log.splitlines() if line.startswith("{")))
    assert {
        line: {name: answers[name] for name in expected} for line, expected in ATTACKS.items()
    } == ATTACKS


@pytest.mark.parametrize("line", KILLED)
def test_a_bot_in_the_sandbox_that_takes_too_much_is_killed(
    line: str, who: str, tmp_path: Path
) -> None:
    code, reason = KILLED[line]
    (fault,) = played(who, tmp_path, code)["faults"].values()
    assert reason in fault


def test_every_line_of_the_page_is_tried() -> None:
    section = PAGE.read_text().partition("### A sandboxed bot can")[2].partition("\n## ")[0]
    rows = [line.split("|")[1].strip() for line in section.splitlines() if line.startswith("| ")]
    lines = [row for row in rows if row not in ("it can", "it cannot")]
    assert sorted(lines) == sorted({*ATTACKS, *KILLED, *ELSEWHERE})
    here = Path(__file__)
    files = (here, here.with_name("test_sandbox.py"), here.parents[1] / "cli/test_join_sandbox.py")
    tests = "".join(file.read_text() for file in files)
    assert all(f"def {name}(" in tests for name in ELSEWHERE.values())


def test_the_page_names_the_refused_calls() -> None:
    named = PAGE.read_text().partition("| make these system calls |")[2].partition("\n")[0]
    assert all(f"`{name}`" in named for name in attacks.CALLS)
