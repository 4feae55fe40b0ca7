"""Duel arena under load: the server on one core, on the other ordinary clients that leave Nagle's algorithm on."""

import asyncio
import json
import socket
import subprocess
import sys
import time
from typing import Any

import uvloop

from bench.server import server

FIND = b'{"event": "find_opponent"}'
PATTERN = [(x, y) for y in range(2, 15) for x in range(15)]
CROSSES, CIRCLES = ([(x, y) for x, y in PATTERN if (x // 2 + y) % 2 == side] for side in (0, 1))
"""Where neither side ever has more than two in a row."""
WINNING = [(x, 0) for x in range(5)]


def point(stones: int, length: int) -> tuple[int, int]:
    """The next move of a board on which the one who began wins with the stone of that number."""
    turn, left = divmod(stones, 2)[0], (length - stones + 1) // 2
    if stones % 2 == 0:
        return WINNING[-left] if left <= 5 else CROSSES[turn]
    return CIRCLES[turn]


class Tally:
    def __init__(self) -> None:
        self.moves = 0
        self.matches = 0
        self.sent: dict[bytes, float] = {}
        """When the last move on each board was sent."""
        self.latencies: list[float] = []

    def summary(self) -> str:
        latencies = sorted(self.latencies) or [0.0]
        p50, p99 = (latencies[int(len(latencies) * share)] for share in (0.5, 0.99))
        return json.dumps({"moves": self.moves, "matches": self.matches / 2, "p50": p50, "p99": p99})


class Bot(asyncio.Protocol):
    """Plays one match after the other; `pause` is how long it thinks."""

    def __init__(self, name: str, length: int, pause: float, tally: Tally) -> None:
        self._name, self._length, self._pause, self._tally = name, length, pause, tally
        self._rest, self._played = b"", False
        self._transport: Any = None
        self._loop = asyncio.get_running_loop()

    def connection_made(self, transport: Any) -> None:
        self._transport = transport
        transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 0)
        self._send(b'{"username": "%b"}' % self._name.encode())

    def data_received(self, data: bytes) -> None:
        data = self._rest + data
        while len(data) >= 4 and len(data) >= (end := 4 + int.from_bytes(data[:4], "big")):
            self._told(data[4:end])
            data = data[end:]
        self._rest = data

    def _send(self, body: bytes) -> None:
        self._transport.write(len(body).to_bytes(4, "big") + body)

    def _told(self, message: bytes) -> None:
        if message.startswith(b'{"event": "get_move"'):
            came = time.perf_counter()
            board = message[message.index(b'"_id": ') : message.index(b', "_size"')]
            if sent := self._tally.sent.pop(board, None):
                self._tally.latencies.append(came - sent)
            if self._pause:
                self._loop.call_later(self._pause, self._answer, message, board)
            else:
                self._answer(message, board)
        elif message.startswith(b'{"event": "player_is_free"'):
            self._tally.matches += self._played
            self._played = True
            self._send(FIND)

    def _answer(self, message: bytes, board: bytes) -> None:
        start = message.index(b'"id": "') + 7
        stones = message.count(b"[") - 1
        x, y = point(stones, self._length)
        self._tally.moves += 1
        if stones + 1 < self._length:
            self._tally.sent[board] = time.perf_counter()
        self._send(b'{"event": "make_move", "id": "%b", "x": %d, "y": %d}' % (message[start : message.index(b'"', start)], x, y))


async def play(port: int, pairs: int, length: int, pause: float, seconds: float) -> str:
    tally, loop = Tally(), asyncio.get_running_loop()
    transports = []
    for number in range(2 * pairs):
        made = await loop.create_connection(lambda n=number: Bot(f"bot {n}", length, pause, tally), "127.0.0.1", port)  # type: ignore[misc]
        transports.append(made[0])
    await asyncio.sleep(seconds)
    return tally.summary()


def load(port: int, pairs: int, length: int, pause: float, seconds: float) -> Any:
    """The clients, on the second core."""
    words = map(str, (port, pairs, length, pause, seconds))
    done = subprocess.run(["taskset", "-c", "1", sys.executable, "-m", "bench.duel", *words], stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


def measure(pairs: int, length: int, seconds: float, pause: float = 0.0) -> float:
    """Moves per CPU second of the server."""
    port = free_port()
    with server("--duel-port", str(port)) as running:
        load(port, pairs, length, 0.0, 1)
        before = running.cpu()
        done = load(port, pairs, length, pause, seconds)
        spent = running.cpu() - before
    rate: float = done["moves"] / spent
    print(
        f"duel arena, {pairs:3} pairs, boards of {length} moves: {rate:7,.0f} moves per CPU second, "
        f"{done['moves'] / seconds:,.0f} a second ({spent / seconds:.0%} of the core), {done['matches']:,.0f} matches, "
        f"from a move to the other's question p50 {done['p50'] * 1000:.2f} ms, p99 {done['p99'] * 1000:.2f} ms",
        flush=True,
    )
    return rate


def main() -> None:
    if len(sys.argv) > 1:
        port, pairs, length, *times = sys.argv[1:]
        print(uvloop.run(play(int(port), int(pairs), int(length), *map(float, times))))
        return
    measure(1, 49, 6)
    rate = measure(100, 49, 6)
    measure(100, 171, 6)
    measure(100, 49, 6, pause=100 / (rate / 2))


if __name__ == "__main__":
    main()
