"""Boat games under load: the server on one core, clients with default socket options on the other.

Probes measure the latency: a few players in their own process, with priority on the clients' core
if the system allows it. The latency of the load's clients is mostly their own queue, since hundreds
of them share one process. A run of the probes without load shows the round-trip time; the rest is
caused by the load. Games start and end throughout the measurement, not all at once. The time that
the server waited for its core is part of the measured latency, so it is shown too.
"""

import json
import random
import re
import sys
import time
from functools import partial
from statistics import mean

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
"""Turns per game."""
GAP = 1 / 400
"""Seconds between two connecting clients at the start of a load at full speed."""
PROBES, PROBE_PAUSE = 4, 0.005
STAY = 2.0
"""Seconds that the load continues after its measurement, until the probes are done.

Its end causes a burst.
"""


class Sailor:
    """Joins a game, shoots at one square after the other, and reconnects after the game."""

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
    """A number of players at once. A random pause before each shot limits the load."""

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
        self._loop.call_later(
            self._pause * random.uniform(0.5, 1.5), sailor.shoot
        ) if self._pause else sailor.shoot()


def _load(
    port: int,
    name: bytes,
    players: int,
    pause: float,
    warm: float,
    seconds: float,
    stay: float = 0.0,
) -> None:
    """Run a load.

    It continues for `stay` seconds after its measurement, until other processes have measured.
    """
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
    """Measure the shots per CPU second of the server, and compare them with a bare relay, measured
    before and after.
    """
    before_and_after = [relay.measure()]
    with server("--xbs-port", "-1") as running:
        load = start(
            "bench.xbs", _port(running), "sailor", 2 * games, 0, 2 * games * GAP + 1, seconds
        )
        assert report(load) == "go"
        before = running.cpu()
        done = report(load)
        spent = running.cpu() - before
        load.wait()
        shared = min(yardstick() for _ in range(3))
    before_and_after.append(relay.measure())
    bare = mean(before_and_after)
    print(
        f"boat games, {games:4} at once, at full speed: {done['shots'] / spent:8,.0f} shots per "
        "CPU second, "
        f"{done['shots'] / seconds:,.0f} a second, {spent / seconds * 100:.0f} % of a core; "
        f"yardstick {shared * 1000:.0f} ms; "
        f"{spent / done['shots'] * 1e6 / bare:.1f} times as much as a bare relay of as many "
        f"messages ({bare:.1f} us a shot)"
    )
    return float(done["shots"] / spent)


def latency(games: int, seconds: float, pause: float) -> float:
    """Measure the latency with probes, without load and then with load.

    Return the share of a core that the server used.
    """
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
        f"{(done['shots'] + felt['shots']) / seconds:,.0f} a second, {spent / seconds * 100:.0f} % "
        "of a core; "
        f"an answer takes {shown(felt['latency'])}, without load {shown(alone['latency'])}; "
        f"the load's own clients see p99 {done['latency'][1]:.1f} ms; "
        f"it waited for its core {waited / seconds * 100:.0f} % of the time, {jitter_shown()}"
    )
    return spent / seconds


def main() -> None:
    capacity(1, 6)
    capacity(50, 8)
    most = capacity(200, 8)
    pause = 2 * 200 / most
    share = latency(
        200, 12, pause
    )  # half the shots use more than half a core, since they arrive one by one
    latency(200, 12, pause * share / 0.5)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        if sys.argv[2] == "probe":
            first_in_line()
        _load(int(sys.argv[1]), sys.argv[2].encode(), int(sys.argv[3]), *map(float, sys.argv[4:]))
    else:
        main()
