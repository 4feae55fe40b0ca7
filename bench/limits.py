"""Capacity of the server: half load, memory over many matches, idle connections, many spectators.

`python -m bench.limits [MATCHES]`: the number of matches in the memory test, 5,000 by default.
"""

import json
import os
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from bench.figures import percentiles, shown
from bench.machine import jitter_shown
from bench.server import Server, late_at_most, load, server, start_load

PAIRS = 50
COME, MEASURED, STAY = 2.0, 8.0, 2.0
"""Seconds of a load: before the probes start, while they measure, and until they are done.

When a load starts or ends, all its bots log in or forfeit at once.
"""
PROBES = 8
FLUSHES, PAGE = 400, bytes(4096)
IDLE = 5_000
SPECTATORS = 1_000


def noughts(running: Server) -> list[str]:
    return [running.register(f"load {number}", "NOUGHTS_AND_CROSSES") for number in (0, 1)]


def half_load() -> None:
    """Measure latency at half capacity, set by the thinking time of the bots.

    Bots in a separate process measure the latency, so that they do not wait for the others.
    """
    with server() as running:
        passwords = noughts(running)
        load("noughts", running.url, *passwords, 2 * PAIRS, 2)
        full = load("noughts", running.url, *passwords, 2 * PAIRS, 6)["moves"] / 6
        pause = PAIRS / (full / 2)
        thinking = start_load(
            "noughts", running.url, *passwords, 2 * PAIRS, COME + MEASURED + STAY, pause
        )
        time.sleep(COME)
        before, waited = running.cpu(), running.waited()
        seen = load("probe", running.url, *passwords, PROBES, MEASURED, pause)
        share, waited = (running.cpu() - before) / MEASURED, (running.waited() - waited) / MEASURED
        done = json.loads(thinking.communicate()[0])
    rate = done["moves"] / (COME + MEASURED + STAY)
    print(
        f"noughts and crosses, {PAIRS} pairs at half load: {rate:,.0f} of {full:,.0f} moves a "
        "second, "
        f"{share:.0%} of a core; from a move to its answer {shown(seen['answers'])}, "
        f"to the result of a match, which is sent after it is on disk, {shown(seen['ends'])}; "
        f"a bare write to that disk without load {flushes_shown()}; "
        f"the server waited for its core {waited:.0%} of the time, {jitter_shown()}"
    )


def flushes_shown() -> str:
    """Return the time that the disk needs to write a page, with pauses between writes."""
    times = []
    with tempfile.TemporaryFile() as file:
        for _ in range(FLUSHES):
            began = time.perf_counter()
            file.write(PAGE)
            file.flush()
            os.fdatasync(file.fileno())
            times.append(time.perf_counter() - began)
            time.sleep(0.005)
    return shown(percentiles(times))


def memory(matches: int) -> None:
    with server() as running:
        passwords = noughts(running)
        played = load("noughts", running.url, *passwords, 2 * PAIRS, 10)["matches"]
        sizes = [running.memory()]
        total = 0.0
        while total < matches:
            total += load("noughts", running.url, *passwords, 2 * PAIRS, 10)["matches"]
            sizes.append(running.memory())
    shown = " ".join(f"{size / 1e6:.0f}" for size in sizes[:: max(1, len(sizes) // 12)])
    grown = (sizes[-1] - sizes[0]) / total
    print(
        f"memory after {played:,.0f} matches and over {total:,.0f} more: {shown} MB ({grown:,.0f} "
        "bytes a match)"
    )


def idle() -> None:
    with server("--set", "limits.waiting=600") as running:
        password = noughts(running)[0]
        before = running.memory()
        waiting = start_load("waiting", running.url, password, password, IDLE, 25)
        while running.metric("botdrome_waiting") < IDLE:
            time.sleep(0.5)
        each, spent = (running.memory() - before) / IDLE, running.cpu()
        time.sleep(5)
        share = (running.cpu() - spent) / 5
        waiting.communicate()
    print(f"{IDLE:,} idle connections: {each / 1024:.1f} KB each, {share:.1%} of a core")


@contextmanager
def a_match_of_bumblebots(running: Server, seconds: float) -> Iterator[str]:
    passwords = [running.register(f"bee {number}", "BUMBLEBOTS") for number in (0, 1)]
    bees = start_load("bumblebots", running.url, *passwords, 2, seconds)
    while not (tables := _live(running)):
        time.sleep(0.1)
    yield tables[0]["id"]
    bees.communicate()


def _live(running: Server) -> list[dict[str, Any]]:
    with urllib.request.urlopen(f"{running.url}/api/v1/live") as answer:
        return list(json.load(answer)["tables"])


def spectators() -> None:
    seconds = 12.0
    with server() as running, a_match_of_bumblebots(running, seconds + 10) as match:
        watching = start_load(
            "watching", f"{running.url}/watch/{match}", "", "", SPECTATORS, seconds + 6
        )
        while _live(running)[0]["spectators"] < SPECTATORS:
            time.sleep(0.2)
        before, seen = running.cpu(), running.lateness()
        time.sleep(seconds / 2)
        spent = running.cpu() - before
        beats, p99 = late_at_most(seen, running.lateness())
        told = json.loads(watching.communicate()[0])["moves"]
    print(
        f"{SPECTATORS:,} spectators of one match: {beats:,.0f} beats, p99 lateness at most "
        f"{p99 * 1000:g} ms, "
        f"{spent / beats * 1000:.1f} ms of CPU a beat ({told:,.0f} positions sent in total); "
        f"{jitter_shown()}"
    )


def main(matches: int) -> None:
    half_load()
    memory(matches)
    idle()
    spectators()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5_000)
