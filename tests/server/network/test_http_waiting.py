"""HTTP clients that close, wait, or are handed over to others."""

import asyncio
from collections import Counter

import pytest

from botdrome.server.network.http import HttpResponse
from tests.server.clients import PATIENCE
from tests.server.network.test_http import CHUNKED, GET, shop

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    ("head", "stays"),
    [
        (b"GET /a HTTP/1.1\r\nHost: x\r\n", True),
        (b"GET /a HTTP/1.1\r\nHost: x\r\nConnection: close\r\n", False),
        (b"GET /a HTTP/1.0\r\n", False),
        (b"GET /a HTTP/1.0\r\nConnection: keep-alive\r\n", True),
        (b"POST /a HTTP/1.0\r\nConnection: Keep-Alive\r\nContent-Length: 0\r\n", True),
    ],
)
async def test_who_closes(head: bytes, stays: bool) -> None:
    async with shop() as (_, open_line):
        line = await open_line()
        line.send(head + b"\r\n")
        _, headers, body = await line.answer()
        assert body == b"/a "
        said = "keep-alive" if b"HTTP/1.0" in head else None
        assert headers.get("connection") == (said if stays else "close"), (
            "old clients wait for the word"
        )
        if stays:
            line.send(GET)
            assert (await line.answer())[2] == b"/a?b=c "
        else:
            assert await line.rest() == b""


async def test_a_client_that_asks_whether_to_go_on_is_told() -> None:
    async with shop() as (_, open_line):
        line = await open_line()
        line.send(
            b"POST /p HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n"
        )
        assert (await line.answer())[0] == 100
        line.send(b"hi")
        assert (await line.answer())[2] == b"/p hi"


async def test_who_waits_holds_back_what_it_sends_after_it() -> None:
    async with shop() as (one, open_line):
        line = await open_line()
        line.send(b"GET /wait HTTP/1.1\r\nHost: x\r\n\r\n", GET * 2000)
        await asyncio.wait_for(one.news.wait(), PATIENCE)
        assert len(one.seen) == 1
        one.waiting[0].answer(HttpResponse(200, b"now"))
        one.waiting[0].answer(HttpResponse(200, b"twice"))
        assert (await line.answer())[2] == b"now"
        for _ in range(2000):
            assert (await line.answer())[2] == b"/a?b=c "


async def test_who_goes_while_it_waits_is_forgotten() -> None:
    async with shop() as (one, open_line):
        line = await open_line()
        line.send(b"GET /wait HTTP/1.1\r\nHost: x\r\n\r\n")
        await asyncio.wait_for(one.news.wait(), PATIENCE)
        (waiting,) = one.waiting
        one.news.clear()
        line.writer.close()
        await asyncio.wait_for(one.news.wait(), PATIENCE)
        assert one.waiting == []
        waiting.answer(HttpResponse(200, b"too late"))
        assert +one.inside == Counter()


async def test_who_has_said_all_is_still_answered() -> None:
    async with shop() as (_, open_line):
        for request, body in (
            (GET, b"/a?b=c "),
            (b"GET /later HTTP/1.1\r\nHost: x\r\n\r\n", b"later"),
        ):
            line = await open_line()
            line.send(request)
            line.writer.write_eof()
            assert (await line.rest()).endswith(body)


WEBSOCKET = (
    b"GET /a HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade:WebSocket\r\n"
    b"Sec-WebSocket-Key: x\r\n\r\n"
)


async def test_a_request_for_a_websocket_is_handed_over_with_all_that_follows() -> None:
    async with shop() as (one, open_line):
        line = await open_line()
        line.send(GET + CHUNKED + WEBSOCKET + GET)
        assert (await line.answer())[2] == b"/a?b=c "
        assert (await line.answer())[2] == b"/c hel\r\n\r\n\r\nlo"
        expected = b"elsewhere:" + WEBSOCKET + GET
        assert await asyncio.wait_for(line.reader.readexactly(len(expected)), PATIENCE) == expected
        assert +one.inside == Counter()
        line.send(b"more")
        assert await asyncio.wait_for(line.reader.readexactly(14), PATIENCE) == b"elsewhere:more"


async def test_what_was_held_back_is_handed_over_and_what_comes_later_is_read() -> None:
    async with shop() as (one, open_line):
        line = await open_line()
        other = WEBSOCKET + b"x" * 30_000
        line.send(b"GET /wait HTTP/1.1\r\nHost: x\r\n\r\n" + other)
        await asyncio.wait_for(one.news.wait(), PATIENCE)
        one.waiting[0].answer(HttpResponse(200, b"now"))
        assert (await line.answer())[2] == b"now"
        line.send(b"the end")
        told = await asyncio.wait_for(line.reader.readuntil(b"the end"), PATIENCE)
        assert told.replace(b"elsewhere:", b"") == other + b"the end"


async def test_the_target_of_a_request_to_a_proxy_is_its_path() -> None:
    async with shop() as (_, open_line):
        line = await open_line()
        line.send(
            GET.replace(b"/a", b"http://x:80/a"),
            b"GET http://x HTTP/1.1\r\nHost: x\r\n\r\n",
            b"GET http:// HTTP/1.1\r\nHost: x\r\n\r\n",
        )
        assert [(await line.answer())[2][:11] for _ in range(3)] == [
            b"/a?b=c ",
            b"/ ",
            b"BAD_REQUEST",
        ]
