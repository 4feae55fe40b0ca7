"""Clients that keep a connection open: first they ask for something over HTTP, then they make a WebSocket of it."""

import asyncio
import json
import socket
from pathlib import Path
from typing import Any

import httptools
import pytest
from websockets.asyncio.client import connect

from botdrome.app import House
from tests.server.clients import PATIENCE, server

pytestmark = pytest.mark.anyio

REGISTER = 'mutation { registerBot(gameType: NOUGHTS_AND_CROSSES, name: "ada", owner: "me") { password } }'


class Answer:
    def __init__(self) -> None:
        self.body, self.whole = b"", False

    def on_body(self, body: bytes) -> None:
        self.body += body

    def on_message_complete(self) -> None:
        self.whole = True


async def kept_open(house: House) -> socket.socket:
    line = socket.socket()
    line.setblocking(False)
    await asyncio.get_running_loop().sock_connect(line, ("127.0.0.1", house.port))
    return line


async def asked(line: socket.socket, target: str, body: bytes = b"") -> bytes:
    """The answer to a request, after which the connection stays open."""
    loop, answer = asyncio.get_running_loop(), Answer()
    fields = f"Host: x\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    method = "POST" if body else "GET"
    await loop.sock_sendall(line, f"{method} {target} HTTP/1.1\r\n{fields}".encode() + body)
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
        told: Any = json.loads(await asked(line, "/graphql", json.dumps({"query": REGISTER}).encode()))
        login = {"gameType": "NOUGHTS_AND_CROSSES", "name": "ada", "password": told["data"]["registerBot"]["password"]}
        async with connect(f"ws://127.0.0.1:{house.port}/any/path?", sock=line) as bot:
            await bot.send(json.dumps(login))
            answer = json.loads(await asyncio.wait_for(bot.recv(), PATIENCE))
            assert answer == {"authentication": "OK", "gameType": "NOUGHTS_AND_CROSSES", "name": "ada"}


async def test_a_reader_subscribes_on_one_connection(tmp_path: Path) -> None:
    async with server(tmp_path) as house:
        line = await kept_open(house)
        await asked(line, "/healthz")
        url = f"ws://127.0.0.1:{house.port}/graphql"
        async with connect(url, sock=line, subprotocols=["graphql-transport-ws"]) as reader:  # type: ignore[list-item]
            await reader.send('{"type": "connection_init"}')
            assert json.loads(await asyncio.wait_for(reader.recv(), PATIENCE)) == {"type": "connection_ack"}


async def test_an_organiser_upgrades_on_one_connection(tmp_path: Path) -> None:
    async with server(tmp_path) as house:
        line = await kept_open(house)
        await asked(line, "/socket.io/?EIO=4&transport=polling")
        async with connect(f"ws://127.0.0.1:{house.port}/socket.io/?EIO=4&transport=websocket", sock=line) as organiser:
            assert str(await asyncio.wait_for(organiser.recv(), PATIENCE)).startswith("0{")


async def test_the_connection_is_counted_once(tmp_path: Path) -> None:
    async with server(tmp_path, connections_per_address=1) as house:
        line = await kept_open(house)
        await asked(line, "/healthz")
        async with connect(f"ws://127.0.0.1:{house.port}/", sock=line) as bot:
            await bot.send("{}")
            assert json.loads(await asyncio.wait_for(bot.recv(), PATIENCE)) == {"authentication": "failed"}
