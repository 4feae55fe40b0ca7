"""Calls: one limit for all of it, lines that are kept, redirects, and nobody but those who may be called."""

import asyncio
import socket
import ssl
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from botdrome.server.calling.answer import BotAnswer, CallFailed, NotAllowed, TooLate
from botdrome.server.settings import BadSetting
from tests.server.calling.hosts import Asked, Host, answer, callers, host

pytestmark = pytest.mark.anyio
LIMIT = 60.0
SHORT = 0.15
"""Seconds, where the limit is what the test is about."""


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


async def test_calls_at_once_use_lines_of_their_own() -> None:
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
        assert [asked.connection for asked in bot.asked] == [0, 0, 1], "once more, on a new line, and then no more"
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
@pytest.mark.parametrize("said", [answer(b"?", "501 Unsupported method"), answer(b"?", "405 X"), b"<!DOCTYPE HTML>\n<html>?"])
async def test_a_bot_that_never_looks_at_the_body_is_called_on_lines_of_its_own(said: bytes, sideways: bool) -> None:
    """What it leaves unread is taken for the beginning of the next request: in the original each call had a new connection."""
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
    assert connections == 6, "after the first time no line is kept"


async def test_a_status_like_that_is_an_answer_on_a_new_line() -> None:
    async with host(answer(b"[1]", "405 X")) as bot, callers() as ours:
        for _ in range(3):
            assert await ours.post(bot.url, b"{}", LIMIT) == BotAnswer(405, b"[1]")
    assert len(bot.asked) == bot.connections == 3, "which is not kept, so that nothing is asked twice"


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


async def test_lines_that_are_not_used_are_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("botdrome.server.calling.connection_pool.IDLE_TIMEOUT", 0.02)
    async with host() as bot, callers() as ours:
        await ours.post(bot.url, b"", LIMIT)
        await asyncio.wait_for(bot.left.wait(), LIMIT)
        await ours.post(bot.url, b"", LIMIT)
    assert bot.connections == 2


@pytest.mark.skipif(not hasattr(socket, "TCP_QUICKACK"), reason="the system does not know it")
async def test_an_answer_in_two_halves_is_not_held_up_on_its_way() -> None:
    """Head and body apart, by a host that leaves Nagle's algorithm on: the body waits until the head is acknowledged."""

    async def in_halves(writer: asyncio.StreamWriter, _: Asked) -> None:
        writer.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 0)
        head, _end, body = answer(b"[1]").rpartition(b"\r\n\r\n")
        writer.write(head + b"\r\n\r\n")
        writer.write(body)

    async with host(in_halves) as bot, callers() as ours:
        began = asyncio.get_running_loop().time()
        for _ in range(50):
            assert (await ours.post(bot.url, b"", LIMIT)).body == b"[1]"
        assert asyncio.get_running_loop().time() - began < 1.2, "50 times 40 ms would be 2 s"
    assert bot.connections == 1


async def test_a_host_with_one_thread_answers_all_who_call_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """It serves a connection to its end before it looks at the next: a line that is kept stands in the way of all others."""
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


# How many at once.


class Crowd:
    """A bot that counts how many calls it has at once, and lets them go when told."""

    def __init__(self) -> None:
        self.inside, self.most = 0, 0
        self.full, self.let_go = asyncio.Event(), asyncio.Event()

    async def __call__(self, writer: asyncio.StreamWriter, _: Asked) -> None:
        self.inside += 1
        self.most = max(self.most, self.inside)
        if self.inside == 3:
            self.full.set()
        await self.let_go.wait()
        self.inside -= 1
        writer.write(answer())


@pytest.mark.parametrize("setting", ["calls_per_host", "calls_per_port"])
async def test_so_many_calls_at_once_and_the_others_wait(setting: str) -> None:
    crowd = Crowd()
    async with host(crowd) as bot, callers(None, **{setting: 3}) as ours:
        calls = [asyncio.ensure_future(ours.post(bot.url, b"", LIMIT)) for _ in range(20)]
        await crowd.full.wait()
        crowd.let_go.set()
        assert {(await call).status for call in calls} == {200}
    assert crowd.most == 3


async def test_the_limit_of_a_host_holds_over_all_its_ports() -> None:
    crowd = Crowd()
    async with host(crowd) as one, host(crowd) as two, callers(calls_per_host=3) as ours:
        calls = [asyncio.ensure_future(ours.post(bot.url, b"", LIMIT)) for bot in (one, two) for _ in range(5)]
        await crowd.full.wait()
        crowd.let_go.set()
        await asyncio.gather(*calls)
    assert crowd.most == 3


async def test_a_bot_that_hangs_costs_those_on_other_ports_nothing() -> None:
    async with host(silence) as hung, host() as good, callers(calls_per_port=2) as ours:
        hanging = [asyncio.ensure_future(ours.post(hung.url, b"", LIMIT)) for _ in range(10)]
        assert (await ours.post(good.url, b"", LIMIT)).status == 200
        for call in hanging:
            call.cancel()


async def test_who_waits_for_a_turn_is_on_the_clock() -> None:
    async with host(silence) as bot, callers(calls_per_port=1) as ours:
        first = asyncio.ensure_future(ours.post(bot.url, b"", LIMIT))
        await bot.heard.wait()
        with pytest.raises(TooLate):
            await ours.post(bot.url, b"", SHORT)
        first.cancel()
    assert len(bot.asked) == 1


# Redirects.


def leading(status: str, location: str) -> bytes:
    return answer(b"gone", status, location=location)


@pytest.mark.parametrize(
    ("status", "line", "body"),
    [
        ("301 Moved", "GET /there HTTP/1.1", b""),
        ("302 Found", "GET /there HTTP/1.1", b""),
        ("303 See Other", "GET /there HTTP/1.1", b""),
        ("307 Temporary", "POST /there HTTP/1.1", b"question"),
        ("308 Permanent", "POST /there HTTP/1.1", b"question"),
    ],
)
async def test_redirects_are_followed_as_in_the_original(status: str, line: str, body: bytes) -> None:
    async def lead(writer: asyncio.StreamWriter, asked: Asked) -> None:
        writer.write(answer(b"found") if "/there" in asked.line else leading(status, "/there"))

    async with host(lead) as bot, callers() as ours:
        assert await ours.post(bot.url, b"question", LIMIT) == BotAnswer(200, b"found")
    assert (bot.asked[1].line, bot.asked[1].body) == (line, body)
    assert ("content-type" in bot.asked[1].headers) == bool(body)
    assert bot.connections == 1


async def test_what_many_are_sent_alike_is_sent_with_what_is_for_each() -> None:
    """Also where a kept line is dead, and where a redirect leads on."""
    tail = b"x" * 3_000_000

    async def lead(writer: asyncio.StreamWriter, asked: Asked) -> None:
        writer.write(answer(asked.body[:5]) if "/there" in asked.line else leading("307 On", "/there"))
        if "/there" in asked.line:
            writer.close()

    async with host(lead) as bot, callers() as ours:
        for each in (b"first", b"other"):
            assert (await ours.post(bot.url, each, LIMIT, tail=tail)).body == each
        assert {asked.body for asked in bot.asked} == {b"first" + tail, b"other" + tail}


async def test_twenty_redirects_are_followed_and_no_more() -> None:
    async def count(writer: asyncio.StreamWriter, asked: Asked) -> None:
        number = int(asked.line.split()[1][1:] or 0)
        writer.write(answer() if number == last else leading("307 On", f"/{number + 1}"))

    async with host(count) as bot, callers() as ours:
        last = 20
        assert (await ours.post(bot.url, b"", LIMIT)).status == 200
        last = 21
        with pytest.raises(CallFailed, match="more than 20 redirects"):
            await ours.post(bot.url, b"", LIMIT)


@pytest.mark.parametrize("status", ["300 Choices", "304 Not Modified", "305 Use Proxy"])
async def test_other_3xx_are_answers(status: str) -> None:
    async with host(answer(b"", status, location="/x")) as bot, callers() as ours:
        assert (await ours.post(bot.url, b"", LIMIT)).status == int(status[:3])


async def test_a_redirect_without_a_location_leads_nowhere() -> None:
    async with host(answer(b"", "302 Found")) as bot, callers() as ours:
        with pytest.raises(CallFailed, match="leads nowhere"):
            await ours.post(bot.url, b"", LIMIT)


@pytest.mark.parametrize(
    "location",
    [
        "http://10.0.0.1/",
        "http://169.254.169.254/latest/meta-data/",
        "http://[fd00:ec2::254]/",
        "http://[::ffff:127.0.0.1]/",
        "http://0.0.0.0:8080/",
        "http://0x7f.1/",
        "http://2130706433/",
        "http://127.0.0.1:22/",
        "http://me@127.0.0.1/",
        "//rebound.example/",
        "file:///etc/passwd",
        "gopher://127.0.0.1/",
    ],
)
async def test_a_redirect_leads_nowhere_where_a_call_may_not_go(location: str) -> None:
    async with host(leading("307 On", location)) as bot, callers({"rebound.example": ["10.0.0.1"]}) as ours:
        with pytest.raises(NotAllowed):
            await ours.post(bot.url, b"", LIMIT)


async def test_a_redirect_to_the_server_itself_is_refused() -> None:
    async with host() as server, host(leading("307 On", server.url)) as bot, callers() as ours:
        ours.listen_on([server.port])
        with pytest.raises(NotAllowed, match="the redirect leads to an address that may not be called"):
            await ours.post(bot.url, b"", LIMIT)
        with pytest.raises(NotAllowed, match="does not call itself"):
            await ours.post(server.url, b"", LIMIT)
    assert not server.asked


async def test_another_host_is_not_told_what_was_for_the_first() -> None:
    async with host() as second, host(leading("307 On", second.url)) as first, callers() as ours:
        await ours.post(first.url, b"", LIMIT, {"x-secret": "for the first"})
    assert first.asked[0].headers["x-secret"] == "for the first"
    assert "x-secret" not in second.asked[0].headers


# Names and addresses.


async def test_the_address_that_was_checked_is_the_one_that_is_called() -> None:
    """A name that leads somewhere else each time: it is looked up once, and that is where the call goes."""
    asked: list[str] = []

    async def rebinding(name: str) -> list[str]:
        asked.append(name)
        return ["127.0.0.1"] if len(asked) == 1 else ["10.0.0.1"]

    async with host() as bot, callers() as ours:
        ours._resolver._lookup = rebinding
        url = f"http://rebinding.example:{bot.port}/"
        for _ in range(3):
            assert (await ours.post(url, b"", LIMIT)).status == 200
        assert bot.asked[0].headers["host"] == f"rebinding.example:{bot.port}"
        assert asked == ["rebinding.example"]
        ours.listen_on([])
        with pytest.raises(NotAllowed, match=r"10\.0\.0\.1 may not be called"):
            await ours.post(url, b"", LIMIT)


async def test_of_several_addresses_only_those_that_may_be_called_are_tried() -> None:
    names = {"mixed.example": ["10.0.0.1", "169.254.169.254", "127.0.0.1"]}
    async with host() as bot, callers(names) as ours:
        assert (await ours.post(f"http://mixed.example:{bot.port}/", b"", LIMIT)).status == 200


async def test_of_several_addresses_the_first_that_can_be_reached_is_called() -> None:
    async with host() as bot, callers({"two.example": ["127.0.0.2", "127.0.0.1"]}) as ours:
        for _ in range(2):
            assert (await ours.post(f"http://two.example:{bot.port}/", b"", LIMIT)).status == 200
    assert bot.connections == 1, "the one that answered is tried first from then on"


async def test_localhost_is_not_looked_up() -> None:
    async with host() as bot, callers({"localhost": ["10.0.0.1"]}) as ours:
        assert (await ours.post(f"http://localhost:{bot.port}/", b"", LIMIT)).status == 200


async def test_a_name_that_nobody_knows() -> None:
    async with callers() as ours:
        with pytest.raises(CallFailed, match=r"there is no host nobody\.example"):
            await ours.post("http://nobody.example/", b"", LIMIT)


async def test_many_who_want_one_name_look_it_up_once() -> None:
    asked: list[str] = []

    async def lookup(name: str) -> list[str]:
        asked.append(name)
        await asyncio.sleep(0)
        return ["127.0.0.1"]

    async with host() as bot, callers() as ours:
        ours._resolver._lookup = lookup
        await asyncio.gather(*(ours.post(f"http://one.example:{bot.port}/", b"", LIMIT) for _ in range(10)))
    assert asked == ["one.example"]


@pytest.mark.parametrize(
    "url",
    [
        "http://10.0.0.1/",
        "http://169.254.169.254/",
        "http://8.8.8.8/",
        "http://[::ffff:7f00:1]/",
        "http://[64:ff9b::7f00:1]/",
        "http://0.0.0.0:8080/",
        "http://[::]:8080/",
        "http://224.0.0.1/",
        "http://127.0.0.1:25/",
        "http://017700000001/",
    ],
)
async def test_what_may_not_be_called_is_not_connected_to(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async with callers() as ours:

        async def connect(*_: object, **__: object) -> None:
            raise AssertionError("there must be no connection")

        monkeypatch.setattr(asyncio.get_running_loop(), "create_connection", connect)
        with pytest.raises(NotAllowed):
            await ours.post(url, b"", LIMIT)


# TLS.


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tls")
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=bots.example",
         "-addext", "subjectAltName=DNS:bots.example,IP:127.0.0.1", "-keyout", folder / "key.pem", "-out", folder / "cert.pem"],
        check=True, capture_output=True,
    )  # fmt: skip
    return folder


def tls(folder: Path) -> ssl.SSLContext:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(folder / "cert.pem", folder / "key.pem")
    return context


async def test_https_goes_to_the_checked_address_and_asks_for_the_name(certificate: Path) -> None:
    names: list[str | None] = []
    context = tls(certificate)
    context.sni_callback = lambda _, name, __: names.append(name)
    async with host(tls=context) as bot, callers({"bots.example": ["127.0.0.1"]}, bots_ca=str(certificate / "cert.pem")) as ours:
        for _ in range(2):
            assert (await ours.post(f"https://bots.example:{bot.port}/", b"", LIMIT)).status == 200
        assert names == ["bots.example"]
        assert bot.asked[0].headers["host"] == f"bots.example:{bot.port}"
        assert (await ours.post(f"https://127.0.0.1:{bot.port}/", b"", LIMIT)).status == 200


async def test_a_certificate_has_to_be_trusted_and_to_fit_the_name(certificate: Path) -> None:
    names = {"bots.example": ["127.0.0.1"], "other.example": ["127.0.0.1"]}
    async with host(tls=tls(certificate)) as bot:
        async with callers(names) as ours:
            with pytest.raises(CallFailed, match=r"the certificate of bots\.example is not trusted"):
                await ours.post(f"https://bots.example:{bot.port}/", b"", LIMIT)
        async with callers(names, bots_ca=str(certificate / "cert.pem")) as ours:
            with pytest.raises(CallFailed, match=r"the certificate of other\.example is not trusted"):
                await ours.post(f"https://other.example:{bot.port}/", b"", LIMIT)


async def test_https_to_something_that_speaks_no_tls() -> None:
    async def hello(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"hello\r\n" * 20)
        writer.close()
        await asyncio.gather(writer.wait_closed(), return_exceptions=True)

    async with await asyncio.start_server(hello, "127.0.0.1", 0) as server, callers() as ours:
        with pytest.raises(CallFailed, match=r"does not speak TLS|cannot be reached"):
            await ours.post(f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}/", b"", LIMIT)


async def test_certificates_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    (tmp_path / "bad.pem").write_text("nothing")
    for name in ("bad.pem", "missing.pem"):
        with pytest.raises(BadSetting, match=r"^calls.ca: "):
            async with callers(bots_ca=str(tmp_path / name)):
                pass
