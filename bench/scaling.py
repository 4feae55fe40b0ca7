"""The CPU time of a move on one, two and three nodes that share a PostgreSQL and a NATS.

    python -m bench.scaling

All nodes and engines share the first core, and the load has the second one. So this shows what a
cluster costs in all, not how much faster it is. With a core for each node, capacity follows from
the ratio.
"""

import asyncio
import os
import re
import subprocess
import sys
import tempfile
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


class Cost(NamedTuple):
    """CPU microseconds for each move."""

    nodes: float
    nats: float
    postgres: float

    @property
    def all(self) -> float:
        return sum(self)


class RunningNodes:
    """`botdrome serve --workers N`, with the ports that the nodes share."""

    def __init__(self, nodes: Server, nats: Server, postgres: object) -> None:
        self._nodes, self._nats, self._postgres = nodes, nats, postgres

    def play(self, seconds: float = SECONDS) -> Cost:
        words = self._nodes.url, *self._nodes.tokens, 2 * PAIRS, 0, 1, seconds
        load = start("bench.bots", "again", *words)
        report(load)
        before = self._spent()
        moves = report(load)["done"]
        costs = [after - earlier for after, earlier in zip(self._spent(), before, strict=True)]
        stop(load)
        return Cost(*[cost / moves * 1e6 for cost in costs])

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


async def main() -> None:
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
            cluster.play(1)
        turns = [[cluster.play() for cluster in clusters] for _ in range(TURNS)]
    tell(turns)


def tell(turns: list[list[Cost]]) -> None:
    for at, count in enumerate(COUNTS):
        costs = [turn[at] for turn in turns]
        nodes, nats, postgres = (median(parts) for parts in zip(*costs, strict=True))
        ratio = median(turn[at].all / turn[0].all for turn in turns)
        print(
            f"{count} nodes, {PAIRS} pairs, kept connections: CPU of a move {nodes:.0f} us on the "
            f"nodes, {nats:.1f} in NATS, "
            f"{postgres:.0f} in PostgreSQL; in all {ratio:.2f} times as much as on one node"
        )
    print(jitter_shown())


if __name__ == "__main__":
    asyncio.run(main())
