"""Redirects of calls, and the addresses to which a call may go."""

import asyncio

import pytest

from botdrome.server.calling.bot_connection import BotAnswer, CallFailed, NotAllowed
from tests.server.calling.hosts import Asked, answer, callers, host
from tests.server.calling.test_bot_caller import LIMIT

pytestmark = pytest.mark.anyio


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
async def test_redirects_are_followed_as_in_the_original(
    status: str, line: str, body: bytes
) -> None:
    async def lead(writer: asyncio.StreamWriter, asked: Asked) -> None:
        writer.write(answer(b"found") if "/there" in asked.line else leading(status, "/there"))

    async with host(lead) as bot, callers() as ours:
        assert await ours.post(bot.url, b"question", LIMIT) == BotAnswer(200, b"found")
    assert (bot.asked[1].line, bot.asked[1].body) == (line, body)
    assert ("content-type" in bot.asked[1].headers) == bool(body)
    assert bot.connections == 1


async def test_a_shared_tail_follows_the_body_of_each_call() -> None:
    """Also on a dead idle connection, and after a redirect."""
    tail = b"x" * 3_000_000

    async def lead(writer: asyncio.StreamWriter, asked: Asked) -> None:
        writer.write(
            answer(asked.body[:5]) if "/there" in asked.line else leading("307 On", "/there")
        )
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
    async with (
        host(leading("307 On", location)) as bot,
        callers({"rebound.example": ["10.0.0.1"]}) as ours,
    ):
        with pytest.raises(NotAllowed):
            await ours.post(bot.url, b"", LIMIT)


async def test_a_redirect_to_the_server_itself_is_refused() -> None:
    async with host() as server, host(leading("307 On", server.url)) as bot, callers() as ours:
        ours.listen_on([server.port])
        with pytest.raises(
            NotAllowed, match="the redirect leads to an address that may not be called"
        ):
            await ours.post(bot.url, b"", LIMIT)
        with pytest.raises(NotAllowed, match="does not call itself"):
            await ours.post(server.url, b"", LIMIT)
    assert not server.asked


async def test_headers_are_not_sent_to_another_host() -> None:
    async with host() as second, host(leading("307 On", second.url)) as first, callers() as ours:
        await ours.post(first.url, b"", LIMIT, {"x-secret": "for the first"})
    assert first.asked[0].headers["x-secret"] == "for the first"
    assert "x-secret" not in second.asked[0].headers


# Names and addresses.


async def test_the_address_that_was_checked_is_the_one_that_is_called() -> None:
    """A name that leads somewhere else each time: it is looked up once, and that is where the call
    goes.
    """
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


async def test_an_unknown_host() -> None:
    async with callers() as ours:
        with pytest.raises(CallFailed, match=r"there is no host nobody\.example"):
            await ours.post("http://nobody.example/", b"", LIMIT)


async def test_concurrent_calls_to_a_host_share_one_lookup() -> None:
    asked: list[str] = []

    async def lookup(name: str) -> list[str]:
        asked.append(name)
        await asyncio.sleep(0)
        return ["127.0.0.1"]

    async with host() as bot, callers() as ours:
        ours._resolver._lookup = lookup
        await asyncio.gather(
            *(ours.post(f"http://one.example:{bot.port}/", b"", LIMIT) for _ in range(10))
        )
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
async def test_no_connection_is_made_to_an_address_that_is_not_allowed(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with callers() as ours:

        async def connect(*_: object, **__: object) -> None:
            raise AssertionError("there must be no connection")

        monkeypatch.setattr(asyncio.get_running_loop(), "create_connection", connect)
        with pytest.raises(NotAllowed):
            await ours.post(url, b"", LIMIT)
