"""Battlecube under load: the server on one core, bots over HTTP and organisers on the other."""

import json
import subprocess
import sys
from typing import Any

from bench.server import server

PLAIN, STUCK = 0, 1


def load(url: str, organisers: int, games: int, bots: int, ticks: int, hanging: int = PLAIN) -> Any:
    words = map(str, (organisers, games, bots, ticks, hanging))
    command = ["taskset", "-c", "1", sys.executable, "-m", "bench.cube_load", url, *words]
    output = json.loads(
        subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
    )
    assert not output["failed"], output
    return output


def calls(ticks: int) -> None:
    with server() as running:
        load(running.url, 1, 8, 8, 50)
        before = running.cpu()
        done = load(running.url, 1, 8, 8, ticks)
        spent = running.cpu() - before
        print(
            f"Battlecube, 8 games of 8 bots at speed 0: {done['calls'] / spent:8,.0f} bot calls "
            "per CPU second "
            f"({spent / done['calls'] * 1e6:.0f} us a call with its events), "
            f"{done['calls'] / done['seconds']:,.0f} a second"
        )


def crowd(organisers: int, games: int, ticks: int) -> None:
    with server() as running:
        before = running.cpu()
        done = load(running.url, organisers, games, 2, ticks)
        print(
            f"Battlecube, {organisers * games:,} games of 2 bots at once: all over after "
            f"{done['seconds']:.1f} s, "
            f"{done['calls']:,} calls, {running.cpu() - before:.1f} CPU seconds, "
            f"{running.memory() / 1e6:.0f} MB"
        )


def hanging(ticks: int) -> None:
    with server() as running:
        load(running.url, 1, 8, 2, 50)
        alone = load(running.url, 1, 8, 2, ticks)
        beside = load(running.url, 1, 8, 2, ticks, STUCK)
        print(
            f"Battlecube, 8 games of 2 bots: {alone['seconds']:.2f} s; during a game with a bot "
            "that hangs: "
            f"{beside['seconds']:.2f} s, and that game {beside['stuck']:.1f} s"
        )


def main() -> None:
    calls(1500)
    crowd(10, 100, 20)
    hanging(1000)


if __name__ == "__main__":
    main()
