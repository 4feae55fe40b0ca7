"""The CPU time of a move on one, two and three nodes that share a PostgreSQL and a NATS.

    python -m bench.scaling [--cores N] [TURNS]

Bots keep their connections, or open one for each match. All nodes and engines share the first core,
and the load has the second one. So this shows what a cluster costs in all, not how much faster it
is. With four or more cores (`--cores`), each node has a core of its own, the engines and the load
share the second half of the cores, and the moves a second count, too. Counts of what the nodes did
are not noise: matches paired on one node, clients that went to another node, messages between
nodes, and the connections of the fullest node.
"""

import argparse
import asyncio
import json
import os
import re
import subprocess
import tempfile
import urllib.request
from collections import defaultdict
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager
from pathlib import Path
from statistics import median
from time import sleep
from typing import Any, NamedTuple

import psutil  # type: ignore[import-untyped]
from tests.store.postgres import cpu_seconds, new_database, running_server

from bench.clients import report, start, stop
from bench.machine import jitter_shown
from bench.server import Build, Server
from botdrome.client.guard import descendants
from botdrome.server.nodes.engines import NatsEngine

COUNTS, ENOUGH = (1, 2, 3), 4
"""Numbers of nodes on two cores, and cores that are enough for each node to have its own."""
PAIRS, SECONDS, TURNS = 50, 4.0, 5
LOOKS = 8
"""Times that the connections are counted while a load runs: at one moment, many bots have none."""
URL = re.compile(r"(http://[^/\s]+)/graphql")
NODE, MESSAGES = "botdrome.cli.workers", "messages"
"""The module that a node runs, and the counter of its messages to other nodes."""
KINDS = {"again": "kept", "noughts": "new"}
"""Bots of `bench.bots`, by how they connect."""
SAMPLE = re.compile(r"^(botdrome_\w+?)(?:_total)?(?:{[^}]*})? ([0-9.e+]+)$", re.MULTILINE)


class Plan(NamedTuple):
    """Which cores the processes of a cluster have."""

    nodes: int
    cores: int

    @property
    def apart(self) -> bool:
        """Whether each node has a core of its own."""
        return self.cores >= ENOUGH

    @property
    def load(self) -> str:
        return f"{self.cores // 2}-{self.cores - 1}" if self.apart else "1"

    @property
    def engines(self) -> str:
        return self.load if self.apart else "0"

    @property
    def loads(self) -> int:
        """The number of load processes, each with as many pairs."""
        return self.nodes if self.apart else 1


def plans(cores: int) -> list[Plan]:
    if cores < ENOUGH:
        return [Plan(count, cores) for count in COUNTS]
    return [Plan(count, cores) for count in (1, 2, 4, 8, 16) if count <= cores // 2]


class Cost(NamedTuple):
    """CPU microseconds for each move, and what the nodes counted."""

    rate: float
    """Moves a second."""
    nodes: float
    nats: float
    postgres: float
    moved: float
    """Of 100 clients that were seated, those that had gone to another node before."""
    messages: float
    """Messages between nodes for each match."""
    fullest: float
    """The connections of the fullest node against the mean."""

    @property
    def all(self) -> float:
        return self.nodes + self.nats + self.postgres

    @property
    def paired_here(self) -> float:
        """Of 100 matches, at least so many were paired on one node without a message."""
        return 100 - 2 * self.moved


class RunningNodes:
    """`botdrome serve --workers N`, with the ports that the nodes share."""

    def __init__(self, plan: Plan, nodes: Server, engines: "Engines") -> None:
        self.plan, self._nodes, self._engines = plan, nodes, engines

    def play(self, kind: str, seconds: float = SECONDS) -> Cost:
        words = self._nodes.url, *self._nodes.tokens, 2 * PAIRS, 0, 1, seconds
        loads = [
            start("bench.bots", kind, *words, cores=self.plan.load) for _ in range(self.plan.loads)
        ]
        for load in loads:
            report(load)
        spent, counted = self._spent(), self._counted()
        connections = self._connections_while_playing(seconds)
        done = [report(load) for load in loads]
        costs = [after - earlier for after, earlier in zip(self._spent(), spent, strict=True)]
        now = self._counted()
        for load in loads:
            stop(load)
        moves, matches = (sum(one[key] for one in done) for key in ("done", "matches"))
        moved, messages = (
            sum(one[name] for one in now) - sum(one[name] for one in counted)
            for name in ("botdrome_moved", MESSAGES)
        )
        nodes, nats, postgres = (cost / moves * 1e6 for cost in costs)
        fullest = max(connections) * len(connections) / sum(connections)
        rate, of_all = sum(one["rate"] for one in done), max(matches, 1)
        shares = 50 * moved / of_all, messages / of_all
        return Cost(rate, nodes, nats, postgres, *shares, fullest)

    def _connections_while_playing(self, seconds: float) -> list[int]:
        """Return the connections of each node, summed over `LOOKS` looks while the load runs."""
        found: defaultdict[str, int] = defaultdict(int)
        for _ in range(LOOKS):
            sleep(seconds / (LOOKS + 1))
            for node in read(f"{self._nodes.url}/api/v1/nodes")["nodes"]:
                found[node["name"]] += node["connections"]
        return list(found.values())

    def _counted(self) -> list[dict[str, float]]:
        """Return the counters of each node."""
        nodes = read(f"{self._nodes.url}/api/v1/nodes")["nodes"]
        counters, sent = list[dict[str, float]](), self._engines.sent()
        for node in nodes:
            with urllib.request.urlopen(f"{node['url']}/metrics") as answer:
                found: defaultdict[str, float] = defaultdict(float)
                for name, value in SAMPLE.findall(answer.read().decode()):
                    found[name] += float(value)
            found[MESSAGES] = sent[f"botdrome {node['name']}"]
            counters.append(found)
        return counters

    def _spent(self) -> tuple[float, float, float]:
        return self._nodes.cpu(), *self._engines.spent()

    def pin(self) -> None:
        """Give each node its core."""
        first = self._nodes.process.pid
        nodes = [
            child.pid for child in psutil.Process(first).children() if NODE in child.cmdline()
        ] or [first]
        for core, node in enumerate(nodes):
            for pid in (node, *descendants(node)):
                pin(pid, str(core))


class Engines(NamedTuple):
    """The PostgreSQL and the NATS of all clusters."""

    postgres: Any
    nats: NatsEngine
    folder: Path

    def spent(self) -> tuple[float, float]:
        return Server(self.nats.process).cpu(), cpu_seconds(self.postgres)  # type: ignore[arg-type]

    def sent(self) -> defaultdict[str, float]:
        """Return the messages that each node has sent."""
        ports = json.loads(
            (self.folder / f"nats-server_{self.nats.process.pid}.ports").read_text()
        )["monitoring"]
        found: defaultdict[str, float] = defaultdict(float)
        for one in read(f"{ports[0]}/connz?limit=1000")["connections"]:
            found[one.get("name", "").rpartition(".")[0]] += one["in_msgs"]
        return found


def read(url: str) -> Any:
    with urllib.request.urlopen(url) as answer:
        return json.load(answer)


def pin(pid: int | None, cores: str) -> None:
    command = ["taskset", "-a", "-p", "-c", cores, str(pid)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


@contextmanager
def running_nodes(plan: Plan, db: str, engines: Engines) -> Iterator[RunningNodes]:
    count = plan.nodes
    words = ["--workers", str(count), "--db", db, "--port", "0", "--processes", "1"]
    words += ["--set", "match.start_delay=0", "--set", "cluster.port=-1"]
    for port in ("duel", "boats", "bomber", "cube"):
        words += [f"--{port}-port", "-1"]
    process = subprocess.Popen(
        ["taskset", "-c", plan.engines, *Build().command(*words)],
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"BOTDROME_NATS": engines.nats.url},
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
        nodes = RunningNodes(plan, Server(process, found[1]), engines)
        if plan.apart:
            nodes.pin()
        yield nodes
    finally:
        process.terminate()
        process.communicate()


async def main(turns: int, cores: int) -> None:
    chosen = plans(cores)
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        postgres = stack.enter_context(running_server())
        engines = Engines(postgres, NatsEngine(folder, "-m", "-1"), folder)
        engines.nats.start()
        stack.callback(engines.nats.stop)
        for pid in (engines.nats.process.pid, postgres.get_pid()):
            pin(pid, chosen[0].engines)
        clusters = [
            stack.enter_context(
                running_nodes(
                    plan, await stack.enter_async_context(new_database(postgres)), engines
                )
            )
            for plan in chosen
        ]
        for cluster in clusters:
            cluster.play("again", 1)
        for kind, words in KINDS.items():
            tell(
                words, chosen, [[cluster.play(kind) for cluster in clusters] for _ in range(turns)]
            )
    print(jitter_shown())


def tell(kind: str, chosen: list[Plan], turns: list[list[Cost]]) -> None:
    for at, plan in enumerate(chosen):
        cost = Cost(*(median(parts) for parts in zip(*[turn[at] for turn in turns], strict=True)))
        ratio = median(turn[at].all / turn[0].all for turn in turns)
        faster = median(turn[at].rate / turn[0].rate for turn in turns)
        rate = f"{cost.rate:,.0f} moves a second, {faster:.2f} times those of one node; "
        print(
            f"{plan.nodes} nodes, {PAIRS * plan.loads} pairs, {kind} connections: "
            f"{rate if plan.apart else ''}CPU of a move {cost.nodes:.0f} us on the nodes, "
            f"{cost.nats:.1f} in NATS, {cost.postgres:.0f} in PostgreSQL; in all {ratio:.2f} times "
            f"as much as on one node; at least {cost.paired_here:.1f} % of matches were paired "
            f"without a message, {cost.moved:.1f} % of clients went to another node, "
            f"{cost.messages:.3f} messages a match; the fullest node has {cost.fullest:.2f} times "
            f"the mean of connections"
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("turns", nargs="?", type=int, default=TURNS)
    parser.add_argument("--cores", type=int, default=2)
    given = parser.parse_args()
    asyncio.run(main(given.turns, given.cores))
