"""Clients of socket.io that do not fetch or read, and probes that fail."""

import asyncio
import base64

import httpx
import pytest
from websockets.exceptions import ConnectionClosed

from tests.api.socketio_rig import PATIENCE, Poller, rig, said
from tests.api.test_socketio_bad_input import both, denied
from tests.server.clients import leap

pytestmark = pytest.mark.anyio


@both
async def test_a_client_that_does_not_fetch_is_dropped(version: int) -> None:
    async with rig() as one:
        client = await one.poller(version)
        await client.say(*['42["TELL",1500000]'] * 12)
        assert await one.echo.until_gone()
        assert (await client.poll()).json()["code"] == 1


@both
async def test_a_client_that_does_not_read_is_dropped(version: int) -> None:
    async with rig() as one:
        _, writer = await asyncio.open_connection("127.0.0.1", one.port, limit=1)
        key = base64.b64encode(bytes(16)).decode()
        upgrade = (
            "connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\n"
            f"sec-websocket-key: {key}"
        )
        writer.write(
            f"GET /socket.io/?EIO={version}&transport=websocket HTTP/1.1\r\nhost: 127.0.0.1\r\n"
            f"{upgrade}\r\n\r\n".encode()
        )
        if version == 4:
            writer.write(b"\x81\x82\0\0\0\x0040")
        _, sid = await one.echo.next()
        caller = one.echo.callers[sid]
        for _ in range(64):
            caller.emit("LONG", "x" * 1_000_000)
        assert await one.echo.until_gone() == sid
        writer.close()


@both
async def test_a_probe_that_is_none(version: int) -> None:
    async with rig() as one:
        client = await one.poller(version)
        for frame in ("garbage", "3probe", "2other", '42["ECHO",1]', b"\7"):
            async with one.socket(version, client.sid) as socket:
                await socket.send(frame)
                with pytest.raises(ConnectionClosed):
                    await said(socket)
                assert socket.close_code == 1002
        await client.say('42["ECHO",1]')
        assert await until_echo(client) == '42["ECHO",1]'


async def until_echo(client: Poller) -> str:
    while (packet := await client.packet()) == "6":
        pass
    return packet


@both
async def test_a_probe_that_stalls(version: int) -> None:
    async with rig(limits_login=1.0) as one:
        client = await one.poller(version)
        async with one.socket(version, client.sid) as socket:
            await socket.send("2probe")
            assert await said(socket) == "3probe"
            leap(1.0)
            with pytest.raises(ConnectionClosed):
                await said(socket)
        await client.say('42["ECHO",1]')
        assert await until_echo(client) == '42["ECHO",1]'


@both
async def test_two_websockets_for_one_session(version: int) -> None:
    query = f"EIO={version}&transport=websocket&sid="
    async with rig() as one:
        client = await one.poller(version)
        async with one.socket(version, client.sid) as socket:
            assert (await denied(one, query + client.sid))[
                "context"
            ] == "there is a WebSocket already"
            await socket.send("2probe")
            await said(socket)
            await socket.send("5")
            await socket.send('42["ECHO",1]')
            assert await said(socket) == '42["ECHO",1]'
            assert (await denied(one, query + client.sid))[
                "context"
            ] == "this session is on a WebSocket"


@both
async def test_a_session_that_ends_while_it_is_probed(version: int) -> None:
    async with rig() as one:
        client = await one.poller(version)
        async with one.socket(version, client.sid) as socket:
            await socket.send("2probe")
            await said(socket)
            await client.say("1")
            await one.echo.until_gone()
            await socket.send("5")
            with pytest.raises(ConnectionClosed):
                await said(socket)


async def test_garbage_instead_of_http() -> None:
    async with rig() as one:
        reader, writer = await asyncio.open_connection("127.0.0.1", one.port)
        writer.write(b"GET /socket.io/?EIO=4&transport=websocket\xff\0 NOTHING\r\n\r\n")
        assert b"400" in await asyncio.wait_for(reader.read(), PATIENCE)
        writer.close()
        async with httpx.AsyncClient() as http:
            assert (await http.get(one.url("transport=polling"))).status_code == 200
