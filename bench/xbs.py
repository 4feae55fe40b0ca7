"""Boat games under load: the server on one core, ordinary clients on the other, which do not tune their sockets.

How long an answer takes is measured by probes: a few players in a process of their own, which comes first on the clients' core
where the system allows it. What the clients of the load feel is mostly their own queue, hundreds of them being one process.
The probes alone with the server show what the way there and back costs; what is above that is the server's load. While they
measure, games begin and end all the time, and not all together. Where the server had to wait for its core, because something
else ran there or the machine was not ours, that is part of what the probes feel: it is shown beside.
"""

import json
import random
import re
import sys
import time
from functools import partial

from bench import relay
from bench.clients import report, start
from bench.figures import percentiles, shown
from bench.games import yardstick
from bench.machine import jitter_shown
from bench.pacing import Line, Loop
from bench.server import Server, first_in_line, server

BOARD = b".........................B..EE.....B....CCC..B.........B....................DDD............AAAAA...."
SHOTS = [b"|%d|%d\n" % (x, y) for y in range(1, 11) for x in range(1, 11)]
TURNS = 2 * 96
"""Of a game."""
GAP = 1 / 400
"""Seconds from one client to the next when a load at full speed begins."""
PROBES, PROBE_PAUSE = 4, 0.005
STAY = 2.0
"""Seconds for which the load stays after it was measured, until the probes are done: its end is a storm."""


class Sailor:
    """Joins, and shoots at one square after the other; a game later it comes again."""

    def __init__(self, load: "Load", name: bytes) -> None:
        self._load, self._name = load, name
        self._turn, self._rest = b"N|" + name, b""
        self._target, self._shots, self._sent = b"", 0, 0.0

    def connected(self, line: Line) -> None:
        self._line = line
        line.send(b"J|%b|%b\n" % (self._name, BOARD))

    def received(self, data: bytes) -> None:
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
        self._sent = time.perf_counter()
        self._line.send(b"S|" + self._target + SHOTS[self._shots])
        self._shots += 1

    def lost(self) -> None:
        self._load.again(self._name)


class Load:
    """So many players at once; with a pause before each shot, by chance a little longer or shorter, the load is held down."""

    def __init__(self, loop: Loop, port: int, name: bytes, players: int, pause: float) -> None:
        self._loop, self._port, self._pause = loop, port, pause
        self.shots = 0
        self.latencies: list[float] = []
        gap = max(GAP, pause * TURNS / players)
        for number in range(players):
            loop.call_later(number * gap, partial(self.again, name + b"%d" % number))

    def again(self, name: bytes) -> None:
        self._loop.connect(self._port, Sailor(self, name))

    def turn(self, sailor: Sailor) -> None:
        self._loop.call_later(self._pause * random.uniform(0.5, 1.5), sailor.shoot) if self._pause else sailor.shoot()


def _load(port: int, name: bytes, players: int, pause: float, warm: float, seconds: float, stay: float = 0.0) -> None:
    """`stay`: for so long it goes on after it was measured, for the sake of those who still measure."""
    loop = Loop()
    load = Load(loop, port, name, players, pause)
    loop.run(warm)
    print(json.dumps("go"), flush=True)
    load.shots, load.latencies = 0, []
    began = time.perf_counter()
    loop.run(seconds)
    shots = load.shots / (time.perf_counter() - began) * seconds
    print(json.dumps({"shots": shots} | {"latency": percentiles(load.latencies)}), flush=True)
    loop.run(stay)


def _port(running: Server) -> str:
    found = re.search(r"boat games.*:(\d+)", running.screen)
    assert found is not None
    return found[1]


def capacity(games: int, seconds: float) -> float:
    """How many shots a CPU second of the server takes, and how much that is beside a bare relay of as many messages."""
    bare = relay.measure()
    with server("--xbs-port", "-1") as running:
        load = start("bench.xbs", _port(running), "sailor", 2 * games, 0, 2 * games * GAP + 1, seconds)
        assert report(load) == "go"
        before = running.cpu()
        done = report(load)
        spent = running.cpu() - before
        load.wait()
        shared = min(yardstick() for _ in range(3))
    print(
        f"boat games, {games:4} at once, at full speed: {done['shots'] / spent:8,.0f} shots per CPU second, "
        f"{done['shots'] / seconds:,.0f} a second, {spent / seconds * 100:.0f} % of a core; yardstick {shared * 1000:.0f} ms; "
        f"{spent / done['shots'] * 1e6 / bare:.1f} times as much as a bare relay of as many messages ({bare:.0f} us a shot)"
    )
    return float(done["shots"] / spent)


def latency(games: int, seconds: float, pause: float) -> float:
    """What probes feel: first with the server to themselves, then beside the load. Returns how much of a core that took."""
    with server("--xbs-port", "-1") as running:
        port = _port(running)
        probes = start("bench.xbs", port, "probe", PROBES, PROBE_PAUSE, 1, seconds / 2)
        assert report(probes) == "go"
        alone = report(probes)
        probes.wait()
        warm = pause * TURNS + 2
        load = start("bench.xbs", port, "sailor", 2 * games, pause, warm, seconds, STAY)
        probes = start("bench.xbs", port, "probe", PROBES, PROBE_PAUSE, warm, seconds)
        assert report(load) == report(probes) == "go"
        before, waited = running.cpu(), running.waited()
        felt, done = report(probes), report(load)
        spent, waited = running.cpu() - before, running.waited() - waited
        load.wait()
        probes.wait()
    print(
        f"boat games, {games:4} at once, a shot each {pause * 1000:.0f} ms: "
        f"{(done['shots'] + felt['shots']) / seconds:,.0f} a second, {spent / seconds * 100:.0f} % of a core; "
        f"an answer takes {shown(felt['latency'])}, with nobody else there {shown(alone['latency'])}; "
        f"the load's own clients see p99 {done['latency'][1]:.1f} ms; "
        f"it waited for its core {waited / seconds * 100:.0f} % of the time, {jitter_shown()}"
    )
    return spent / seconds


def main() -> None:
    capacity(1, 6)
    capacity(50, 8)
    most = capacity(200, 8)
    pause = 2 * 200 / most
    share = latency(200, 12, pause)  # half as many shots; as they come one by one, that is more than half of a core
    latency(200, 12, pause * share / 0.5)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        if sys.argv[2] == "probe":
            first_in_line()
        _load(int(sys.argv[1]), sys.argv[2].encode(), int(sys.argv[3]), *map(float, sys.argv[4:]))
    else:
        main()
