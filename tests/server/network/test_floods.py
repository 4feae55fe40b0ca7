"""Flooding clients are disconnected and other clients are not, over real sockets."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest

from botdrome.api.http_server import AppService
from botdrome.app import RunningServer
from botdrome.server.network import http
from botdrome.server.network.http import HttpLimits
from botdrome.server.network.http_request import LONGEST_HEAD
from botdrome.wire.framing.websocket import MOST_PARTS
from tests.server.clients import PATIENCE, bot, client, registered, server
from tests.server.rooms.boats.clients import boat_server, sailor

pytestmark = pytest.mark.anyio

UPGRADE = b"Upgrade: websocket\r\nConnection: Upgrade\r\n"
KEY = b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
TEXT, PING, PONG = 0x81, 0x89, 0x8A


class Raw:
    """Raw bytes, from a client that does not speak HTTP."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    def send(self, data: bytes) -> None:
        self.writer.write(data)

    async def rest(self) -> bytes:
        """All that comes until the server closes."""
        told = b""
        async with asyncio.timeout(PATIENCE):
            with suppress(ConnectionError):
                while some := await self.reader.read(65536):
                    told += some
        return told


@asynccontextmanager
async def raw(house: RunningServer, data: bytes) -> AsyncIterator[Raw]:
    reader, writer = await asyncio.open_connection("127.0.0.1", house.port)
    one = Raw(reader, writer)
    one.send(data)
    try:
        yield one
    finally:
        writer.close()


def frame(first: int, payload: bytes = b"") -> bytes:
    """A small frame, masked with nothing."""
    return bytes((first, 0x80 | len(payload))) + bytes(4) + payload


# Connections.


async def test_a_handshake_that_fails_takes_nobodys_place(tmp_path: Path) -> None:
    async with server(tmp_path, limits_connections=2) as house:
        for head in (UPGRADE, UPGRADE + b"Sec-WebSocket-Version: 99\r\n", UPGRADE + KEY[:27]):
            async with raw(house, b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n" + head + b"\r\n") as one:
                assert (await one.rest()).startswith(b"HTTP/1.1 400 ")
        async with bot(house, await registered(house, "ada")):
            pass


async def test_requests_are_counted_too(tmp_path: Path) -> None:
    async with server(tmp_path, limits_connections=2) as house, client(house):
        async with raw(
            house, b"POST /graphql HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 9\r\n\r\n"
        ) as slow:
            async with raw(house, b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n") as one:
                assert b"503 Service Unavailable" in (told := await one.rest()) and told.endswith(
                    b"too many connections"
                )
            slow.send(b"{}" + b" " * 7)
            assert b"Must provide query string." in await slow.reader.readuntil(b"}")
        for _ in range(3):
            async with raw(
                house, b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"
            ) as one:
                assert (await one.rest()).endswith(b"ok\n")


async def test_a_socket_of_graphql_is_counted_once(tmp_path: Path) -> None:
    async with server(tmp_path, limits_connections=1) as house:
        protocol = b"Sec-WebSocket-Protocol: graphql-ws\r\n"
        for _ in range(2):
            async with raw(
                house,
                b"GET /graphql HTTP/1.1\r\nHost: 127.0.0.1\r\n"
                + UPGRADE
                + KEY
                + protocol
                + b"\r\n",
            ) as one:
                assert await one.reader.readline() == b"HTTP/1.1 101 Switching Protocols\r\n"
                async with raw(house, b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n") as two:
                    assert b"503 " in await two.rest()
                one.send(frame(0x88))
                await one.rest()


# Requests.


@pytest.mark.parametrize(
    "beginning", [b"POST /", b"POST /graphql HTTP/1.1\r\nX: ", b"POST /graphql HTTP/1.1\r\n"]
)
async def test_a_head_without_an_end_is_refused(tmp_path: Path, beginning: bytes) -> None:
    more = b"x" * 1000 if beginning[-1:] != b"\n" else b"X: " + b"x" * 1000 + b"\r\n"
    async with server(tmp_path) as house, raw(house, beginning) as one:
        for _ in range(LONGEST_HEAD // 1000 + 1):
            one.send(more)
        assert (await one.rest()).startswith(b"HTTP/1.1 431 ")


@pytest.mark.parametrize(
    "half",
    [
        b"POST /graphql HTTP/1.1\r\nHost: 127.0.0.1\r\n",
        b"POST /graphql HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 9\r\n\r\n{",
        b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\nGET /healthz HTTP/1.1\r\n",
    ],
)
async def test_half_a_request_is_not_waited_for(
    tmp_path: Path, half: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        AppService, "limits", HttpLimits(head_timeout=0.02, timeout=0.02, idle=0.02)
    )
    monkeypatch.setattr(http, "LOOK", 0.01)
    async with server(tmp_path) as house, raw(house, half) as one:
        assert b"HTTP/1.1 408 Request Timeout" in await one.rest()


async def test_an_answer_that_nobody_reads_is_thrown_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(AppService, "limits", HttpLimits(reading=0.02))
    monkeypatch.setattr(http, "LOOK", 0.01)
    async with server(tmp_path, limits_connections=1) as house:
        _, writer = await asyncio.open_connection("127.0.0.1", house.port, limit=1)
        writer.transport.pause_reading()  # type: ignore[attr-defined]
        with suppress(ConnectionError):
            async with asyncio.timeout(PATIENCE):
                while True:
                    writer.write(
                        b"GET /api/v1/openapi.json HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" * 100
                    )
                    await writer.drain()
                    await asyncio.sleep(0)
        writer.close()
        async with raw(
            house, b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"
        ) as one:
            assert (await one.rest()).endswith(b"ok\n")


async def test_a_request_for_a_socket_waits_until_the_one_before_it_is_answered(
    tmp_path: Path,
) -> None:
    for first in (b"/healthz", b"/bomber/rest/rules"):
        asked = (
            b"GET "
            + first
            + b" HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\nGET /bomber HTTP/1.1\r\nHost: 127.0.0.1\r\n"
            + UPGRADE
            + KEY
            + b"\r\n"
        )
        async with server(tmp_path) as house, raw(house, asked) as one:
            assert (await one.reader.readline()) == b"HTTP/1.1 200 OK\r\n"


async def test_somebody_who_leaves_in_the_middle_of_a_body_is_no_error(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    async with server(tmp_path) as house:
        for path in (b"/graphql", b"/api/v1/bots"):
            async with raw(
                house,
                b"POST " + path + b" HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 9\r\n\r\n{",
            ) as one:
                one.writer.write_eof()
                await one.rest()
    assert "Traceback" not in "".join(capfd.readouterr())


# Frames.


@pytest.mark.parametrize(
    ("path", "flood"),
    [
        ("/", frame(PING) * 5000),
        ("/", frame(PONG) * 5000),
        ("/", frame(0x01, b"{") + frame(0x00) * (MOST_PARTS + 1)),
        ("/boats/host", frame(TEXT, b"x") * 5000),
        ("/watch/nothing", frame(TEXT, b"x") * 5000),
    ],
)
async def test_a_flood_of_frames_is_cut_off(tmp_path: Path, path: str, flood: bytes) -> None:
    async with server(tmp_path) as house:
        async with raw(
            house, f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n".encode() + UPGRADE + KEY + b"\r\n"
        ) as one:
            assert b"101 Switching Protocols" in await one.reader.readuntil(b"\r\n\r\n")
            one.send(flood)
            await one.rest()
        async with bot(house, await registered(house, "ada")):
            pass


async def test_a_ping_is_answered(tmp_path: Path) -> None:
    async with server(tmp_path) as house, client(house) as one:
        async with asyncio.timeout(PATIENCE):
            await (await one.socket.ping(b"there?"))


# Lines.


async def test_messages_without_a_text_count_as_well(tmp_path: Path) -> None:
    async with (
        boat_server(tmp_path, message_burst=5, message_rate=0.01) as house,
        sailor(house, "ann") as one,
    ):
        one.write(b"M\n" * 20)
        assert await one.rest() == ["too many messages"]
