"""The server's end of `botdrome connect`, message by message."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from botdrome.app import RunningServer
from botdrome.server.calling.bot_caller import BotCaller
from botdrome.server.calling.bot_connection import BotAnswer, CallFailed, TooLate
from tests.server.clients import Client, client, registered, server

pytestmark = pytest.mark.anyio


def callers_of(house: RunningServer) -> BotCaller:
    return house.arena.url_bots._caller


async def connected(house: RunningServer, one: Client, name: str = "called") -> Any:
    login = await registered(house, name)
    await one.send({"name": name, "password": login["password"]})
    return await one.receive()


async def test_a_call_is_carried_out_and_its_answer_in(tmp_path: Path) -> None:
    async with server(tmp_path) as house, client(house, "/connect") as one:
        assert await connected(house, one, "a b/ü") == {
            "connected": "a b/ü",
            "gameType": "noughts-and-crosses",
            "longest": 65536,
        }
        call = asyncio.ensure_future(
            callers_of(house).post(
                "connect:a%20b%2F%C3%BC", b'{"q":1}', 2.5, {"x-botdrome-match": "m"}
            )
        )
        message = await one.receive()
        number = message.pop("call")
        assert message == {"limit": 2.5, "headers": {"x-botdrome-match": "m"}, "body": '{"q":1}'}
        await one.send({"call": number + 1, "status": 200, "body": "not mine"})
        await one.send({"call": number, "status": 201, "body": '{"a":"ü"}'})
        assert await call == BotAnswer(201, '{"a":"ü"}'.encode())


async def test_a_failure_is_told_in_the_words_of_the_other_end(tmp_path: Path) -> None:
    async with server(tmp_path) as house, client(house, "/connect") as one:
        await connected(house, one)
        call = asyncio.ensure_future(callers_of(house).post("connect:called", b"", 5))
        await one.send({"call": (await one.receive())["call"], "failed": "refused"})
        with pytest.raises(CallFailed, match=r"^refused$"):
            await call


async def test_no_answer_is_too_late(tmp_path: Path) -> None:
    async with server(tmp_path) as house, client(house, "/connect") as one:
        await connected(house, one)
        with pytest.raises(TooLate, match="no whole answer within 50 ms"):
            await callers_of(house).post("connect:called", b"", 0.05)


async def test_calls_end_with_the_connection(tmp_path: Path) -> None:
    async with server(tmp_path) as house:
        async with client(house, "/connect") as one:
            await connected(house, one)
            call = asyncio.ensure_future(callers_of(house).post("connect:called", b"", 5))
            await one.receive()
        with pytest.raises(CallFailed, match="the connection of called broke off"):
            await call
        with pytest.raises(CallFailed, match="called is not connected"):
            await callers_of(house).post("connect:called", b"", 5)


async def test_the_last_to_come_carries(tmp_path: Path) -> None:
    async with (
        server(tmp_path) as house,
        client(house, "/connect") as one,
        client(house, "/connect") as two,
    ):
        token = (await registered(house, "called"))["password"]
        for each in (one, two):
            await each.send({"name": "called", "password": token})
            assert "connected" in await each.receive()
        words = "another connection carries the calls now"
        assert await one.until_closed() == ([{"error": words}], 4001, words)
        call = asyncio.ensure_future(callers_of(house).post("connect:called", b"", 5))
        await two.send({"call": (await two.receive())["call"], "status": 200, "body": "two"})
        assert (await call).body == b"two"


async def test_a_tunnel_cannot_answer_calls_of_another(tmp_path: Path) -> None:
    async with (
        server(tmp_path) as house,
        client(house, "/connect") as one,
        client(house, "/connect") as two,
    ):
        await connected(house, one, "one")
        await connected(house, two, "two")
        call = asyncio.ensure_future(callers_of(house).post("connect:one", b"", 5))
        number = (await one.receive())["call"]
        await two.send({"call": number, "status": 200, "body": "two"})
        await one.send({"call": number, "status": 200, "body": "one"})
        assert (await call).body == b"one"


async def test_so_many_calls_wait_and_no_more(tmp_path: Path) -> None:
    async with server(tmp_path, calls_per_port=2) as house, client(house, "/connect") as one:
        await connected(house, one)
        calls = [
            asyncio.ensure_future(callers_of(house).post("connect:called", b"", 5))
            for _ in range(2)
        ]
        await one.receive()
        with pytest.raises(CallFailed, match="too many calls wait for called"):
            await callers_of(house).post("connect:called", b"", 5)
        for call in calls:
            call.cancel()


@pytest.mark.parametrize(
    ("name", "token"), [("called", "wrong"), ("nobody", "right"), ("called", "")]
)
async def test_a_wrong_password_is_refused(tmp_path: Path, name: str, token: str) -> None:
    async with server(tmp_path) as house, client(house, "/connect") as one:
        right = (await registered(house, "called"))["password"]
        await one.send({"name": name, "password": right if token == "right" else token})
        words = "the name or the password is wrong"
        assert await one.until_closed() == ([{"error": words}], 1008, words)


async def test_a_tunnel_without_a_login_is_closed(tmp_path: Path) -> None:
    async with server(tmp_path, limits_login=0.01) as house, client(house, "/connect") as one:
        assert await one.until_closed() == ([{"error": "no login came"}], 1008, "no login came")


async def test_answers_without_a_call_are_limited(tmp_path: Path) -> None:
    async with (
        server(tmp_path, message_rate=0.001, message_burst=5) as house,
        client(house, "/connect") as one,
    ):
        await connected(house, one)
        for number in range(6):
            await one.send({"call": 1000 + number, "status": 200, "body": ""})
        assert await one.until_closed() == (
            [{"error": "too many messages"}],
            1008,
            "too many messages",
        )


async def test_the_server_says_that_it_stops(tmp_path: Path) -> None:
    async with server(tmp_path) as house, client(house, "/connect") as one:
        await connected(house, one)
        closing = asyncio.ensure_future(house.close())
        assert await one.until_closed() == (
            [{"error": "the server is stopping"}],
            1001,
            "the server is stopping",
        )
        await closing
