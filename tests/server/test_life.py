"""A server as a process: start, stop, crash, and the state afterwards."""

import asyncio
import json
import re
import signal
import ssl
import subprocess
import sys
import urllib.request
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import WebSocketException

from botdrome.store.entries import Wanted
from tests.cli.commands import run
from tests.patience import until
from tests.server.clients import (
    NOTICES,
    PATIENCE,
    Client,
    bot,
    client,
    pair,
    play_noughts,
    registered,
    server,
)

pytestmark = pytest.mark.anyio
BOTDROME = [sys.executable, "-c", "from botdrome.cli.app import main; main()"]


class Process:
    """`botdrome serve` as its users start it."""

    def __init__(self, process: asyncio.subprocess.Process, url: str, screen: str) -> None:
        self.process, self.url, self.screen = process, url, screen

    async def end(self, number: signal.Signals) -> int:
        self.process.send_signal(number)
        return await asyncio.wait_for(self.process.wait(), PATIENCE)

    async def graphql(self, query: str) -> Any:
        async with httpx.AsyncClient() as http:
            answer = await http.post(
                self.url.replace("ws", "http", 1) + "/graphql", json={"query": query}
            )
            return answer.json()["data"]

    async def register(self, name: str, game: str = "NOUGHTS_AND_CROSSES") -> dict[str, Any]:
        query = (
            f'mutation {{ registerBot(gameType: {game}, name: "{name}", owner: "me") {{ '
            f"password }} }}"
        )
        data = await self.graphql(query)
        return {"gameType": game, "name": name, "password": data["registerBot"]["password"]}


@asynccontextmanager
async def serving(folder: Path, *words: str) -> AsyncIterator[Process]:
    command = [
        *BOTDROME,
        "serve",
        "--port",
        "0",
        "--db",
        f"sqlite:///{folder / 'life.db'}",
        "--set",
        "match_start_delay=0",
        *words,
    ]
    process = await asyncio.create_subprocess_exec(*command, stderr=asyncio.subprocess.PIPE)
    assert process.stderr is not None
    screen = ""
    try:
        while "Ctrl-C stops" not in screen:
            line = await asyncio.wait_for(process.stderr.readline(), PATIENCE)
            assert line, f"the server did not start: {screen}"
            screen += line.decode()
        found = re.search(r"ws://127\.0\.0\.1:\d+", screen)
        assert found is not None
        yield Process(process, found[0], screen)
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


@asynccontextmanager
async def playing(url: str, login: dict[str, Any]) -> AsyncIterator[Client]:
    async with connect(url) as socket:
        one = Client(socket)
        await one.send(login)
        assert (await one.receive())["authentication"] == "OK"
        yield one


async def test_the_start_up_screen_says_what_listens_and_how_to_register(tmp_path: Path) -> None:
    async with serving(tmp_path) as running:
        assert f"{running.url.replace('ws', 'http', 1)}/graphql" in running.screen
        assert "registerBot" in running.screen
        assert "life.db" in running.screen
        assert await running.end(signal.SIGTERM) == 0


async def test_the_command_of_the_start_up_screen_registers_a_bot(tmp_path: Path) -> None:
    async with serving(tmp_path) as running:
        command = next(line for line in running.screen.splitlines() if "curl" in line)
        answer = await asyncio.to_thread(
            subprocess.run, command, shell=True, capture_output=True, check=True
        )
        assert len(json.loads(answer.stdout)["data"]["registerBot"]["password"]) == 64


async def test_sigterm_lets_running_matches_end_and_lets_nobody_in(tmp_path: Path) -> None:
    async with serving(tmp_path, "--set", "drain=60") as running:
        ada, bob = await running.register("ada"), await running.register("bob")
        cleo = await running.register("cleo", "GOMOKU") | NOTICES
        async with (
            playing(running.url, ada) as one,
            playing(running.url, bob) as two,
            playing(running.url, cleo) as three,
        ):
            first = await one.receive()
            running.process.send_signal(signal.SIGTERM)
            assert (await three.until_closed())[:2] == ([{"error": "the server is stopping"}], 1001)
            await one.send({"mark": "X", "space": [0, 0]})
            assert first["state"]["result"] is None
            last, _ = await asyncio.gather(play_noughts(one, "ada"), play_noughts(two, "bob"))
            assert last["state"]["result"]["reason"] == "complete"
            assert [(await player.until_closed())[1] for player in (one, two)] == [1000, 1000]
        assert await asyncio.wait_for(running.process.wait(), PATIENCE) == 0


async def test_what_runs_too_long_is_stored_as_aborted(tmp_path: Path) -> None:
    async with server(tmp_path, drain=0.0) as house, pair(house) as (ada, _):
        await house.desk.close()
        messages, code, _ = await ada.until_closed()
        assert messages[-1]["state"]["result"]["victor"] is None
        assert code == 1000
        (match,) = await house.arena.store.matches(Wanted())
        assert (match.status, match.reason) == ("aborted", "the server was stopped")


async def test_a_match_that_has_not_begun_when_the_server_stops_never_begins(
    tmp_path: Path,
) -> None:
    async with server(tmp_path, drain=0.0, match_start_delay=3600.0) as house:
        ada, bob = [await registered(house, name) for name in ("ada", "bob")]
        async with bot(house, ada) as one, bot(house, bob):
            await house.desk.close()
            messages, code, _ = await one.until_closed()
            assert [message["state"]["result"]["victor"] for message in messages] == [None]
            assert code == 1000


async def test_a_second_signal_ends_at_once(tmp_path: Path) -> None:
    async with serving(tmp_path, "--set", "drain=600") as running:
        ada, bob = await running.register("ada"), await running.register("bob")
        async with playing(running.url, ada) as one, playing(running.url, bob):
            await one.receive()
            running.process.send_signal(signal.SIGTERM)
            async with httpx.AsyncClient() as http:
                url = running.url.replace("ws", "http", 1)
                while (await http.get(f"{url}/healthz")).is_success and (
                    await http.get(f"{url}/readyz")
                ).is_success:
                    pass
            assert await running.end(signal.SIGTERM) == -signal.SIGTERM


async def test_after_a_crash_everything_that_was_told_is_there_once(tmp_path: Path) -> None:
    """Bots play one match after another; the server is killed in the middle."""
    told = 0

    async def play_on(url: str, login: dict[str, Any]) -> None:
        nonlocal told
        while True:
            async with playing(url, login) as one:
                await play_noughts(one, login["name"])
                told += 1

    async with serving(tmp_path) as running:
        logins = [await running.register(name) for name in ("ada", "bob", "cleo", "dan")]
        work = [asyncio.create_task(play_on(running.url, login)) for login in logins]
        await until(lambda: told >= 40)
        assert await running.end(signal.SIGKILL) == -signal.SIGKILL
        for result in await asyncio.gather(*work, return_exceptions=True):
            assert isinstance(result, WebSocketException | OSError), result
    async with serving(tmp_path) as running:
        data = await running.graphql(
            "{ games(gameType: NOUGHTS_AND_CROSSES) { ... on NoughtsAndCrossesGame { id status "
            "result { reason } } } }"
        )
        games = data["games"]
        assert len({game["id"] for game in games}) == len(games)
        ended = [game for game in games if game["result"]]
        assert 2 * len(ended) >= told
        assert all(game["status"] in ("ENDED", "ABORTED", "ended", "aborted") for game in games), (
            "nothing runs for ever"
        )
        async with playing(running.url, logins[0]) as one, playing(running.url, logins[1]) as two:
            await asyncio.gather(play_noughts(one, "ada"), play_noughts(two, "bob"))


async def test_health_readiness_and_metrics(tmp_path: Path) -> None:
    async with (
        server(tmp_path) as house,
        pair(house),
        httpx.AsyncClient(base_url=house.url) as http,
    ):
        assert (await http.get("/healthz")).status_code == 200
        assert (await http.get("/readyz")).text == "ready\n"
        text = (await http.get("/metrics")).text
        for name in (
            "connections",
            "tables",
            "moves",
            "beat_lateness_seconds",
            "store_seconds",
            "waiting",
        ):
            assert f"botdrome_{name}" in text
        assert "botdrome_tables 1.0" in text
        house.desk.closing = True
        assert (await http.get("/readyz")).status_code == 503


async def test_two_servers_cannot_have_one_port(tmp_path: Path) -> None:
    async with serving(tmp_path) as running:
        port = running.url.rpartition(":")[2]
        command = [*BOTDROME, "serve", "--port", port, "--db", f"sqlite:///{tmp_path / 'other.db'}"]
        process = await asyncio.create_subprocess_exec(*command, stderr=asyncio.subprocess.PIPE)
        _, screen = await asyncio.wait_for(process.communicate(), PATIENCE)
        assert process.returncode == 2
        assert b"port: cannot listen on 127.0.0.1" in screen.replace(b"\n", b" ")


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["--set", "colour=red"], "there is no setting 'colour'"),
        (["--set", "colour"], "a setting is KEY=VALUE, not 'colour'"),
        (["--db", "mysql://x"], "db: mysql://x: "),
        (["--db", "sqlite:////dev/null/x.db"], "db: sqlite:////dev/null/x.db: "),
        (
            ["--db", "postgresql://nobody:x@127.0.0.1:1/x"],
            "db: postgresql://nobody:***@127.0.0.1:1/x: ",
        ),
        (["--host", "no.such.host.invalid"], "host: cannot listen on 'no.such.host.invalid'"),
        (["--config", "/no/such/file.toml"], "No such file"),
        (["--tls-cert", "/no/such/cert.pem"], "tls.key: it has to be given with tls.cert"),
        (
            ["--set", "tls_key=/no/such/[key].pem", "--set", "tls_cert=/dev/null"],
            "tls.key: /no/such/[key].pem: No such file",
        ),
    ],
)
def test_settings_that_cannot_be_are_named_and_nothing_starts(
    tmp_path: Path, words: list[str], problem: str
) -> None:
    database = [] if "--db" in words else ["--db", f"sqlite:///{tmp_path / 'x.db'}"]
    result = run("serve", "--port", "0", *database, *words)
    assert result.exit_code == 2
    assert problem in result.stderr
    assert "Traceback" not in result.stderr


async def test_tls_by_certificate_files(tmp_path: Path) -> None:
    cert, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    make = [
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "rsa:2048",
        "-nodes",
        "-days",
        "2",
        "-subj",
        "/CN=localhost",
    ]
    await asyncio.to_thread(
        subprocess.run,
        [*make, "-keyout", str(key), "-out", str(cert)],
        check=True,
        capture_output=True,
    )
    trusting = ssl.create_default_context(cafile=str(cert))
    trusting.check_hostname = False
    async with server(tmp_path, tls_cert=str(cert), tls_key=str(key)) as house:
        login = await registered(house, "ada")
        async with connect(house.url.replace("http", "ws", 1), ssl=trusting) as socket:
            one = Client(socket)
            await one.send(login)
            assert (await one.receive())["authentication"] == "OK"
        answer = await asyncio.to_thread(
            urllib.request.urlopen, f"{house.url}/healthz", context=trusting
        )
        assert answer.read() == b"ok\n"
        answer.close()


async def test_http_and_bots_share_the_port_and_any_path(tmp_path: Path) -> None:
    async with server(tmp_path) as house:
        login = await registered(house, "ada")
        for path in ("/", "/graphql", "/anything/else?x=1"):
            async with bot(house, login, path):
                pass
        async with client(house, "/watch/nothing") as spectator:
            messages, code, _ = await spectator.until_closed()
            assert "error" in messages[0]
            assert code is not None
