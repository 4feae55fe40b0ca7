"""A runner with the real sandbox: uploads are checked, accepted ones play, and nothing outlives
its lease.
"""

import asyncio
import json
import os
import signal
import socket
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from time import time
from typing import Any

import pytest

from botdrome.client.guard import descendants
from botdrome.client.join import Join, Unwelcome
from botdrome.client.rest import RestServer, ServerProblem
from botdrome.contest.lobby import Wish
from botdrome.kit import runner as runners
from botdrome.server.lobby.hosting import LEASE
from botdrome.store.entries import Wanted
from botdrome.wire.upload import PackedFile, packed
from tests.kit import hosted
from tests.kit.hosted import FIRST_FREE, HOSTING, Author, play_against, running, sandboxes
from tests.offline.test_sandbox import bwrap  # noqa: F401
from tests.patience import PATIENCE, PAUSE, until
from tests.server.clients import bot, leap, play_noughts, registered, server, unhurried

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("bwrap")]
BOTDROME = [sys.executable, "-c", "from botdrome.cli.app import main; main()"]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(autouse=True)
def no_hurry() -> Iterator[ExitStack]:
    """A process in a sandbox may take longer than 5 s for its first move."""
    with ExitStack() as stack:
        for game in (hosted.GAME, "gomoku"):
            stack.enter_context(unhurried(game))
        yield stack


async def test_an_upload_is_checked_and_plays_under_its_version(tmp_path: Path) -> None:
    async with server(tmp_path, **HOSTING) as house:
        ada = await Author.of_new_bot(house)
        await ada.push(version="1.0")
        async with running(house, tmp_path):
            report = (await ada.until(state="accepted"))["report"]
            assert report.startswith("40 positions, 3 matches, slowest answer ")
            last = await play_against(house)
            assert last["state"]["result"]["reason"] == "complete"
            (match,) = await house.arena.store.matches(Wanted(status="ended"))
            assert dict(zip(match.players, match.versions, strict=True))["ada"] == "1.0"
            logs: list[Any] = []
            async with asyncio.timeout(PATIENCE):
                while not logs:
                    logs = (await ada.ask("GET", "upload-logs")).json()["logs"]
            assert (logs[0]["match"], logs[0]["version"]) == (match.id, "1.0")
            assert "I look at" in logs[0]["log"]
            for other in ("wrong", (await registered(house, "eve"))["password"]):
                assert (await ada.ask("GET", "upload-logs", other)).status_code == 403
        assert sandboxes() == []


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("def bot(view):\n    return 7", "illegal move: "),
        ("def bot(view):\n    raise ValueError('boom')", "crash: "),
        ("def bot(view:", "SyntaxError"),
        ("import no_such_module", "no_such_module"),
        ("def bot(view):\n    while True: pass", "timeout: "),
        ("import os\ndef bot(view):\n    os.kill(os.getppid(), 9)\n    os._exit(1)", "crash: "),
        ("def bot(view):\n    print('x' * (1 << 31))", "crash: "),
    ],
)
async def test_a_version_that_fails_is_rejected_with_the_reason(
    tmp_path: Path, code: str, words: str, no_hurry: ExitStack
) -> None:
    no_hurry.close()  # one of them never answers
    async with server(tmp_path, **HOSTING) as house, running(house, tmp_path):
        ada = await Author.of_new_bot(house)
        await ada.push(code)
        one = await ada.until(state="rejected")
        assert words in one["report"]
        assert str(tmp_path) not in one["report"]
        assert not one["active"]


async def test_a_rejected_version_leaves_the_earlier_one_at_play(tmp_path: Path) -> None:
    async with server(tmp_path, **HOSTING) as house, running(house, tmp_path):
        ada = await Author.of_new_bot(house)
        await ada.push(version="good")
        await ada.until(state="accepted", runner="one")
        await ada.push("def bot(view): return 7", version="bad")
        await ada.until(state="rejected")
        await play_against(house)
        (match,) = await house.arena.store.matches(Wanted(status="ended"))
        assert dict(zip(match.players, match.versions, strict=True))["ada"] == "good"


async def test_options_of_a_project_choose_its_ladder(tmp_path: Path) -> None:
    first_free = """
def bot(view):
    board = view["board"]
    assert len(board) == view["size"] == 7
    return next({"x": x, "y": y} for y in range(7) for x in range(7) if board[y][x] == ".")
"""
    async with server(tmp_path, hosting_uploads="everybody") as house, running(house, tmp_path):
        _, token = await house.arena.register("gomoku", "ada", "")
        ada = Author(house, "ada", token)

        async def push(options: str) -> None:
            toml = f'command = "bot.py"\noptions = {options}'.encode()
            files = {"bot.py": PackedFile(first_free.encode()), "bot.toml": PackedFile(toml)}
            await ada.ask("POST", content=packed(files))

        await push("{ size = 7, win_length = 9 }")
        report = (await ada.until(state="rejected"))["report"]
        assert report.startswith("the options of bot.toml: ")
        await push("{ size = 7, win_length = 4 }")
        report = (await ada.until(state="accepted"))["report"]
        assert report.endswith('plays with {"size": 7, "win_length": 4}')
        wish = Wish("gomoku", options='{"size":7,"win_length":4}', ladder=True)
        await until(lambda: [one.wish for one in house.desk.seekers(9)] == [wish])


FAILS_AGAINST_BOB = f"""{FIRST_FREE}
play = bot
class Bot:
    def begin(self, match):
        if "bob" in match["players"]:
            raise ValueError("I fear bob")
    def move(self, view):
        return play(view)
del bot
"""


async def test_a_bot_that_fails_in_three_matches_in_a_row_is_paused(tmp_path: Path) -> None:
    async with server(tmp_path, **HOSTING) as house, running(house, tmp_path):
        ada = await Author.of_new_bot(house)
        await ada.push(FAILS_AGAINST_BOB)
        await ada.until(state="accepted")
        login = await registered(house, "bob") | {"opponent": "ada"}
        for _ in range(3):
            async with bot(house, login) as one:
                await play_noughts(one, "bob")
        paused = (await ada.until(runner=None))["paused"]
        assert paused.startswith("the bot failed in 3 matches in a row; last: crash: ")
        assert "I fear bob" in paused
        matches = await house.arena.store.matches(Wanted(status="ended"))
        places = [dict(zip(m.players, m.result.places, strict=True)) for m in matches if m.result]
        assert [place["ada"] for place in places] == [2, 2, 2], "each is a loss"
        async with bot(house, {"gameType": "NOUGHTS_AND_CROSSES", "name": "ada",
                               "password": ada.token}):  # fmt: skip
            pass  # a paused bot may log in by itself


async def test_the_bots_of_a_killed_runner_move_to_another_one(tmp_path: Path) -> None:
    async with server(tmp_path, **HOSTING) as house:
        ada = await Author.of_new_bot(house)
        await ada.push()
        token = tmp_path / "token"
        token.write_text(await house.arena.hosting.add_runner("killed"))
        words = ["runner", "--server", house.url, "--token", str(token)]
        words += ["--cache", str(tmp_path / "builds of killed")]
        process = await asyncio.create_subprocess_exec(*BOTDROME, *words)
        await ada.until(state="accepted", runner="killed")
        login = await registered(house, "bob") | {"opponent": "ada"}
        async with bot(house, login) as one:
            await one.receive()  # the match has begun
            processes = [process.pid, *descendants(process.pid)]
            process.kill()
            await process.wait()
            await until(lambda: not any(map(_lives, processes)))
            async with running(house, tmp_path, "other"):
                hosting = house.arena.hosting
                hosting.clock = lambda: time() + LEASE + 1
                await ada.until(runner="other")
                hosting.clock = time
                await play_noughts(one, "bob")  # it ends by the rules for lost connections
                await play_against(house, "eve")
                matches = await house.arena.store.matches(Wanted(oldest_first=True))
                assert [bool(match.void) for match in matches] == [True, False]


def _lives(process: int) -> bool:
    try:
        return ") Z " not in Path(f"/proc/{process}/stat").read_text()
    except OSError:
        return False


async def test_a_runner_goes_on_when_its_server_was_restarted(tmp_path: Path) -> None:
    async with server(tmp_path, **HOSTING) as house:
        ada, port = await Author.of_new_bot(house), house.port
        await ada.push()
        context = running(house, tmp_path)
        await context.__aenter__()
        await ada.until(state="accepted", runner="one")
    async with server(tmp_path, **HOSTING, port=port) as house:
        ada = Author(house, "ada", ada.token)
        await ada.until(state="accepted", runner="one")
        await play_against(house)
        await context.__aexit__(None, None, None)
        assert (await ada.uploads())[0]["runner"] is None, "a runner that stops gives all back"


async def test_an_author_pauses_switches_and_deletes_versions(tmp_path: Path) -> None:
    async with server(tmp_path, **HOSTING) as house, running(house, tmp_path):
        ada = await Author.of_new_bot(house)
        await ada.push(version="first")
        await ada.until(state="accepted", runner="one")
        await ada.push(FIRST_FREE + "#", version="second")
        await ada.until(state="accepted", active=True, runner="one")
        assert (await ada.ask("PUT", json={"active": 1})).status_code == 200
        await ada.until(number=2, active=False, runner=None)
        await play_against(house)
        (match,) = await house.arena.store.matches(Wanted(status="ended"))
        assert dict(zip(match.players, match.versions, strict=True))["ada"] == "first"
        await ada.ask("PUT", json={"paused": True})
        found = await ada.uploads()
        assert found[1]["paused"] == "paused by its author"
        await ada.ask("DELETE", json={"number": 2})
        assert [one["number"] for one in await ada.uploads()] == [1]
        await ada.until(number=1, runner=None)
        await ada.ask("PUT", json={"paused": False})
        await ada.until(number=1, runner="one")


async def test_a_runner_with_a_wrong_token_ends(tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("wrong")
    async with server(tmp_path, **HOSTING) as house:
        process = await asyncio.create_subprocess_exec(
            *BOTDROME, "runner", "--server", house.url, "--token", str(token),
            "--cache", str(tmp_path / "builds"), stderr=asyncio.subprocess.PIPE,
        )  # fmt: skip
        _, told = await process.communicate()
        assert process.returncode == 1
        assert b"that is not the token of a runner" in told


async def test_a_signal_gives_all_bots_back(tmp_path: Path) -> None:
    async with server(tmp_path, **HOSTING) as house:
        ada = await Author.of_new_bot(house)
        await ada.push()
        token = tmp_path / "token"
        token.write_text(await house.arena.hosting.add_runner("one"))
        process = await asyncio.create_subprocess_exec(
            *BOTDROME, "runner", "--server", house.url, "--token", str(token),
            "--cache", str(tmp_path / "builds"),
        )  # fmt: skip
        await ada.until(state="accepted", runner="one")
        process.send_signal(signal.SIGTERM)
        assert await process.wait() == 0
        assert (await ada.uploads())[0]["runner"] is None


async def test_faults_of_the_runner_and_the_server_do_not_reject_an_upload(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    faults: list[Exception] = [ServerProblem("busy", 503), OSError("disk full")] * 2

    class Flaky(RestServer):
        def get(self, path: str, *rest: Any) -> Any:
            if path == "runner/archive" and faults:
                raise faults.pop()
            return super().get(path, *rest)

    monkeypatch.setattr(hosted, "RestServer", Flaky)
    monkeypatch.setattr(runners, "LATER", 0.0)
    monkeypatch.setattr(runners, "KEPT_BUILDS", 0)
    builds = tmp_path / "builds of one"
    for name in ("old", f"building-{os.getpid()}-x", "building-1-y"):
        (builds / name).mkdir(parents=True)
    async with server(tmp_path, **HOSTING) as house, running(house, tmp_path):
        ada = await Author.of_new_bot(house)
        await ada.push()
        one = await ada.until(state="accepted")
        left = {path.name for path in builds.iterdir()}
    assert faults == []
    assert left == {one["hash"], "building-1-y"}, "a runner that lives may need it"


async def test_a_bot_that_the_server_refuses_for_a_while_is_not_paused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused: list[Join] = []

    class Refused(Join):
        async def run(self) -> None:
            if not refused:
                refused.append(self)
                raise Unwelcome("too many bots")
            await super().run()

    monkeypatch.setattr(runners, "Join", Refused)
    monkeypatch.setattr(runners, "LATER", 0.0)
    async with server(tmp_path, **HOSTING) as house, running(house, tmp_path):
        ada = await Author.of_new_bot(house)
        await ada.push()
        await ada.until(state="accepted")
        await play_against(house)
        assert refused and (await ada.uploads())[0]["paused"] == ""


async def test_a_lease_that_ends_in_a_match_leaves_no_process(tmp_path: Path) -> None:
    async with server(tmp_path, **HOSTING) as house, running(house, tmp_path):
        ada = await Author.of_new_bot(house)
        await ada.push()
        await ada.until(state="accepted", runner="one")
        async with bot(house, await registered(house, "bob") | {"opponent": "ada"}) as one:
            await one.receive()  # the match has begun
            await until(sandboxes)
            await ada.ask("DELETE", json={"number": 1})
            await until(lambda: not sandboxes())


async def test_the_process_of_a_bot_stays_while_it_is_busy_and_ends_when_it_is_idle(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runners, "IDLE", 1000.0)
    async with server(tmp_path, **HOSTING) as house, running(house, tmp_path):
        ada = await Author.of_new_bot(house)
        await ada.push()
        await ada.until(state="accepted", runner="one")
        assert sandboxes() == [], "it starts with its first match"
        seen = []
        for number in range(1, 4):
            await play_against(house, f"bob{number}")
            async with asyncio.timeout(PATIENCE):
                while len((await ada.ask("GET", "upload-logs")).json()["logs"]) < number:
                    await asyncio.sleep(PAUSE)
            seen.append(sandboxes())
            leap(600)
        assert seen[0] and seen == [seen[0]] * 3
        leap(600)
        await until(lambda: not sandboxes())


async def test_a_check_has_a_time_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runners, "CHECKING", 0.0)
    async with server(tmp_path, **HOSTING) as house, running(house, tmp_path):
        ada = await Author.of_new_bot(house)
        await ada.push()
        report = (await ada.until(state="rejected"))["report"]
        assert report == "the check takes more than 0 s"


def test_a_beat_does_not_wait_for_a_server_that_hangs() -> None:
    with socket.create_server(("127.0.0.1", 0)) as hangs:
        rest = RestServer(f"127.0.0.1:{hangs.getsockname()[1]}", timeout=0.01)
        with pytest.raises(ServerProblem, match="timed out"):
            rest.get("runner/beats", "token", {})


def test_texts_are_cut_to_what_a_request_takes() -> None:
    whole = "\N{GRINNING FACE}" * 10_000 + "end"
    kept = runners.end_of(whole)
    assert whole.endswith(kept) and kept.endswith("end")
    assert runners.KEPT_TEXT // 2 < len(json.dumps(kept)) <= runners.KEPT_TEXT
    assert runners.end_of("short") == "short"
