"""Fail nodes and engines under load on all protocols, and compare what was told with what is
stored.

Exit code 1: a promise did not hold. Times that are missed are only printed.
"""

import argparse
import asyncio
import sys
import tempfile
from pathlib import Path
from random import randrange
from time import monotonic

from tests.chaos.arena import NEW, ClusterProcesses
from tests.chaos.checks import problems_in_store
from tests.chaos.failures import FAILURES, PATIENCE, Chaos, Failure, updates
from tests.chaos.load import Load
from tests.faults.checks import problems_in
from tests.faults.servers import be_quiet, settings

CALM = 1.0
"""Seconds of play before each failure, and after it."""
GAMES_A_FAILURE = 4
"""Games of each pair of the contest, for each failure: it shall last to the end."""
RESULTS, REST = 120.0, 90.0
"""Seconds in which the contest must end, and in which no match may be left running."""


async def fail(chaos: Chaos, name: str, failure: Failure) -> None:
    """Let one failure happen, and wait until clients of all protocols are told results again."""
    load = chaos.load
    lost = [len(bot.lost) for bot in load.native]
    print(name, flush=True)
    began = monotonic()
    await failure(chaos)
    await asyncio.to_thread(chaos.arena.until_whole)
    whole = monotonic()
    while (silent := load.silent_since(whole)) and monotonic() < whole + PATIENCE:
        await asyncio.sleep(0.05)
    if silent:
        chaos.problems.append(f"{name}: {', '.join(silent)} told no result within {PATIENCE:.0f} s")
    cut = sum(len(bot.lost) - before for bot, before in zip(load.native, lost, strict=True))
    words = (
        f"all nodes after {whole - began:.1f} s, results on all protocols "
        f"{monotonic() - whole:.1f} s later"
    )
    chaos.say(f"{words}; {cut} native connections lost, {load.diary.results} results told so far")


async def run(arena: ClusterProcesses, failures: dict[str, Failure], seed: int) -> Chaos:
    load = Load(arena)
    chaos = Chaos(arena, load, seed)
    games = GAMES_A_FAILURE * len(failures)
    await load.start(games)
    for name, failure in failures.items():
        await asyncio.sleep(CALM)
        await fail(chaos, name, failure)
    await asyncio.sleep(CALM)
    state = await load.finish(RESULTS)
    if state != "over":
        chaos.problems.append(f"the contest is {state} {RESULTS:.0f} s after the last failure")
    until = monotonic() + REST
    while (running := await asyncio.to_thread(arena.get, "/matches?status=running"))[
        "total"
    ] and monotonic() < until:
        await asyncio.sleep(0.5)
    await asyncio.to_thread(arena.stop)
    known = chaos.known.union(*(bot.known for bot in load.native))
    chaos.problems += await problems_in_store(arena.postgres.url, load.diary, known)
    if running["total"]:
        chaos.problems.append(
            f"{running['total']} matches still run {REST:.0f} s after all bots have left"
        )
    be_quiet()
    chaos.problems += await problems_in(
        settings(arena.postgres.url, arena.folder), load.diary, games // 2
    )
    told = ", ".join(f"{kind} {len(entries)}" for kind, entries in sorted(load.diary.told.items()))
    print(f"told results: {told}")
    return chaos


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description=__doc__)
    parser.add_argument(
        "words", nargs="*", help="choose the failures whose names contain one of these"
    )
    parser.add_argument(
        "--seed", type=int, default=randrange(1000), help="chooses the nodes that fail"
    )
    parser.add_argument("--log", type=Path, help="a file for the log of the nodes")
    parser.add_argument(
        "--old",
        type=Path,
        metavar="SRC",
        help="update from the version in this folder instead, and go back",
    )
    words = parser.parse_args()
    possible = updates(words.old) if words.old else FAILURES
    chosen = {
        name: act
        for name, act in possible.items()
        if not words.words or any(word in name for word in words.words)
    }
    began = monotonic()
    print(f"{len(chosen)} failures with --seed {words.seed}", flush=True)
    with tempfile.TemporaryDirectory(
        prefix="botdrome-chaos-", ignore_cleanup_errors=True
    ) as folder:
        Path(folder).chmod(0o755)
        with ClusterProcesses(Path(folder), version=words.old or NEW) as arena:
            chaos = asyncio.run(run(arena, chosen, words.seed))
        if words.log is not None:
            words.log.write_text(arena.log)
    for late in chaos.missed:
        print(f"MISSED: {late}")
    for problem in chaos.problems:
        print(f"PROBLEM: {problem}")
    verdict = (
        f"{len(chaos.problems)} promises did not hold" if chaos.problems else "all promises held"
    )
    print(
        f"{verdict}, {len(chaos.missed)} times were missed; this took {monotonic() - began:.0f} s"
    )
    return bool(chaos.problems)


if __name__ == "__main__":
    sys.exit(main())
