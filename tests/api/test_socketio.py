"""socket.io, request by request and frame by frame, in both versions of Engine.IO."""

import asyncio
import json
from pathlib import Path

import httpx
import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from tests.api.serving import under_way
from tests.api.socketio_rig import PATIENCE, Rig, rig, said
from tests.patience import until
from tests.server.clients import server

pytestmark = pytest.mark.anyio
both = pytest.mark.parametrize("version", [3, 4])


async def test_the_first_answer_to_a_client_of_2() -> None:
    """It is told its id, and connected without asking."""
    async with rig() as one:
        answer = await one.get("EIO=3&transport=polling&b64=1")
        length, greeting = (
            answer.text[: answer.text.index(":")],
            json.loads(answer.text[answer.text.index("{") : -4]),
        )
        assert answer.text == f"{length}:0{json.dumps(greeting, separators=(',', ':'))}2:40"
        assert greeting == {
            "sid": greeting["sid"],
            "upgrades": ["websocket"],
            "pingInterval": 25000,
            "pingTimeout": 60000,
        }
        assert answer.headers["content-type"] == "text/plain; charset=UTF-8"
        assert answer.headers["set-cookie"] == f"io={greeting['sid']}; Path=/; HttpOnly"
        assert await one.echo.next() == ("connected", greeting["sid"])


async def test_the_first_answer_to_a_client_of_3_and_4() -> None:
    """It asks to be connected, and gets an id that is not the one of its transport."""
    async with rig() as one:
        answer = await one.get("EIO=4&transport=polling&t=abc")
        greeting = json.loads(answer.text[1:])
        assert greeting["maxPayload"] == 100_000
        assert "set-cookie" not in answer.headers
        query = f"EIO=4&transport=polling&sid={greeting['sid']}"
        assert (await one.post(query, "40")).text == "ok"
        welcome = (await one.get(query)).text
        name, sid = await one.echo.next()
        assert (name, welcome) == ("connected", f'40{{"sid":"{sid}"}}')
        assert sid != greeting["sid"]


async def test_without_a_version_it_is_the_oldest() -> None:
    async with rig() as one:
        assert (await one.get("transport=polling")).text.endswith("2:40")


@both
async def test_polling(version: int) -> None:
    async with rig() as one:
        client = await one.poller(version)
        answer = await client.say('42["ECHO",{"a":"😀"}]', '42["ECHO",2]')
        assert (answer.status_code, answer.text, answer.headers["content-type"]) == (
            200,
            "ok",
            "text/html; charset=utf-8",
        )
        assert [await client.packet(), await client.packet()] == [
            '42["ECHO",{"a":"😀"}]',
            '42["ECHO",2]',
        ]
        await client.say("1")
        assert await one.echo.until_gone()
        assert (await client.poll()).json() == {"code": 1, "message": "Session ID unknown"}


@both
async def test_a_poll_waits_until_there_is_something(version: int) -> None:
    async with rig() as one:
        client = await one.poller(version)
        waiting = asyncio.create_task(client.packet())
        await client.say('42["ECHO","first"]', '42["ECHO","second"]')
        assert await waiting == '42["ECHO","first"]'
        assert await client.packet() == '42["ECHO","second"]'


@both
async def test_a_long_backlog_comes_in_several_answers(version: int) -> None:
    async with rig() as one:
        client = await one.poller(version)
        await client.say('42["TELL",700000]', '42["TELL",700000]', '42["ECHO",1]')
        texts = [(await client.poll()).text for _ in range(2)]
        assert [text.count("TOLD") for text in texts] == [2, 0]
        assert texts[1].endswith('42["ECHO",1]')


@both
async def test_a_client_that_drops_its_poll_is_gone(version: int) -> None:
    async with rig() as one:
        client = await one.poller(version)
        reader, writer = await asyncio.open_connection("127.0.0.1", one.port)
        writer.write(f"GET /socket.io/?{client.query} HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n".encode())
        await client.say('42["ECHO",1]')
        assert (await asyncio.wait_for(reader.readuntil(b'42["ECHO",1]'), PATIENCE)).startswith(
            b"HTTP/1.1 200"
        )
        writer.write(f"GET /socket.io/?{client.query} HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n".encode())
        await writer.drain()
        writer.close()
        assert await one.echo.until_gone()


@both
async def test_websocket(version: int) -> None:
    async with rig() as one, one.caller(version) as socket:
        await socket.send('42["ECHO",{"a":"😀"}]')
        assert await said(socket) == '42["ECHO",{"a":"😀"}]'
        await socket.send('42["COUNT",2000]')
        assert [await said(socket) for _ in range(2000)] == [
            f'42["NUMBER",{number}]' for number in range(2000)
        ]
        await socket.close()
        assert await one.echo.until_gone()


@both
async def test_the_greeting_on_a_websocket_offers_no_other_transport(version: int) -> None:
    async with rig() as one, one.socket(version) as socket:
        assert json.loads(str(await said(socket))[1:])["upgrades"] == []


async def test_pages_of_other_loopback_ports_may_come() -> None:
    """Like that of the original, which a development server serves."""
    page = {"origin": "http://localhost:8080"}
    async with rig() as one:
        for answer in (
            await one.http.get(one.url("EIO=3&transport=polling"), headers=page),
            await one.http.get(one.url("EIO=3&transport=polling&sid=x"), headers=page),
        ):
            assert answer.headers["access-control-allow-origin"] == "http://localhost:8080"
            assert answer.headers["access-control-allow-credentials"] == "true"
            assert answer.headers["vary"] == "origin"
        asked = page | {
            "access-control-request-method": "POST",
            "access-control-request-headers": "content-type",
        }
        answer = await one.http.request(
            "OPTIONS", one.url("EIO=4&transport=polling"), headers=asked
        )
        assert (answer.status_code, answer.headers["access-control-allow-headers"]) == (
            204,
            "content-type",
        )
        assert answer.headers["access-control-allow-methods"] == "GET, POST, PUT, DELETE"


async def test_a_caller_of_4_connects_again_after_it_has_disconnected() -> None:
    async with rig() as one, one.caller(4) as socket:
        await socket.send("41")
        first = await one.echo.until_gone()
        await socket.send("40")
        assert str(await said(socket)).startswith("40")
        assert (await one.echo.next())[1] != first


async def test_emitting_never_fails() -> None:
    async with rig() as one, one.caller(3) as socket:
        _, sid = await one.echo.next()
        caller = one.echo.callers[sid]
        caller.emit("CANNOT", {"be": object()})
        await socket.send('42["ECHO",1]')
        assert await said(socket) == '42["ECHO",1]'
        await socket.close()
        await one.echo.until_gone()
        caller.emit("TOO", "late")
        caller.connection.disconnect()


async def test_a_whole_server_has_it_on_its_port_and_on_one_of_its_own(tmp_path: Path) -> None:
    async with server(tmp_path, cube_port=-1) as house, httpx.AsyncClient(timeout=PATIENCE) as http:
        for name in ("http", "cube"):
            base = f"127.0.0.1:{house.ports[name]}"
            assert (
                await http.get(f"http://{base}/socket.io/?EIO=3&transport=polling")
            ).text.endswith("2:40")
            async with connect(f"ws://{base}/socket.io/?EIO=3&transport=websocket") as socket:
                assert str(await said(socket)).startswith("0{")
            for path in ("socket.io/other", "socket.io/socket.io.js.map"):
                assert (await http.get(f"http://{base}/{path}")).status_code == 404
        for path in ("", "healthz", "graphql"):
            assert (
                await http.get(f"http://127.0.0.1:{house.ports['cube']}/{path}")
            ).status_code == 404


async def test_the_client_for_browsers_where_it_is_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("botdrome.api.socketio.STATIC", tmp_path)
    async with rig() as one:
        url = f"http://127.0.0.1:{one.port}/socket.io/socket.io.js"
        assert (await one.http.get(url)).status_code == 404
        (tmp_path / "socketio").mkdir()
        (tmp_path / "socketio" / "socket.io.js").write_text("io = 1")
        answer = await one.http.get(url)
        assert (answer.text, answer.headers["content-type"]) == (
            "io = 1",
            "text/javascript; charset=UTF-8",
        )
        await until(
            lambda: not under_way()
        )  # it has the file open a little longer than the client needs it


@both
async def test_a_server_that_stops_closes_all_clients_and_accepts_no_more(version: int) -> None:
    async with rig() as one:
        client = await one.poller(version)
        waiting = asyncio.create_task(client.poll())
        async with one.caller(version) as socket:
            await one.socketio.close()
            with pytest.raises(ConnectionClosed):
                await said(socket)
            assert (socket.close_code, socket.close_reason) == (1001, "the server is stopping")
        assert client.packets((await waiting).text) == ["1"]
        assert (await refused(one, version)).json() == {
            "code": 4,
            "message": "Forbidden",
            "context": "the server is stopping",
        }


async def refused(one: Rig, version: int) -> httpx.Response:
    answer = await one.get(f"EIO={version}&transport=polling")
    assert answer.status_code == 403
    return answer
