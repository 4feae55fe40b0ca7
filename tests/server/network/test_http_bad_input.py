"""HTTP requests that are badly made, late or too many."""

import asyncio
import socket
from collections import Counter

import pytest
from structlog.testing import capture_logs

from botdrome.server.network.http import HttpResponse
from tests.patience import until
from tests.server.clients import PATIENCE
from tests.server.network.test_http import CHUNKED, GET, POST, shop

pytestmark = pytest.mark.anyio

STREAMED = b"POST /p HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"


@pytest.mark.parametrize(
    ("request_bytes", "status", "word"),
    [
        (b"NONSENSE\r\n\r\n", 400, b"BAD_REQUEST"),
        (b"\r\n" * 1000, 400, b"BAD_REQUEST"),
        (b"CONNECT x:80 HTTP/1.1\r\nHost: x\r\n\r\n", 400, b"BAD_REQUEST"),
        (b"PRI /a HTTP/2.0\r\n\r\n", 400, b"BAD_REQUEST"),
        (b"\rPRI /a HTTP/2.0\r\n\r\n", 400, b"BAD_REQUEST"),
        (b"GET /a\r\nX: y\r\n\r\n", 400, b"BAD_REQUEST"),
        (b"GET /a HTTP/1.1\n\n", 400, b"BAD_REQUEST"),
        (b"GET /other\r\nX: y\r\n\r\n", 400, b"BAD_REQUEST"),
        (b"\x16\x03\x01\x02\x00\r\n\r\n", 400, b"BAD_REQUEST"),
        (b"GET /a HTTP/9.9\r\n\r\n", 400, b"BAD_REQUEST"),
        (b"GET /a HTTP/0.9\r\n\r\n", 400, b"BAD_REQUEST"),
        (b"GET /a HTTP/2.0\r\n\r\n", 400, b"BAD_REQUEST"),
        (b"GET /a  HTTP/1.0\r\n\r\n", 400, b"BAD_REQUEST"),
        (b"GET  /a HTTP/1.0\r\n\r\n", 400, b"BAD_REQUEST"),
        (b"GET / a HTTP/1.1\r\nHost: x\r\n\r\n", 400, b"BAD_REQUEST"),
        (b"SOURCE /a ICE/1.0\r\nHost: x\r\n\r\n", 400, b"BAD_REQUEST"),
        (b"OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n", 400, b"BAD_REQUEST"),
        (b"GET /a\x00b HTTP/1.1\r\nHost: x\r\n\r\n", 400, b"BAD_REQUEST"),
        (b"GET /a HTTP/1.1\r\nHost: x\r\nBad Header: x\r\n\r\n", 400, b"BAD_REQUEST"),
        (b"POST /p HTTP/1.1\r\nHost: x\r\nContent-Length: many\r\n\r\n", 400, b"BAD_REQUEST"),
        (b"POST /p HTTP/1.1\r\nHost: x\r\nContent-Length: -5\r\n\r\n", 400, b"BAD_REQUEST"),
        (
            b"POST /p HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx",
            400,
            b"BAD_REQUEST",
        ),
        (
            b"POST /p HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n"
            b"\r\nx",
            400,
            b"BAD_REQUEST",
        ),
        (
            b"POST /p HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\nx\r\n\r\n",
            400,
            b"BAD_REQUEST",
        ),
        (
            b"POST /p HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
            400,
            b"BAD_REQUEST",
        ),
        (
            STREAMED.replace(b"1.1", b"1.0") + b"2\r\nhi\r\n0\r\n\r\n",
            400,
            b"BAD_REQUEST: Transfer-Encoding is chunked",
        ),
        (
            STREAMED + b"2;" + b"x" * 40_000 + b"\r\nhi\r\n0\r\n\r\n",
            400,
            b"BAD_REQUEST: the chunks",
        ),
        (STREAMED + b"0\r\n" + b"X: y\r\n" * 10_000 + b"\r\n", 400, b"BAD_REQUEST: the chunks"),
        (STREAMED + b"zz\r\n\r\n", 400, b"BAD_REQUEST"),
        (
            b"POST /p HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999\r\n\r\n",
            400,
            b"BAD_REQUEST",
        ),
        (b"POST /p HTTP/1.1\r\nHost: x\r\nContent-Length: 65537\r\n\r\n", 413, b"BODY_TOO_LONG"),
        (
            b"POST /p HTTP/1.1\r\nHost: x\r\nContent-Length: 10000000\r\n\r\n" + b"x" * 10_000_000,
            413,
            b"BODY_TOO_LONG",
        ),
        (
            STREAMED + b"30d40\r\n" + b"x" * 200_000,
            413,
            b"BODY_TOO_LONG",
        ),
        (
            b"POST /p HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
            + (b"8000\r\n" + b"\r\n\r\nx" * 6553 + b"123\r\n") * 3,
            413,
            b"BODY_TOO_LONG",
        ),
        (
            b"GET /a HTTP/1.1\r\nAccept: */*\r\n\r\n",
            400,
            b"BAD_REQUEST: an HTTP/1.1 request has exactly one Host header",
        ),
        (
            b"GET /a HTTP/1.1\r\nHost: x\r\nHost: x\r\n\r\n",
            400,
            b"BAD_REQUEST: an HTTP/1.1 request has exactly one Host header",
        ),
        (
            b"GET /a HTTP/1.0\r\nHost: x\r\nHost: y\r\n\r\n",
            400,
            b"BAD_REQUEST: an HTTP/1.1 request has exactly one Host header",
        ),
        (b"GET /" + b"a" * 20_000 + b" HTTP/1.1\r\n\r\n", 431, b"HEAD_TOO_LONG"),
        (b"GET /a HTTP/1.1\r\nHost: x\r\n" + b"X: y\r\n" * 5000, 431, b"HEAD_TOO_LONG"),
        (b"GET /a HTTP/1.1\r\nHost: x\r\n" + b"X: y\r\n" * 101 + b"\r\n", 431, b"HEAD_TOO_LONG"),
    ],
)
async def test_what_is_no_request_is_answered_in_words_and_closed(
    request_bytes: bytes, status: int, word: bytes
) -> None:
    async with shop() as (one, open_line):
        line = await open_line()
        line.send(GET, request_bytes)
        assert (await line.answer())[2] == b"/a?b=c "
        found, headers, body = await line.answer()
        assert (found, headers["connection"]) == (status, "close")
        assert body.startswith(word)
        assert await line.rest() == b""
        assert len(one.seen) == 1


async def test_half_a_request_is_not_waited_for() -> None:
    async with shop(timeout=0.05) as (_, open_line):
        for half in (POST[:-1], CHUNKED[:-2]):
            line = await open_line()
            line.send(half)
            status, _, body = await line.answer()
            assert (status, body) == (
                408,
                b"TOO_SLOW: a request has to be here within 0.05 seconds, and its head within 10",
            )
            assert await line.rest() == b""


async def test_who_has_nothing_to_say_is_closed_and_who_waits_is_not() -> None:
    async with shop(timeout=0.05, idle=0.5) as (one, open_line):
        patient = await open_line()
        patient.send(b"GET /wait HTTP/1.1\r\nHost: x\r\n\r\n")
        idle = await open_line()
        idle.send(GET)
        await idle.answer()
        assert await idle.rest() == b""
        one.waiting[0].answer(HttpResponse(200, b"still here"))
        assert (await patient.answer())[2] == b"still here"


async def test_a_flood_is_stopped() -> None:
    async with shop(rate=0.001, burst=20) as (one, open_line):
        line = await open_line()
        line.send(GET * 100)
        for _ in range(20):
            assert (await line.answer())[0] == 200
        status, _, body = await line.answer()
        assert (status, body) == (
            429,
            b"TOO_MANY_REQUESTS: a connection may send 0.001 requests a second",
        )
        assert await line.rest() == b""
        assert len(one.seen) == 20


async def test_a_client_that_does_not_read_is_not_answered_on_and_on() -> None:
    async with shop(timeout=0.05, reading=0.3) as (one, open_line):
        line = await open_line()
        line.writer.transport.pause_reading()
        many = b"POST /p HTTP/1.1\r\nHost: x\r\nContent-Length: 60000\r\n\r\n" + b"x" * 60_000
        line.send(many * 400)
        with pytest.raises((ConnectionResetError, BrokenPipeError)):
            await asyncio.wait_for(line.writer.drain(), PATIENCE)
        assert len(one.seen) < 400
        assert +one.inside == Counter()


async def test_a_client_that_reads_late_misses_nothing() -> None:
    async with shop() as (_, open_line):
        line = await open_line()
        line.writer.transport.pause_reading()
        many = b"POST /p HTTP/1.1\r\nHost: x\r\nContent-Length: 60000\r\n\r\n" + b"x" * 60_000
        line.send(many * 200)
        line.writer.transport.resume_reading()
        for _ in range(200):
            assert len((await line.answer())[2]) == 60_003


async def test_a_mistake_of_ours_is_told_without_its_secrets() -> None:
    async with shop() as (_, open_line):
        line = await open_line()
        line.send(b"GET /fail HTTP/1.1\r\nHost: x\r\n\r\n", GET)
        status, _, body = await line.answer()
        assert (status, body) == (500, b"INTERNAL_ERROR: the server has made a mistake")
        assert (await line.answer())[2] == b"/a?b=c "


async def test_a_client_that_is_gone_before_the_close_is_no_mistake_of_ours() -> None:
    async with shop() as (one, open_line):
        port = (await open_line()).writer.get_extra_info("peername")[1]
        with capture_logs() as logged:
            with socket.create_connection(("127.0.0.1", port)) as client:
                client.sendall(b"GET /a HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            await until(lambda: one.seen)
    assert logged == []


async def test_a_full_house_says_so() -> None:
    async with shop() as (one, open_line):
        one.full = True
        line = await open_line()
        line.send(GET)
        status, _, body = await line.answer()
        assert (status, body) == (503, b"TOO_MANY_CONNECTIONS: full")
        assert await line.rest() == b""
        assert one.seen == []
