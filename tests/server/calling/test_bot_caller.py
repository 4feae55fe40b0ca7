"""Calls to bots: one time limit for the whole call, and keep-alive."""

import asyncio
import socket
from contextlib import suppress
from typing import Any

import pytest

from botdrome.server.calling.bot_connection import BotAnswer, CallFailed, TooLate
from tests.server.calling.hosts import Asked, Host, answer, callers, host

pytestmark = pytest.mark.anyio
LIMIT = 60.0
SHORT = 0.15
"""Seconds, for tests of the time limit."""


# Time.


async def silence(writer: asyncio.StreamWriter, _: Asked) -> None:
    await asyncio.Event().wait()


async def half(writer: asyncio.StreamWriter, _: Asked) -> None:
    writer.write(answer(b"[1, 2]")[:-2])
    await asyncio.Event().wait()


async def drip(writer: asyncio.StreamWriter, _: Asked) -> None:
    """A byte now and then: no pause is long, and it never ends."""
    writer.write(b"HTTP/1.1 200 OK\r\nx: ")
    while True:
        writer.write(b"y")
        await writer.drain()
        await asyncio.sleep(SHORT / 20)


@pytest.mark.parametrize("say", [silence, half, drip])
async def test_one_limit_holds_for_the_whole_call(say: object) -> None:
    async with host(say) as bot, callers() as ours:  # type: ignore[arg-type]
        began = asyncio.get_running_loop().time()
        with pytest.raises(TooLate, match=r"^no whole answer within 150 ms$"):
            await ours.post(bot.url, b"", SHORT)
        assert asyncio.get_running_loop().time() - began < LIMIT / 2


async def test_the_limit_is_shared_by_all_redirects() -> None:
    async def on_and_on(writer: asyncio.StreamWriter, _: Asked) -> None:
        await asyncio.sleep(SHORT / 4)
        writer.write(answer(b"", "307 On", location="/"))

    async with host(on_and_on) as bot, callers() as ours:
        with pytest.raises(TooLate):
            await ours.post(bot.url, b"", SHORT)
        assert 2 <= len(bot.asked) < 10


async def test_a_name_that_takes_long_to_look_up_is_too_late() -> None:
    async with callers() as ours:
        ours._resolver._lookup = lambda _: asyncio.get_running_loop().create_future()
        with pytest.raises(TooLate):
            await ours.post("http://bots.example.org/", b"", SHORT)


async def test_a_late_answer_is_not_taken_for_the_next_one() -> None:
    gate = asyncio.Event()

    async def first_is_late(writer: asyncio.StreamWriter, asked: Asked) -> None:
        if asked.body == b"1":
            await gate.wait()
        writer.write(answer(b"to " + asked.body))

    async with host(first_is_late) as bot, callers() as ours:
        with pytest.raises(TooLate):
            await ours.post(bot.url, b"1", SHORT)
        gate.set()
        assert (await ours.post(bot.url, b"2", LIMIT)).body == b"to 2"
    assert bot.connections == 2


async def test_a_call_that_is_given_up_leaves_no_line_behind() -> None:
    async with host(silence) as bot, callers(calls_per_port=1) as ours:
        call = asyncio.ensure_future(ours.post(bot.url, b"", LIMIT))
        await bot.heard.wait()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        bot.heard.clear()
        second = asyncio.ensure_future(ours.post(bot.url, b"", LIMIT))
        await bot.heard.wait()
        second.cancel()
    assert bot.connections == 2


# Lines that are kept.


def quietly(serve: Any) -> Any:
    """A server that does not mind that its clients go."""

    async def served(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            await serve(reader, writer)
        writer.close()

    return served


async def test_calls_one_after_another_use_one_line() -> None:
    async with host() as bot, callers() as ours:
        for _ in range(5):
            await ours.post(bot.url, b"", LIMIT)
    assert bot.connections == 1


async def test_concurrent_calls_use_separate_connections() -> None:
    everybody = asyncio.Event()

    async def together(writer: asyncio.StreamWriter, _: Asked) -> None:
        if bot.connections == 5:
            everybody.set()
        await everybody.wait()
        writer.write(answer())

    async with host(together) as bot, callers() as ours:
        for _ in range(2):
            await asyncio.gather(*(ours.post(bot.url, b"", LIMIT) for _ in range(5)))
    assert bot.connections == 5
    assert len(bot.asked) == 10


async def test_a_kept_line_that_is_dead_is_replaced_once() -> None:
    """The other side closes after each answer, and does not say so."""

    async def close_quietly(writer: asyncio.StreamWriter, asked: Asked) -> None:
        if asked.connection < 2 and asked.body == b"second":
            writer.close()
        else:
            writer.write(answer(asked.body))

    async with host(close_quietly) as bot, callers() as ours:
        await ours.post(bot.url, b"first", LIMIT)
        with pytest.raises(CallFailed, match="closed without an answer"):
            await ours.post(bot.url, b"second", LIMIT)
        assert [asked.connection for asked in bot.asked] == [0, 0, 1], (
            "repeated once, on a new connection"
        )
        assert (await ours.post(bot.url, b"third", LIMIT)).body == b"third"


async def test_a_call_is_not_repeated_when_something_came_back() -> None:
    async def half_the_second(writer: asyncio.StreamWriter, asked: Asked) -> None:
        writer.write(answer()[: -1 if asked.body == b"second" else None])
        if asked.body == b"second":
            writer.close()

    async with host(half_the_second) as bot, callers() as ours:
        await ours.post(bot.url, b"first", LIMIT)
        with pytest.raises(CallFailed, match="broke off"):
            await ours.post(bot.url, b"second", LIMIT)
    assert len(bot.asked) == 2


@pytest.mark.parametrize("sideways", [False, True], ids=["at once", "in turn"])
@pytest.mark.parametrize(
    "said",
    [answer(b"?", "501 Unsupported method"), answer(b"?", "405 X"), b"<!DOCTYPE HTML>\n<html>?"],
)
async def test_a_bot_that_never_reads_the_body_gets_new_connections(
    said: bytes, sideways: bool
) -> None:
    """A body that the bot leaves unread looks like the next request: in the original each call had
    a new connection.
    """
    connections = 0

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal connections
        connections += 1
        while head := await reader.readuntil(b"\r\n\r\n"):
            writer.write(answer(b"[1]") if head.startswith(b"POST ") else said)

    server = await asyncio.start_server(quietly(serve), "127.0.0.1", 0)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
    async with server, callers() as ours:
        for number in range(6):
            if sideways:
                ours.listen_on([])  # what was looked up is forgotten: the long way round
            assert (await ours.post(url, b'{"a b": 1}', LIMIT)).body == b"[1]", number
    assert connections == 6, "no keep-alive after the first time"


async def test_a_status_like_that_is_an_answer_on_a_new_line() -> None:
    async with host(answer(b"[1]", "405 X")) as bot, callers() as ours:
        for _ in range(3):
            assert await ours.post(bot.url, b"{}", LIMIT) == BotAnswer(405, b"[1]")
    assert len(bot.asked) == bot.connections == 3, (
        "which is not kept, so that nothing is asked twice"
    )


async def test_a_line_on_which_more_comes_than_was_asked_for_is_not_used_again() -> None:
    async with host(answer(b"[1]") + answer(b"[2]")) as bot, callers() as ours:
        for _ in range(3):
            assert (await ours.post(bot.url, b"", LIMIT)).body == b"[1]"
    assert bot.connections == 3


async def test_connection_close_is_heeded() -> None:
    async with host(answer(connection="close")) as bot, callers() as ours:
        for _ in range(3):
            await ours.post(bot.url, b"", LIMIT)
    assert bot.connections == 3


async def test_idle_connections_are_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("botdrome.server.calling.bot_caller.IDLE_TIMEOUT", 0.02)
    async with host() as bot, callers() as ours:
        await ours.post(bot.url, b"", LIMIT)
        await asyncio.wait_for(bot.left.wait(), LIMIT)
        await ours.post(bot.url, b"", LIMIT)
    assert bot.connections == 2


@pytest.mark.skipif(not hasattr(socket, "TCP_QUICKACK"), reason="the system does not know it")
async def test_an_answer_in_two_halves_is_not_held_up_on_its_way() -> None:
    """Head and body apart, by a host that leaves Nagle's algorithm on: the body waits until the
    head is acknowledged.
    """

    async def in_halves(writer: asyncio.StreamWriter, _: Asked) -> None:
        writer.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 0)
        head, _end, body = answer(b"[1]").rpartition(b"\r\n\r\n")
        writer.write(head + b"\r\n\r\n")
        writer.write(body)

    async with host(in_halves) as bot, callers() as ours:
        times = []
        for _ in range(60):
            began = asyncio.get_running_loop().time()
            assert (await ours.post(bot.url, b"", LIMIT)).body == b"[1]"
            times.append(asyncio.get_running_loop().time() - began)
        assert min(times[40:]) < 0.03, "with the trap each takes 0.04 at least"
    assert bot.connections == 1


async def test_a_host_with_one_thread_answers_concurrent_calls(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It serves one connection to its end before the next, so that an idle connection blocks all
    others.
    """
    monkeypatch.setattr("botdrome.server.calling.bot_caller.SILENT_FOR", 0.05)
    bot, thread = Host(answer()), asyncio.Lock()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async with thread:
            await bot.serve(reader, writer)

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    bot.port = server.sockets[0].getsockname()[1]
    async with server, callers() as ours:
        for _ in range(3):
            await asyncio.gather(*(ours.post(bot.url, b"", LIMIT) for _ in range(3)))
    assert (len(bot.asked), bot.connections) == (9, 9), "no more lines are kept to it"


async def test_a_name_is_looked_up_again_when_its_addresses_have_expired() -> None:
    names = {"bots.example": ["127.0.0.1"]}
    async with host() as bot, callers(names) as ours:
        url, cache = f"http://bots.example:{bot.port}/", ours._resolver.cache
        await ours.post(url, b"", LIMIT)
        del names["bots.example"]
        assert (await ours.post(url, b"", LIMIT)).status == 200
        for origin, (_, endpoints) in cache.items():
            cache[origin] = asyncio.get_running_loop().time(), endpoints
        with pytest.raises(CallFailed, match=r"^there is no host bots\.example$"):
            await ours.post(url, b"", LIMIT)
