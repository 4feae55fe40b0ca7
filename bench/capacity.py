"""What one core carries: the figures of docs/capacity.md.

    python -m bench.capacity [ROW...]

Latency is measured by probes: a few players in their own process, with priority on the clients'
core if the system allows it. The latency of the load's own players is mostly their own queue. The
time that the server waited for its core is part of the latency, so it is shown too.
"""

import sys
import time
from collections.abc import Callable
from statistics import median
from typing import Any, NamedTuple

from bench import xbs
from bench.clients import Process, number, report, shown, start, stop
from bench.machine import jitter_shown
from bench.server import Server, late_at_most, server
from bench.works import (
    FAST,
    FRESH,
    MANY_ROOMS,
    PAIRS,
    STAY,
    WARM,
    WORKS,
    Spent,
    boats,
    gomoku,
    noughts,
    spent,
)

ROUNDS, SECONDS = 3, 4.0
GAMES, SPECTATORS = 300, 1_000


class Players(NamedTuple):
    """Players of one protocol, and probes."""

    module: str
    name: str
    address: Callable[[Server], tuple[Any, ...]]
    work: Callable[[Server, float], Spent]
    probes: int
    probe_pause: float

    def start(
        self, running: Server, name: str, count: int, pause: float, *phases: float
    ) -> Process:
        return start(self.module, name, *self.address(running), count, pause, *phases)


PLAYERS = {
    "noughts": Players("bench.bots", "noughts", lambda it: (it.url, *it.tokens), noughts, 8, 0.02),
    "gomoku": Players("bench.duel", "bot", lambda it: (it.port("duel arena"),), gomoku, 32, 0.06),
    "boats": Players("bench.xbs", "sailor", lambda it: (it.port("boat games"),), boats, 4, 0.005),
}


def speed() -> None:
    """Measure the works of `bench.against` on this version."""
    found: dict[str, list[float]] = {work.name: [] for work in WORKS}
    for _ in range(ROUNDS):
        for settings in (FRESH, FAST, MANY_ROOMS):
            with server(settings) as running:
                running.settle()
                for work in (one for one in WORKS if one.settings is settings):
                    found[work.name].append(work.measure(running, SECONDS))
    for work in WORKS:
        figures = found[work.name]
        spread = f"{number(min(figures))} to {number(max(figures))}"
        print(f"{work.name:10}{number(median(figures)):>10} {work.unit}, {spread}", flush=True)


def half_load() -> None:
    """Measure the latency at half a core, set by the pause of the players before a move."""
    for name, it in PLAYERS.items():
        with server(FAST) as running:
            pause = 2 * PAIRS[name] / it.work(running, SECONDS).rate
            trial = it.start(running, it.name, 2 * PAIRS[name], pause, arrived(pause, name), 3)
            pause *= spent(running, trial).cpu / 3 / 0.5
            latency(running, name, it, pause)


def arrived(pause: float, name: str) -> float:
    return WARM + xbs.arrivals(2 * PAIRS[name], pause)


def latency(running: Server, name: str, it: Players, pause: float) -> None:
    warm, seconds = arrived(pause, name), SECONDS + 2
    probes = it.start(running, "probe", it.probes, it.probe_pause, 1, 2, warm + 1, seconds)
    report(probes)
    alone = report(probes)
    load = it.start(running, it.name, 2 * PAIRS[name], pause, warm, STAY)
    report(load)
    report(probes)
    before, waited = running.cpu(), running.waited()
    seen = report(probes)
    share, waited = (running.cpu() - before) / seconds, (running.waited() - waited) / seconds
    stop(load)
    stop(probes)
    print(
        f"{name}, {PAIRS[name]} pairs, a move each {pause * 1000:.0f} ms: {share:.0%} of a core; "
        f"answers take {shown(seen['answers'])}, without load {shown(alone['answers'])}; "
        f"results, which wait for the disk, {shown(seen['ends'])}; "
        f"the server waited for its core {waited:.0%} of the time, {jitter_shown()}",
        flush=True,
    )


def bumblebots() -> None:
    with server() as running:
        bees = start_bees(running, 2 * GAMES)
        time.sleep(2 * GAMES / 200 + 4)
        before, seen = running.cpu(), running.lateness()
        time.sleep(2 * SECONDS)
        share = (running.cpu() - before) / (2 * SECONDS)
        total, p99 = late_at_most(seen, running.lateness())
        stop(bees)
    print(
        f"Bumblebots, {GAMES} matches at once: {share:.0%} of a core, {total:,.0f} ticks, "
        f"p99 lateness at most {p99 * 1000:g} ms; {jitter_shown()}",
        flush=True,
    )


def start_bees(running: Server, bots: int) -> Process:
    tokens = [running.register(f"bee {number}", "BUMBLEBOTS") for number in (0, 1)]
    return start("bench.bots", "bumblebots", running.url, *tokens, bots, 0, STAY)


def spectators() -> None:
    with server() as running:
        bees = start_bees(running, 2)
        while not (tables := running.live()):
            time.sleep(0.1)
        url = f"{running.url}/watch/{tables[0]['id']}"
        watching = start("bench.bots", "watching", url, "", "", SPECTATORS, 0, WARM, SECONDS)
        found = spent(running, watching)
        stop(bees)
    each = found.cpu / found.done["done"] * 1e6
    print(
        f"{SPECTATORS:,} spectators of one match: {each:.0f} us of CPU a position sent", flush=True
    )


def growth() -> None:
    """Measure the memory over many matches."""
    sizes, matches = [], 0.0
    with server() as running:
        words = running.url, *running.tokens, 2 * PAIRS["noughts"], 0, *[10.0] * 3
        load = start("bench.bots", "noughts", *words)
        for _ in range(3):
            matches += report(load)["matches"]
            sizes.append(f"{running.memory() / 1e6:.0f} MB after {matches:,.0f}")
        stop(load)
    print(f"memory over matches: {', '.join(sizes)}", flush=True)


ROWS = {row.__name__: row for row in (speed, half_load, bumblebots, spectators, growth)}


def main(names: list[str]) -> None:
    for name in names or ROWS:
        ROWS[name]()


if __name__ == "__main__":
    main(sys.argv[1:])
