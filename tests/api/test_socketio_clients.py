"""The real clients of socket.io, of four versions and with every transport, against a
real server.
"""

import asyncio
import json
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from tools.socketio import CLIENTS, install_clients, node

from tests.api.socketio_rig import PATIENCE, Rig, rig

pytestmark = pytest.mark.anyio

SCRIPT = Path(__file__).parent / "socketio_clients" / "client.js"
VERSIONS = ["2.0.3", "2.5.0", "3.1.3", "4.8.4"]
TRANSPORTS = [["polling"], ["websocket"], ["polling", "websocket"]]
TEXT = {
    "text": "ASCII, é, €, 😀 and \u2028, \n, \\n, \x1e, \0",
    "number": 1.5,
    "list": [None, True],
}
every_client = pytest.mark.parametrize("version", VERSIONS)
every_transport = pytest.mark.parametrize("transports", TRANSPORTS, ids="+".join)


@pytest.fixture(scope="session")
def clients() -> Path:
    return install_clients(CLIENTS)


class Page:
    """A client in a process of its own."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process

    def do(self, *words: Any) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(words).encode() + b"\n")

    async def told(self) -> list[Any]:
        assert self.process.stdout is not None
        line = await asyncio.wait_for(self.process.stdout.readline(), PATIENCE)
        assert line, "the client has ended"
        words: list[Any] = json.loads(line)
        return words

    async def told_of(self, *names: str) -> list[Any]:
        """The next that is about one of these; others come when they come."""
        while (words := await self.told())[0] not in names:
            assert words[0] not in ("out of order", "acknowledged", "ECHO"), words
        return words

    async def heartbeat(self) -> bool:
        return bool(await self.told_of("ping", "pong"))


@asynccontextmanager
async def page(
    folder: Path, url: str, version: str, transports: list[str], **options: Any
) -> AsyncIterator[Page]:
    quick = {
        "transports": transports,
        "reconnectionDelay": 50,
        "reconnectionDelayMax": 50,
    } | options
    process = await asyncio.create_subprocess_exec(
        node(),
        str(SCRIPT),
        version,
        url,
        json.dumps(quick),
        cwd=folder,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        yield Page(process)
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


async def connected(one: Page) -> str:
    return str((await one.told_of("connect"))[1])


async def on_its_transport(one: Page, transports: list[str]) -> None:
    one.do("settle", transports[-1])
    await one.told_of("settled")


def address(one: Rig) -> str:
    return f"http://127.0.0.1:{one.port}"


@every_client
@every_transport
async def test_a_whole_conversation(clients: Path, version: str, transports: list[str]) -> None:
    beat = {"cube_ping_interval": 0.4, "cube_ping_timeout": PATIENCE}
    async with rig(**beat) as server, page(clients, address(server), version, transports) as one:
        await comes_and_leaves(one, server)
        one.do("open")
        sid = await connected(one)
        assert await server.echo.next() == ("connected", sid)
        one.do("emit", "COUNT", 1000)
        assert await one.told_of("NUMBER") == ["NUMBER", 999]
        await on_its_transport(one, transports)
        one.do("ack", "ECHO", TEXT)
        assert await one.told_of("ECHO") == ["ECHO", TEXT]
        one.do("bytes", "bytes")
        assert await one.told_of("ECHO") == ["ECHO", {"text": "bytes", "bytes": "Ynl0ZXM="}]
        for _ in range(2):
            assert await one.heartbeat()
        one.do("big", 99_900)
        assert await one.told_of("ECHO") == ["ECHO", 99_900]
        one.do("emit", "TELL", 3_000_000)
        assert await one.told_of("TOLD") == ["TOLD", 3_000_000]
        if (
            transports != TRANSPORTS[2]
        ):  # a client that still changes its transport may miss a goodbye
            sid = await comes_back_after_too_much(one, server, sid)
        one.do("emit", "LEAVE_ME")
        assert await one.told_of("LAST") == ["LAST", "goodbye"]
        assert await one.told_of("disconnect") == ["disconnect", "io server disconnect"]
        assert await server.echo.until_gone() == sid


async def comes_back_after_too_much(one: Page, server: Rig, sid: str) -> str:
    """A message over the limit ends the connection. Return the id of the next one."""
    one.do("big", 100_000)
    assert (await one.told_of("disconnect"))[1] in ("transport error", "transport close")
    assert await server.echo.until_gone() == sid
    return await connected(one)


async def comes_and_leaves(one: Page, server: Rig) -> None:
    sid = await connected(one)
    assert await server.echo.next() == ("connected", sid)
    one.do("emit", "ECHO", TEXT)
    assert await one.told_of("ECHO") == ["ECHO", TEXT]
    one.do("close")
    assert await one.told_of("disconnect") == ["disconnect", "io client disconnect"]
    assert await server.echo.until_gone() == sid


@every_client
async def test_events_during_the_change_of_transport_come_once_and_in_order(
    clients: Path, version: str
) -> None:
    async with rig() as server, page(clients, address(server), version, TRANSPORTS[2]) as one:
        for _ in range(3):
            one.do("emit", "COUNT", 1000)
        await connected(one)
        await one.told_of("NUMBER")
        await on_its_transport(one, TRANSPORTS[2])
        one.do("emit", "ECHO", "all")
        while (words := await one.told())[0] != "ECHO":
            assert words[0] == "NUMBER", words
        one.process.kill()
        assert await server.echo.until_gone(), "its connection ends with its process"


@every_client
@pytest.mark.parametrize("transports", TRANSPORTS[:2], ids="+".join)
async def test_a_client_that_hangs_is_let_go(
    clients: Path, version: str, transports: list[str]
) -> None:
    """The connection stays open but silent; when the client wakes up, it reconnects."""
    beat = {"cube_ping_interval": 0.5, "cube_ping_timeout": 1.0}
    async with rig(**beat) as server, page(clients, address(server), version, transports) as one:
        sid = await connected(one)
        os.kill(one.process.pid, signal.SIGSTOP)
        assert await server.echo.until_gone() == sid
        os.kill(one.process.pid, signal.SIGCONT)
        assert (await one.told_of("disconnect"))[0] == "disconnect"
        assert await connected(one) != sid


@every_client
async def test_a_namespace_that_is_not_there(clients: Path, version: str) -> None:
    async with (
        rig() as server,
        page(clients, address(server) + "/admin", version, ["websocket"]) as one,
    ):
        expected = "error" if version.startswith("2") else "connect_error"
        while (words := await one.told())[0] != expected:
            pass
        assert words == [expected, "Invalid namespace"]


@every_client
async def test_a_server_that_stops_says_so(clients: Path, version: str) -> None:
    async with (
        rig() as server,
        page(clients, address(server), version, ["polling"], reconnection=False) as one,
    ):
        await connected(one)
        await server.socketio.close()
        assert await one.told_of("disconnect") == ["disconnect", "transport close"]
