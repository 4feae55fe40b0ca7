"""Duel arena under load: the server on one core, on the other ordinary clients that leave Nagle's algorithm on.

How long the server takes is measured by probes: pairs in a process of their own, which comes first on the clients' core where the
system allows it. What the bots of the load see is mostly their own queue, two hundred of them being one process. Bots that think
do so for a time drawn at random: with a fixed one, those whose moves once came together would come together for ever. The
probes alone with the server show what the way there and back costs. Where the server had to wait for its core, because
something else ran there or the machine was not ours, that is part of what the probes see: it is shown beside.
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
"""Where neither side ever has more than two in a row."""
WINNING = [(x, 0) for x in range(5)]
LONG = 171
WARM, ALONE, STAY = 2.0, 2.0, 2.0
"""Seconds of a load before anything counts, of the probes before the load comes, and of the load until the probes are done: the
end of a load is a storm, in which all its matches are forfeited at once."""
PROBES, PROBE_PAUSE = 16, 0.04
"""Pairs, and how long they think: two long boards last until the end. Later they would be paired with bots of the load."""


def point(stones: int, length: int) -> tuple[int, int]:
    """The next move of a board on which the one who began wins with the stone of that number."""
    turn, left = divmod(stones, 2)[0], (length - stones + 1) // 2
    if stones % 2 == 0:
        return WINNING[-left] if left <= 5 else CROSSES[turn]
    return CIRCLES[turn]


class Tally:
    def __init__(self) -> None:
        self.sent: dict[bytes, tuple[Bot, float]] = {}
        """Who made the last move on each board, and when."""
        self.clear()

    def clear(self) -> None:
        self.moves = 0
        self.matches = 0
        self.latencies: list[float] = []

    def asked(self, bot: "Bot", board: bytes) -> None:
        """The way of a move ends with the question to the other, if that is one of ours, too."""
        sender, sent = self.sent.pop(board, (bot, 0.0))
        if sender is not bot:
            self.latencies.append(time.perf_counter() - sent)

    def summary(self) -> str:
        return json.dumps({"moves": self.moves, "matches": self.matches / 2} | {"latency": percentiles(self.latencies)})


class Bot:
    """Plays one match after the other; `pause` is how long it thinks on average."""

    def __init__(self, name: str, length: int, pause: float, tally: Tally, loop: Loop) -> None:
        self._name, self._length, self._pause, self._tally, self._loop = name, length, pause, tally, loop
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
                self._loop.call_later(random.expovariate(1 / self._pause), partial(self._answer, message, board))
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
        self._send(b'{"event": "make_move", "id": "%b", "x": %d, "y": %d}' % (message[start : message.index(b'"', start)], x, y))


def play(name: str, port: int, pairs: int, length: int, pause: float, *phases: float) -> None:
    """A line with what was counted for each of the phases, which have so many seconds."""
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
    """Moves per CPU second of the server."""
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
        f"duel arena, {pairs:3} pairs, boards of {length} moves, at full speed: {rate:7,.0f} moves per CPU second, "
        f"{done['moves'] / seconds:,.0f} a second, {spent / seconds:.0%} of a core, {done['matches']:,.0f} matches stored; "
        f"yardstick {shared * 1000:.0f} ms",
        flush=True,
    )
    return rate


def latency(pairs: int, length: int, seconds: float, pause: float) -> float:
    """From a move to the question that it leads to, as probes see it: with the server to themselves, then beside a load.

    Returns how much of a core that took.
    """
    port = free_port()
    with server("--duel-port", str(port)) as running:
        probes = start("bench.duel", "probe", port, PROBES, LONG, PROBE_PAUSE, ALONE, WARM + 1, seconds)
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
        f"duel arena, {pairs:3} pairs, boards of {length} moves, a move each {pause * 1000:.0f} ms: "
        f"{(done['moves'] + seen['moves']) / seconds:,.0f} a second, {spent / seconds:.0%} of a core; from a move to the other's "
        f"question {shown(seen['latency'])}, with nobody else there {shown(alone['latency'])}; "
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
    share = latency(100, 49, 6, pause)  # half as many moves; as they come one by one, that is more than half of a core
    latency(100, 49, 6, pause * share / 0.5)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        name, port, pairs, length, *times = sys.argv[1:]
        if name == "probe":
            first_in_line()
        play(name, int(port), int(pairs), int(length), *map(float, times))
    else:
        main()
