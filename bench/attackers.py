"""Attackers: what hostile clients of one address do to a server, for some seconds. See `bench.attacks`."""

import asyncio
import json
import logging
import sys
from collections import Counter
from collections.abc import Awaitable, Callable
from itertools import count
from typing import Any
from urllib.parse import urlsplit

import uvloop
from picows import WSFrame, WSListener, WSMsgType, WSTransport, ws_connect

ADDRESS = "127.0.0.2"
DONE: Counter[str] = Counter()
"""What has become of it."""


class Heard(WSListener):
    """Counts how it was told to go, and closes then."""

    gone = False

    def on_ws_frame(self, transport: WSTransport, frame: WSFrame) -> None:
        if frame.msg_type == WSMsgType.CLOSE:
            DONE[f"closed: {frame.get_close_code()}"] += 1
            transport.send_close(frame.get_close_code())
            transport.disconnect()
        else:
            DONE[f"told {frame.get_payload_as_ascii_text()[:40]}"] += 1

    def on_ws_disconnected(self, transport: WSTransport) -> None:
        self.gone = True


class Target:
    def __init__(self, url: str) -> None:
        self.url, self.socket_url = url, url.replace("http", "ws", 1)
        self.host, self.port = urlsplit(url).hostname or "", urlsplit(url).port or 0

    async def ask(self, method: str, path: str, body: Any = None, token: str = "") -> tuple[int, Any]:
        """One request on a connection of its own."""
        reader, writer = await asyncio.open_connection(self.host, self.port, local_addr=(ADDRESS, 0))
        try:
            writer.write(request(method, path, body, token))
            answer = await reader.read()
        finally:
            writer.close()
        head, _, rest = answer.partition(b"\r\n\r\n")
        status = int(head.split(b" ")[1]) if head else 0
        DONE[f"status {status}"] += 1
        return status, rest

    async def register(self, name: str, game: str) -> str:
        status, rest = await self.ask("POST", "/api/v1/bots", {"game": game, "name": name, "owner": "x"})
        return str(json.loads(rest).get("password", "")) if status < 300 else ""

    async def socket(self, path: str = "/") -> tuple[WSTransport, Heard]:
        heard = Heard()
        transport, _ = await ws_connect(lambda: heard, self.socket_url + path, local_addr=(ADDRESS, 0))
        return transport, heard


def request(method: str, path: str, body: Any = None, token: str = "", more: str = "connection: close\r\n") -> bytes:
    data = b"" if body is None else json.dumps(body).encode()
    bearer = f"authorization: Bearer {token}\r\n" if token else ""
    kind = "content-type: application/json\r\n" if data else ""
    head = f"{method} {path} HTTP/1.1\r\nhost: 127.0.0.1\r\n{more}{bearer}{kind}content-length: {len(data)}\r\n\r\n"
    return head.encode() + data


async def repeat(times: int, work: Callable[[], Awaitable[object]], pause: float = 0.0) -> None:
    """Several at once, each again and again until cancelled; what fails is counted."""

    async def go_on() -> None:
        while True:
            try:
                await work()
            except (OSError, EOFError, RuntimeError, ValueError) as problem:
                DONE[type(problem).__name__] += 1
                await asyncio.sleep(0.05)
            await asyncio.sleep(pause)

    await asyncio.gather(*[go_on() for _ in range(times)])


def login(game: str, name: str, token: str, **more: Any) -> bytes:
    return json.dumps({"gameType": game, "name": name, "password": token} | more).encode()


async def big_messages(target: Target) -> None:
    """20 bots that wait for an opponent and send 64 KB messages meanwhile."""
    message = b'{"x":[' + b"1," * 32700 + b"1]}"
    numbers = count()

    async def flood() -> None:
        name = f"big {next(numbers)}"
        token = await target.register(name, "gomoku")
        line, heard = await target.socket()
        line.send(WSMsgType.TEXT, login("GOMOKU", name, token, opponent="nobody"))
        while not heard.gone:
            line.send(WSMsgType.TEXT, message)
            DONE["messages"] += 1
            await asyncio.sleep(0.006)

    await repeat(20, flood)


ATTACKS: dict[str, Callable[[Target], Awaitable[None]]] = {"big_messages": big_messages}


async def attack(name: str, url: str, seconds: float) -> None:
    try:
        async with asyncio.timeout(seconds):
            await ATTACKS[name](Target(url))
    except TimeoutError:
        pass
    print(dict(DONE.most_common(4)))


def main(name: str, url: str, seconds: str) -> None:
    logging.disable(logging.WARNING)
    uvloop.run(attack(name, url, float(seconds)))


if __name__ == "__main__":
    main(*sys.argv[1:])
