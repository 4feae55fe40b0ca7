"""How a client of socket.io moves from polling to a WebSocket, stays alive and is let go."""

import asyncio
import json
from urllib.parse import quote_plus

import pytest
from websockets.exceptions import ConnectionClosed

from tests.api.socketio_rig import PATIENCE, rig, said
from tests.api.test_socketio import both
from tests.server.clients import leap

pytestmark = pytest.mark.anyio


@both
async def test_the_change_from_polling_to_a_websocket(version: int) -> None:
    async with rig() as one:
        client = await one.poller(version)
        waiting = asyncio.create_task(client.poll())
        async with one.socket(version, client.sid) as socket:
            await socket.send("2probe")
            assert await said(socket) == "3probe"
            assert client.packets((await waiting).text) == ["6"]
            await client.say('42["ECHO","still polling"]')
            assert client.packets((await client.poll()).text) == ['42["ECHO","still polling"]']
            assert client.packets((await client.poll()).text) == ["6"], (
                "answered soon, so that the client can leave"
            )
            await client.say('42["ECHO","left behind"]')
            await socket.send("5")
            assert await said(socket) == '42["ECHO","left behind"]'
            await socket.send('42["ECHO","moved"]')
            assert await said(socket) == '42["ECHO","moved"]'
            for answer in (await client.poll(), await client.say("2")):
                assert answer.json() == {
                    "code": 3,
                    "message": "Bad request",
                    "context": "this session is on a WebSocket",
                }
        assert await one.echo.until_gone()


@both
async def test_a_poll_that_waits_when_the_client_moves_is_let_go(version: int) -> None:
    async with rig() as one:
        client = await one.poller(version)
        async with one.socket(version, client.sid) as socket:
            await socket.send("5")
            await socket.send('42["ECHO",1]')
            assert await said(socket) == '42["ECHO",1]'


@both
async def test_a_probe_that_ends_leaves_the_client_where_it_was(version: int) -> None:
    async with rig() as one:
        client = await one.poller(version)
        async with one.socket(version, client.sid) as socket:
            await socket.send("2probe")
            await said(socket)
        waiting = asyncio.create_task(client.packet())
        await client.say('42["ECHO",1]')
        while (packet := await waiting) == "6":
            waiting = asyncio.create_task(client.packet())
        assert packet == '42["ECHO",1]'
        async with one.socket(version, client.sid) as socket:
            await socket.send("2probe")
            assert await said(socket) == "3probe", "and it may try again"


@both
async def test_the_server_disconnects_after_the_last_word(version: int) -> None:
    async with rig() as one:
        async with one.caller(version) as socket:
            await socket.send('42["LEAVE_ME"]')
            assert [await said(socket), await said(socket)] == ['42["LAST","goodbye"]', "41"]
            with pytest.raises(ConnectionClosed):
                await said(socket)
        client = await one.poller(version)
        await client.say('42["LEAVE_ME"]')
        assert client.packets((await client.poll()).text) == ['42["LAST","goodbye"]', "41"]
        assert client.packets((await client.poll()).text) == ["1"]
        assert (await client.poll()).json()["code"] == 1


async def test_a_caller_of_2_pings() -> None:
    async with rig() as one, one.caller(3) as socket:
        await socket.send("2")
        assert await said(socket) == "3"
        client = await one.poller(3)
        await client.say("2", "2probe")
        assert [await client.packet(), await client.packet()] == ["3", "3probe"]


async def test_a_caller_of_3_and_4_is_pinged() -> None:
    async with (
        rig(cube_ping_interval=2.0, cube_ping_timeout=10 * PATIENCE) as one,
        one.caller(4) as socket,
    ):
        for _ in range(10):
            leap(2.0)
            assert await said(socket) == "2"
            await socket.send("3")
        client = await one.poller(4)
        for _ in range(3):
            leap(2.0)
            assert await client.packet() == "2"
            await client.say("3")


@both
async def test_a_silent_client_is_closed(version: int) -> None:
    async with rig(cube_ping_interval=0.3, cube_ping_timeout=0.7) as one:
        async with one.caller(version) as socket:
            leap(1.0)
            with pytest.raises(ConnectionClosed):
                while await said(socket) == "2":
                    leap(1.0)
            assert socket.close_reason == "ping timeout"
        client = await one.poller(version)
        leap(1.0)
        while (packets := client.packets((await client.poll()).text))[-1] == "2":
            leap(1.0)
        assert packets == ["1"]


async def test_jsonp() -> None:
    """As the clients of 2.x do it in browsers that know nothing better."""
    async with rig() as one:
        answer = await one.get("EIO=3&transport=polling&j=0")
        assert answer.headers["content-type"] == "text/javascript; charset=UTF-8"
        payload = json.loads(answer.text.removeprefix("___eio[0](").removesuffix(");"))
        sid = json.loads(payload[payload.index("{") : payload.index("}") + 1])["sid"]
        query = f"EIO=3&transport=polling&sid={sid}&j=1"
        form = "d=" + quote_plus('19:42["ECHO","a\\\\nb😀"]')
        assert (await one.post(query, form, "application/x-www-form-urlencoded")).text == "ok"
        assert (await one.get(query)).text == '___eio[1]("19:42[\\"ECHO\\",\\"a\\\\nb😀\\"]");'


async def test_bytes_over_every_way() -> None:
    echoed = '42["ECHO","b25l"]'
    asked = '451-["ECHO",{"_placeholder":true,"num":0}]'
    async with rig() as one:
        old, new = await one.poller(3), await one.poller(4)
        for client, packet in ((old, "b4b25l"), (new, "bb25l")):
            await client.say(asked, packet)
            assert await client.packet() == echoed
        lengths = bytes([0, *map(int, str(len(asked))), 255])
        body = lengths + asked.encode() + b"\1\4\xff\4one"
        assert (await one.post(old.query, body, "application/octet-stream")).status_code == 200
        assert await old.packet() == echoed
        for version, frame in ((3, b"\4one"), (4, b"one")):
            async with one.caller(version) as socket:
                await socket.send(asked)
                await socket.send(frame)
                assert await said(socket) == echoed
