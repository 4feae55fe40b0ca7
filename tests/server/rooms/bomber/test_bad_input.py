"""Bad input to the Bomberman API gets a clear answer within limits and disturbs no other client."""

import ast
import asyncio
import json
import ssl
import subprocess
from pathlib import Path
from typing import Any

import pytest

from botdrome.app import RunningServer
from tests.server.clients import PATIENCE, client, server
from tests.server.rooms.bomber.clients import STEPS, Api, room, rooms_of, until_waiting

pytestmark = pytest.mark.anyio

HOSTILE: list[bytes] = [
    b"[" * 60_000,
    b'{"user_name":' * 5_000,
    b"{'a':" * 12_000,
    b"(" * 65_000,
    b"-" * 60_000 + b"1",
    b'{"user_id": ' + b"9" * 60_000 + b', "action": "UP"}',
    b'{"user_name": NaN}',
    b'{"user_name": Infinity}',
    b'{"user_name": 1e400}',
    b"{'user_name': 1e400}",
    b'{"user_name": null}',
    b'{"user_name": {"a": [1]}}',
    b'{"user_name": "\\ud800"}',
    b'{"user_name": "a\\u0000b"}',
    b'{"user_name": "Ada", "password": 7}',
    b'{"action": {"a": 1}}',
    b'{"action": "UP", "user_id": {"a": 1}}',
    b'{"action": "UP", "user_id": [1, 2]}',
    b'{"action": "UP", "user_id": true}',
    b'{"action": "UP", "user_id": "x", "state_number": 1e400}',
    b'{"action": "UP", "user_id": "x", "state_number": -1}',
    b'{"action": "STATE", "after": {}}',
    b'{"action": "STATE", "after": 1.5}',
    b"\xff\xfe\xfd",
    b"\x00" * 1000,
    b"__import__('os').system('true')",
    b"lambda: 0",
    b"a=" + b"%ff" * 20_000,
    b"&" * 60_000,
    b"=" * 60_000,
    b"<xml/>",
    b'"' * 60_000,
    b"'" + b"\\'" * 30_000,
    b"{1: {2: {3: 4}}}",
]


@pytest.mark.parametrize("number", range(len(HOSTILE)))
async def test_a_hostile_body_is_declined_and_the_connection_goes_on(one: Api, number: int) -> None:
    for path in ("", "/register", "/state", "/action"):
        answer = await asyncio.wait_for(one.ask("POST", path, content=HOSTILE[number]), PATIENCE)
        if answer.status_code != 200:
            assert answer.status_code in (400, 404)
            assert answer.json()["response"] == "DECLINED"
            assert len(answer.content) < 400
    assert (await one.state())["users"] == []


async def test_hostile_targets(tmp_path: Path) -> None:
    async with room(tmp_path) as (house, one):
        for target in (
            b"/bomber/rest/state/" + b"f" * 10_000,
            b"/bomber/rest/register/" + b"%2e%2e%2f" * 500,
            b"/bomber/rest/../../etc/passwd",
            b"/bomber/rooms/%ff/rest/state",
            b"/bomber/rooms//rest",
            b"/bomber//////",
            b"/bomber/rest/state?" + b"a&" * 5_000,
            b"/bomber/rest/state?after=" + b"9" * 10_000,
            b"/bomber/rest/state?state=%00",
            b"/bomber?",
            b"/bomber",
        ):
            for method in (b"GET", b"POST", b"HEAD"):
                status, rest = await raw(
                    house,
                    method
                    + b" "
                    + target
                    + b" HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n",
                )
                assert status in (200, 400, 404, 405), (method, target, rest)
        assert (await one.state())["users"] == []


async def test_a_request_without_a_version_is_none(tmp_path: Path) -> None:
    async with room(tmp_path) as (house, _):
        for target in (b"/bomber", b"/bomber?a", b"/bomber/rest"):
            for method in (b"GET", b"POST"):
                assert (await raw(house, method + b" " + target + b"\r\nX: y\r\n\r\n"))[0] == 400


async def raw(house: RunningServer, request: bytes) -> tuple[int, bytes]:
    reader, writer = await asyncio.open_connection("127.0.0.1", house.port)
    writer.write(request)
    answer = await asyncio.wait_for(reader.read(), PATIENCE)
    writer.close()
    return int(answer.split()[1]), answer


async def test_a_flood_of_requests_is_stopped_and_others_play_on(tmp_path: Path) -> None:
    async with room(tmp_path, message_rate=0.001, message_burst=50) as (house, one):
        ada, bob = await one.begin("Ada", "Bob")
        request = b"POST /bomber/rest HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}"
        status, answers = await raw(house, request * 500)
        assert status == 400
        assert answers.count(b"HTTP/1.1 400") == 50
        assert answers.count(b"HTTP/1.1 429") == 1
        assert b"TOO_MANY_REQUESTS" in answers
        assert (await one.round((ada, "WAIT"), (bob, "WAIT")))["state_number"] == 2


async def test_waits_are_bounded_in_number_and_forgotten_with_their_clients(tmp_path: Path) -> None:
    async with room(tmp_path, bomber_waits=3) as (house, one):
        ada, bob = await one.begin("Ada", "Bob")
        waits = [asyncio.ensure_future(one.state(after=1)) for _ in range(2)]
        reader, writer = await asyncio.open_connection("127.0.0.1", house.port)
        writer.write(b"GET /bomber/rest/state?after=1 HTTP/1.1\r\nHost: localhost\r\n\r\n")
        await until_waiting(house, 3)
        answer = await one.ask("GET", "/state?after=1")
        assert (answer.status_code, answer.json()["information"]) == (429, "TOO_MANY_WAIT")
        writer.close()
        await until_waiting(house, 2)
        await one.round((ada, "WAIT"), (bob, "WAIT"))
        assert [told["state_number"] for told in await asyncio.gather(*waits)] == [2, 2]
        assert not rooms_of(house).waiting_from
        assert await reader.read() == b""


async def test_waits_are_bounded_in_time(tmp_path: Path) -> None:
    async with room(tmp_path, bomber_wait=0.05) as (house, one):
        await one.begin("Ada", "Bob")
        for told in await asyncio.gather(*(one.state(after=1) for _ in range(3))):
            assert told["state_number"] == 1, "the time was over, and the state is the same"
        assert not rooms_of(house).waiting_from


async def test_thousands_that_wait_cost_no_tasks(tmp_path: Path) -> None:
    async with room(tmp_path, bomber_waits=5000) as (house, one):
        ada, bob = await one.begin("Ada", "Bob")
        before, waits = len(asyncio.all_tasks()), rooms_of(house).first.waits
        lines = [await asyncio.open_connection("127.0.0.1", house.port) for _ in range(200)]
        for _, writer in lines:
            writer.write(
                b"GET /bomber/rest/state?after=1&sparse=1 HTTP/1.1\r\nHost: localhost\r\n\r\n"
            )
        await until_waiting(house, 200)
        assert len(asyncio.all_tasks()) == before
        await one.act(ada, "WAIT")
        await one.act(bob, "WAIT")
        for reader, writer in lines:
            head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), PATIENCE)
            assert head.startswith(b"HTTP/1.1 200")
            writer.close()
        assert len(waits) == 0


# The way through the HTTP stack, and back.


async def test_one_connection_for_the_api_and_for_everything_else(tmp_path: Path) -> None:
    async with room(tmp_path) as (house, _):
        reader, writer = await asyncio.open_connection("127.0.0.1", house.port)

        async def ask(target: str, body: bytes = b"") -> tuple[bytes, bytes]:
            method = b"POST" if body else b"GET"
            writer.write(
                b"%s %s HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: %d\r\n\r\n%s"
                % (method, target.encode(), len(body), body)
            )
            head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), PATIENCE)
            length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
            return head.split(b"\r\n")[0], await reader.readexactly(length)

        assert (await ask("/bomber/rest/state"))[1].startswith(b'{"time_left"')
        assert (await ask("/healthz"))[1] == b"ok\n"
        status, body = await ask("/bomber/rest", b"{'user_name': 'Ada'}")
        assert status == b"HTTP/1.1 200 OK"
        ada = json.loads(body)["user_id"]
        assert json.loads((await ask("/bomber/rest/register/Bob?format=json", b"{}"))[1])["user_id"]
        assert json.loads((await ask(f"/bomber/rest/state/{ada}?after=0"))[1])["state_number"] == 1
        assert json.loads((await ask("/bomber/rest", b"[1]"))[1])["information"] == "BAD_MESSAGE"
        assert (await ask("/bomber/rest", b" " * 65_537))[
            0
        ] == b"HTTP/1.1 413 Request Entity Too Large"
        writer.close()


async def test_a_client_of_the_http_stack_that_goes_while_it_waits_is_forgotten(
    tmp_path: Path,
) -> None:
    async with room(tmp_path) as (house, one):
        await one.begin("Ada", "Bob")
        reader, writer = await asyncio.open_connection("127.0.0.1", house.port)
        writer.write(b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        await reader.readuntil(b"ok\n")
        writer.write(b"GET /bomber/rest/state?after=1 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        await until_waiting(house, 1)
        writer.close()
        await until_waiting(house, 0)
        assert not rooms_of(house).waiting_from


async def test_a_websocket_after_requests_on_the_same_connection(tmp_path: Path) -> None:
    async with room(tmp_path) as (house, _):
        reader, writer = await asyncio.open_connection("127.0.0.1", house.port)
        writer.write(b"GET /bomber/rest/state HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        await asyncio.wait_for(reader.readuntil(b'"explosions":[]}'), PATIENCE)
        writer.write(
            b"GET /bomber/rest HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\n"
            b"Upgrade: websocket\r\n"
            b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
        )
        head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), PATIENCE)
        assert head.startswith(b"HTTP/1.1 101")
        await asyncio.wait_for(reader.readuntil(b'"explosions":[]}'), PATIENCE)
        writer.close()


async def test_the_same_over_tls(tmp_path: Path) -> None:
    cert, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    make = [
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "rsa:2048",
        "-nodes",
        "-days",
        "2",
        "-subj",
        "/CN=localhost",
    ]
    await asyncio.to_thread(
        subprocess.run,
        [*make, "-keyout", str(key), "-out", str(cert)],
        check=True,
        capture_output=True,
    )
    trusting = ssl.create_default_context(cafile=str(cert))
    trusting.check_hostname = False
    async with server(tmp_path, tls_cert=str(cert), tls_key=str(key), bomber_port=-1) as house:
        reader, writer = await asyncio.open_connection("127.0.0.1", house.port, ssl=trusting)
        writer.write(
            b"GET /bomber/rest/state HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\nGET /healthz HTTP/1.1\r\n"
            b"Host: 127.0.0.1\r\n\r\n"
        )
        assert b"REGISTRATION" in await asyncio.wait_for(
            reader.readuntil(b'"explosions":[]}'), PATIENCE
        )
        assert (await asyncio.wait_for(reader.readuntil(b"ok\n"), PATIENCE)).startswith(
            b"HTTP/1.1 200"
        )
        writer.write(
            b"GET /bomber/rest/state HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"
        )
        assert b"REGISTRATION" in await asyncio.wait_for(reader.read(), PATIENCE)
        writer.close()
        plain = await asyncio.open_connection("127.0.0.1", house.ports["bomber"])
        plain[1].write(
            b"POST /bomber/rest HTTP/1.1\r\nHost: localhost\r\nContent-Length: 999999\r\n"
            b"Connection: close\r\n\r\n"
        )
        assert b"BODY_TOO_LONG" in await asyncio.wait_for(plain[0].read(), PATIENCE), (
            "the original's clients know no TLS"
        )
        plain[1].close()


# WebSockets.


async def test_bad_frames_are_declined_and_the_socket_goes_on(tmp_path: Path) -> None:
    async with room(tmp_path) as (house, _), client(house, "/bomber/rest") as socket:
        assert (await socket.receive())["phase"] == "REGISTRATION"
        for body in HOSTILE:
            await socket.socket.send(body)
            answer = await socket.receive()
            assert answer.get("response", "DECLINED") == "DECLINED"
            assert answer["state_number"] == 0 and answer["time_left"] > 0
        await socket.send({"user_name": "Ada"})
        assert "user_id" in await socket.receive()
        await socket.send({"user_name": "Ada", "password": "other"})
        assert (await socket.receive())["information"] == "NAME_TAKEN"


@pytest.mark.parametrize(
    ("path", "word"),
    [
        ("/bomber/rooms/nowhere/rest", "UNKNOWN_ROOM"),
        ("/bomber/rest?state=tree", "BAD_FIELD"),
        ("/bomber/rooms/%ff", "BAD_MESSAGE"),
    ],
)
async def test_a_socket_at_a_wrong_address_is_told_so(tmp_path: Path, path: str, word: str) -> None:
    async with room(tmp_path) as (house, _), client(house, path) as socket:
        messages, code, reason = await socket.until_closed()
        assert ([message["information"] for message in messages], code, reason) == (
            [word],
            1008,
            word,
        )
        assert not rooms_of(house).first.pushes


async def test_a_flood_of_frames_is_stopped(tmp_path: Path) -> None:
    async with (
        room(tmp_path, message_rate=0.001, message_burst=10) as (house, _),
        client(house, "/bomber/rest") as socket,
    ):
        await socket.receive()
        for _ in range(11):
            await socket.send({})
        messages, code, _ = await socket.until_closed()
        assert [message["information"] for message in messages] == ["MISSING_FIELD"] * 10 + [
            "TOO_MANY_REQUESTS"
        ]
        assert code == 1008


async def test_a_whole_game_over_sockets_in_the_python_format(tmp_path: Path) -> None:
    async with room(tmp_path, STEPS.replace("rest=3600", "rest=3600,rounds=3")) as (house, one):
        async with (
            client(house, "/bomber/rest?format=python") as ada,
            client(house, "/bomber/rest?sparse=1&with_state=1") as bob,
        ):
            last: dict[str, Any] = {}
            for socket, name in ((ada, "Ada"), (bob, "Bob")):
                await socket.socket.recv()
                await socket.socket.send(repr({"user_name": name}))
            user = (await bob.receive())["user_id"]
            mine = ast.literal_eval(str(await ada.socket.recv()))["user_id"]
            while last.get("phase") != "FINISHED":
                last = await bob.receive()
                if last.get("phase") == "PLAYING" and "response" not in last:
                    await ada.socket.send(repr({"user_id": mine, "action": "WAIT"}))
                    await bob.send({"user_id": user, "action": "WAIT"})
            assert last["scores"] == {"Ada": 0, "Bob": 0}
        assert not rooms_of(house).first.pushes
        assert (await one.state())["phase"] == "FINISHED"
