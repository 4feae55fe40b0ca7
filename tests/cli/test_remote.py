"""`botdrome watch` and `botdrome why` against a real server."""

import asyncio
from pathlib import Path

import pytest

from botdrome.store.entries import Wanted
from tests.cli.commands import run, run_beside
from tests.match.telling import mark
from tests.patience import until
from tests.server.clients import bot, pair, play_noughts, registered, server

pytestmark = pytest.mark.anyio


@pytest.fixture(autouse=True)
def _config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


async def test_a_match_that_runs_is_watched_to_its_end(tmp_path: Path) -> None:
    async with server(tmp_path) as house, pair(house) as (ada, bob):
        (live,) = house.desk.tables.live()
        watching = asyncio.create_task(run_beside("watch", live.id, "--server", house.url))
        await until(lambda: house.desk.tables.live()[0].spectators)
        await ada.send(mark(0, 1, 1))
        await bob.receive()
        await bob.socket.close()
        result = await watching
        assert result.exit_code == 0
        assert "noughts-and-crosses  step 1" in result.stdout
        assert "ada wins" in result.stdout


async def test_a_match_that_is_over_is_shown_again(tmp_path: Path) -> None:
    async with server(tmp_path) as house:
        logins = [await registered(house, name) for name in ("ada", "bob")]
        async with bot(house, logins[0]) as one, bot(house, logins[1]) as two:
            await asyncio.gather(play_noughts(one, "ada"), play_noughts(two, "bob"))
        (match,) = await house.arena.store.matches(Wanted())
        result = await run_beside("watch", match.id, "--server", house.url)
        assert result.exit_code == 0
        assert "ada wins" in result.stdout


async def test_a_match_that_is_not_there_cannot_be_watched(tmp_path: Path) -> None:
    async with server(tmp_path) as house:
        result = await run_beside("watch", "nothing", "--server", house.url)
        assert result.exit_code == 1
        assert "nothing" in result.stderr
    result = await run_beside("watch", "nothing", "--server", "http://127.0.0.1:1")
    assert result.exit_code == 1
    assert "127.0.0.1" in result.stderr


async def test_why_did_my_bot_lose(tmp_path: Path) -> None:
    async with server(tmp_path) as house:
        logins = [await registered(house, name) for name in ("ada", "bob")]
        async with bot(house, logins[0]) as one, bot(house, logins[1]) as two:
            await one.receive()
            await one.send(mark(0, 1, 1))
            await two.receive()
            await two.receive()
            for _ in range(3):
                await two.send(mark(1, 1, 1))
            await two.until_closed()
        (match,) = await house.arena.store.matches(Wanted())
        result = await run_beside(
            "why", match.id, "--token", logins[1]["password"], "--server", house.url
        )
        assert result.exit_code == 0
        headline, *_ = result.stdout.splitlines()
        assert headline == "bob lost at step 1: space [1, 1] is taken, third illegal move"
        assert result.stdout.count("illegal: space [1, 1] is taken, after ") == 3
        assert "the end: illegal moves" in result.stdout
        result = await run_beside(
            "why", match.id, "--token", logins[0]["password"], "--server", house.url
        )
        assert result.stdout.startswith(
            "ada won at step 1: the opponent is out: space [1, 1] is taken, third illegal move\n"
        )
        assert "accepted, after" in result.stdout
        for words in ([], ["--token", "wrong"], ["--token", logins[0]["password"], "--seat", "1"]):
            result = await run_beside("why", match.id, *words, "--server", house.url)
            assert result.exit_code == 1
            assert result.stdout == ""
            assert result.stderr.startswith("botdrome: ")


async def test_why_knows_the_tokens_that_are_kept_here(tmp_path: Path) -> None:
    async with server(tmp_path) as house:
        words = ("--against", "house:random", "--games", "1", "--server", house.url)
        await run_beside("join", "noughts-and-crosses", "house:perfect", "--name", "ada", *words)
        (match,) = await house.arena.store.matches(Wanted())
        result = await run_beside("why", match.id, "--server", house.url)
        assert result.exit_code == 0
        assert result.stdout.startswith("ada ")
        assert result.stdout.splitlines()[-1] == "the end: complete"


@pytest.mark.parametrize("command", ["why", "watch"])
async def test_an_address_that_makes_no_sense_is_refused(command: str) -> None:
    result = await run_beside(command, "m1", "--server", "ftp://x")
    assert result.exit_code == 2
    assert "ftp://x is not the address of a server" in result.stderr


async def test_why_tells_what_decided_a_match_on_a_server(tmp_path: Path) -> None:
    async with server(tmp_path) as house:
        logins = [await registered(house, name) for name in ("ada", "bob")]
        async with bot(house, logins[0]) as one, bot(house, logins[1]) as two:
            await asyncio.gather(play_noughts(one, "ada"), play_noughts(two, "bob"))
        (match,) = await house.arena.store.matches(Wanted())
        result = await run_beside(
            "why", match.id, "--token", logins[1]["password"], "--server", house.url
        )
        headline, verdict, hint, *_ = result.stdout.splitlines()
        assert headline == "bob lost at step 7"
        assert verdict == "What decided it: ada has three in a row: [0, 2], [1, 1], [2, 0]."
        assert (
            hint == f"The last step at which it could still be saved: botdrome blunders {match.id} "
            f"--server {house.url}"
        )


def test_why_of_a_match_file(tmp_path: Path) -> None:
    folder = str(tmp_path / "my matches")
    run("play", "noughts-and-crosses", "house:perfect", "house:random", "-n", "1", "--save", folder)
    file = f"{folder}/noughts-and-crosses-1-00001.jsonl"
    result = run("why", file)
    one, two, verdict, hint = result.stdout.splitlines()
    assert result.exit_code == 0
    assert one.startswith("house:perfect won at step ") and two.startswith(
        "house:random lost at step "
    )
    assert verdict.startswith("What decided it: house:perfect has three in a row: [")
    assert hint == f"The last step at which it could still be saved: botdrome blunders '{file}'"
    assert run("why", file, "--seat", "0").stdout.splitlines() == [one, verdict]
    wrong = run("why", file, "--seat", "2")
    problem = "botdrome: the players are 0 house:perfect, 1 house:random; there is no player 2\n"
    assert (wrong.exit_code, wrong.stderr) == (2, problem)
    missing = run("why", "nothing.jsonl")
    assert missing.exit_code == 1 and "nothing.jsonl: " in missing.stderr
    Path(file).write_text("no match\n")
    assert run("why", file).exit_code == 1
