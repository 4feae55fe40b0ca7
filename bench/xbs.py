"""Boat games under load: the server on one core, ordinary clients on the other, which do not tune their sockets."""

import asyncio
import json
import re
import socket
import subprocess
import sys
import time
from typing import cast

import uvloop

from bench.games import yardstick
from bench.server import server

BOARD = b".........................B..EE.....B....CCC..B.........B....................DDD............AAAAA...."
SHOTS = [b"|%d|%d\n" % (x, y) for y in range(1, 11) for x in range(1, 11)]


class Sailor(asyncio.Protocol):
    """Joins, and shoots at one square after the other; a game later it comes again."""

    def __init__(self, load: "Load", number: int) -> None:
        self._load, self._number = load, number
        self._name = b"sailor%d" % number
        self._turn, self._rest = b"N|" + self._name, b""
        self._target, self._shots, self._sent = b"", 0, 0.0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 0)
        self._transport.write(b"J|%b|%b\n" % (self._name, BOARD))

    def data_received(self, data: bytes) -> None:
        if self._sent:
            self._load.latencies.append(time.perf_counter() - self._sent)
            self._sent = 0.0
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            if line == self._turn:
                self._load.turn(self)
            elif line[:2] == b"S|":
                self._target = next(name for name in line.split(b"|")[1:] if name != self._name)

    def shoot(self) -> None:
        self._load.shots += 1
        self._transport.write(b"S|" + self._target + SHOTS[self._shots])
        self._shots += 1
        self._sent = time.perf_counter()

    def connection_lost(self, exc: Exception | None) -> None:
        self._load.again(self._number)


class Load:
    """So many games at once; with a pause before each shot the load is held down."""

    def __init__(self, port: int, games: int, pause: float) -> None:
        self._port, self._pause = port, pause
        self.shots, self.latencies = 0, [0.0]
        self.over = False
        self._loop = asyncio.get_running_loop()
        for number in range(2 * games):
            self._loop.call_later(number / 400, self.again, number)

    def again(self, number: int) -> None:
        if not self.over:
            asyncio.ensure_future(self._loop.create_connection(lambda: Sailor(self, number), "127.0.0.1", self._port))  # noqa: RUF006

    def turn(self, sailor: Sailor) -> None:
        self._loop.call_later(self._pause, sailor.shoot) if self._pause else sailor.shoot()


async def _load(port: int, games: int, pause: float, warm: float, seconds: float) -> None:
    load = Load(port, games, pause)
    await asyncio.sleep(warm)
    print("go", flush=True)
    load.shots, load.latencies = 0, [0.0]
    began = time.perf_counter()
    await asyncio.sleep(seconds)
    load.over = True
    latencies = sorted(load.latencies)
    p99 = latencies[int(len(latencies) * 0.99)]
    print(json.dumps({"shots": load.shots / (time.perf_counter() - began) * seconds, "p99": p99}), flush=True)


def measure(games: int, seconds: float, pause: float = 0.0) -> tuple[float, float]:
    """Shots a second, and how many of them a CPU second of the server would take."""
    with server("--xbs-port", "-1") as running:
        found = re.search(r"boat games.*:(\d+)", running.screen)
        assert found is not None
        port = found[1]
        warm = 2 * games / 400 + 1
        words = [port, games, pause, warm, seconds]
        command = ["taskset", "-c", "1", sys.executable, "-m", "bench.xbs", *map(str, words)]
        load = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert load.stdout is not None
        assert load.stdout.readline() == "go\n"
        before = running.cpu()
        done = json.loads(load.stdout.readline())
        spent = running.cpu() - before
        load.wait()
        shared = min(yardstick() for _ in range(3))
        kind = f"a shot each {pause * 1000:.0f} ms" if pause else "at full speed"
        print(
            f"boat games, {games:4} at once, {kind}: {done['shots'] / spent:8,.0f} shots per CPU second, "
            f"{done['shots'] / seconds:,.0f} a second, {spent / seconds * 100:.0f} % of a core, p99 {done['p99'] * 1000:.1f} ms; "
            f"yardstick {shared * 1000:.0f} ms"
        )
        return done["shots"] / seconds, done["shots"] / spent


def main() -> None:
    measure(1, 6)
    measure(50, 8)
    _, capacity = measure(200, 8)
    measure(200, 8, pause=2 * 200 / capacity)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        uvloop.run(_load(int(sys.argv[1]), int(sys.argv[2]), *map(float, sys.argv[3:])))
    else:
        main()
