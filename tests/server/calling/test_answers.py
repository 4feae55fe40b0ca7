"""Answers of bots, good and bad."""

import asyncio
import gzip
import zlib

import pytest

from botdrome.server.calling.bot_connection import BotAnswer, CallFailed, TooLate
from tests.server.calling.hosts import Asked, answer, callers, host
from tests.server.clients import deaf_port

pytestmark = pytest.mark.anyio
LIMIT = 60.0
BODY = b'[{"task": "NOOP"}]'
BARE = zlib.compressobj(wbits=-15)
DEFLATED = BARE.compress(BODY) + BARE.flush()


async def test_the_request_is_as_documented() -> None:
    async with host(answer(BODY)) as bot, callers() as ours:
        assert await ours.post(bot.url + "path?query=1", b'{"a":1}', LIMIT) == BotAnswer(200, BODY)
    (asked,) = bot.asked
    assert asked.line == "POST /path?query=1 HTTP/1.1"
    assert asked.body == b'{"a":1}'
    agent = asked.headers.pop("user-agent")
    assert agent.startswith("botdrome/")
    assert asked.headers == {
        "host": f"127.0.0.1:{bot.port}",
        "accept": "*/*",
        "accept-encoding": "gzip, deflate",
        "content-type": "application/json",
        "content-length": "7",
    }


async def test_headers_can_be_added_and_not_broken_out_of() -> None:
    async with host() as bot, callers() as ours:
        await ours.post(
            bot.url, b"", LIMIT, {"X-Botdrome-Match": "m1", "content-type": "text/plain"}
        )
        assert bot.asked[0].headers["x-botdrome-match"] == "m1"
        assert bot.asked[0].headers["content-type"] == "text/plain"
        for name, value in (
            ("a", "b\r\nc: d"),
            ("a\r\nb", "c"),
            ("a b", "c"),
            ("a", "\0"),
            ("Host", "x"),
            ("Content-Length", "1"),
        ):
            with pytest.raises(ValueError, match="no header to send"):
                await ours.post(bot.url, b"", LIMIT, {name: value})
        assert len(bot.asked) == 1


@pytest.mark.parametrize(
    "status", ["200 OK", "201 Created", "404 Not Found", "500 Oh", "304 Not Modified"]
)
async def test_any_status_is_an_answer(status: str) -> None:
    body = b"" if status.startswith("304") else BODY
    async with host(answer(body, status)) as bot, callers() as ours:
        assert await ours.post(bot.url, b"", LIMIT) == BotAnswer(int(status[:3]), body)


CHUNKED = b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in (BODY[:1], BODY[1:7], BODY[7:]))
SAYINGS = {
    "length": answer(BODY),
    "chunked": answer(CHUNKED + b"0\r\n\r\n", transfer_encoding="chunked"),
    "chunked with an extension and a trailer": answer(
        b"1;x=y\r\n" + CHUNKED[3:] + b"0\r\ncontent-encoding: gzip\r\n\r\n",
        transfer_encoding="chunked",
    ),
    "gzip": answer(gzip.compress(BODY), content_encoding="gzip"),
    "gzip in two members": answer(
        gzip.compress(BODY[:5]) + gzip.compress(BODY[5:]), content_encoding="x-gzip"
    ),
    "deflate": answer(zlib.compress(BODY), content_encoding="deflate"),
    "bare deflate": answer(DEFLATED, content_encoding="Deflate"),
    "identity": answer(BODY, content_encoding="identity"),
    "a charset for an encoding": answer(BODY, content_encoding="UTF-8"),
    "lines that end without CR": b"HTTP/1.1 200 OK\nContent-Type: text/html\nContent-Length: 18\n\n"
    + BODY,
    "100 first": b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 102 Processing\r\nx: y\r\n\r\n"
    + answer(BODY),
    "103 first": b"HTTP/1.1 103 Early Hints\r\nlocation: /x\r\n\r\n" + answer(BODY),
    "a length of its own for each": b"HTTP/1.1 200\r\nContent-Length:   18  \r\nX: \r\n\r\n" + BODY,
}


@pytest.mark.parametrize("saying", SAYINGS)
async def test_the_ways_to_send_a_body(saying: str) -> None:
    async with host(SAYINGS[saying]) as bot, callers() as ours:
        for _ in range(2):
            assert await ours.post(bot.url, b"", LIMIT) == BotAnswer(200, BODY)
    assert bot.connections == 1, "the connection is kept"


@pytest.mark.parametrize("saying", SAYINGS)
async def test_a_body_that_comes_byte_by_byte(saying: str) -> None:
    async def drip(writer: asyncio.StreamWriter, _: Asked) -> None:
        for byte in SAYINGS[saying]:
            writer.write(bytes([byte]))
            await writer.drain()

    async with host(drip) as bot, callers() as ours:
        assert await ours.post(bot.url, b"", LIMIT) == BotAnswer(200, BODY)


@pytest.mark.parametrize(
    "head",
    [
        b"HTTP/1.0 200 OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n\r\n",
    ],
)
async def test_a_body_may_end_with_the_connection(head: bytes) -> None:
    async def close(writer: asyncio.StreamWriter, _: Asked) -> None:
        writer.write(head + BODY[:4])
        await writer.drain()
        writer.write(BODY[4:])
        writer.close()

    async with host(close) as bot, callers() as ours:
        for _ in range(2):
            assert await ours.post(bot.url, b"", LIMIT) == BotAnswer(200, BODY)
    assert bot.connections == 2


async def test_204_has_no_body_and_keeps_the_connection() -> None:
    async with host(b"HTTP/1.1 204 No Content\r\n\r\n") as bot, callers() as ours:
        for _ in range(2):
            assert await ours.post(bot.url, b"", LIMIT) == BotAnswer(204, b"")
    assert bot.connections == 1


BOMB = gzip.compress(b"[" + b" " * 50_000_000)
BAD = {
    "not HTTP": (b"hello\r\n\r\n", "is not HTTP"),
    "two lengths": (answer(BODY, Content_Length="18", content_length="19"), "is not HTTP"),
    "length and chunked": (
        b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n2\r\n[]\r\n"
        b"0\r\n\r\n", "is not HTTP",
    ),
    "a bad chunk": (answer(b"zz\r\n[]\r\n0\r\n\r\n", transfer_encoding="chunked"), "is not HTTP"),
    "another protocol": (b"HTTP/1.1 101 Switching\r\nupgrade: x\r\nconnection: upgrade\r\n"
                         b"\r\n", "another protocol"),
    "a large body": (answer(b"x" * 2000), "larger than 1000 bytes"),
    "a large body in chunks": (
        answer(b"3e8\r\n" + b"x" * 1000 + b"\r\n1\r\nx\r\n", transfer_encoding="chunked"),
        "larger than 1000",
    ),
    "a body said to be large": (answer(b"x" * 1500, content_length="999999999999"), "larger than 1000 bytes"),
    "a bomb": (answer(BOMB[:900], content_encoding="gzip"), "larger than 1000 bytes"),
    "half of a gzip": (answer(gzip.compress(BODY)[:-9], content_encoding="gzip"), "not whole"),
    "no gzip": (answer(BODY, content_encoding="gzip"), "cannot be unpacked"),
    "packed twice": (answer(gzip.compress(gzip.compress(BODY)), content_encoding="gzip, gzip"), "packed by 'gzip, gzip'"),
    "brotli": (answer(BODY, content_encoding="br"), "packed by 'br', which was not asked for"),
    "compress": (answer(BODY, content_encoding="X-Compress"), "packed by 'X-Compress', which was "
                                                              "not asked for"),
    "a long header": (answer(BODY, x="y" * 17_000), "head of the answer is longer than 16384 "
                                                    "bytes"),
    "many headers": (answer(BODY, **{f"x{number}": "y" * 100 for number in range(200)}), "head of the answer is longer"),
    "a head without end": (b"HTTP/1.1 200 OK\r\nx: " + b"y" * 40_000, "head of the answer is "
                                                                      "longer"),
    "a long interim answer": (
        b"HTTP/1.1 103 Early Hints\r\nx: " + b"y" * 17_000 + b"\r\n\r\n" + answer(BODY),
        "head of the answer is longer",
    ),
    "trailers without end": (
        answer(b"0\r\n" + b"x: y\r\n" * 10_000, transfer_encoding="chunked"), "longer|not HTTP",
    ),
    "interim answers without end": (b"HTTP/1.1 100 Continue\r\n"
                                    b"\r\n" * 5000, "head of the answer is longer"),
}  # fmt: skip


@pytest.mark.parametrize("saying", BAD)
async def test_a_bad_answer_is_explained(saying: str) -> None:
    said, words = BAD[saying]
    async with host(said) as bot, callers(message_longest=1000) as ours:
        with pytest.raises(CallFailed, match=words) as caught:
            await ours.post(bot.url, b"", LIMIT)
        assert not isinstance(caught.value, TooLate)


async def test_an_answer_that_breaks_off() -> None:
    async def break_off(writer: asyncio.StreamWriter, _: Asked) -> None:
        writer.write(answer(BODY)[:-3])
        writer.close()

    async with host(break_off) as bot, callers() as ours:
        with pytest.raises(CallFailed, match="broke off"):
            await ours.post(bot.url, b"", LIMIT)


async def test_a_chunk_that_breaks_off_is_not_taken_for_the_end() -> None:
    async def break_off(writer: asyncio.StreamWriter, _: Asked) -> None:
        writer.write(answer(b"2\r\n[]\r\n", transfer_encoding="chunked"))
        writer.close()

    async with host(break_off) as bot, callers() as ours:
        with pytest.raises(CallFailed, match="broke off"):
            await ours.post(bot.url, b"", LIMIT)


async def test_an_interim_answer_is_not_taken_for_the_answer() -> None:
    async def interim(writer: asyncio.StreamWriter, _: Asked) -> None:
        writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        writer.close()

    async with host(interim) as bot, callers() as ours:
        with pytest.raises(CallFailed, match="broke off"):
            await ours.post(bot.url, b"", LIMIT)


async def test_a_connection_that_is_closed_without_a_word_is_called_once() -> None:
    async def close(writer: asyncio.StreamWriter, _: Asked) -> None:
        writer.close()

    async with host(close) as bot, callers() as ours:
        with pytest.raises(CallFailed, match="closed without an answer"):
            await ours.post(bot.url, b"", LIMIT)
    assert len(bot.asked) == 1


async def test_a_port_without_a_server() -> None:
    with deaf_port() as port:
        async with callers() as ours:
            with pytest.raises(CallFailed, match=f"^127.0.0.1:{port} refused the connection$"):
                await ours.post(f"http://127.0.0.1:{port}/", b"", LIMIT)
