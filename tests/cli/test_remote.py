"""`botdrome watch` and `botdrome why` against a real server."""

import asyncio
from pathlib import Path

import pytest

from botdrome.store.store import Wanted
from tests.cli.commands import run_beside
from tests.match.telling import mark
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
        while not house.desk.tables.live()[0].spectators:
            await asyncio.sleep(0)
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
        result = await run_beside("why", match.id, "--token", logins[1]["password"], "--server", house.url)
        assert result.exit_code == 0
        headline, *_ = result.stdout.splitlines()
        assert headline == "bob lost at step 1: space [1, 1] is taken, third illegal move"
        assert result.stdout.count("illegal: space [1, 1] is taken, after ") == 3
        assert "the end: illegal moves" in result.stdout
        result = await run_beside("why", match.id, "--token", logins[0]["password"], "--server", house.url)
        assert result.stdout.startswith("ada won at step 1: the opponent is out: space [1, 1] is taken, third illegal move\n")
        assert "accepted, after" in result.stdout
        for words in ([], ["--token", "wrong"], ["--token", logins[0]["password"], "--seat", "1"]):
            result = await run_beside("why", match.id, *words, "--server", house.url)
            assert result.exit_code == 1
            assert result.stdout == ""
            assert result.stderr.startswith("botdrome: ")


async def test_why_knows_the_tokens_that_are_kept_here(tmp_path: Path) -> None:
    async with server(tmp_path) as house:
        words = ("--game", "noughts-and-crosses", "--server", house.url)
        await run_beside("challenge", "house:random", "house:perfect", "--name", "ada", *words)
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
