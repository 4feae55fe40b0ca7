"""Bad input on socket.io: the client gets an error of its protocol, and no other client notices."""

import asyncio
import base64
import json
from typing import Any

import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from tests.api.socketio_rig import PATIENCE, Poller, Rig, rig, said
from tests.patience import until
from tests.server.clients import leap

pytestmark = pytest.mark.anyio
both = pytest.mark.parametrize("version", [3, 4])
BAD = {"code": 3, "message": "Bad request"}

QUERIES: list[tuple[str, str, int, dict[str, Any]]] = [
    ("GET", "", 400, {"code": 0, "message": "Transport unknown"}),
    ("GET", "EIO=3", 400, {"code": 0, "message": "Transport unknown"}),
    ("GET", "EIO=4&transport=flashsocket", 400, {"code": 0, "message": "Transport unknown"}),
    ("GET", "EIO=4&transport=polling&sid=", 400, {"code": 1, "message": "Session ID unknown"}),
    (
        "GET",
        "EIO=4&transport=polling&sid=unknown",
        400,
        {"code": 1, "message": "Session ID unknown"},
    ),
    (
        "POST",
        "EIO=3&transport=polling&sid=unknown",
        400,
        {"code": 1, "message": "Session ID unknown"},
    ),
    (
        "GET",
        "EIO=3&transport=polling&sid=" + "x" * 5000,
        400,
        {"code": 1, "message": "Session ID unknown"},
    ),
    ("POST", "EIO=3&transport=polling", 400, {"code": 2, "message": "Bad handshake method"}),
    ("PUT", "EIO=4&transport=polling", 400, {"code": 2, "message": "Bad handshake method"}),
    ("PUT", "EIO=4&transport=polling&sid=unknown", 400, BAD),
    ("GET", "EIO=4&transport=websocket", 400, BAD),
    ("GET", "EIO=4&transport=polling&j=alert(1)", 400, BAD | {"context": "j is a number"}),
    ("GET", "EIO=4&transport=polling&j=²", 400, BAD | {"context": "j is a number"}),
    ("GET", "EIO=4&transport=polling" + "&a=1" * 50, 400, BAD | {"context": "more than 50 fields"}),
    ("GET", "EIO=2&transport=polling", 400, {"code": 5, "message": "Unsupported protocol version"}),
    ("GET", "EIO=5&transport=polling", 400, {"code": 5, "message": "Unsupported protocol version"}),
    (
        "GET",
        "EIO=4.0&transport=polling",
        400,
        {"code": 5, "message": "Unsupported protocol version"},
    ),
    ("GET", "EIO=&transport=polling", 400, {"code": 5, "message": "Unsupported protocol version"}),
]


async def test_requests_that_cannot_be() -> None:
    async with rig() as one:
        for method, query, status, words in QUERIES:
            answer = await one.http.request(method, one.url(query))
            assert (answer.status_code, answer.json()) == (status, words), (method, query)


SOCKETS = [query for method, query, *_ in QUERIES if method == "GET" and "²" not in query] + [
    "EIO=4&transport=polling"
]


async def test_websockets_that_cannot_be() -> None:
    async with rig() as one:
        for query in SOCKETS:
            if query != "EIO=4&transport=websocket":
                assert (await denied(one, query))["code"] in (0, 1, 3, 5), query
        async with one.caller(4):
            """A good one still comes in."""


async def denied(one: Rig, query: str) -> dict[str, Any]:
    with pytest.raises(InvalidStatus) as caught:
        await connect(one.url(query, "ws"), open_timeout=PATIENCE)
    assert caught.value.response.status_code == 400
    answer: dict[str, Any] = json.loads(caught.value.response.body or b"")
    return answer


async def test_a_websocket_elsewhere_is_not_found() -> None:
    async with rig() as one:
        with pytest.raises(InvalidStatus) as caught:
            await connect(f"ws://127.0.0.1:{one.port}/", open_timeout=PATIENCE)
        assert caught.value.response.status_code in (403, 404)


async def test_a_websocket_on_a_connection_that_was_used_before() -> None:
    async with rig() as one:
        reader, writer = await asyncio.open_connection("127.0.0.1", one.port)
        writer.write(b"GET /socket.io/?EIO=9 HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n")
        await asyncio.wait_for(reader.readuntil(b"Unsupported protocol version"), PATIENCE)
        key = base64.b64encode(bytes(16)).decode()
        upgrade = (
            "connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\n"
            f"sec-websocket-key: {key}"
        )
        writer.write(
            "GET /socket.io/?EIO=4&transport=websocket HTTP/1.1\r\nhost: 127.0.0.1\r\n"
            f"{upgrade}\r\n\r\n".encode()
        )
        answer = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), PATIENCE)
        assert b"HTTP/1.1 101" in answer
        writer.close()


async def closed(client: Poller, words: str) -> None:
    """A client of 2.x is told why, others only that; then the session is not there any more."""
    if client.version == 3:
        assert await client.packet() == f'44"{words}"'
    assert await client.packet() == "1"
    assert (await client.poll()).json()["code"] == 1
    await client.rig.echo.until_gone()


async def refused(socket: ClientConnection, version: int, words: str, code: int) -> None:
    with pytest.raises(ConnectionClosed):
        while True:
            answer = str(await said(socket))
            assert version == 3, answer
            assert answer.startswith("44"), answer
            assert words in json.loads(answer[2:])
    assert socket.close_code == code
    assert words in str(socket.close_reason)


@both
async def test_two_polls_at_once(version: int) -> None:
    async with rig() as one:
        client = await one.poller(version)
        polls = [asyncio.create_task(client.poll()) for _ in range(2)]
        answers = {answer.status_code: answer for answer in await asyncio.gather(*polls)}
        assert client.packets(answers[200].text) == ["1"]
        assert answers[400].json() == BAD | {"context": "there is a poll already"}
        assert await one.echo.until_gone()


@both
async def test_two_posts_at_once(version: int) -> None:
    async with rig() as one:
        client = await one.poller(version)
        writer = await half_a_post(client)
        await until_posting(client)
        assert (await client.poll()).status_code == 200
        writer.close()


async def half_a_post(client: Poller) -> asyncio.StreamWriter:
    _, writer = await asyncio.open_connection("127.0.0.1", client.rig.port)
    writer.write(
        f"POST /socket.io/?{client.query} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 10\r\n\r\n"
        "4".encode()
    )
    await writer.drain()
    return writer


async def until_posting(client: Poller) -> None:
    """The first POST may still be on its way when the second comes: then nothing is
    wrong with it.
    """
    async with asyncio.timeout(PATIENCE):
        while (answer := await client.say("43[1]")).status_code == 200:
            pass
    assert answer.json() == BAD | {"context": "there is a POST already"}


@both
async def test_a_body_that_does_not_go_on(version: int) -> None:
    async with rig(limits_login=1.0) as one:
        client = await one.poller(version)
        reader, writer = await asyncio.open_connection("127.0.0.1", one.port)
        writer.write(
            f"POST /socket.io/?{client.query} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 10\r\n"
            "\r\n4".encode()
        )
        await until(lambda: one.socketio._connections[client.sid].posting)
        leap(1.0)
        answer = await asyncio.wait_for(reader.readuntil(b"did not come"), PATIENCE)
        assert b"HTTP/1.1 408" in answer
        writer.close()
        await closed(client, "the rest of the body did not come")


@both
async def test_a_client_that_goes_in_the_middle_of_a_body(version: int) -> None:
    async with rig() as one:
        client = await one.poller(version)
        writer = await half_a_post(client)
        writer.close()
        assert await one.echo.until_gone()


@both
async def test_attachments_that_do_not_come(version: int) -> None:
    async with rig(limits_login=1.0) as one:
        words = "the attachments of an event did not come"
        asked = '452-["ECHO",{"_placeholder":true,"num":0}]'
        async with one.caller(version) as socket:
            await socket.send(asked)
            await socket.send(b"\4x")
            await refused(socket, version, words, 1002)
        await one.echo.until_gone()
        client = await one.poller(version)
        await client.say(asked)
        leap(1.0)
        await closed(client, words)


async def test_a_client_that_does_not_connect() -> None:
    async with rig(limits_login=0.1) as one, one.socket(4) as socket:
        await said(socket)
        assert await said(socket) == '44{"message":"the client did not connect to a namespace"}'
        with pytest.raises(ConnectionClosed):
            await said(socket)


@both
async def test_a_client_that_disconnects_and_stays(version: int) -> None:
    async with rig(limits_login=1.0) as one, one.caller(version) as socket:
        await socket.send("41")
        await one.echo.until_gone()
        leap(1.0)
        assert "the client has disconnected" in str(await said(socket))
        with pytest.raises(ConnectionClosed):
            await said(socket)


@both
async def test_a_flood(version: int) -> None:
    async with rig(message_burst=10, message_rate=0.001) as one:
        async with one.caller(version) as socket:
            for _ in range(30):
                await socket.send('42["NOTHING"]')
            await refused(socket, version, "too many messages", 1008)
        client = await one.poller(version)
        assert (await client.say(*['42["NOTHING"]'] * 30)).status_code == 200
        await closed(client, "too many messages")


async def test_too_many_from_one_address() -> None:
    """A session counts, whether a request of it waits or not, and so does the connection by which
    requests come.
    """
    async with rig(limits_connections_per_address=3) as one:
        first, _ = await one.poller(3), await one.poller(4)
        answer = await one.get("EIO=4&transport=polling")
        words = {
            "code": 4,
            "message": "Forbidden",
            "context": "too many connections from your address",
        }
        assert (answer.status_code, answer.json()) == (403, words)
        with pytest.raises(InvalidStatus):
            async with one.socket(3):
                pass
        await first.say("1")
        await one.echo.until_gone()
        assert await one.poller(4)
