"""The application over real HTTP connections: requests in parts, too long or too slow, answers in
parts, and the end.
"""

import asyncio
import json
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from starlette.types import Receive, Scope, Send

from botdrome.api.http_server import AppService, http_stack
from botdrome.app import RunningServer
from botdrome.server.network import http, limits
from botdrome.server.network.http import HttpLimits
from botdrome.server.network.http_request import MOST_FIELDS
from botdrome.server.network.limits import ConnectionLimits
from botdrome.server.settings import Settings
from botdrome.server.workers.jobs import JobFailed
from tests.api.serving import under_way
from tests.patience import until
from tests.server.clients import PATIENCE, server

pytestmark = pytest.mark.anyio

UPGRADE = (
    b"GET /graphql HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Version: 13\r\n"
    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
    b"Sec-WebSocket-Protocol: graphql-transport-ws\r\n\r\n"
)
GREETING, ACKNOWLEDGED = b'{"type":"connection_init"}', b'{"type":"connection_ack"}'
QUERY = b'{"query": "{ botsCount(gameType: GOMOKU) }"}'


def frame(payload: bytes, opcode: int = 1) -> bytes:
    """Masked with nothing."""
    return bytes((0x80 | opcode, 0x80 | len(payload))) + bytes(4) + payload


def post(body: bytes, size: int | None = None, fields: bytes = b"") -> bytes:
    length = len(body) if size is None else size
    head = (
        b"POST /graphql HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        b"%bContent-Length: %d\r\n\r\n"
    )
    return head % (fields, length) + body


class Line:
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer

    def send(self, data: bytes) -> None:
        self._writer.write(data)

    async def heard(self, end: bytes) -> bytes:
        """All up to these words."""
        return await asyncio.wait_for(self._reader.readuntil(end), PATIENCE)

    async def rest(self) -> bytes:
        return await asyncio.wait_for(self._reader.read(), PATIENCE)


@asynccontextmanager
async def line(house: RunningServer, first: bytes = b"") -> AsyncIterator[Line]:
    reader, writer = await asyncio.open_connection("127.0.0.1", house.port)
    writer.write(first)
    try:
        yield Line(reader, writer)
    finally:
        writer.close()


# Input before the answer to an upgrade.


@pytest.mark.parametrize("cut", [0, 1, 5, len(frame(GREETING))])
async def test_a_frame_right_behind_the_request_is_read(house: RunningServer, cut: int) -> None:
    greeting = frame(GREETING)
    async with line(house, UPGRADE + greeting[:cut]) as one:
        if cut == 1:
            await one.heard(b"\r\n\r\n")
        one.send(greeting[cut:])
        assert (await one.heard(ACKNOWLEDGED)).endswith(
            bytes((0x81, len(ACKNOWLEDGED))) + ACKNOWLEDGED
        )


async def test_a_ping_right_behind_the_request_is_answered_after_it(house: RunningServer) -> None:
    async with line(house, UPGRADE + frame(b"early", 9) + frame(GREETING)) as one:
        told = await one.heard(ACKNOWLEDGED)
        assert told.startswith(b"HTTP/1.1 101 ")
        assert b"\r\n\r\n\x8a\x05early\x81" in told


async def test_a_socket_that_is_refused_is_no_error(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    strict: dict[str, Any] = {"http_rate": 0.001, "http_burst": 1, "http_rate_loopback": True}
    async with server(tmp_path, **strict) as house:
        async with line(
            house, b"GET /index.html HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"
        ) as one:
            await one.rest()
        async with line(house, UPGRADE + frame(GREETING)) as two:
            assert (await two.rest()).startswith(b"HTTP/1.1 429 ")
        await until(lambda: not under_way())
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []


# Half of a request.


async def test_a_head_with_too_many_fields_is_refused(house: RunningServer) -> None:
    """Three are there in any case."""
    async with line(house, post(QUERY, fields=b"X: y\r\n" * (MOST_FIELDS - 2))) as one:
        told = await one.rest()
        assert told.startswith(b"HTTP/1.1 431 ") and told.endswith(b"at most 100 fields")
    async with line(house, post(QUERY, fields=b"X: y\r\n" * (MOST_FIELDS - 3))) as two:
        assert (await two.heard(b"}}")).startswith(b"HTTP/1.1 200 OK")


async def test_a_head_is_waited_for_less_long_than_a_body(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(AppService, "limits", HttpLimits(head_timeout=0.02, timeout=30.0))
    monkeypatch.setattr(http, "LOOK", 0.01)
    async with server(tmp_path) as house, line(house, post(QUERY[:5], len(QUERY))) as slow:
        async with line(house, b"POST /graphql HTTP/1.1\r\nHost: 127.0.0.1\r\n") as one:
            assert (await one.rest()).startswith(b"HTTP/1.1 408 ")
        slow.send(QUERY[5:])
        assert b'{"botsCount":0}' in await slow.heard(b"}}")


@pytest.mark.parametrize("size", [100, 16_000, 17_000, 70_000, 99_000])
@pytest.mark.parametrize("pieces", [1, 2, 7])
async def test_a_body_is_answered_when_it_is_whole(
    house: RunningServer, size: int, pieces: int
) -> None:
    body = QUERY + b" " * (size - len(QUERY))
    async with line(house, post(b"", size)) as one:
        for start in range(0, size, -(-size // pieces)):
            one.send(body[start : start - (-size // pieces)])
            await asyncio.sleep(0)
        assert b'{"botsCount":0}' in await one.heard(b"}}")


async def test_nobody_has_to_deal_with_little_of_a_body(house: RunningServer) -> None:
    async with line(house, post(QUERY[:5], len(QUERY))) as one:
        async with line(house, post(QUERY)) as other:
            await other.heard(b"}}")
        await until(lambda: not under_way())
        one.send(QUERY[5:])
        assert b'{"botsCount":0}' in await one.heard(b"}}")


async def test_who_waits_to_be_told_to_go_on_is_told(house: RunningServer) -> None:
    async with line(house, post(b"", len(QUERY), b"Expect: 100-continue\r\n")) as one:
        await one.heard(b"HTTP/1.1 100 Continue\r\n\r\n")
        one.send(QUERY)
        assert b'{"botsCount":0}' in await one.heard(b"}}")


async def test_long_bodies_that_are_not_whole_share_some_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "TOTAL", 8 * limits.UNIT)
    long = post(b" " * (4 * limits.UNIT + 1), 99_000)
    async with server(tmp_path) as house, line(house, long) as one, line(house, long) as two:
        refused = {asyncio.ensure_future(each.rest()): each for each in (one, two)}
        done, waiting = await asyncio.wait(
            refused, timeout=PATIENCE, return_when=asyncio.FIRST_COMPLETED
        )
        (told,) = [each.result() for each in done]
        assert told.startswith(b"HTTP/1.1 503 ") and b"too much is being sent at once" in told
        async with line(house, post(QUERY)) as other:
            assert b"200 OK" in await other.heard(b"}}")
        for each in waiting:
            each.cancel()


# The end of the server.


@asynccontextmanager
async def line_of_an_ended_server(tmp_path: Path) -> AsyncIterator[Line]:
    """A WebSocket of GraphQL that was open when its server ended."""
    async with server(tmp_path) as house:
        reader, writer = await asyncio.open_connection("127.0.0.1", house.port)
        one = Line(reader, writer)
        one.send(UPGRADE + frame(GREETING))
        await one.heard(ACKNOWLEDGED)
    try:
        yield one
    finally:
        writer.close()


async def test_what_is_not_answered_when_the_server_ends_is_no_error(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    opening = b"GET /socket.io/?EIO=4&transport=polling HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    async with (
        line_of_an_ended_server(tmp_path) as two,
        server(tmp_path) as house,
        line(house, opening) as one,
    ):
        sid = json.loads((await one.heard(b"}")).rpartition(b"\r\n\r\n")[2][1:])["sid"]
        await until(lambda: not under_way())
        one.send(opening.replace(b"polling", b"polling&sid=" + sid.encode()))
        await until(lambda: len(under_way()) == 1)
        for task in under_way():
            task.cancel()
        told = await one.rest()
        assert told.startswith(b"HTTP/1.1 503 ") and told.endswith(b"the server is stopping")
        assert (await two.heard(b"\x03\xf4"))[-4:] == b"\x88\x02\x03\xf4"
        await until(lambda: not under_way())
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []


def test_memory_goes_to_the_address_that_has_less() -> None:
    units = limits.body_units()
    much, little = limits.BodyBudget(units), limits.BodyBudget(units)
    assert much.add(limits.TOTAL // 2, "a")
    assert not much.add(2 * limits.UNIT, "a")
    assert little.add(limits.TOTAL // 8, "b")
    much.drop()
    little.drop()
    assert all(units.take("c") for _ in range(limits.TOTAL // limits.UNIT // 2)), (
        "all is there again"
    )


async def test_an_answer_that_its_worker_drops_ends_without_a_traceback(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await send(
            {"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"9")]}
        )
        await send({"type": "http.response.body", "body": b"half", "more_body": True})
        raise JobFailed("the answer was read too slowly")

    make = http_stack(app, ConnectionLimits(Settings()), asyncio.Protocol)
    async with await asyncio.get_running_loop().create_server(make, "127.0.0.1", 0) as listening:
        reader, writer = await asyncio.open_connection(*listening.sockets[0].getsockname())
        writer.write(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        with suppress(ConnectionResetError):
            assert (await reader.read()).count(b"half") <= 1
        writer.close()
    assert caplog.records == []
