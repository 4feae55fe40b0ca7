"""Bodies, messages and frames of socket.io that cannot be read or are too long."""

import asyncio

import pytest
from websockets.exceptions import ConnectionClosed

from tests.api.socketio_rig import PATIENCE, rig, said
from tests.api.test_socketio_bad_input import BAD, both, closed, refused

pytestmark = pytest.mark.anyio


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
    (
        '451-["ECHO",{"_placeholder":true,"num":0}]|42["ECHO"]',
        "before the attachments of the last one",
    ),
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


async def test_frames_that_cannot_be() -> None:
    async with rig() as one:
        for frame, words in (
            (b"", "begins with its type"),
            (b"\7x", "begins with its type"),
            (b"\2", "only a message"),
        ):
            async with one.caller(3) as socket:
                await socket.send(frame)
                await refused(socket, 3, words, 1002)


@both
async def test_text_that_is_none(version: int) -> None:
    async with rig() as one, one.caller(version) as socket:
        await socket.send(b"42\xff", text=True)
        await refused(socket, version, "a text message is UTF-8", 1007)


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
            f"POST /socket.io/?{client.query} HTTP/1.1\r\nhost: 127.0.0.1\r\n"
            "transfer-encoding: chunked\r\n\r\n".encode()
        )
        for _ in range(3):
            writer.write(b"1f4\r\n" + b"4" * 500 + b"\r\n")
        answer = await asyncio.wait_for(reader.read(), PATIENCE)
        assert answer.startswith(b"HTTP/1.1 413")
        assert b"1000 bytes at most" in answer
        writer.close()
