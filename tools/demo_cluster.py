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
from tests.chaos.arena import TOKEN, ClusterProcesses
from tests.chaos.checks import about_told, stored_matches
from tests.chaos.load import NOUGHTS, Load
from tests.faults.trying import ended

BOTS, THINK = 24, 0.05
"""Bots, and the seconds that they think about a move."""
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
    await load.enlist(BOTS, "bot", NOUGHTS, "noughts", THINK)
    playing = [asyncio.create_task(bot.play(stop)) for bot in load.bots]
    console.print(
        f"[bold]{BOTS} bots play on three nodes[/], which share ws://{arena.http}\n"
        f"The page of the nodes: {arena.url}/organise/nodes\nThe operator's token: {TOKEN}\n"
    )
    await show(arena, load, SECONDS)
    node = max(arena.get("/nodes")["nodes"], key=lambda node: node["tables"])
    victim, began, told = arena.process_of(node), monotonic(), load.diary.results
    os.kill(victim, signal.SIGKILL)
    console.print(f"[bold red]kill -9 {victim}[/]: {node['name']} is dead\n")
    while load.diary.results == told:
        await asyncio.sleep(0.01)
    first = monotonic() - began
    await show(arena, load, SECONDS)
    lost = [match for bot in load.bots for _, match in bot.lost]
    console.print(
        f"The next result was told after {first:.2f} s. {len(lost)} bots lost their connection, "
        f"{sum(map(bool, lost))} of them in a match; {sum(bot.returns for bot in load.bots)} came "
        "back to it."
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
