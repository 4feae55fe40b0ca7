"""Fail nodes and engines under load, and compare what was told with what is stored.

Every result that a bot was told must be stored as it was told, and both players of a match must be told the same. Matches must
go on after each failure, and none may be left running at the end.
"""

import asyncio
import os
import signal
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from time import monotonic, sleep

import httpx

from tests.chaos.arena import ClusterProcesses, stop_and_continue
from tests.chaos.load import DuelBot, NoughtsBot

BOTS, DUELLISTS = 24, 6
CALM = 3.0
"""Seconds of play before each failure, and after it."""


def kill_a_node(arena: ClusterProcesses, number: int = 0) -> None:
    pids = arena.nodes
    os.kill(pids[number % len(pids)], signal.SIGKILL)


def freeze_a_node(arena: ClusterProcesses) -> None:
    stop_and_continue(arena.nodes[-1], 10)


def drain_a_node(arena: ClusterProcesses) -> None:
    os.kill(arena.nodes[1], signal.SIGTERM)


def restart_nats(arena: ClusterProcesses) -> None:
    arena.nats.stop()
    arena.nats.start()


def freeze_nats(arena: ClusterProcesses) -> None:
    stop_and_continue(arena.nats.process.pid, 5)


def restart_postgres(arena: ClusterProcesses) -> None:
    arena.postgres.stop()
    arena.postgres.start()


def away_postgres(arena: ClusterProcesses) -> None:
    arena.postgres.stop()
    sleep(20)
    arena.postgres.start()


FAILURES: dict[str, Callable[[ClusterProcesses], None]] = {
    **{f"kill -9 of a node ({number + 1})": partial(kill_a_node, number=number) for number in range(10)},
    "a node stands still for 10 s": freeze_a_node,
    "a node is drained": drain_a_node,
    "NATS restarts": restart_nats,
    "NATS stands still for 5 s": freeze_nats,
    "PostgreSQL restarts": restart_postgres,
    "PostgreSQL is away for 20 s": away_postgres,
}


async def registered(arena: ClusterProcesses) -> list[NoughtsBot]:
    bots = []
    async with httpx.AsyncClient(timeout=60, trust_env=False) as client:
        for number in range(BOTS):
            name = f"bot{number}"
            query = f'mutation {{ registerBot(gameType: NOUGHTS_AND_CROSSES, name: "{name}", owner: "chaos") {{ password }} }}'
            answer = (await client.post(f"http://{arena.http}/graphql", json={"query": query})).json()
            bots.append(NoughtsBot(arena.http, name, answer["data"]["registerBot"]["password"]))
    return bots


async def run(arena: ClusterProcesses, failures: list[str]) -> list[str]:
    """Return what went wrong."""
    bots, duellists = await registered(arena), [DuelBot(arena.duel, f"duel{number}") for number in range(DUELLISTS)]
    stop, problems = asyncio.Event(), list[str]()
    playing = [asyncio.create_task(bot.play(stop)) for bot in bots]
    playing += [asyncio.create_task(duellist.play(stop)) for duellist in duellists]
    for name in failures:
        await asyncio.sleep(CALM)
        began = monotonic()
        await asyncio.to_thread(FAILURES[name], arena)
        failed = monotonic()
        await asyncio.to_thread(arena.until_whole)
        until = monotonic() + 60
        while not (after := [told.at for bot in bots for told in bot.told if told.at > failed]) and monotonic() < until:
            await asyncio.sleep(0.05)
        if not after:
            problems.append(f"{name}: no result was told within 60 s")
        first = f"{min(after) - failed:.2f} s" if after else "never"
        print(f"{name:32} next result after {first}, all nodes after {monotonic() - began:.1f} s; {counted(bots)}", flush=True)
    await asyncio.sleep(CALM)
    stop.set()
    await asyncio.wait(playing, timeout=30)
    for task in playing:
        task.cancel()
    return problems + await checked(arena, bots)


def counted(bots: list[NoughtsBot]) -> str:
    told, lost = sum(len(bot.told) for bot in bots), sum(bot.losses for bot in bots)
    return f"{told} results told, {lost} connections lost, {sum(bot.returns for bot in bots)} returns to matches"


async def checked(arena: ClusterProcesses, bots: list[NoughtsBot]) -> list[str]:
    """Compare what was told with what is stored."""
    problems, stored = list[str](), {}
    async with httpx.AsyncClient(base_url=f"http://{arena.http}/api/v1", timeout=60, trust_env=False) as client:
        for bot in bots:
            for told in bot.told:
                if told.match not in stored:
                    stored[told.match] = (await client.get(f"/matches/{told.match}")).json()
                match = stored[told.match]
                if match.get("status") != "ended":
                    problems.append(f"{bot.name} was told that {told.match} ended, but it is {match.get('status')}")
                winner = told.result.get("winner") if isinstance(told.result, dict) else None
                if winner and winner not in match.get("winners", []):
                    problems.append(f"{bot.name} was told that {winner} won {told.match}, but {match.get('winners')} did")
        until = monotonic() + 60
        while (running := (await client.get("/matches", params={"status": "running"})).json()["total"]) and monotonic() < until:
            await asyncio.sleep(0.5)
        if running:
            problems.append(f"{running} matches still run 60 s after all bots have left")
        ended = (await client.get("/matches", params={"status": "ended"})).json()["total"]
        aborted = (await client.get("/matches", params={"status": "aborted"})).json()["total"]
    print(f"{len(stored)} matches were told; {ended} are stored as ended, {aborted} as aborted")
    return problems


def main(words: list[str]) -> int:
    """Words choose the failures whose names contain one of them."""
    chosen = [name for name in FAILURES if not words or any(word in name for word in words)]
    with tempfile.TemporaryDirectory(prefix="botdrome-chaos-", ignore_cleanup_errors=True) as folder:
        Path(folder).chmod(0o755)
        with ClusterProcesses(Path(folder)) as arena:
            problems = asyncio.run(run(arena, chosen))
            if problems:
                print(arena.log[-4000:])
    for problem in problems:
        print(f"PROBLEM: {problem}")
    print("all promises held" if not problems else f"{len(problems)} problems")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
