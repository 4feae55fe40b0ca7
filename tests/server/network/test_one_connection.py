"""Clients that keep a connection open: first they ask for something over HTTP, then they make a
WebSocket of it.
"""

import asyncio
import json
import socket
from pathlib import Path
from typing import Any

import httptools
import pytest
from websockets.asyncio.client import connect

from botdrome.app import RunningServer
from tests.server.clients import PATIENCE, server

pytestmark = pytest.mark.anyio

UPGRADE = (
    b"GET /any/path? HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
)
OFFER = (
    "Connection: Upgrade, HTTP2-Settings\r\n"
    "HTTP2-Settings: AAEAAEAAAAIAAAABAAMAAABkAAQBAAAAAAUAAEAA\r\nUpgrade: h2c\r\n"
)
"""Of HTTP/2, as Java's client makes it with every request."""
FAILED = b'\x81\x1b{"authentication":"failed"}\x88\x02\x03\xe8'
REGISTER = (
    'mutation { registerBot(gameType: NOUGHTS_AND_CROSSES, name: "ada", owner: "me") { password } }'
)


class Answer:
    def __init__(self) -> None:
        self.body, self.whole = b"", False

    def on_body(self, body: bytes) -> None:
        self.body += body

    def on_message_complete(self) -> None:
        self.whole = True


async def kept_open(house: RunningServer) -> socket.socket:
    line = socket.socket()
    line.setblocking(False)
    await asyncio.get_running_loop().sock_connect(line, ("127.0.0.1", house.port))
    return line


def request(target: str, body: bytes = b"", fields: str = "") -> bytes:
    fields = (
        f"Host: 127.0.0.1\r\n{fields}Content-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    return f"{'POST' if body else 'GET'} {target} HTTP/1.1\r\n{fields}".encode() + body


async def asked(line: socket.socket, target: str, body: bytes = b"", fields: str = "") -> bytes:
    """The answer to a request, after which the connection stays open."""
    loop, answer = asyncio.get_running_loop(), Answer()
    await loop.sock_sendall(line, request(target, body, fields))
    parser = httptools.HttpResponseParser(answer)
    async with asyncio.timeout(PATIENCE):
        while not answer.whole:
            parser.feed_data(await loop.sock_recv(line, 65536))
    return answer.body


async def test_a_bot_registers_and_logs_in_on_one_connection(tmp_path: Path) -> None:
    async with server(tmp_path) as house:
        line = await kept_open(house)
        for target in ("/healthz", "/bomber/rest/rules"):
            await asked(line, target)
        told: Any = json.loads(
            await asked(line, "/graphql", json.dumps({"query": REGISTER}).encode())
        )
        login = {
            "gameType": "NOUGHTS_AND_CROSSES",
            "name": "ada",
            "password": told["data"]["registerBot"]["password"],
        }
        async with connect(f"ws://127.0.0.1:{house.port}/any/path?", sock=line) as bot:
            await bot.send(json.dumps(login))
            answer = json.loads(await asyncio.wait_for(bot.recv(), PATIENCE))
            assert answer == {
                "authentication": "OK",
                "gameType": "NOUGHTS_AND_CROSSES",
                "name": "ada",
            }


async def test_a_reader_subscribes_on_one_connection(tmp_path: Path) -> None:
    async with server(tmp_path) as house:
        line = await kept_open(house)
        await asked(line, "/healthz")
        url = f"ws://127.0.0.1:{house.port}/graphql"
        async with connect(url, sock=line, subprotocols=["graphql-transport-ws"]) as reader:  # type: ignore[list-item]
            await reader.send('{"type": "connection_init"}')
            assert json.loads(await asyncio.wait_for(reader.recv(), PATIENCE)) == {
                "type": "connection_ack"
            }


async def test_an_organiser_upgrades_on_one_connection(tmp_path: Path) -> None:
    async with server(tmp_path) as house:
        line = await kept_open(house)
        await asked(line, "/socket.io/?EIO=4&transport=polling")
        async with connect(
            f"ws://127.0.0.1:{house.port}/socket.io/?EIO=4&transport=websocket", sock=line
        ) as organiser:
            assert str(await asyncio.wait_for(organiser.recv(), PATIENCE)).startswith("0{")


async def test_the_connection_is_counted_once(tmp_path: Path) -> None:
    async with server(tmp_path, limits_connections_per_address=1) as house:
        line = await kept_open(house)
        await asked(line, "/healthz")
        async with connect(f"ws://127.0.0.1:{house.port}/", sock=line) as bot:
            await bot.send("{}")
            assert json.loads(await asyncio.wait_for(bot.recv(), PATIENCE)) == {
                "authentication": "failed"
            }


def frame(message: bytes) -> bytes:
    """A message of a client, masked with nothing."""
    return b"\x81\xfe" + len(message).to_bytes(2, "big") + bytes(4) + message


async def say(line: socket.socket, *pieces: bytes) -> None:
    """Each is read before the next comes, as far as that can be."""
    for piece in pieces:
        await asyncio.get_running_loop().sock_sendall(line, piece)
        await asyncio.sleep(0)


async def heard(line: socket.socket, end: bytes) -> bytes:
    """All that comes, up to these words."""
    told = b""
    async with asyncio.timeout(PATIENCE):
        while not told.endswith(end):
            piece = await asyncio.get_running_loop().sock_recv(line, 65536)
            assert piece, told
            told += piece
    return told


@pytest.mark.parametrize("pieces", [1, 2, 3])
async def test_what_is_asked_before_an_upgrade_is_answered_before_it(
    tmp_path: Path, pieces: int
) -> None:
    """Sent without waiting for one another: requests, the upgrade and the login."""
    register = json.dumps({"query": REGISTER}).encode()
    parts = [request("/graphql", register) * 2, UPGRADE, frame(b'{"name": "%b"}' % (b"x" * 200))]
    async with server(tmp_path) as house:
        with await kept_open(house) as line:
            await say(line, *parts[: pieces - 1], b"".join(parts[pieces - 1 :]))
            one, other, upgraded = (await heard(line, FAILED)).split(b"HTTP/1.1 ")[1:]
        assert one.startswith(b"200") and b'"password":"' in one
        assert other.startswith(b"200") and b"already registered" in other
        assert upgraded.startswith(b"101") and upgraded.endswith(b"\r\n\r\n" + FAILED)


async def test_very_many_requests_at_once_are_all_answered(tmp_path: Path) -> None:
    async with server(tmp_path) as house:
        reader, writer = await asyncio.open_connection("127.0.0.1", house.port)
        writer.write(b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" * 100)
        writer.write(b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
        told = await asyncio.wait_for(reader.read(), PATIENCE)
        writer.close()
    assert told.count(b"HTTP/1.1 200 OK") == 101
    assert told.count(b"connection: close") == 1, "the last of them says that it is"


async def test_a_login_that_comes_with_the_upgrade_is_heard(tmp_path: Path) -> None:
    async with server(tmp_path) as house:
        with await kept_open(house) as line:
            told: Any = json.loads(
                await asked(line, "/graphql", json.dumps({"query": REGISTER}).encode())
            )
            login = {
                "gameType": "NOUGHTS_AND_CROSSES",
                "name": "ada",
                "password": told["data"]["registerBot"]["password"],
            }
            await say(line, UPGRADE + frame(json.dumps(login).encode()))
            assert b'{"authentication":"OK"' in await heard(line, b'"name":"ada"}')


async def test_who_offers_http_2_is_answered_in_http_1(tmp_path: Path) -> None:
    async with server(tmp_path) as house:
        line, query = await kept_open(house), json.dumps({"query": REGISTER}).encode()
        assert b'"password":"' in await asked(line, "/graphql", query, OFFER)
        assert b"already registered" in await asked(line, "/graphql", query, OFFER)
        assert await asked(line, "/healthz", fields=OFFER) == b"ok\n"
        async with connect(f"ws://127.0.0.1:{house.port}/", sock=line) as bot:
            await bot.send("{}")
            assert json.loads(await asyncio.wait_for(bot.recv(), PATIENCE)) == {
                "authentication": "failed"
            }


async def test_an_offer_of_http_2_in_any_pieces_and_many_at_once(tmp_path: Path) -> None:
    query, answer = (
        json.dumps({"query": "{ bots(gameType: BUMBLEBOTS) { name } }"}).encode(),
        b'{"data":{"bots":[]}}',
    )
    asking = request("/graphql", query, OFFER)
    async with server(tmp_path) as house:
        for pieces, times in (([asking[:70], asking[70:-20], asking[-20:]], 1), ([asking * 3], 3)):
            with await kept_open(house) as line:
                await say(line, *pieces)
                told = b""
                while told.count(answer) < times:
                    told += await heard(line, answer)
