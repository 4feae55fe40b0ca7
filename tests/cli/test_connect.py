"""`botdrome connect`: a bot that the server cannot reach is called all the same."""

import asyncio
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from botdrome.app import RunningServer
from botdrome.cli.app import app
from botdrome.client.rest import socket_url
from botdrome.client.tunnel import TunnelClient, Unwanted
from botdrome.server.calling.bot_connection import CallFailed
from tests.cli.commands import run_beside
from tests.server.calling.hosts import answer, host
from tests.server.clients import PATIENCE, bot, deaf_port, play_noughts, registered, server
from tests.server.lobby.test_connect import callers_of
from tests.server.lobby.url_hosts import url_bot
from tests.server.rooms.cube.clients import game, organiser

pytestmark = pytest.mark.anyio
BOTDROME = [sys.executable, "-c", "from botdrome.cli.app import main; main()"]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class Told:
    """A tunnel's message."""

    def __init__(self) -> None:
        self.words: list[str] = []
        self._more = asyncio.Event()

    def __call__(self, words: str) -> None:
        self.words.append(words)
        self._more.set()

    async def until(self, beginning: str, times: int = 1) -> None:
        async with asyncio.timeout(PATIENCE):
            while sum(words.startswith(beginning) for words in self.words) < times:
                self._more.clear()
                await self._more.wait()


@asynccontextmanager
async def tunnel(url: str, local: str, login: dict[str, Any]) -> AsyncIterator[Told]:
    told = Told()
    running = asyncio.ensure_future(
        TunnelClient(url, local, login["name"], login["password"], told).run((0.01,))
    )
    try:
        await told.until("connected")
        yield told
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


async def a_match(house: RunningServer, name: str = "ada") -> Any:
    async with bot(house, await registered(house, name) | {"opponent": "called"}) as one:
        return await play_noughts(one, name)


async def test_a_bot_behind_a_tunnel_plays(tmp_path: Path) -> None:
    async with server(tmp_path) as house, url_bot() as local:
        login = await registered(house, "called")
        async with tunnel(house.url, local.url, login):
            last = await a_match(house)
            assert last["state"]["result"]["reason"] == "complete"
            await asyncio.wait_for(local.ended.get(), PATIENCE)
        asked = local.host.asked[-1]
        assert asked.headers["content-type"] == "application/json"
        assert asked.headers["x-botdrome-bot"] == "called"


async def test_any_call_can_go_through_the_tunnel(tmp_path: Path) -> None:
    async with server(tmp_path) as house, host(answer(b'[{"task":"NOOP"}]', "418 Teapot")) as local:
        async with tunnel(
            house.url, local.url + "path?x=1", await registered(house, "called", "battlecube")
        ):
            got = await callers_of(house).post("connect:called", b'{"currentPlayer": 1}', PATIENCE)
            assert (got.status, got.body) == (418, b'[{"task":"NOOP"}]')
        assert local.asked[0].line == "POST /path?x=1 HTTP/1.1"
        assert local.asked[0].body == b'{"currentPlayer": 1}'


async def test_a_battlecube_game_is_played_through_the_tunnel(tmp_path: Path) -> None:
    async with server(tmp_path) as house, host(answer(b'[{"task":"NOOP"}]')) as local:
        login = await registered(house, "called", "battlecube")
        async with tunnel(house.url, local.url, login), organiser(house) as one:
            wanted = game(("called", "connect:called"), ("near", local.url), maxNumOfTicks=3)
            wanted["players"][0]["token"] = login["password"]
            await one.emit("NEW_GAME", wanted)
            events = await one.until("GAME_ENDED")
        assert [event for event, _ in events].count("PLAYER_DID_NOTHING") == 6
        assert len(local.asked) == 6


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (answer(b"\xff"), "the answer is not UTF-8"),
        (answer(b"x" * 70_000), "the answer is larger than"),
        (answer(b'"' * 40_000), "the answer is larger than"),
        (b"hello\r\n\r\n", "hello"),
    ],
)
async def test_what_the_bot_should_not_say(tmp_path: Path, said: bytes, words: str) -> None:
    async with (
        server(tmp_path) as house,
        host(said) as local,
        tunnel(house.url, local.url, await registered(house, "called")),
    ):
        with pytest.raises(CallFailed, match=words):
            await callers_of(house).post("connect:called", b"{}", PATIENCE)


async def test_a_bot_that_does_not_run_is_said_to_refuse(tmp_path: Path) -> None:
    with deaf_port() as port:
        url = f"http://127.0.0.1:{port}/"
        async with (
            server(tmp_path) as house,
            tunnel(house.url, url, await registered(house, "called")),
        ):
            with pytest.raises(CallFailed, match="Connection refused"):
                await callers_of(house).post("connect:called", b"{}", PATIENCE)
            async with bot(house, await registered(house, "ada") | {"opponent": "called"}) as one:
                assert await one.receive() == {"error": "called does not answer"}


async def test_it_connects_again_when_the_server_does(tmp_path: Path) -> None:
    async with url_bot() as local:
        async with server(tmp_path) as house:
            port, login = house.port, await registered(house, "called")
            running = tunnel(house.url, local.url, login)
            told = await running.__aenter__()
        await told.until("not connected")
        async with server(tmp_path, port=port) as house:
            await told.until("connected", 2)
            assert (await a_match(house, "bob"))["state"]["result"]["reason"] == "complete"
            await running.__aexit__(None, None, None)


async def test_entered_in_a_contest_it_comes_when_it_connects(tmp_path: Path) -> None:
    async with url_bot() as local:
        async with server(tmp_path) as house:
            login = await registered(house, "called")
            async with tunnel(house.url, local.url, login):
                found = await house.arena.store.bot("called")
                assert found is not None
                await house.arena.url_bots.enter(found, "cup")
        async with (
            server(tmp_path) as house,
            bot(house, await registered(house, "ada") | {"contest": "cup"}) as one,
            tunnel(house.url, local.url, login),
        ):
            await play_noughts(one, "ada")


async def test_a_wrong_password_and_a_second_tunnel_end_it(tmp_path: Path) -> None:
    async with server(tmp_path) as house, url_bot() as local:
        login = await registered(house, "called")
        with pytest.raises(Unwanted, match="the name or the password is wrong"):
            await TunnelClient(house.url, local.url, "called", "wrong", print).run()
        first = asyncio.ensure_future(
            TunnelClient(house.url, local.url, "called", login["password"], told := Told()).run()
        )
        await told.until("connected")
        async with tunnel(house.url, local.url, login):
            with pytest.raises(Unwanted, match="another connection carries the calls now"):
                await asyncio.wait_for(first, PATIENCE)


@pytest.mark.parametrize(
    ("server_url", "socket"),
    [
        ("http://127.0.0.1:3000", "ws://127.0.0.1:3000/connect"),
        ("https://arena.example/", "wss://arena.example/connect"),
        ("arena.example:3000", "ws://arena.example:3000/connect"),
        ("wss://arena.example", "wss://arena.example/connect"),
    ],
)
def test_where_the_server_is(server_url: str, socket: str) -> None:
    assert socket_url(server_url, "/connect") == socket


@pytest.mark.parametrize("word", ["10.0.0.0/99", "http://bots.example.org", "10.0.0"])
def test_the_server_does_not_start_with_an_address_that_makes_no_sense(
    tmp_path: Path, word: str
) -> None:
    words = [
        "serve",
        "--port",
        "0",
        "--db",
        f"sqlite:///{tmp_path / 'x.db'}",
        "--allow-bots",
        "10.0.0.0/8",
        "--allow-bots",
        word,
    ]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 2
    assert f"calls.allow: neither a network nor a host: '{word}'" in result.stderr


async def test_the_command(tmp_path: Path) -> None:
    async with server(tmp_path) as house, url_bot() as local:
        token = (await registered(house, "called"))["password"]
        words = ("called", "--server", house.url, "--local", local.url, "--token", token)
        process = await asyncio.create_subprocess_exec(
            *BOTDROME, "connect", *words, stderr=asyncio.subprocess.PIPE
        )
        assert process.stderr is not None
        said = (await asyncio.wait_for(process.stderr.readline(), 3 * PATIENCE)).decode()
        assert said == f"connected: calls for called go to {local.url}\n"
        assert (await a_match(house))["state"]["result"]["reason"] == "complete"
        process.send_signal(signal.SIGTERM)
        assert await asyncio.wait_for(process.wait(), PATIENCE) == 0


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (("called", "--token", "wrong", "--server", "URL"), 1, "the name or the password is wrong"),
        (
            ("called", "--token", "x", "--server", "ftp://x"),
            2,
            "ftp://x is not the address of a server",
        ),
        (("called", "--token", "x", "--local", "8080"), 2, "8080 is not the address of a bot"),
    ],
)
async def test_the_command_says_what_is_wrong(
    tmp_path: Path, words: tuple[str, ...], status: int, said: str
) -> None:
    async with server(tmp_path) as house:
        result = await run_beside(
            "connect", *(house.url if word == "URL" else word for word in words)
        )
        assert result.exit_code == status
        assert said in result.stderr
