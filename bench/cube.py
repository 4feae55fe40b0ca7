"""Battlecube: an organiser of games at speed 0, and cheap bots over HTTP.

`python -m bench.cube URL GAMES BOTS TICKS...`: a phase is a number of ticks.
"""

import asyncio
import json
import sys
from typing import Any, cast

import uvloop
from picows import WSFrame, WSListener, WSMsgType, WSTransport, ws_connect

from bench.clients import Tally

BODY = b'[{"task":"NOOP"}]'
ANSWER = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%b" % (
    len(BODY),
    BODY,
)


class Bot(asyncio.Protocol):
    """A bot that stands still."""

    def __init__(self, tally: Tally) -> None:
        self._tally, self._buffer = tally, b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        head, found, body = self._buffer.partition(b"\r\n\r\n")
        if found and len(body) >= int(
            head.lower().partition(b"content-length: ")[2].partition(b"\r")[0]
        ):
            self._buffer = b""
            self._tally.done += 1
            self._transport.write(ANSWER)


class Organiser(WSListener):
    """Starts its games and counts the finished ones."""

    def __init__(self, payloads: list[Any]) -> None:
        self._payloads, self._left = payloads, len(payloads)
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.failed = 0

    def on_ws_frame(self, transport: WSTransport, frame: WSFrame) -> None:
        packet = frame.get_payload_as_bytes()
        if packet.startswith(b"0"):
            transport.send(WSMsgType.TEXT, b"40")
        elif packet == b"2":
            transport.send(WSMsgType.TEXT, b"3")
        elif packet.startswith(b"40"):
            for payload in self._payloads:
                transport.send(WSMsgType.TEXT, b"42" + json.dumps(["NEW_GAME", payload]).encode())
        elif packet.startswith((b'42["GAME_ENDED"', b'42["ERROR"')):
            self.failed += packet.startswith(b'42["ERROR"')
            self._left -= 1
            if not self._left:
                self.done.set_result(None)


def game(ports: list[int], ticks: int) -> Any:
    """A game whose bots do not meet."""
    names = [f"bot {number}" for number in range(len(ports))]
    starts = [
        {"name": name, "x": number, "y": number, "z": number} for number, name in enumerate(names)
    ]
    setup = {
        "maxNumOfTicks": ticks,
        "edgeLength": 8,
        "numOfTasksPerTick": 1,
        "playerStartPositions": starts,
    }
    players = [
        {"name": name, "url": f"http://127.0.0.1:{port}"}
        for name, port in zip(names, ports, strict=True)
    ]
    return {"setup": setup, "players": players}


async def play(url: str, games: int, bots: int, ticks: int, tally: Tally) -> None:
    ports = [await listen(tally) for _ in range(bots)]
    address = url.replace("http", "ws", 1) + "/socket.io/?EIO=4&transport=websocket"
    client = Organiser([game(ports, ticks)] * games)
    transport, _ = await ws_connect(lambda: client, address)
    await client.done
    assert not client.failed
    transport.disconnect()


async def listen(tally: Tally) -> int:
    server = await asyncio.get_running_loop().create_server(
        lambda: Bot(tally), "127.0.0.1", 0, backlog=2048
    )
    return int(server.sockets[0].getsockname()[1])


async def run(url: str, games: int, bots: int, phases: tuple[int, ...]) -> None:
    tally = Tally()
    for ticks in phases:
        await play(url, games, bots, ticks, tally)
        tally.report()


def main(url: str, games: str, bots: str, *phases: str) -> None:
    uvloop.run(run(url, int(games), int(bots), tuple(map(int, phases))))


if __name__ == "__main__":
    main(*sys.argv[1:])
