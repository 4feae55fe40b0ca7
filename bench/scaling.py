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

import psutil  # type: ignore[import-untyped]
from tests.store.postgres import cpu_seconds, new_database, running_server

from bench.machine import jitter_shown
from bench.server import Server, load
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

    def __init__(
        self, command: psutil.Popen, url: str, nats: psutil.Process, postgres: object
    ) -> None:
        self._command, self._nats, self._postgres = command, nats, postgres
        self._url = url
        server = Server(command, url)
        self._tokens = [
            server.register(f"load {number}", "NOUGHTS_AND_CROSSES") for number in (0, 1)
        ]

    def play(self, seconds: float = SECONDS) -> Cost:
        before = self._spent()
        moves = load("again", self._url, *self._tokens, 2 * PAIRS, seconds)["moves"]
        return Cost(
            *[(now - then) / moves * 1e6 for now, then in zip(self._spent(), before, strict=True)]
        )

    def _spent(self) -> tuple[float, float, float]:
        tree = [self._command, *self._command.children(recursive=True)]
        return _cpu(tree), _cpu([self._nats]), cpu_seconds(self._postgres)  # type: ignore[arg-type]


def _cpu(processes: list[psutil.Process]) -> float:
    times = [one.cpu_times() for one in processes]
    return float(sum(time.user + time.system for time in times))


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
    process = psutil.Popen(
        ["taskset", "-c", "0", *command],
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"BOTDROME_NATS": nats.url},
    )
    screen = ""
    try:
        while ("Ctrl-C" if count == 1 else "share these ports") not in screen:
            line = process.stderr.readline()
            assert line, screen
            screen += line
        found = URL.search(screen)
        assert found is not None
        yield RunningNodes(process, found[1], psutil.Process(nats.process.pid), postgres)
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
