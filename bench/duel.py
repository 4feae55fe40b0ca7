"""The duel arena under load: the server on one core, clients with Nagle's algorithm (the default)
on the other.

Probes measure the latency: pairs in their own process, with priority on the clients' core if the
system allows it. The latency of the load's bots is mostly their own queue, since two hundred of
them share one process. Bots think for a random time. With a fixed time, moves that once arrived
together would always arrive together. A run of the probes without load shows the round-trip time.
The time that the server waited for its core is part of the measured latency, so it is shown too.
"""

import json
import random
import socket
import sys
import time
from functools import partial

from bench.clients import report, start
from bench.figures import percentiles, shown
from bench.games import yardstick
from bench.machine import jitter_shown
from bench.pacing import Line, Loop
from bench.server import first_in_line, server

FIND = b'{"event": "find_opponent"}'
PATTERN = [(x, y) for y in range(2, 15) for x in range(15)]
CROSSES, CIRCLES = ([(x, y) for x, y in PATTERN if (x // 2 + y) % 2 == side] for side in (0, 1))
"""Points on which neither side ever has more than two in a row."""
WINNING = [(x, 0) for x in range(5)]
LONG = 171
WARM, ALONE, STAY = 2.0, 2.0, 2.0
"""Seconds: load before the measurement, probes before the load, and load after the measurement,
until the probes are done.

The load ends last, because all its matches are forfeited at once when it stops.
"""
PROBES, PROBE_PAUSE = 16, 0.04
"""Pairs, and their seconds per move.

Two long boards last to the end, so that probes are not paired with bots of the load.
"""


def point(stones: int, length: int) -> tuple[int, int]:
    """Return the next move on a board that the first player wins with stone number `length`."""
    turn, left = divmod(stones, 2)[0], (length - stones + 1) // 2
    if stones % 2 == 0:
        return WINNING[-left] if left <= 5 else CROSSES[turn]
    return CIRCLES[turn]


class Tally:
    def __init__(self) -> None:
        self.sent: dict[bytes, tuple[Bot, float]] = {}
        """The bot that made the last move on each board, and the time."""
        self.clear()

    def clear(self) -> None:
        self.moves = 0
        self.matches = 0
        self.latencies: list[float] = []

    def asked(self, bot: "Bot", board: bytes) -> None:
        """Record the latency of a move, up to the request to the opponent, if both bots are in this
        process.
        """
        sender, sent = self.sent.pop(board, (bot, 0.0))
        if sender is not bot:
            self.latencies.append(time.perf_counter() - sent)

    def summary(self) -> str:
        return json.dumps(
            {"moves": self.moves, "matches": self.matches / 2}
            | {"latency": percentiles(self.latencies)}
        )


class Bot:
    """Plays one match after the other. `pause` is its average thinking time in seconds."""

    def __init__(self, name: str, length: int, pause: float, tally: Tally, loop: Loop) -> None:
        self._name, self._length, self._pause, self._tally, self._loop = (
            name,
            length,
            pause,
            tally,
            loop,
        )
        self._rest, self._played = b"", False

    def connected(self, line: Line) -> None:
        self._line = line
        self._send(b'{"username": "%b"}' % self._name.encode())

    def received(self, data: bytes) -> None:
        data = self._rest + data
        while len(data) >= 4 and len(data) >= (end := 4 + int.from_bytes(data[:4], "big")):
            self._told(data[4:end])
            data = data[end:]
        self._rest = data

    def _send(self, body: bytes) -> None:
        self._line.send(len(body).to_bytes(4, "big") + body)

    def lost(self) -> None:
        pass

    def _told(self, message: bytes) -> None:
        if message.startswith(b'{"event": "get_move"'):
            board = message[message.index(b'"_id": ') : message.index(b', "_size"')]
            self._tally.asked(self, board)
            if self._pause:
                self._loop.call_later(
                    random.expovariate(1 / self._pause), partial(self._answer, message, board)
                )
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
            self._tally.sent[board] = self, time.perf_counter()
        self._send(
            b'{"event": "make_move", "id": "%b", "x": %d, "y": %d}'
            % (message[start : message.index(b'"', start)], x, y)
        )


def play(name: str, port: int, pairs: int, length: int, pause: float, *phases: float) -> None:
    """Print a line of counts after each phase. `phases` are their lengths in seconds."""
    tally, loop = Tally(), Loop()
    for number in range(2 * pairs):
        loop.connect(port, Bot(f"{name} {number}", length, pause, tally, loop))
    for seconds in phases:
        tally.clear()
        loop.run(seconds)
        print(tally.summary(), flush=True)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


def capacity(pairs: int, length: int, seconds: float) -> float:
    """Measure and return the moves per CPU second of the server."""
    port = free_port()
    with server("--duel-port", str(port)) as running:
        load = start("bench.duel", "bot", port, pairs, length, 0, WARM, seconds)
        report(load)
        before = running.cpu()
        done = report(load)
        spent = running.cpu() - before
        load.wait()
        shared = min(yardstick() for _ in range(3))
    rate: float = done["moves"] / spent
    print(
        f"duel arena, {pairs:3} pairs, boards of {length} moves, at full speed: {rate:7,.0f} moves "
        "per CPU second, "
        f"{done['moves'] / seconds:,.0f} a second, {spent / seconds:.0%} of a core, "
        f"{done['matches']:,.0f} matches stored; "
        f"yardstick {shared * 1000:.0f} ms",
        flush=True,
    )
    return rate


def latency(pairs: int, length: int, seconds: float, pause: float) -> float:
    """Measure the latency from a move to the request to the opponent, without load and then with
    load.

    Return the share of a core that the server used.
    """
    port = free_port()
    with server("--duel-port", str(port)) as running:
        probes = start(
            "bench.duel", "probe", port, PROBES, LONG, PROBE_PAUSE, ALONE, WARM + 1, seconds
        )
        alone = report(probes)
        load = start("bench.duel", "bot", port, pairs, length, pause, WARM, seconds, STAY)
        report(load)
        report(probes)
        before, idle = running.cpu(), running.waited()
        seen, done = report(probes), report(load)
        spent, idle = running.cpu() - before, running.waited() - idle
        load.wait()
        probes.wait()
    print(
        f"duel arena, {pairs:3} pairs, boards of {length} moves, a move each {pause * 1000:.0f} "
        "ms: "
        f"{(done['moves'] + seen['moves']) / seconds:,.0f} a second, {spent / seconds:.0%} of a "
        "core; from a move to the other's "
        f"question {shown(seen['latency'])}, without load {shown(alone['latency'])}; "
        f"the load's own bots see p99 {done['latency'][1]:.1f} ms; "
        f"the server waited for its core {idle / seconds:.0%} of the time, {jitter_shown()}",
        flush=True,
    )
    return spent / seconds


def main() -> None:
    capacity(1, 49, 6)
    rate = capacity(100, 49, 6)
    capacity(100, LONG, 6)
    pause = 2 * 100 / rate
    share = latency(
        100, 49, 6, pause
    )  # half the moves use more than half a core, since they arrive one by one
    latency(100, 49, 6, pause * share / 0.5)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        name, port, pairs, length, *times = sys.argv[1:]
        if name == "probe":
            first_in_line()
        play(name, int(port), int(pairs), int(length), *map(float, times))
    else:
        main()
