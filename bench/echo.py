"""A bare echo of matches over WebSockets, picows on uvloop, as the baseline for the cost of
Botdrome's server.

Pairs of clients exchange the messages of matches of noughts and crosses: as many, in the same
order, of the same sizes, over as many connections. The echo knows nothing of the game: it answers
each message with a constant one, for the sender or for both.

`python -m bench.echo serve` runs the echo server; `python -m bench.echo` measures it, as
`bench.server` does.
"""

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import uvloop
from msgspec import Struct
from picows import (
    WSFrame,
    WSListener,
    WSMsgType,
    WSTransport,
    WSUpgradeRequest,
    ws_connect,
    ws_create_server,
)

TICKS = os.sysconf("SC_CLK_TCK")
PAIRS, MATCHES = 50, 40
"""The pairs of clients at once, and the matches that each pair plays."""
LOGIN, MOVE, AGAIN = b"L" * 128, b"M" * 26, b'{"again":true}'
GREETING, HEADER = b"G" * 72, b"H" * 141
STATES = [b"S" * size for size in (194, 279, 280, 281, 282, 283, 284, 312)]
"""The first state, and the states after each move.

The bots of `bench.bots` always play the same seven moves.
"""
YOURS = [b"Y" + state[1:] for state in STATES]
"""The same for the client whose turn it is."""


class Cost(Struct):
    """CPU microseconds of the echo server for a match, with a new connection for each match and
    with kept ones.
    """

    new: float
    kept: float


class Echo(WSListener):
    """A client of the echo server. The first of a pair has the even turns."""

    waiting: "Echo | None" = None

    def __init__(self) -> None:
        self.transport: WSTransport
        self.pair: tuple[Echo, ...] = ()
        self.turn = 0

    def on_ws_connected(self, transport: WSTransport) -> None:
        self.transport = transport

    def on_ws_frame(self, transport: WSTransport, frame: WSFrame) -> None:
        if frame.msg_type == WSMsgType.CLOSE:
            transport.send_close(frame.get_close_code())
            transport.disconnect()
        elif self.pair:
            self._play()
        elif frame.get_payload_as_bytes() == AGAIN:
            self._seek(HEADER)
        else:
            transport.send(WSMsgType.TEXT, GREETING)
            self._seek(b"")

    def _seek(self, header: bytes) -> None:
        other, Echo.waiting = Echo.waiting, None if Echo.waiting else self
        if other is not None:
            self.pair = other.pair = (other, self)
            for one in self.pair:
                one.turn = 0
                if header:
                    one.transport.send(WSMsgType.TEXT, header)
            self._tell(0)

    def _play(self) -> None:
        turn = self.turn + 1
        self._tell(turn)
        if turn == len(STATES) - 1:
            for one in self.pair:
                one.pair = ()

    def _tell(self, turn: int) -> None:
        for number, one in enumerate(self.pair):
            one.turn = turn
            one.transport.send(WSMsgType.TEXT, (YOURS if turn % 2 == number else STATES)[turn])


class Caller(WSListener):
    """Plays some matches on one connection."""

    def __init__(self, matches: int) -> None:
        self._left = matches

    def on_ws_connected(self, transport: WSTransport) -> None:
        transport.send(WSMsgType.TEXT, LOGIN)

    def on_ws_frame(self, transport: WSTransport, frame: WSFrame) -> None:
        if frame.msg_type == WSMsgType.CLOSE:
            return transport.disconnect()
        message = frame.get_payload_as_bytes()
        if len(message) == len(STATES[-1]):
            self._left -= 1
            return transport.send(WSMsgType.TEXT, AGAIN) if self._left else transport.send_close()
        return transport.send(WSMsgType.TEXT, MOVE) if message[:1] == b"Y" else None


async def _call(port: int, connections: int, matches: int) -> None:
    for _ in range(connections):
        transport, _ = await ws_connect(lambda: Caller(matches), f"ws://127.0.0.1:{port}/")
        await transport.wait_disconnected()


async def _calls(port: int, connections: int, matches: int) -> None:
    await asyncio.gather(*[_call(port, connections, matches) for _ in range(2 * PAIRS)])


def _cpu(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def measure() -> Cost:
    """Run the echo server on the first core and its clients on the second."""
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {1})
    try:
        return _measured()
    finally:
        os.sched_setaffinity(0, cores)


def _measured() -> Cost:
    command = ["taskset", "-c", "0", sys.executable, "-m", "bench.echo", "serve"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as echo:
        assert echo.stdout is not None
        port = int(echo.stdout.readline())
        uvloop.run(_calls(port, 2, 2))
        before = _cpu(echo.pid)
        uvloop.run(_calls(port, MATCHES, 1))
        between = _cpu(echo.pid)
        uvloop.run(_calls(port, 1, MATCHES))
        after = _cpu(echo.pid)
        echo.kill()
    return Cost(*[spent / (PAIRS * MATCHES) * 1e6 for spent in (between - before, after - between)])


async def _serve() -> None:
    def listener(_: WSUpgradeRequest) -> WSListener:
        return Echo()

    server = await ws_create_server(listener, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


def main(words: list[str]) -> None:
    if words == ["serve"]:
        uvloop.run(_serve())
    else:
        cost = measure()
        print(
            f"a bare echo of a match: {cost.new:.0f} us on two new connections, {cost.kept:.0f} us "
            "on kept ones"
        )


if __name__ == "__main__":
    main(sys.argv[1:])
