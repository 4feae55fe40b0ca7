"""HTTP connections, request by request over real connections: well made, in pieces, in a row, and
badly made.
"""

import asyncio
import socket
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, cast

import pytest

from botdrome.server.network import http
from botdrome.server.network.http import (
    Exchange,
    HttpConnection,
    HttpLimits,
    HttpResponse,
    HttpSite,
)
from botdrome.server.network.http_request import LONGEST_CACHED, HttpRequest, LeavesNode
from botdrome.server.network.limits import ConnectionLimits, body_units
from botdrome.server.network.listening import stop
from tests.server.clients import PATIENCE

pytestmark = pytest.mark.anyio


class Elsewhere(asyncio.Protocol):
    """Echoes the request."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        self._transport.write(b"elsewhere:" + data)


class Shop:
    """Echoes the request; a request for /wait gets its answer later."""

    player = True

    def __init__(self, limits: HttpLimits) -> None:
        self.limits = limits
        self.waiting: list[Exchange] = []
        self.seen: list[tuple[str, bytes, bytes]] = []
        self.inside: Counter[str] = Counter()
        self.full = False
        self.news = asyncio.Event()

    def longest_body(self, target: bytes) -> int:
        return 64 << 10

    def streams(self, target: bytes) -> bool:
        return False

    def refusal(self, request: HttpRequest) -> HttpResponse | None:
        return None if request.whole else self.refuse(413, "BODY_TOO_LONG", "")

    def refuse(self, status: int, word: str, sentence: str) -> HttpResponse:
        return HttpResponse(status, f"{word}: {sentence}".encode(), "text/plain")

    def handle(self, exchange: Exchange) -> None:
        request, target = exchange.request, exchange.target
        self.seen.append((request.method, target, exchange.body))
        if target == b"/fail":
            raise ValueError("a secret")
        if target == b"/wait":
            self.waiting.append(exchange)
            exchange.on_lost = self._lost
            return self.news.set()
        if target == b"/later":
            asyncio.get_running_loop().call_later(
                0.02, exchange.answer, HttpResponse(200, b"later")
            )
            return None
        return exchange.answer(
            HttpResponse(200, target + b" " + exchange.body, "text/plain", (("X-Shop", "yes"),))
        )

    def _lost(self) -> None:
        self.waiting.clear()
        self.news.set()

    def admit(self, address: str, player: bool) -> str:
        self.inside[address] += not self.full
        return "full" if self.full else ""

    def leave(self, address: str) -> None:
        self.inside[address] -= 1


class Line:
    """A client that sends bytes and reads answers."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    def send(self, *data: bytes) -> None:
        for piece in data:
            self.writer.write(piece)

    async def answer(self, head_only: bool = False) -> tuple[int, dict[str, str], bytes]:
        head = await asyncio.wait_for(self.reader.readuntil(b"\r\n\r\n"), PATIENCE)
        line, *lines = head.decode().strip().split("\r\n")
        headers = {name.lower(): value for name, value in (each.split(": ", 1) for each in lines)}
        length = 0 if head_only else int(headers.get("content-length", "0"))
        return int(line.split()[1]), headers, await self.reader.readexactly(length)

    async def rest(self) -> bytes:
        return await asyncio.wait_for(self.reader.read(), PATIENCE)


@asynccontextmanager
async def shop(leaves: LeavesNode | None = None, **limits: Any) -> AsyncIterator[tuple[Shop, Any]]:
    """The shop, and a function that opens a line to it."""
    lines, transports = [], list[asyncio.BaseTransport]()
    one = Shop(HttpLimits(**limits))
    site = HttpSite(lambda _: one, cast(ConnectionLimits, one), Elsewhere, body_units(), leaves)

    class Watched(asyncio.Protocol):
        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            transports.append(transport)
            connection = HttpConnection(site)
            transport.set_protocol(cast(asyncio.Protocol, connection))
            connection.connection_made(transport)

    server = await asyncio.get_running_loop().create_server(Watched, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]

    async def line() -> Line:
        opened = Line(*await asyncio.open_connection("127.0.0.1", port))
        lines.append(opened)
        return opened

    try:
        yield one, line
    finally:
        for each in (*transports, *(line.writer.transport for line in lines)):
            cast(asyncio.Transport, each).abort()
        stop(server)
        await asyncio.sleep(0)


GET = b"GET /a?b=c HTTP/1.1\r\nHost: x\r\n\r\n"
POST = b"POST /p HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello"
CHUNKED = (
    b"POST /c HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n6\r\n\r\n"
    b"\r\n\r\n\r\n2\r\nlo\r\n0\r\n\r\n"
)
TRAILED = (
    b"POST /t HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n"
    b"X-After: yes\r\n\r\n"
)
UPGRADE = (
    b"GET /h2 HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n"
    b"HTTP2-Settings: AAMAAABkAAQA\r\n\r\n"
)
UPGRADE_POST = UPGRADE.replace(b"GET", b"POST").replace(
    b"\r\n\r\n", b"\r\nContent-Length: 2\r\n\r\nhi"
)
ANSWERS = [
    (GET, b"/a?b=c "),
    (POST, b"/p hello"),
    (CHUNKED, b"/c hel\r\n\r\n\r\nlo"),
    (TRAILED, b"/t hi"),
    (UPGRADE, b"/h2 "),
    (UPGRADE_POST, b"/h2 hi"),
    (b"\r\n" + GET, b"/a?b=c "),
    (b"\r\n\r\n\n" + GET, b"/a?b=c "),
    (b"GET /later HTTP/1.1\r\nHost: x\r\n\r\n", b"later"),
]


@pytest.mark.skipif(not hasattr(socket, "TCP_QUICKACK"), reason="the system does not know it")
async def test_a_head_and_a_body_that_are_sent_apart_lose_no_time() -> None:
    """With Nagle's algorithm on, the body stays at home until the head is acknowledged."""
    async with shop() as (_, open_line):
        line = await open_line()
        line.writer.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 0)
        times = []
        for _ in range(60):
            began = asyncio.get_running_loop().time()
            line.send(POST[:-5], POST[-5:])
            assert (await line.answer())[2] == b"/p hello"
            times.append(asyncio.get_running_loop().time() - began)
        assert min(times[40:]) < 0.03, "with the trap each takes 0.04 at least"


@pytest.mark.parametrize(("request_bytes", "body"), ANSWERS)
async def test_a_request_whole_and_byte_by_byte(request_bytes: bytes, body: bytes) -> None:
    async with shop() as (_, open_line):
        line = await open_line()
        for pieces in (
            [request_bytes],
            [request_bytes[n : n + 1] for n in range(len(request_bytes))],
        ):
            for piece in pieces:
                line.send(piece)
                await line.writer.drain()
                await asyncio.sleep(0)
            assert (await line.answer())[2] == body


async def test_long_heads_are_not_cached(monkeypatch: pytest.MonkeyPatch) -> None:
    heads: list[bytes] = []
    monkeypatch.setattr(http, "plain_head", heads.append)
    async with shop() as (_, open_line):
        line = await open_line()
        for request in (
            GET.replace(b"x\r\n", b"x\r\nLong: %b\r\n" % (b"y" * LONGEST_CACHED)),
            GET,
            GET,
        ):
            line.send(request)
            assert (await line.answer())[2] == b"/a?b=c "
    assert heads == [GET]


async def test_a_request_that_was_refused_is_refused_again() -> None:
    async with shop() as (one, open_line):
        one.refusal = lambda request: one.refuse(421, "NOT_HERE", "this is another shop")  # type: ignore[method-assign]
        for _ in range(2):
            line = await open_line()
            line.send(GET)
            assert (await line.answer())[0] == 421
    assert one.seen == []


async def test_a_known_head_is_handed_over_once_its_target_is_at_another_node() -> None:
    gone: list[bytes] = []
    async with shop(leaves=lambda target: target in gone) as (one, open_line):
        line = await open_line()
        line.send(GET)
        assert (await line.answer())[2] == b"/a?b=c "
        gone.append(b"/a?b=c")
        line.send(GET)
        expected = b"elsewhere:" + GET
        assert await asyncio.wait_for(line.reader.readexactly(len(expected)), PATIENCE) == expected
    assert len(one.seen) == 1


async def test_requests_in_a_row_are_answered_in_their_order() -> None:
    async with shop() as (_, open_line):
        line = await open_line()
        line.send(b"".join(request for request, _ in ANSWERS) * 20)
        for _ in range(20):
            for _, body in ANSWERS:
                assert (await line.answer())[2] == body


@pytest.mark.parametrize("cut", range(0, len(POST + CHUNKED + GET), 7))
async def test_requests_cut_anywhere(cut: int) -> None:
    async with shop() as (_, open_line):
        line, whole = await open_line(), POST + CHUNKED + GET
        line.send(whole[:cut])
        await line.writer.drain()
        await asyncio.sleep(0)
        line.send(whole[cut:])
        assert [(await line.answer())[2] for _ in range(3)] == [
            b"/p hello",
            b"/c hel\r\n\r\n\r\nlo",
            b"/a?b=c ",
        ]


@pytest.mark.parametrize(("head_only", "connection"), [(False, ""), (True, ""), (False, "close")])
def test_a_body_in_two_pieces_is_one_body(head_only: bool, connection: str) -> None:
    assert HttpResponse(200, b"one", rest=b"two").packed(head_only, connection) == HttpResponse(
        200, b"onetwo"
    ).packed(head_only, connection)


async def test_head_and_headers() -> None:
    async with shop() as (_, open_line):
        line = await open_line()
        line.send(b"HEAD /a HTTP/1.1\r\nHost: x\r\n\r\n", GET)
        status, headers, _ = await line.answer(head_only=True)
        assert (status, headers["content-length"], headers["x-shop"], headers["content-type"]) == (
            200,
            "3",
            "yes",
            "text/plain",
        )
        assert (await line.answer())[2] == b"/a?b=c "


async def test_empty_lines_between_requests_mean_nothing_however_they_come() -> None:
    async with shop() as (one, open_line):
        line = await open_line()
        line.send(b"\r\n\r\n".join([GET, POST, CHUNKED, GET]), b"\r\n")
        assert [(await line.answer())[0] for _ in range(4)] == [200] * 4
        for count in (1, 2, 3, 4, 1000):
            line.send(b"\r\n" * count)
        line.send(GET)
        assert (await line.answer())[0] == 400, "so many are no slip"
        assert len(one.seen) == 4
