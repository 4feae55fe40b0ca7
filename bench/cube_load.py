"""Load for Battlecube: cheap bots over HTTP and their organisers, in one process."""

import asyncio
import json
import sys
import time
from typing import Any, cast

import uvloop
from picows import WSFrame, WSListener, WSMsgType, WSTransport, ws_connect

BODY = b'[{"task":"NOOP"}]'
ANSWER = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%b" % (
    len(BODY),
    BODY,
)


class Tally:
    calls = 0


class Bot(asyncio.Protocol):
    """A bot that stands still, or (`hangs`) never answers."""

    def __init__(self, tally: Tally, hangs: bool) -> None:
        self._tally, self._hangs, self._buffer = tally, hangs, b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        head, found, body = self._buffer.partition(b"\r\n\r\n")
        if found and len(body) >= int(
            head.lower().partition(b"content-length: ")[2].partition(b"\r")[0]
        ):
            self._buffer = b""
            self._tally.calls += 1
            if not self._hangs:
                self._transport.write(ANSWER)


class Organiser(WSListener):
    """Starts its games and counts the finished ones."""

    def __init__(self, payloads: list[Any]) -> None:
        self._payloads, self._left = payloads, len(payloads)
        self.done: asyncio.Future[float] = asyncio.get_running_loop().create_future()
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
                self.done.set_result(time.perf_counter())


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


async def play(
    url: str, organisers: int, games: int, bots: int, ticks: int, hanging: int
) -> dict[str, Any]:
    """Run organisers with their games, and optionally some with a bot that hangs."""
    tally = Tally()
    ports = [await listen(tally, hangs=False) for _ in range(bots)]
    stuck = await listen(tally, hangs=True)
    plans = [[game(ports, ticks)] * games for _ in range(organisers)] + [
        [game([stuck, *ports], 1)]
    ] * hanging
    address = url.replace("http", "ws", 1) + "/socket.io/?EIO=4&transport=websocket"
    began, clients = time.perf_counter(), list[Organiser]()
    for plan in plans:
        client = Organiser(plan)
        clients.append(client)
        await ws_connect(lambda client=client: client, address)
    ends = [await client.done - began for client in clients]
    failed = sum(client.failed for client in clients)
    return {
        "calls": tally.calls,
        "failed": failed,
        "seconds": max(ends[:organisers]),
        "stuck": max(ends[organisers:], default=0),
    }


async def listen(tally: Tally, hangs: bool) -> int:
    server = await asyncio.get_running_loop().create_server(
        lambda: Bot(tally, hangs), "127.0.0.1", 0, backlog=2048
    )
    return int(server.sockets[0].getsockname()[1])


def main() -> None:
    url, *numbers = sys.argv[1:]
    organisers, games, bots, ticks, hanging = map(int, numbers)
    print(json.dumps(uvloop.run(play(url, organisers, games, bots, ticks, hanging))))


if __name__ == "__main__":
    main()
