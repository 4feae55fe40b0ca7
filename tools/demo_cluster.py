"""`make demo-cluster`: three nodes play, one of them is killed, and the games go on."""

import asyncio
import os
import signal
import sys
import tempfile
from pathlib import Path
from time import monotonic

import httpx
from rich.console import Console
from rich.table import Table
from tests.chaos.arena import ClusterProcesses
from tests.chaos.checks import about_told, stored_matches
from tests.chaos.load import NOUGHTS, Load
from tests.faults.trying import ended

BOTS = 24
SECONDS = 6
"""Seconds of play before the node is killed, and after it."""
console = Console()


async def show(arena: ClusterProcesses, load: Load, seconds: int) -> None:
    """Show each second where the matches are."""
    async with httpx.AsyncClient(timeout=30, trust_env=False) as client:
        for _ in range(seconds):
            before = load.diary.results
            await asyncio.sleep(1)
            try:
                nodes = (await client.get(f"http://{arena.http}/api/v1/nodes")).json()["nodes"]
            except httpx.HTTPError:  # this connection was at the node that died
                nodes = []
            table = Table("node", "matches", "connections", "CPU", box=None, pad_edge=False)
            for node in nodes:
                table.add_row(
                    node["name"],
                    f"{node['tables']:.0f}",
                    f"{node['connections']:.0f}",
                    f"{node['cpu']:.0%}",
                )
            console.print(table)
            console.print(f"[dim]{load.diary.results - before} results told in this second[/]\n")


async def play(arena: ClusterProcesses) -> list[str]:
    load, stop = Load(arena), asyncio.Event()
    await load.enlist(BOTS, "bot", NOUGHTS, "noughts", 0.0)
    playing = [asyncio.create_task(bot.play(stop)) for bot in load.bots]
    console.print(f"[bold]{BOTS} bots play on three nodes[/], which share ws://{arena.http}\n")
    await show(arena, load, SECONDS)
    victim, began, told = arena.nodes[-1], monotonic(), load.diary.results
    os.kill(victim, signal.SIGKILL)
    console.print(f"[bold red]kill -9 {victim}[/]: one node is dead\n")
    while load.diary.results == told:
        await asyncio.sleep(0.01)
    first = monotonic() - began
    await show(arena, load, SECONDS)
    lost, back = sum(len(bot.lost) for bot in load.bots), sum(bot.returns for bot in load.bots)
    console.print(
        f"The next result was told after {first:.2f} s. {lost} bots lost their connection; {back} "
        "came back to their match."
    )
    stop.set()
    await asyncio.wait(playing, timeout=10)
    await ended(*playing)
    return list(about_told(await stored_matches(arena.postgres.url), load.diary))


def main() -> int:
    console.print("Starting PostgreSQL, NATS and three nodes ...")
    with tempfile.TemporaryDirectory(prefix="botdrome-demo-", ignore_cleanup_errors=True) as folder:
        Path(folder).chmod(0o755)
        with ClusterProcesses(Path(folder)) as arena:
            problems = asyncio.run(play(arena))
    for problem in problems:
        console.print(f"[red]{problem}[/]")
    if not problems:
        console.print("[green]Every result that a bot was told is stored as it was told.[/]")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
