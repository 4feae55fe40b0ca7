"""A bare echo of matches over WebSockets, picows on uvloop, as the baseline for the cost of
Botdrome's server.

Pairs of clients exchange the messages of matches of noughts and crosses: as many, in the same
order, of the same sizes, over as many connections. The echo knows nothing of the game: it answers
each message with a constant one, for the sender or for both.

`python -m bench.echo` measures it; `bench.against` and `bench.capacity` compare the server with it.
"""

import asyncio
import sys
from itertools import pairwise

import uvloop
from picows import (
    WSFrame,
    WSListener,
    WSMsgType,
    WSTransport,
    WSUpgradeRequest,
    ws_connect,
    ws_create_server,
)

from bench.clients import Tally, report, start
from bench.server import started

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


async def _calls(port: int, *phases: tuple[int, int]) -> None:
    """Play with a number of connections and of matches on each of them."""
    tally = Tally()
    for phase in phases:
        await asyncio.gather(*[_call(port, *phase) for _ in range(2 * PAIRS)])
        tally.report()


async def _serve() -> None:
    def listener(_: WSUpgradeRequest) -> WSListener:
        return Echo()

    server = await ws_create_server(listener, "127.0.0.1", 0)
    print(f"echo:{server.sockets[0].getsockname()[1]}", file=sys.stderr, flush=True)
    await server.serve_forever()


def measure() -> tuple[float, float]:
    """Return the CPU microseconds of the echo server for a match, with a new connection for each
    match and with kept ones.
    """
    with started([sys.executable, "-m", "bench.echo", "serve"], "echo") as echo:
        load = start("bench.echo", "call", echo.port("echo"))
        times = []
        for _ in range(3):
            report(load)
            times.append(echo.cpu())
        load.communicate()
    new, kept = (after - before for before, after in pairwise(times))
    return new / (PAIRS * MATCHES) * 1e6, kept / (PAIRS * MATCHES) * 1e6


def main(words: list[str]) -> None:
    if words == ["serve"]:
        uvloop.run(_serve())
    elif words:
        uvloop.run(_calls(int(words[1]), (2, 2), (MATCHES, 1), (1, MATCHES)))
    else:
        new, kept = measure()
        print(
            f"a bare echo of a match: {new:.0f} us on two new connections, {kept:.0f} on kept ones"
        )


if __name__ == "__main__":
    main(sys.argv[1:])
