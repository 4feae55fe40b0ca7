"""Connections that move to another node: by handing over the socket, and by piping their bytes.

Matches of noughts and crosses run on one node. Their players connect to it directly, or to another
node that moves all of them; of a lone pair, one player is piped. `python -m bench.nodes`; the nodes
share the first core, and the load has the second one.
"""

import asyncio
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from time import monotonic, sleep
from typing import Any, NamedTuple, cast

import msgspec

from bench.bots import ENCODER
from bench.clients import report, start, stop
from bench.machine import jitter_shown
from bench.server import Server
from botdrome.app import RunningServer, open_server
from botdrome.protocols import load_settings
from botdrome.server.battlebot import BattlebotServer
from botdrome.server.network.peer import Proxies, Shares, sharing
from botdrome.server.network.steady_loop import run
from botdrome.server.nodes.cluster import Node, NodeId
from botdrome.server.nodes.membership import Membership
from botdrome.server.nodes.moving import Arrival, Mover
from botdrome.server.session import Session, Transfer

GAME, NAMES = "NOUGHTS_AND_CROSSES", ("load 0", "load 1")
PAIRS, SPARSE, PAUSE = 50, 4, 0.02
"""Pairs of a busy and of a sparse load, and the seconds of thinking in the latter."""
SETTLING, SECONDS, TURNS = 1.0, 3.0, 3
VISITS, AT_ONCE = 2000, 8
HEAD = (
    b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
)


class NodePlan(NamedTuple):
    """What a node process has to know."""

    node: Node
    others: list[Node]
    store: str
    sends_to: NodeId = ""
    """Where it moves all its clients."""
    tokens: tuple[str, str] = ("", "")


class PlannedMembers:
    def __init__(self, plan: NodePlan) -> None:
        self.here, self.on_change = plan.node, list[Any]()
        self.leaving = False
        self.nodes = {one.id: one for one in (plan.node, *plan.others)}

    def room_home(self, _: str) -> NodeId | None:
        return None

    async def claim(self, _: str, choice: Any = None) -> NodeId:
        return self.here.id

    async def give(self, _: str, to: NodeId) -> NodeId:
        return to


async def serve(plan: NodePlan) -> None:
    settings = load_settings(
        {
            "port": 0,
            "db": plan.store,
            "match_start_delay": 0.0,
            "duel_port": 0,
            "boats_port": 0,
            "bomber_port": 0,
            "cube_port": 0,
        }
    )
    server, members = await open_server(settings), cast(Membership, PlannedMembers(plan))
    mover, host = Mover(members, "bench"), server.server_of(BattlebotServer)
    mover.arrivals["battlebot"] = Arrival(host.connect)
    shares, proxies = Shares(), Proxies(settings)
    limits = server._parts.server.connection_limits
    places = await mover.open(
        settings, limits, lambda make, origin: sharing(make, shares, proxies, origin)
    )
    if plan.sends_to:
        send_away(server, mover, plan)
    tokens = (
        plan.tokens
        if plan.sends_to
        else [
            (await server.arena.register("noughts-and-crosses", name, "bench"))[1] for name in NAMES
        ]
    )
    print(json.dumps([server.url, places, tokens]), flush=True)
    await asyncio.Event().wait()


def send_away(server: RunningServer, mover: Mover, plan: NodePlan) -> None:
    """Move each client after its login, as the desk does when a table at the other node has a seat
    for it.
    """

    def seek(client: Session, *_: Any) -> None:
        mover.move(client, plan.sends_to, Transfer(client.protocol))

    server.desk.seek = seek  # type: ignore[assignment, method-assign]


class NodeServer(Server):
    """A node on the first core."""

    places: str
    tokens: tuple[str, str]


@contextmanager
def node(plan: NodePlan) -> Iterator[NodeServer]:
    command = [
        "taskset",
        "-c",
        "0",
        sys.executable,
        "-m",
        "bench.nodes",
        "serve",
        msgspec.json.encode(plan).decode(),
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            while not (line := process.stdout.readline()).startswith("["):  # log lines come before
                assert line, "the node has ended"
            url, places, tokens = json.loads(line)
            found = NodeServer(process, url)
            found.places, found.tokens = places, (tokens[0], tokens[1])
            yield found
        finally:
            process.kill()


class Way(NamedTuple):
    """How clients reach the node of their matches."""

    url: str
    tokens: tuple[str, str]
    processes: list[Server]
    """That of the tables is the first."""
    idle: list[float]
    """CPU microseconds a second that do not count: other processes use them in any case."""

    def play(self, kind: str, bots: int, pause: float = 0.0) -> "Cost":
        """Play for some seconds, after all have logged in."""
        words = self.url, *self.tokens, bots, pause, SETTLING, SECONDS
        clients = start("bench.bots", kind, *words)
        report(clients)
        before = self._cpu()
        done = report(clients)
        spent = [
            now - then - SECONDS * idle
            for now, then, idle in zip(self._cpu(), before, self.idle, strict=True)
        ]
        stop(clients)
        return Cost(spent, done["done"], done["answers"][0])

    def rest(self) -> None:
        """Measure what the processes beside the table's node use when nothing is piped."""
        before = self._cpu()
        sleep(SECONDS)
        self.idle[1:] = [
            (now - then) / SECONDS for now, then in zip(self._cpu()[1:], before[1:], strict=True)
        ]

    def connection_cost(self) -> float:
        """Return the CPU microseconds of a connection that logs in, is answered, and leaves."""
        words = sys.executable, "-m", "bench.nodes", "visit", self.url, self.tokens[0]
        costs = []
        for _ in range(1 + TURNS):  # the first is for warming up
            before, began = self._cpu(), monotonic()
            subprocess.run(["taskset", "-c", "1", *words], check=True)
            idle = (monotonic() - began) * sum(self.idle)
            costs.append((sum(self._cpu()) - sum(before) - idle) / VISITS)
        return min(costs[1:])

    def _cpu(self) -> list[float]:
        return [one.cpu() * 1e6 for one in self.processes]


class Cost(NamedTuple):
    """CPU microseconds of each process, the moves for which they were spent, and the median latency
    in ms.
    """

    spent: list[float]
    moves: int
    latency: float


class Costs:
    """The costs of all turns."""

    def __init__(self) -> None:
        self._costs: list[Cost] = []

    def add(self, cost: Cost) -> None:
        self._costs.append(cost)

    @property
    def shares(self) -> list[float]:
        """CPU microseconds a move of each process."""
        moves = sum(one.moves for one in self._costs)
        return [
            sum(spent) / moves for spent in zip(*(one.spent for one in self._costs), strict=True)
        ]

    @property
    def move(self) -> float:
        return sum(self.shares)

    @property
    def latency(self) -> float:
        return sorted(one.latency for one in self._costs)[len(self._costs) // 2]


def compare(ways: dict[str, Way], kind: str, bots: int, pause: float = 0.0) -> dict[str, Costs]:
    """Play over all ways in turns."""
    found = {name: Costs() for name in ways}
    for _ in range(TURNS):
        for name, way in ways.items():
            found[name].add(way.play(kind, bots, pause))
    return found


@contextmanager
def all_ways() -> Iterator[dict[str, Way]]:
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        store = f"sqlite:///{folder}/bench.db"
        home, near, far = (
            Node(name, 1, machine, "", "1")
            for name, machine in (("home", ""), ("near", ""), ("far", "far"))
        )
        served = stack.enter_context(node(NodePlan(home, [near, far], store)))
        pipes, _, path = served.places.partition(" ")
        home = msgspec.structs.replace(home, pipes=pipes, handover=path)
        fronts = [
            stack.enter_context(node(NodePlan(front, [home], store, home.id, served.tokens)))
            for front in (near, far)
        ]
        yield {
            "direct": Way(served.url, served.tokens, [served], [0.0]),
            "handed over": Way(fronts[0].url, served.tokens, [served, fronts[0]], [0.0, 0.0]),
            "piped": Way(fronts[1].url, served.tokens, [served, fronts[1]], [0.0, 0.0]),
            "one player piped": Way(
                f"{served.url},{fronts[1].url}", served.tokens, [served, fronts[1]], [0.0, 0.0]
            ),
        }


def main() -> None:
    with all_ways() as ways:
        for way in ways.values():
            way.rest()
        lone = compare({name: ways[name] for name in ("direct", "one player piped")}, "again", 2)
        del ways["one player piped"]
        busy, sparse = compare(ways, "again", 2 * PAIRS), compare(ways, "again", 2 * SPARSE, PAUSE)
        (front,) = ways["piped"].idle[1:]
        once = {name: way.connection_cost() for name, way in ways.items()}
    for words, costs in (
        ("a lone pair", lone),
        (f"{PAIRS} busy pairs", busy),
        (f"{SPARSE} pairs that think {PAUSE * 1000:g} ms", sparse),
    ):
        direct = costs.pop("direct")
        for name, cost in costs.items():
            print(
                f"{name}, {words}: {cost.move:.0f} us of CPU a move ({shown(cost)}), direct "
                f"{direct.move:.0f} us: {cost.move / direct.move:.2f} times; median latency "
                f"{cost.latency:.2f} ms, direct {direct.latency:.2f} ms: "
                f"{cost.latency / direct.latency:.2f} times"
            )
    print(f"not counted: an idle front uses {front:.0f} us of CPU a second")
    print(
        f"a connection that logs in and leaves: {once['handed over']:.0f} us of CPU handed over, "
        f"{once['piped']:.0f} us piped, {once['direct']:.0f} us direct; {jitter_shown()}"
    )


def shown(costs: Costs) -> str:
    return ", ".join(
        f"{share:.0f} {name}" for name, share in zip(("table", "front"), costs.shares, strict=True)
    )


async def visit(url: str, token: str) -> None:
    """All under one name, so that no two of them meet."""
    host, _, port = url.removeprefix("http://").rpartition(":")
    login = ENCODER.encode({"gameType": GAME, "name": NAMES[0], "password": token})
    frame = b"\x81\xfe" + len(login).to_bytes(2) + bytes(4) + login

    async def come_and_go() -> None:
        for _ in range(VISITS // AT_ONCE):
            reader, writer = await asyncio.open_connection(host, int(port))
            writer.write(HEAD + frame)
            await reader.readuntil(NAMES[0].encode())
            writer.close()

    await asyncio.gather(*[come_and_go() for _ in range(AT_ONCE)])


if __name__ == "__main__":
    if sys.argv[1:2] == ["visit"]:
        run(visit(*sys.argv[2:]))
    elif sys.argv[1:2] == ["serve"]:
        run(serve(msgspec.json.decode(sys.argv[2], type=NodePlan)))
    else:
        main()
