"""Bad input on socket.io: the client gets an error of its protocol, and no other client notices."""

import asyncio
import base64
import json
from typing import Any

import httpx
import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from tests.api.socketio_rig import PATIENCE, Poller, Rig, rig, said

pytestmark = pytest.mark.anyio
both = pytest.mark.parametrize("version", [3, 4])
BAD = {"code": 3, "message": "Bad request"}

QUERIES: list[tuple[str, str, int, dict[str, Any]]] = [
    ("GET", "", 400, {"code": 0, "message": "Transport unknown"}),
    ("GET", "EIO=3", 400, {"code": 0, "message": "Transport unknown"}),
    ("GET", "EIO=4&transport=flashsocket", 400, {"code": 0, "message": "Transport unknown"}),
    ("GET", "EIO=4&transport=polling&sid=", 400, {"code": 1, "message": "Session ID unknown"}),
    ("GET", "EIO=4&transport=polling&sid=unknown", 400, {"code": 1, "message": "Session ID unknown"}),
    ("POST", "EIO=3&transport=polling&sid=unknown", 400, {"code": 1, "message": "Session ID unknown"}),
    ("GET", "EIO=3&transport=polling&sid=" + "x" * 5000, 400, {"code": 1, "message": "Session ID unknown"}),
    ("POST", "EIO=3&transport=polling", 400, {"code": 2, "message": "Bad handshake method"}),
    ("PUT", "EIO=4&transport=polling", 400, {"code": 2, "message": "Bad handshake method"}),
    ("PUT", "EIO=4&transport=polling&sid=unknown", 400, BAD),
    ("GET", "EIO=4&transport=websocket", 400, BAD),
    ("GET", "EIO=4&transport=polling&j=alert(1)", 400, BAD | {"context": "j is a number"}),
    ("GET", "EIO=4&transport=polling&j=²", 400, BAD | {"context": "j is a number"}),
    ("GET", "EIO=4&transport=polling" + "&a=1" * 50, 400, BAD | {"context": "more than 50 fields"}),
    ("GET", "EIO=2&transport=polling", 400, {"code": 5, "message": "Unsupported protocol version"}),
    ("GET", "EIO=5&transport=polling", 400, {"code": 5, "message": "Unsupported protocol version"}),
    ("GET", "EIO=4.0&transport=polling", 400, {"code": 5, "message": "Unsupported protocol version"}),
    ("GET", "EIO=&transport=polling", 400, {"code": 5, "message": "Unsupported protocol version"}),
]


async def test_requests_that_cannot_be() -> None:
    async with rig() as one:
        for method, query, status, words in QUERIES:
            answer = await one.http.request(method, one.url(query))
            assert (answer.status_code, answer.json()) == (status, words), (method, query)


SOCKETS = [query for method, query, *_ in QUERIES if method == "GET" and "²" not in query] + ["EIO=4&transport=polling"]


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
        upgrade = f"connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: {key}"
        writer.write(f"GET /socket.io/?EIO=4&transport=websocket HTTP/1.1\r\nhost: 127.0.0.1\r\n{upgrade}\r\n\r\n".encode())
        answer = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), PATIENCE)
        assert b"HTTP/1.1 101" in answer
        writer.close()


BODIES: dict[int, list[tuple[str | bytes, str]]] = {
    3: [
        ("", "a payload has at least one packet"),
        ("garbage", "a packet begins with its length and a colon"),
        ("99999999999999999999:4", "a packet begins with its length and a colon"),
        ("-5:42[]", "the length of a packet is a number"),
        ("9999999999:4", "a packet is shorter than its length says"),
        ("1:9", "a packet begins with its type, 0 to 6"),
        ("3:b4!", "a binary packet is not base64"),
        (b"2:4\xff", "a payload is UTF-8 text"),
    ],
    4: [
        ("", "a packet begins with its type, 0 to 6"),
        ("garbage", "a packet begins with its type, 0 to 6"),
        ("4\x1e\x1e4", "a packet begins with its type, 0 to 6"),
        ("b!", "a binary packet is not base64"),
        (b"4\xff", "a payload is UTF-8 text"),
    ],
}


@both
async def test_bodies_that_cannot_be_read(version: int) -> None:
    async with rig() as one:
        for body, words in BODIES[version]:
            client = await one.poller(version)
            answer = await one.post(client.query, body)
            assert (answer.status_code, answer.json()) == (400, BAD | {"context": words})
            await closed(client, words)


async def closed(client: Poller, words: str) -> None:
    """A client of 2.x is told why, others only that; then the session is not there any more."""
    if client.version == 3:
        assert await client.packet() == f'44"{words}"'
    assert await client.packet() == "1"
    assert (await client.poll()).json()["code"] == 1
    await client.rig.echo.until_gone()


async def test_a_body_of_bytes_for_the_version_that_has_none() -> None:
    async with rig() as one:
        client = await one.poller(4)
        answer = await one.post(client.query, b"\0\1\xff2", "application/octet-stream")
        assert answer.json() == BAD | {"context": "a payload is text"}


async def test_forms_that_cannot_be_read() -> None:
    async with rig() as one:
        for body in ("", "e=1:2", "d=", "a&b&c&d&e&f", "d=1:2&d=1:2&d=&d=&d=&d="):
            client = await one.poller(3)
            assert (await one.post(client.query + "&j=0", body)).status_code == 400


MESSAGES = [
    ("4", "begins with its type"),
    ("4garbage", "begins with its type"),
    ("42", "begins with its name"),
    ("42{}", "begins with its name"),
    ('42["ECHO"', "not JSON"),
    ("42" + "[" * 10000, "nested too deeply"),
    ('42/other,["ECHO"]', "not connected to the namespace /other"),
    ("41/other,", "not connected to the namespace /other"),
    ('44"error"', "that is for the server to send"),
    ('4533-["x"]', "32 attachments at most"),
    ('45999999999-["x"]', "attachments and a dash"),
    ('451-["ECHO",{"_placeholder":true,"num":5}]|bytes', "names no attachment"),
    ("|bytes", "an attachment came without its event"),
    ('451-["ECHO",{"_placeholder":true,"num":0}]|42["ECHO"]', "before the attachments of the last one"),
    ("0{}", "that is for the server to send"),
    ("x", "begins with its type"),
    ("", "begins with its type"),
    ("9", "begins with its type"),
]


@both
@pytest.mark.parametrize(("messages", "words"), MESSAGES)
async def test_messages_that_cannot_be(version: int, messages: str, words: str) -> None:
    async with rig() as one, one.caller(version) as socket, one.caller(version) as other:
        for message in messages.split("|") if messages else [""]:
            if message == "bytes":
                await socket.send(b"\4bytes" if version == 3 else b"bytes")
            elif message or not messages:
                await socket.send(message)
        await refused(socket, version, words, 1002)
        await other.send('42["ECHO",1]')
        assert await said(other) == '42["ECHO",1]'


async def refused(socket: ClientConnection, version: int, words: str, code: int) -> None:
    with pytest.raises(ConnectionClosed):
        while True:
            answer = str(await said(socket))
            assert version == 3, answer
            assert answer.startswith("44"), answer
            assert words in json.loads(answer[2:])
    assert socket.close_code == code
    assert words in str(socket.close_reason)


async def test_frames_that_cannot_be() -> None:
    async with rig() as one:
        for frame, words in ((b"", "begins with its type"), (b"\7x", "begins with its type"), (b"\2", "only a message")):
            async with one.caller(3) as socket:
                await socket.send(frame)
                await refused(socket, 3, words, 1002)


@both
async def test_text_that_is_none(version: int) -> None:
    async with rig() as one, one.caller(version) as socket:
        await socket.send(b"42\xff", text=True)
        await refused(socket, version, "text is UTF-8", 1007)


async def test_a_ping_from_the_wrong_side() -> None:
    async with rig() as one, one.caller(4) as socket:
        await socket.send("2")
        await refused(socket, 4, "that is for the server to send", 1002)


@both
async def test_packets_without_meaning_are_ignored(version: int) -> None:
    async with rig() as one, one.caller(version) as socket:
        for packet in ("3", "5", "6", "40", "43[1]", '461-[{"_placeholder":true,"num":0}]'):
            await socket.send(packet)
        await socket.send(b"\4x")
        await socket.send('42["NOBODY","knows"]')
        await socket.send('42["ECHO",1]')
        assert await said(socket) == '42["ECHO",1]'


@both
async def test_events_before_the_client_is_connected(version: int) -> None:
    async with rig() as one, one.socket(version) as socket:
        await said(socket)
        await socket.send("41" if version == 3 else "43[1]")
        await socket.send('42["ECHO"]')
        with pytest.raises(ConnectionClosed):
            while (answer := str(await said(socket))) == "40":
                pass
            assert "not connected to the namespace /" in answer
            await said(socket)


@both
async def test_messages_that_are_too_long(version: int) -> None:
    async with rig(cube_longest_message=1000) as one:
        client = await one.poller(version)
        answer = await client.say('42["ECHO","' + "x" * 1000 + '"]')
        words = "the body of a request may have 1000 bytes at most"
        assert (answer.status_code, answer.json()) == (413, BAD | {"context": words})
        await closed(client, words)
        async with one.caller(version) as socket:
            await socket.send('42["ECHO","' + "x" * 900 + '"]')
            assert len(await said(socket)) == 913
            await socket.send('42["ECHO","' + "x" * 1000 + '"]')
            with pytest.raises(ConnectionClosed):
                await said(socket)
            await one.echo.until_gone()


async def test_a_body_without_a_length_is_bounded_too() -> None:
    async with rig(cube_longest_message=1000) as one:
        client = await one.poller(4)
        reader, writer = await asyncio.open_connection("127.0.0.1", one.port)
        writer.write(
            f"POST /socket.io/?{client.query} HTTP/1.1\r\nhost: 127.0.0.1\r\ntransfer-encoding: chunked\r\n\r\n".encode()
        )
        for _ in range(3):
            writer.write(b"1f4\r\n" + b"4" * 500 + b"\r\n")
        answer = await asyncio.wait_for(reader.read(), PATIENCE)
        assert answer.startswith(b"HTTP/1.1 413")
        assert b"1000 bytes at most" in answer
        writer.close()


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
    writer.write(f"POST /socket.io/?{client.query} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 10\r\n\r\n4".encode())
    await writer.drain()
    return writer


async def until_posting(client: Poller) -> None:
    """The first POST may still be on its way when the second comes: then nothing is wrong with it."""
    async with asyncio.timeout(PATIENCE):
        while (answer := await client.say("43[1]")).status_code == 200:
            pass
    assert answer.json() == BAD | {"context": "there is a POST already"}


@both
async def test_a_body_that_does_not_go_on(version: int) -> None:
    async with rig(limits_login=1.0) as one:
        client = await one.poller(version)
        reader, writer = await asyncio.open_connection("127.0.0.1", one.port)
        writer.write(f"POST /socket.io/?{client.query} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 10\r\n\r\n4".encode())
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
    """A session counts, whether a request of it waits or not, and so does the connection by which requests come."""
    async with rig(limits_connections_per_address=3) as one:
        first, _ = await one.poller(3), await one.poller(4)
        answer = await one.get("EIO=4&transport=polling")
        words = {"code": 4, "message": "Forbidden", "context": "too many connections from your address"}
        assert (answer.status_code, answer.json()) == (403, words)
        with pytest.raises(InvalidStatus):
            async with one.socket(3):
                pass
        await first.say("1")
        await one.echo.until_gone()
        assert await one.poller(4)


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
        upgrade = f"connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: {key}"
        writer.write(
            f"GET /socket.io/?EIO={version}&transport=websocket HTTP/1.1\r\nhost: 127.0.0.1\r\n{upgrade}\r\n\r\n".encode()
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
            assert (await denied(one, query + client.sid))["context"] == "there is a WebSocket already"
            await socket.send("2probe")
            await said(socket)
            await socket.send("5")
            await socket.send('42["ECHO",1]')
            assert await said(socket) == '42["ECHO",1]'
            assert (await denied(one, query + client.sid))["context"] == "this session is on a WebSocket"


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
