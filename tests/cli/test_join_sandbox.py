"""`botdrome join --sandbox`: a hostile bot on a server, in the real bubblewrap."""

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from botdrome.client import sandbox
from botdrome.client.kept_tokens import kept_bots
from tests.cli.commands import run_beside
from tests.cli.test_join import GAME, started
from tests.offline.test_sandbox import bwrap as bwrap
from tests.server.clients import server, unhurried

pytestmark = pytest.mark.anyio
EVIL = """
import errno, glob, json, os, resource, signal, socket, sys

CLIENT, PORT, FILES = {client}, {port}, {files}


def tried(act, *given):
    try:
        return act(*given)
    except OSError as error:
        return errno.errorcode[error.errno]


def text_of(path):
    return open(path, "rb").read().decode(errors="replace")


def findings():
    readable = glob.glob("/proc/[0-9]*/environ") + glob.glob("/proc/[0-9]*/cmdline")
    opened = {{os.path.realpath(path) for path in glob.glob("/proc/self/fd/*")}}
    return {{
        "environment": "BOTDROME_TOKEN" in os.environ or "SECRET" in os.environ,
        "texts": [str(tried(text_of, path)) for path in readable],
        "files": [tried(text_of, path) for path in FILES],
        "signals": [tried(os.kill, pid, 0) for pid in (CLIENT, -CLIENT)],
        "server": tried(socket.create_connection, ("127.0.0.1", PORT), 5),
        "network": tried(socket.create_connection, ("192.0.2.1", 80), 5),
        "sockets": [path for path in opened if "socket" in path],
        "cpu": resource.getrlimit(resource.RLIMIT_CPU)[0],
    }}


def move(view):
    free = [[row, column] for row in range(3) for column in range(3)
            if not view["board"][row][column]]
    return {{"mark": view["marks"][view["you"]], "space": free[0]}}
"""
FUNCTION = """
def bot(view):
    print(json.dumps(findings()), flush=True)
    return move(view)
"""
PROGRAM = """
print(json.dumps(findings()), file=sys.stderr, flush=True)
for line in sys.stdin:
    told = json.loads(line)
    if "end" not in told:
        print(json.dumps(move(told["view"]) if "view" in told else "ready"), flush=True)
"""
BOTS = {"my_bot.py": FUNCTION, f"view:{sys.executable} my_bot.py": PROGRAM}


@pytest.fixture(autouse=True)
def _no_hurry() -> Iterator[None]:
    """A process in a sandbox may take longer than 5 s for its first move."""
    with unhurried(GAME):
        yield


@pytest.fixture(autouse=True)
def _folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.chdir(tmp_path)
    tmp_path.chmod(0o755)


async def found_by(bot: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Any, str]:
    """Return what the hostile bot finds in its matches, and its token."""
    monkeypatch.setenv("SECRET", "do not tell")
    async with server(folder) as house:
        files = [str(folder / "config/botdrome/tokens.json"), str(folder / "config"), "/etc/passwd"]
        code = EVIL.format(client=os.getpid(), port=int(house.url.rpartition(":")[2]), files=files)
        Path("my_bot.py").write_text(code + BOTS[bot])
        words = (GAME, bot, "--server", house.url, "--against", "house:random", "--games", "2")
        result = await run_beside("join", *words, "--sandbox")
        assert result.exit_code == 0, result.output
        assert "my_bot.py: 2 matches" in result.stdout and "failed" not in result.stderr
        (kept,) = kept_bots()[house.url].values()
        return [
            json.loads(line) for line in result.stderr.splitlines() if line.startswith("{")
        ], kept.token


@pytest.mark.parametrize("bot", BOTS)
async def test_a_hostile_bot_finds_neither_the_token_nor_the_client_nor_a_network(
    bot: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bwrap: None
) -> None:
    found, token = await found_by(bot, tmp_path, monkeypatch)
    for one in found:
        texts = one.pop("texts")
        assert texts and not any("SECRET" in text or token in text for text in texts)
        assert one == {
            "environment": False,
            "files": ["ENOENT"] * 3,
            "signals": ["ESRCH"] * 2,
            "server": "ECONNREFUSED",
            "network": "ENETUNREACH",
            "sockets": [],
            "cpu": 3600,
        }
    assert found


async def test_a_bot_without_a_game_is_loaded_in_the_sandbox_too(
    tmp_path: Path, bwrap: None
) -> None:
    Path("my_bot.py").write_text(
        f"open({str(tmp_path / 'mark')!r}, 'w')\ndef bot(view):\n    return 1\n"
    )
    for words in (("--sandbox",), ()):
        result = await run_beside("join", "my_bot.py", "--server", "http://127.0.0.1:9", *words)
        assert "my_bot.py is not registered here yet" in result.stderr
        assert (tmp_path / "mark").exists() is not bool(words)


async def test_tokens_that_a_sandboxed_bot_could_read_are_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    Path("project").mkdir()
    Path("project/bot.py").write_text("def bot(view):\n    return 1\n")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(Path("project/config").absolute()))
    result = await run_beside("join", GAME, "project", "--sandbox")
    assert result.exit_code == 2
    assert "the bot could read " in result.stderr and "set XDG_CONFIG_HOME" in result.stderr


async def test_a_machine_without_bubblewrap_is_refused_as_by_play(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    Path("my_bot.py").write_text("def bot(view):\n    return 1\n")
    monkeypatch.setenv("PATH", "/nowhere")
    command = await started("join", GAME, "my_bot.py", "--sandbox")
    _, told = await command.communicate()
    assert command.returncode == 1
    assert told.decode().splitlines()[-1] == f"botdrome: {sandbox.NO_BUBBLEWRAP}"
