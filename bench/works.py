"""The works by which servers are measured, and the targets against an earlier version."""

import time
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

from bench import bomber, echo, xbs
from bench.clients import Process, report, start, stop
from bench.server import Server

PAIRS = {"noughts": 50, "gomoku": 20, "boats": 16}
CUBE_GAMES, CUBE_BOTS, CUBE_TICKS = 8, 8, 80
"""The ticks of a game in a second of a load, roughly."""
ROOMS = 100
SEATED, FEW, MANY = 1_000, 1_000, 5_000
WARM = 1.5
FRESH: dict[str, object] = {}
"""A server that has just started, beside no other one."""
FAST: dict[str, object] = {"message.rate": 1_000_000, "message.burst": 1_000_000}
"""No client is slowed down by limits of its rate."""
MANY_ROOMS = FAST | {"bomber.rooms": bomber.rooms_setting(ROOMS)}
STAY = 600
"""Seconds of a load that is stopped when it was measured."""


class Spent(NamedTuple):
    """What a load did in its second phase, and the CPU seconds of the server."""

    done: dict[str, Any]
    cpu: float

    @property
    def rate(self) -> float:
        return float(self.done["done"] / self.cpu)


def spent(running: Server, load: Process) -> Spent:
    report(load)
    before = running.cpu()
    done = report(load)
    found = Spent(done, running.cpu() - before)
    stop(load)
    running.settle()
    return found


def noughts(running: Server, seconds: float, kind: str = "noughts") -> Spent:
    words = running.url, *running.tokens, 2 * PAIRS["noughts"], 0, WARM, seconds
    return spent(running, start("bench.bots", kind, *words))


def kept(running: Server, seconds: float) -> float:
    """Return the CPU microseconds of a match on kept connections."""
    found = noughts(running, seconds, "again")
    return found.cpu / float(found.done["matches"]) * 1e6


def gomoku(running: Server, seconds: float) -> Spent:
    port, players = running.port("duel arena"), 2 * PAIRS["gomoku"]
    return spent(running, start("bench.duel", "bot", port, players, 0, WARM, seconds))


def boats(running: Server, seconds: float) -> Spent:
    port, players = running.port("boat games"), 2 * PAIRS["boats"]
    warm = WARM + xbs.arrivals(players, 0)
    return spent(running, start("bench.xbs", "sailor", port, players, 0, warm, seconds))


def cube(running: Server, seconds: float) -> Spent:
    words = running.url, CUBE_GAMES, CUBE_BOTS, CUBE_TICKS, int(CUBE_TICKS * seconds)
    return spent(running, start("bench.cube", *words))


def bombers(running: Server, seconds: float) -> Spent:
    port = running.url.rpartition(":")[2]
    return spent(running, start("bench.bomber", port, ROOMS, 2 * WARM, seconds))


def login(running: Server, _: float) -> float:
    """Return the CPU microseconds of a connection up to the first state of its match.

    The first ones are not counted: worker processes get ready meanwhile.
    """
    words = running.url, *running.tokens, SEATED, 0, 0, STAY
    _first, found = [spent(running, start("bench.bots", "seated", *words)) for _ in range(2)]
    return found.cpu / SEATED * 1e6


def waiting(running: Server, _: float) -> float:
    """Return the bytes of a waiting connection, without what the first ones need."""
    sizes, loads = [], []
    for bots in (FEW, MANY - FEW):
        loads.append(start("bench.bots", "waiting", running.url, *running.tokens, bots, 0, 0, STAY))
        report(loads[-1])
        report(loads[-1])
        running.settle()
        sizes.append(running.memory("Pss_Anon"))
    for load in loads:
        stop(load)
    return (sizes[1] - sizes[0]) / (MANY - FEW)


@cache
def idle(running: Server, seconds: float) -> tuple[float, float]:
    """Return the CPU milliseconds and the wake-ups of an idle second."""
    cpu, wakeups = running.cpu(), running.wakeups()
    time.sleep(seconds)
    return (running.cpu() - cpu) / seconds * 1000, (running.wakeups() - wakeups) / seconds


class Work(NamedTuple):
    name: str
    unit: str
    measure: Callable[[Server, float], float]
    target: float = 0.0
    """The ratio to the earlier version; 0: none."""
    least: bool = False
    """The ratio is at least the target, not at most."""
    settings: dict[str, object] = FAST
    against: str = ""
    """The commit against which the target holds; empty: any."""
    baseline: Callable[[], float] | None = None
    """What today's server is compared with, if not with the earlier version."""


WORKS = (
    Work("memory", "MiB after the start", lambda it, _: it.memory() / 2**20, 1.5, settings=FRESH),
    Work(
        "idle",
        "ms CPU a second",
        lambda it, s: idle(it, s)[0],
        0.15,
        settings=FRESH,
        against="bf0a150",
    ),
    Work("wake-ups", "an idle second", lambda it, s: idle(it, s)[1], settings=FRESH),
    Work("waiting", "bytes a connection", waiting, 1.1, settings=FRESH),
    Work("login", "us CPU, with pairing", login, 1.0),
    Work("noughts", "moves per CPU s", lambda it, s: noughts(it, s).rate, 1.2, True),
    Work("gomoku", "moves per CPU s", lambda it, s: gomoku(it, s).rate, 1.15, True),
    Work("boats", "shots per CPU s", lambda it, s: boats(it, s).rate, 1.15, True),
    Work("cube", "calls per CPU s", lambda it, s: cube(it, s).rate, 1.15, True),
    Work("kept", "us CPU a match; echo", kept, 2.0, baseline=lambda: echo.measure()[1]),
    Work("bomber", "requests per CPU s", lambda it, s: bombers(it, s).rate, 1.15, True, MANY_ROOMS),
)
