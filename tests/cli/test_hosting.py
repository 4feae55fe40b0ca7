"""`botdrome push`, the versions of a bot, and the operator's commands for runners, on a real
server with the real sandbox.
"""

import asyncio
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from botdrome.cli.serve import RunnerBeside, closed_folder
from botdrome.client.kept_tokens import kept_bots
from tests.cli.commands import run_beside
from tests.kit.hosted import FIRST_FREE, GAME, running
from tests.offline.test_sandbox import bwrap  # noqa: F401
from tests.patience import PATIENCE, PAUSE
from tests.server.clients import server, unhurried

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("bwrap")]
HOSTING = {"hosting_uploads": "everybody", "operator_token": "operator"}


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(autouse=True)
def _no_hurry() -> Iterator[None]:
    """A process in a sandbox may take longer than 5 s for its first move."""
    with unhurried(GAME):
        yield


@pytest.fixture(autouse=True)
def _folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("BOTDROME_OPERATOR_TOKEN", "operator")
    monkeypatch.chdir(tmp_path)
    folder = Path("my_bot")
    folder.mkdir()
    (folder / "bot.py").write_text(FIRST_FREE)
    (folder / "bot.toml").write_text(f'command = "bot.py"\ngame = "{GAME}"\n')
    (folder / ".git").mkdir()
    (folder / ".git" / "secret").write_text("stays at home")
    (folder / "__pycache__").mkdir()
    (folder / "__pycache__" / "bot.pyc").write_text("stays at home")


def found(pattern: str, output: str) -> list[str]:
    """In lines between which the runner of the test, in this process, may write its log."""
    return re.findall(pattern, output, re.MULTILINE)


async def test_a_project_is_pushed_and_its_versions_are_managed(tmp_path: Path) -> None:
    async with server(tmp_path, **HOSTING) as house, running(house, tmp_path):
        at = ("--server", house.url)
        pushed = await run_beside("push", "my_bot", *at, "--version", "1.0")
        assert pushed.exit_code == 0, pushed.output
        assert found(r"^ +[\d,]+  (\S+)$", pushed.output) == ["bot.py", "bot.toml"]
        assert found(r"^my_bot, version 1 \(1\.0\): 2 files, \d+ bytes packed$", pushed.output)
        assert found(r"^accepted: 40 positions, 3 matches, ", pushed.output)
        assert kept_bots()[house.url]["my_bot"].game == GAME
        Path("my_bot/bot.py").write_text("def bot(view): return 7")
        pushed = await run_beside("push", "my_bot", *at)
        assert pushed.exit_code == 1
        assert "rejected: illegal move: " in pushed.output
        listed = (await run_beside("bots", "versions", "my_bot", *at)).output
        assert found(r"^(\d+)  ", listed) == ["2", "1"]
        refused = await run_beside("bots", "use", "my_bot", "2", *at)
        assert refused.exit_code == 1 and "version 2 was not accepted" in refused.output
        assert "paused by its author" in (await run_beside("bots", "pause", "my_bot", *at)).output
        assert "paused" not in (await run_beside("bots", "resume", "my_bot", *at)).output
        assert (await run_beside("bots", "use", "my_bot", "1", *at)).exit_code == 0
        left = (await run_beside("bots", "delete", "my_bot", "2", *at)).output
        assert found(r"^(\d+)  ", left) == ["1"]
        assert (await run_beside("bots", "logs", "my_bot", *at)).exit_code == 0


async def test_a_file_is_pushed_for_a_registered_bot(tmp_path: Path) -> None:
    Path("one.py").write_text(FIRST_FREE)
    async with server(tmp_path, **HOSTING) as house, running(house, tmp_path):
        at = ("--server", house.url)
        unknown = await run_beside("push", "one.py", *at)
        assert unknown.exit_code == 2
        assert "`botdrome bots register GAME one.py` does that" in unknown.output
        assert (await run_beside("bots", "register", GAME, "one.py", *at)).exit_code == 0
        assert (await run_beside("push", "one.py", *at)).exit_code == 0


async def test_what_cannot_be_pushed_is_told(tmp_path: Path) -> None:
    Path("empty").mkdir()
    Path("main.c").write_text("")
    async with server(tmp_path, operator_token="operator") as house:
        at = ("--server", house.url)
        for bot, words, status in (
            ("empty", "there is no bot.toml and no bot.py in empty", 2),
            ("main.c", "main.c is no bot in Python", 2),
            ("nothing", "there is no folder or file 'nothing'", 2),
            ("my_bot", "this server takes no uploads", 1),
        ):
            result = await run_beside("push", bot, *at)
            assert (result.exit_code, words in result.output) == (status, True), result.output
        Path("my_bot/link").symlink_to("/etc/passwd")
        result = await run_beside("push", "my_bot", *at)
        assert "my_bot/link is a link or a special file" in result.output
        missing = await run_beside("bots", "versions", "nobody", *at)
        assert "the token of nobody is not kept here" in missing.output


async def test_the_operator_manages_runners(tmp_path: Path) -> None:
    async with server(tmp_path, **HOSTING) as house:
        at = ("--server", house.url)
        added = await run_beside("admin", "add-runner", "ant", *at)
        assert await house.arena.hosting.runner_of(added.output.strip()) == "ant"
        assert "ant" in (await run_beside("admin", "runners", *at)).output
        assert (await run_beside("admin", "remove-runner", "ant", *at)).exit_code == 0
        assert (await run_beside("admin", "remove-runner", "ant", *at)).exit_code == 1
        assert (await run_beside("admin", "invite", "nobody", *at)).exit_code == 1


def test_a_runner_does_not_start_where_bots_could_read_its_token(tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("token")
    words = ["runner", "--token", str(token), "--cache", f"{sys.prefix}/builds"]
    command = [sys.executable, "-c", "from botdrome.cli.app import main; main()", *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2 and "choose another place" in done.stderr


def test_a_runner_does_not_start_without_a_sandbox(tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("token")
    words = ["runner", "--token", str(token), "--cache", str(tmp_path / "builds")]
    command = [sys.executable, "-c", "from botdrome.cli.app import main; main()", *words]
    env = os.environ | {"PATH": str(tmp_path)}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=env)
    assert done.returncode == 1 and "bubblewrap" in done.stderr


async def test_the_runner_beside_a_server_gets_a_token_and_no_secrets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    # As any other user than root: another one may not be able to read the Python of the tests.
    monkeypatch.setattr(os, "geteuid", lambda: 1)
    runner = RunnerBeside()
    async with server(tmp_path, **HOSTING) as house:
        runner.start(house)
        async with asyncio.timeout(PATIENCE):
            while not any(one.about for one in await house.arena.hosting.runners()):
                await asyncio.sleep(10 * PAUSE)
        assert runner.process is not None
        variables = Path(f"/proc/{runner.process.pid}/environ").read_bytes()
        assert b"PATH=" in variables and b"OPERATOR" not in variables
        await asyncio.to_thread(runner.stop)
        assert runner.process.returncode == 0


async def test_the_runner_beside_a_server_of_root_names_the_folder_that_it_may_not_enter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "closed").mkdir(mode=0o700)
    python = tmp_path / "closed" / "python"
    runner = RunnerBeside()
    async with server(tmp_path, **HOSTING) as house:
        monkeypatch.setattr(os, "geteuid", lambda: 0)
        monkeypatch.setattr(sys, "executable", str(python))
        runner.start(house)
        assert runner._starting is not None
        await runner._starting
    assert runner.process is None
    words = " ".join(capsys.readouterr().err.split())
    assert f"it is the user 65534, which may not enter {closed_folder(python)}." in words


async def test_the_runner_beside_a_server_removes_the_folder_that_was_made_for_it(
    tmp_path: Path,
) -> None:
    cache = tmp_path / "cache"
    cache.mkdir()
    async with server(tmp_path, **HOSTING) as house:
        words = ["runner", "--beside", "--token", "-", "--server", house.url]
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "botdrome", *words, "--cache", str(cache),
            stdin=asyncio.subprocess.PIPE,
        )  # fmt: skip
        await process.communicate(b"wrong")
    assert process.returncode == 1 and not cache.exists()
