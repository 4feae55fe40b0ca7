"""The CPU time of a move on one, two and three nodes that share a PostgreSQL and a NATS.

    python -m bench.scaling [TURNS]

Bots keep their connections, or open one for each match. All nodes and engines share the first core,
and the load has the second one. So this shows what a cluster costs in all, not how much faster it
is. With a core for each node, capacity follows from the ratio. Counts of what the nodes did are not
noise: clients that went to another node, and the connections of the fullest node.
"""

import asyncio
import json
import os
import re
import subprocess
import sys
import tempfile
import urllib.request
from collections import defaultdict
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager
from pathlib import Path
from statistics import median
from typing import NamedTuple

from tests.store.postgres import cpu_seconds, new_database, running_server

from bench.clients import report, start, stop
from bench.machine import jitter_shown
from bench.server import Server
from botdrome.server.nodes.engines import NatsEngine

COUNTS = 1, 2, 3
PAIRS, SECONDS, TURNS = 50, 4.0, 5
URL = re.compile(r"(http://[^/\s]+)/graphql")
KINDS = {"again": "kept", "noughts": "new"}
"""Bots of `bench.bots`, by how they connect."""
SAMPLE = re.compile(r"^(botdrome_\w+?)(?:_total)?(?:{[^}]*})? ([0-9.e+]+)$", re.MULTILINE)


class Cost(NamedTuple):
    """CPU microseconds for each move, and what the nodes counted."""

    nodes: float
    nats: float
    postgres: float
    moved: float
    """Of 100 clients that were seated, those that had gone to another node before."""
    fullest: float
    """The connections of the fullest node against the mean."""

    @property
    def all(self) -> float:
        return self.nodes + self.nats + self.postgres


class RunningNodes:
    """`botdrome serve --workers N`, with the ports that the nodes share."""

    def __init__(self, nodes: Server, nats: Server, postgres: object) -> None:
        self._nodes, self._nats, self._postgres = nodes, nats, postgres

    def play(self, kind: str, seconds: float = SECONDS) -> Cost:
        words = self._nodes.url, *self._nodes.tokens, 2 * PAIRS, 0, 1, seconds
        load = start("bench.bots", kind, *words)
        report(load)
        spent, counted = self._spent(), self._counted()
        moves = report(load)["done"]
        costs = [after - earlier for after, earlier in zip(self._spent(), spent, strict=True)]
        now = self._counted()
        stop(load)
        seated = 2 * sum(self._added("botdrome_matches", counted, now))
        moved = sum(self._added("botdrome_moved", counted, now))
        open_ = [one["botdrome_connections"] for one in now]
        nodes, nats, postgres = (cost / moves * 1e6 for cost in costs)
        fullest = max(open_) * len(open_) / sum(open_)
        return Cost(nodes, nats, postgres, 100 * moved / max(seated, 1), fullest)

    def _counted(self) -> list[dict[str, float]]:
        """Return the counters of each node."""
        with urllib.request.urlopen(f"{self._nodes.url}/api/v1/nodes") as answer:
            urls = [one["url"] for one in json.load(answer)["nodes"]] or [self._nodes.url]
        counters = list[dict[str, float]]()
        for url in urls:
            with urllib.request.urlopen(f"{url}/metrics") as answer:
                found: defaultdict[str, float] = defaultdict(float)
                for name, value in SAMPLE.findall(answer.read().decode()):
                    found[name] += float(value)
            counters.append(found)
        return counters

    @staticmethod
    def _added(
        name: str, before: list[dict[str, float]], after: list[dict[str, float]]
    ) -> list[float]:
        return [new[name] - old[name] for old, new in zip(before, after, strict=True)]

    def _spent(self) -> tuple[float, float, float]:
        return self._nodes.cpu(), self._nats.cpu(), cpu_seconds(self._postgres)  # type: ignore[arg-type]


@contextmanager
def running_nodes(
    count: int, db: str, nats: NatsEngine, postgres: object
) -> Iterator[RunningNodes]:
    command = [
        sys.executable,
        "-c",
        "from botdrome.cli.app import main; main()",
        "serve",
        "--workers",
        str(count),
    ]
    command += ["--db", db, "--set", "match.start_delay=0", "--port", "0", "--processes", "1"]
    command += [
        "--duel-port",
        "-1",
        "--boats-port",
        "-1",
        "--bomber-port",
        "-1",
        "--cube-port",
        "-1",
    ]
    process = subprocess.Popen(
        ["taskset", "-c", "0", *command],
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"BOTDROME_NATS": nats.url},
    )
    screen = ""
    try:
        assert process.stderr is not None
        while ("Ctrl-C" if count == 1 else "share these ports") not in screen:
            line = process.stderr.readline()
            assert line, screen
            screen += line
        found = URL.search(screen)
        assert found is not None
        yield RunningNodes(Server(process, found[1]), Server(nats.process), postgres)  # type: ignore[arg-type]
    finally:
        process.terminate()
        process.communicate()


async def main(turns: int = TURNS) -> None:
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        postgres, nats = stack.enter_context(running_server()), NatsEngine(folder)
        nats.start()
        stack.callback(nats.stop)
        subprocess.run(
            ["taskset", "-a", "-p", "-c", "0", str(nats.process.pid)],
            check=True,
            stdout=subprocess.DEVNULL,
        )
        subprocess.run(
            ["taskset", "-a", "-p", "-c", "0", str(postgres.get_pid())],
            check=True,
            stdout=subprocess.DEVNULL,
        )
        clusters = [
            stack.enter_context(
                running_nodes(
                    count, await stack.enter_async_context(new_database(postgres)), nats, postgres
                )
            )
            for count in COUNTS
        ]
        for cluster in clusters:
            cluster.play("again", 1)
        for kind, words in KINDS.items():
            tell(words, [[cluster.play(kind) for cluster in clusters] for _ in range(turns)])
    print(jitter_shown())


def tell(kind: str, turns: list[list[Cost]]) -> None:
    for at, count in enumerate(COUNTS):
        nodes, nats, postgres, moved, fullest = (
            median(parts) for parts in zip(*[turn[at] for turn in turns], strict=True)
        )
        ratio = median(turn[at].all / turn[0].all for turn in turns)
        print(
            f"{count} nodes, {PAIRS} pairs, {kind} connections: CPU of a move {nodes:.0f} us on the "
            f"nodes, {nats:.1f} in NATS, {postgres:.0f} in PostgreSQL; in all {ratio:.2f} times as "
            f"much as on one node; {moved:.1f} % of clients went to another node, and the fullest "
            f"node has {fullest:.2f} times the mean of connections"
        )


if __name__ == "__main__":
    asyncio.run(main(*map(int, sys.argv[1:])))
