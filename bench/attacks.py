"""Measure how much one address can slow down the players of another.

    python -m bench.attacks [ATTACK ...]

The server runs on the first core, everything else on the second. Players at 127.0.0.3 measure the
latency of answers and the lateness of ticks, first alone and then during each attack from
127.0.0.2. An attack ends by itself. Beside the attacks in CROWDED, another program uses both cores:
nobody must lose on time even then.
"""

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from bench import attackers
from bench.clients import report, start, stop
from bench.server import Server, server

QUIET, ATTACKED, RUN_UP = 8.0, 8.0, 2.0
"""Seconds: measurement without attack, measurement during an attack, and the attack before that
measurement.
"""
GAMES = 1_000
CROWDED = ("empty_lists",)


def probe(running: Server, seconds: float, tokens: list[str]) -> dict[str, Any]:
    output, _ = start("bench.probe", running.url, seconds, *tokens).communicate()
    found: dict[str, Any] = json.loads(output)
    return found | {"p99": found["answers"][1], "tick": found["ticks"][1]}


def tokens_of(running: Server) -> list[str]:
    games = {"load": "NOUGHTS_AND_CROSSES", "bee": "BUMBLEBOTS"}
    return [
        running.register(f"{name} {number}", game)
        for name, game in games.items()
        for number in (0, 1)
    ]


def fill(running: Server, tokens: list[str]) -> None:
    """Store the games that an attack reads."""
    load = start("bench.bots", "noughts", running.url, *tokens[:2], 100, 0, *[1.0] * GAMES)
    stored = 0.0
    while stored < GAMES:
        stored += report(load)["matches"]
    stop(load)


@contextmanager
def other_program(runs: bool) -> Iterator[None]:
    """A program that uses both cores, at the priority of the server."""
    command = [sys.executable, "-c", "while True: pass"]
    cores = [subprocess.Popen(["taskset", "-c", core, *command]) for core in "01" if runs]
    try:
        yield
    finally:
        for process in cores:
            process.kill()
            process.wait()


def measure(name: str) -> None:
    with server() as running:
        tokens = tokens_of(running)
        fill(running, tokens)
        quiet = probe(running, QUIET, tokens)
        with other_program(name in CROWDED):
            attack = start("bench.attackers", name, running.url, RUN_UP + ATTACKED + 1)
            time.sleep(RUN_UP)
            before, waited, memory = running.cpu(), running.waited(), running.memory()
            attacked = probe(running, ATTACKED, tokens)
            share, waited = (
                (running.cpu() - before) / ATTACKED,
                (running.waited() - waited) / ATTACKED,
            )
            told = attack.communicate()[0].strip()
        print(
            f"{name:16} answers p99 {quiet['p99']:6.1f} -> {attacked['p99']:7.1f} ms "
            f"({attacked['p99'] / quiet['p99']:5.1f} x), "
            f"longest {quiet['longest']:6.1f} -> {attacked['longest']:7.1f}; "
            f"ticks p99 {quiet['tick']:5.1f} -> {attacked['tick']:7.1f} ms; "
            f"lost on time {attacked['lost']:.0f}; moves {quiet['moves']} -> {attacked['moves']}; "
            f"server {share:4.0%} of a core (waited for it {waited:.0%}), "
            f"{(memory - running.memory()) / -1e6:+.0f} MB; attacker: {told}",
            flush=True,
        )


def main(*names: str) -> None:
    for name in names or tuple(attackers.ATTACKS):
        measure(name)


if __name__ == "__main__":
    main(*sys.argv[1:])
