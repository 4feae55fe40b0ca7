"""Answers of ASGI applications over HTTP: in parts, failed, or no longer awaited."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from starlette.types import ASGIApp, Receive, Scope, Send

from botdrome.api.http_server import http_stack
from botdrome.server.network.limits import ConnectionLimits
from botdrome.server.settings import Settings
from tests.api.serving import under_way
from tests.patience import until
from tests.server.clients import PATIENCE

pytestmark = pytest.mark.anyio


# Answers.


@asynccontextmanager
async def answers(app: ASGIApp, request: bytes) -> AsyncIterator[asyncio.StreamReader]:
    """Return the bytes that answer this request to an application."""
    make = http_stack(app, ConnectionLimits(Settings()), asyncio.Protocol)
    async with await asyncio.get_running_loop().create_server(make, "127.0.0.1", 0) as listening:
        reader, writer = await asyncio.open_connection(*listening.sockets[0].getsockname())
        writer.write(request)
        yield reader
        writer.close()
        await until(lambda: not under_way())


HEAD = {"type": "http.response.start", "status": 200, "headers": []}


async def in_parts(scope: Scope, receive: Receive, send: Send) -> None:
    await send(HEAD)
    for part in (b"one", b"", b"two"):
        await send({"type": "http.response.body", "body": part, "more_body": True})
    await send({"type": "http.response.body"})
    assert (await receive())["type"] == "http.request"
    assert (await receive())["type"] == "http.disconnect"


@pytest.mark.parametrize(
    ("request_line", "head", "body"),
    [
        (
            b"GET / HTTP/1.1\r\nConnection: close",
            b"transfer-encoding: chunked",
            b"3\r\none\r\n3\r\ntwo\r\n0\r\n\r\n",
        ),
        (b"GET / HTTP/1.0\r\nConnection: keep-alive", b"connection: close", b"onetwo"),
        (b"HEAD / HTTP/1.1\r\nConnection: close", b"connection: close", b""),
    ],
)
async def test_an_answer_in_parts(request_line: bytes, head: bytes, body: bytes) -> None:
    async with answers(in_parts, request_line + b"\r\nHost: 127.0.0.1\r\n\r\n") as told:
        assert head in await asyncio.wait_for(told.readuntil(b"\r\n\r\n"), PATIENCE)
        assert await asyncio.wait_for(told.read(), PATIENCE) == body


async def test_the_head_of_an_answer_without_a_length_does_not_wait_for_the_body() -> None:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await send(HEAD)
        await receive()
        await receive()

    async with answers(app, b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n") as told:
        assert (await asyncio.wait_for(told.readuntil(b"\r\n\r\n"), PATIENCE)).startswith(
            b"HTTP/1.1 200 OK"
        )


async def test_an_application_that_fails_is_an_internal_error(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        raise ValueError("a secret")

    async with answers(app, b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n") as told:
        answer = await asyncio.wait_for(told.read(), PATIENCE)
    assert answer.startswith(b"HTTP/1.1 500 ") and answer.endswith(b"\r\n\r\nInternal Server Error")


@pytest.mark.parametrize("target", [b"/\xc3\xa9", b"/a\xff"])
async def test_a_target_that_is_not_ascii_is_refused(target: bytes) -> None:
    async with answers(in_parts, b"GET %b HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" % target) as told:
        assert (await asyncio.wait_for(told.read(), PATIENCE)).startswith(b"HTTP/1.1 400 ")


async def test_a_client_that_leaves_is_answered_no_more() -> None:
    left = asyncio.Event()

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await receive()
        assert await receive() == {"type": "http.disconnect"}
        await send(HEAD)
        left.set()

    request = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    async with answers(app, request * 2):
        await until(lambda: len(under_way()) == 1)
    assert left.is_set()
