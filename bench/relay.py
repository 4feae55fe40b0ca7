"""A bare TCP relay as the baseline for boat games: it forwards each message of a client to both
clients of the pair.

Messages have the size of a shot and its news. `python -m bench.relay serve` runs the relay; `python
-m bench.relay` measures it. The relay parses nothing and knows no game, so a shot costs only three
system calls and the event loop.
"""

import asyncio
import os
import subprocess
import sys
from typing import cast

import uvloop

from bench.server import Server

SHOT = b"S|sailor1|10|10\n"
NEWS = b"B|sailor1||" + b"." * 100 + b"|17|0\nN|sailor0\n"
LINES = NEWS.count(b"\n")
PAIRS, SHOTS = 50, 800


class Relay(asyncio.Protocol):
    waiting: "Relay | None" = None
    """A client without a partner yet."""

    def __init__(self) -> None:
        self.both: tuple[asyncio.Transport, ...] = ()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)
        other, Relay.waiting = Relay.waiting, self if Relay.waiting is None else None
        if other is not None:
            self.both = other.both = (self.transport, other.transport)
            self.transport.write(NEWS)

    def data_received(self, data: bytes) -> None:
        for transport in self.both:
            transport.write(NEWS)


class Caller(asyncio.Protocol):
    """A client that shoots after the first message and then after every second one, by turns with
    its partner.
    """

    def __init__(self, calls: "Calls") -> None:
        self._calls = calls
        self._lines = self._shots = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        self._lines += data.count(b"\n")
        if self._shots < (self._lines // LINES + 1) // 2 and self._calls.another():
            self._shots += 1
            self._transport.write(SHOT)


class Calls:
    """The number of shots left for all pairs together."""

    def __init__(self, shots: int) -> None:
        self._left, self._running = shots, PAIRS
        self.done = asyncio.Event()

    def another(self) -> bool:
        self._left -= 1
        if self._left < 0:
            self._running -= 1
        if not self._running:
            self.done.set()
        return self._left >= 0


async def _call(port: int, shots: int) -> None:
    loop, calls = asyncio.get_running_loop(), Calls(shots)
    transports = [
        (await loop.create_connection(lambda: Caller(calls), "127.0.0.1", port))[0]
        for _ in range(2 * PAIRS)
    ]
    await calls.done.wait()
    for transport in transports:
        transport.close()


def measure() -> float:
    """Return the relay's CPU microseconds per shot, with the relay on the first core and its
    clients on the second.
    """
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {1})
    command = ["taskset", "-c", "0", sys.executable, "-m", "bench.relay", "serve"]
    try:
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as relay:
            assert relay.stdout is not None
            port = int(relay.stdout.readline())
            try:
                uvloop.run(_call(port, PAIRS * SHOTS // 4))
                running = Server(relay, "")
                before = running.cpu()
                uvloop.run(_call(port, PAIRS * SHOTS))
                spent = running.cpu() - before
            finally:
                relay.kill()
    finally:
        os.sched_setaffinity(0, cores)
    return spent / (PAIRS * SHOTS) * 1e6


async def _serve() -> None:
    server = await asyncio.get_running_loop().create_server(Relay, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


def main(words: list[str]) -> None:
    if words == ["serve"]:
        uvloop.run(_serve())
    else:
        print(f"a bare relay: {measure():.1f} us a shot")


if __name__ == "__main__":
    main(sys.argv[1:])
