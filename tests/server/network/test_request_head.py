"""One reading of a request's head: the dispatcher, the HTTP server and the WebSocket handshake
agree on every byte of it.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send
from structlog.testing import capture_logs

from botdrome.api.http_server import http_factory
from botdrome.protocols import load_settings
from botdrome.server.network.dispatcher import Forwarding
from botdrome.server.network.http_request import (
    RequestHeaders,
    RequestLine,
    read_headers,
    read_line,
)
from botdrome.server.network.limits import ConnectionLimits
from botdrome.server.network.listening import MakeProtocol
from botdrome.server.network.origins import Origins
from botdrome.server.network.peer import Proxies, Shares, sharing
from tests.server.clients import PATIENCE
from tests.server.network.test_websocket import Diary

pytestmark = pytest.mark.anyio

UPGRADE = (
    b"Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: x\r\n"
    b"Sec-WebSocket-Version: 13\r\n"
)
HOST = b"\r\nHost: 127.0.0.1\r\n"
LAST = b"Connection: close\r\n\r\n"
GOODBYE = b"\x88\x80\0\0\0\0"


@pytest.mark.parametrize(
    ("line", "read"),
    [
        (b"GET / HTTP/1.1\r\n", (b"GET", b"/", "1.1")),
        (b"M-SEARCH /a?b=%41 HTTP/1.0\r\nHost: x", (b"M-SEARCH", b"/a?b=%41", "1.0")),
        (b"GET http://x:80/a?b HTTP/1.1\r\n", (b"GET", b"/a?b", "1.1")),
        (b"GET HTTPS://x?b HTTP/1.1\r\n", (b"GET", b"/?b", "1.1")),
        (b"GET http://x HTTP/1.1\r\n", (b"GET", b"/", "1.1")),
        (
            b"GET /%62omb%65r/%7E%2f%25%41%2541%zz HTTP/1.1\r\n",
            (b"GET", b"/bomber/~%2f%25A%2541%zz", "1.1"),
        ),
        (b"GET / a HTTP/1.1\r\n", None),
        (b"GET  / HTTP/1.1\r\n", None),
        (b"GET /  HTTP/1.1\r\n", None),
        (b"GET / HTTP/1.1 \r\n", None),
        (b"GET / HTTP/1.1\n", None),
        (b"GET / HTTP/1.1", None),
        (b"GET\t/ HTTP/1.1\r\n", None),
        (b"GET /\x00 HTTP/1.1\r\n", None),
        (b"GET /\xff HTTP/1.1\r\n", None),
        (b"GET / HTTP/1.2\r\n", None),
        (b"GET / HTTP/2.0\r\n", None),
        (b"SOURCE / ICE/1.0\r\n", None),
        (b"get / HTTP/1.1\r\n", None),
        (b"OPTIONS * HTTP/1.1\r\n", None),
        (b"CONNECT x:80 HTTP/1.1\r\n", None),
        (b"GET http:///a HTTP/1.1\r\n", None),
        (b" / HTTP/1.1\r\n", None),
        (b"", None),
    ],
)
def test_a_request_line(line: bytes, read: RequestLine | None) -> None:
    assert read_line(line) == read


def test_several_lines_of_one_name_are_one_value() -> None:
    headers = read_headers(
        b"Cookie: a=1\r\nX: 1 \r\nx:\t2\r\nCookie: b=2\r\nHost: x\r\nHost: y\r\n\r\n"
    )
    assert (
        headers == {b"cookie": b"a=1; b=2", b"x": b"1, 2", b"host": b"x, y"} and headers.hosts == 2
    )


@pytest.mark.parametrize(
    "lines",
    [
        b"A: b\nC: d",
        b"A: b\r\n folded",
        b"A : b",
        b"A: b\rc",
        b"A: \0",
        b"A",
        b"\r\n".join([b"A: b"] * 101),
    ],
)
def test_headers_that_servers_read_in_different_ways_are_refused(lines: bytes) -> None:
    assert read_headers(lines + b"\r\n\r\n") is None


class Stack:
    """The real layers of an HTTP port, with an application that shows what it was told."""

    def __init__(self) -> None:
        self.diaries: list[Diary] = []
        self.applied = 0
        self.opened: list[tuple[str, RequestHeaders]] = []

    async def app(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.applied += 1
        headers = Headers(scope=scope)
        words = f"{scope['path']} {headers.get('origin')} {headers.get('x-forwarded-for')}"
        await PlainTextResponse(words)(scope, receive, send)

    def open_websocket(self, target: str, headers: RequestHeaders) -> "type[Diary] | bytes":
        self.opened.append((target, headers))
        return Diary

    def make(self, forwarding: Forwarding | None = None) -> MakeProtocol:
        settings = load_settings({"network_trusted_proxies": "127.0.0.1"})
        limits = ConnectionLimits(settings)
        http = http_factory(
            self.app,
            self.open_websocket,
            limits,
            settings,
            Origins(settings),
            forwarding=forwarding,
        )
        return sharing(http, Shares(), Proxies(settings))


@asynccontextmanager
async def answers(
    stack: Stack, *pieces: bytes, forwarding: Forwarding | None = None
) -> AsyncIterator[bytes]:
    """All that a client receives for these pieces, each of which is read before the next comes."""
    server = await asyncio.get_running_loop().create_server(stack.make(forwarding), "127.0.0.1", 0)
    reader, writer = await asyncio.open_connection("127.0.0.1", server.sockets[0].getsockname()[1])
    try:
        for piece in pieces:
            writer.write(piece)
            await writer.drain()
        yield await asyncio.wait_for(reader.read(), PATIENCE)
    finally:
        writer.close()
        server.close()


LINES = [
    b"GET / a HTTP/1.1",
    b"GET / HTTP/1.1 x",
    b"GET  / HTTP/1.1",
    b"GET /  HTTP/1.1",
    b"GET / ",
    b"GET /",
    b"GET",
    b"GET\x0b/ HTTP/1.1",
    b"GET * HTTP/1.1",
    b"GET a HTTP/1.1",
    b"GET / HTTP/2.0",
    b"POST / a HTTP/1.1",
    b"POST  / HTTP/1.1",
    b"PRI * HTTP/2.0",
    b"\x16\x03 / HTTP/1.1",
]


@pytest.mark.parametrize("line", LINES)
async def test_a_line_that_is_none_is_refused_once_whatever_is_asked_for(line: bytes) -> None:
    for fields in (HOST + UPGRADE, b"\r\nUpgrade: websocket\r\n", HOST):
        stack = Stack()
        with capture_logs() as logged:
            async with answers(stack, line + fields + b"\r\n") as told:
                assert (
                    told.startswith(b"HTTP/1.1 400 Bad Request\r\n")
                    and told.count(b"HTTP/1.1 ") == 2
                ), told
        assert logged == [] and not stack.opened and not stack.applied


@pytest.mark.parametrize(
    "head",
    [
        b"GET / HTTP/1.1" + HOST + b"X: a\nOrigin: http://evil.example\r\n" + UPGRADE,
        b"GET / HTTP/1.1" + HOST + b"X: a\r\n X-Forwarded-For: 6.6.6.6\r\n" + UPGRADE,
        b"GET / HTTP/1.1" + HOST + b"X-Forwarded-For : 6.6.6.6\r\n" + UPGRADE,
        b"GET / HTTP/1.1" + HOST + b"Host: evil.example\r\n" + UPGRADE,
        b"GET / HTTP/1.1" + HOST + b"X: \x00\r\n" + UPGRADE,
        b"GET / HTTP/1.0" + HOST + UPGRADE,
        b"POST / HTTP/1.1" + HOST + UPGRADE,
        b"GET / HTTP/1.1" + HOST + b"X: y\r\n" * 100 + UPGRADE,
    ],
)
async def test_a_websocket_is_as_strict_as_http(head: bytes) -> None:
    stack = Stack()
    async with answers(stack, head + b"\r\n") as told:
        assert told.startswith(b"HTTP/1.1 400 Bad Request\r\n") and not stack.opened


async def test_a_request_that_http_hands_back_never_returns_to_it() -> None:
    """The head of a POST comes in two pieces, so that HTTP reads it first and finds the upgrade."""
    stack = Stack()
    async with answers(stack, b"POST /a HTTP/1.1" + HOST, UPGRADE + b"\r\n") as told:
        assert told.endswith(b"a WebSocket begins with a GET of HTTP/1.1") and not stack.applied


async def test_a_node_that_changes_its_mind_refuses_a_request_rather_than_pass_it_round() -> None:
    verdicts, stack = iter([False, True, True, False]), Stack()

    def forward(transport: asyncio.Transport, seen: bytes, target: bytes) -> None:
        raise AssertionError("it stays here")

    forwarding = Forwarding(lambda target: next(verdicts), forward)
    async with answers(stack, b"GET /a HTTP/1.1" + HOST + LAST, forwarding=forwarding) as told:
        assert told.startswith(b"HTTP/1.1 400 Bad Request\r\n") and not stack.applied


async def test_the_application_and_the_server_read_the_same_headers() -> None:
    stack = Stack()
    fields = (
        b"Origin: http://a\r\nX-Forwarded-For: 1.1.1.1\r\nOrigin: http://b\r\n"
        b"X-Forwarded-For: 2.2.2.2\r\n"
    )
    async with answers(stack, b"GET http://x/%61 HTTP/1.1" + HOST + fields + LAST) as told:
        assert told.endswith(b"/a http://a, http://b 1.1.1.1, 2.2.2.2")
    async with answers(
        stack, b"GET http://x/%61?b HTTP/1.1" + HOST + fields + UPGRADE + b"\r\n" + GOODBYE
    ) as told:
        assert told.startswith(b"HTTP/1.1 101 ") and stack.opened[0][0] == "/a?b"
        assert stack.opened[0][1][b"origin"] == b"http://a, http://b"


async def test_trailers_are_not_headers() -> None:
    stack = Stack()
    trailers = b"X-Forwarded-For: 6.6.6.6\r\nHost: evil.example\r\nOrigin: http://evil.example\r\n"
    chunked = (
        b"POST /a HTTP/1.1"
        + HOST
        + b"X-Forwarded-For: 1.1.1.1\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n"
    )
    async with answers(
        stack, chunked + trailers + b"\r\n" + b"GET /b HTTP/1.1" + HOST + LAST
    ) as told:
        assert b"/a None 1.1.1.1" in told and told.endswith(b"/b None None")
