"""The cost of holding news until a second node or PostgreSQL has the inputs, and the time for which
news is held.

    python -m bench.held_news [MATCHES]

Tables with each value of `cluster.hold_news` play the same gomoku matches in turn, at 1,000 moves a
second, one at a time. The second node is another process. CPU time is that of this process, of the
second node and of NATS.
"""

import asyncio
import gc
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median, quantiles
from time import perf_counter, process_time

import psutil  # type: ignore[import-untyped]
import uvloop
from msgspec.structs import replace
from tests.server.tables.test_table import Hearer
from tests.store.postgres import new_database, running_server

from bench.inputs import moves, tables
from botdrome.app import COLLECTIONS
from botdrome.protocols import load_settings
from botdrome.server.calling.bot_caller import BotCaller
from botdrome.server.lobby.desk import Desk
from botdrome.server.lobby.url_bots import Invitations
from botdrome.server.nodes import membership
from botdrome.server.nodes.engines import NatsEngine
from botdrome.server.nodes.held_inputs import HeldInputs
from botdrome.server.nodes.links import NatsLinks
from botdrome.server.nodes.membership import Membership
from botdrome.server.nodes.takeover import keep_matches
from botdrome.server.tables.table import Table
from botdrome.store.opening import open_store

CHOICES = ("no", "memory", "store")
MATCHES, TURN, ROUNDS, MOVES = 100, 0.001, 7, 20
"""`MOVES` is the number of moves of each match in a round."""


class Listener(Hearer):
    """A player that measures how long its news was held."""

    def __init__(self) -> None:
        super().__init__()
        self.moved, self.held = 0.0, list[float]()

    def tell(self, messages: list[bytes]) -> None:
        self.held.append(perf_counter() - self.moved)


async def join(name: str, url: str, nats: str) -> tuple[Membership, NatsLinks]:
    members = await membership.join(
        await open_store(url), replace(load_settings({"db": url}).cluster, name=name)
    )
    links = NatsLinks(nats, members, members.cluster)
    await links.open()
    await members.announce()
    return members, links


async def be_second(url: str, nats: str) -> None:
    HeldInputs(*await join("bee", url, nats))
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    await asyncio.Event().wait()


async def play(made: list[Table], listeners: list[Listener], begin: int) -> float:
    """Return the CPU time of this process in seconds."""
    points, spent = moves(), process_time()
    for number in range(begin, begin + MOVES):
        for table, listener in zip(made, listeners, strict=True):
            listener.moved = perf_counter()
            verdict = table.submit(number % 2, points[number], b"")
            assert verdict == "accepted", verdict
            await asyncio.sleep(max(0, listener.moved + TURN - perf_counter()))
    await asyncio.sleep(0.05)
    return process_time() - spent


async def measure(url: str, nats: str, matches: int, others: list[psutil.Process]) -> None:
    members, links = await join("ant", url, nats)
    sides = {}
    for choice in CHOICES:
        settings = load_settings({"db": url, "cluster_hold_news": choice})
        desk = Desk(members._store, settings)
        await keep_matches(desk, members, links, Invitations(desk, BotCaller(settings)))
        made, listeners = tables(desk, matches), [Listener() for _ in range(matches)]
        for table, listener in zip(made, listeners, strict=True):
            table.seat(0, listener)
        sides[choice] = made, listeners
    gc.collect()
    gc.freeze()
    gc.set_threshold(*COLLECTIONS)
    here: dict[str, list[float]] = {choice: [] for choice in CHOICES}
    there: dict[str, list[float]] = {choice: [] for choice in CHOICES}
    for number in range(ROUNDS):
        for choice, side in sides.items():
            before = _cpu(others)
            here[choice].append(await play(*side, number * MOVES) * 1e6 / matches / MOVES)
            there[choice].append((_cpu(others) - before) * 1e6 / matches / MOVES)
    print(f"{1 / TURN:,.0f} moves/s, {matches} matches, medians of {ROUNDS} rounds")
    for choice, (_, listeners) in sides.items():
        held = quantiles([1000 * seconds for one in listeners for seconds in one.held], n=100)
        costs = (
            f"{median(here[choice]):.1f} us a move here, {median(there[choice]):.1f} in the "
            "second node and NATS"
        )
        print(
            f"hold_news {choice:6}: {costs}; news is held for {held[49]:.2f} ms (p50), "
            f"{held[98]:.2f} ms (p99)"
        )


def _cpu(processes: list[psutil.Process]) -> float:
    return float(sum(sum(one.cpu_times()[:2]) for one in processes))


async def main(matches: int) -> None:
    with running_server() as database, tempfile.TemporaryDirectory() as folder:
        engine = NatsEngine(Path(folder))
        engine.start()
        async with new_database(database) as url:
            command = [sys.executable, "-m", "bench.held_news", url, engine.url]
            with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as second:
                assert (
                    second.stdout is not None
                    and await asyncio.to_thread(second.stdout.readline) == "ready\n"
                )
                try:
                    await measure(
                        url,
                        engine.url,
                        matches,
                        [psutil.Process(second.pid), psutil.Process(engine.process.pid)],
                    )
                finally:
                    second.kill()
        engine.stop()


if __name__ == "__main__":
    if len(sys.argv) == 3:
        uvloop.run(be_second(*sys.argv[1:]))
    else:
        uvloop.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else MATCHES))
