"""The first leaderboard after a start, and the growth of ratings with the number of bots.

python -m bench.leaderboards [MATCHES [BOTS]]
python -m bench.leaderboards growth

The store is made first. The figures are CPU seconds of all processes of the server.
"""

import asyncio
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections import Counter
from collections.abc import Iterator
from random import Random

from bench.server import Server, server
from botdrome.contest.strength import SingleMatch, expected, rate
from botdrome.match.events import BoardResult, Result
from botdrome.store.entries import BotEntry, Finish, MatchEntry
from botdrome.store.store import open_store

GAME = "noughts-and-crosses"
MATCHES, BOTS = 100_000, 1000
SIZES = 300, 1000, 2000, 3000
AT_ONCE = 1000


def results(matches: int, bots: int) -> Iterator[SingleMatch]:
    """Yield matches of random pairs with strengths of a standard deviation of 170 Elo."""
    random = Random(1)
    strengths = [random.gauss(0, 1) for _ in range(bots)]
    for _ in range(matches):
        one, two = random.sample(range(bots), 2)
        first = random.random() < expected(strengths[one] - strengths[two])
        drawn = random.random() < 0.1
        yield (f"bot {one}", 1 if first or drawn else 2), (f"bot {two}", 1 if drawn else 1 + first)


async def fill(url: str, matches: int, bots: int) -> None:
    store = await open_store(url)
    names = [f"bot {number}" for number in range(bots)]
    await asyncio.gather(*(store.register(BotEntry(name, GAME, "me", 1, None)) for name in names))
    ends = []
    for number, match in enumerate(results(matches, bots)):
        board = BoardResult((1.0, 0.0), (match[0][1], match[1][1]), ("complete", "complete"))
        result = Result(board.places, board.scores, board.causes, (board,))
        match_id, at = f"{number:016x}", 1000 + number
        store.begin(MatchEntry(match_id, GAME, (match[0][0], match[1][0]), at, seed=number))
        ends.append(store.finish(Finish(match_id, "ended", at, result, {}, b"record")))
        if len(ends) == AT_ONCE:
            await asyncio.gather(*ends)
            ends.clear()
    await asyncio.gather(*ends)
    await store.close()


def first_leaderboards(matches: int, bots: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite:///{folder}/leaderboards.db"
        asyncio.run(fill(url, matches, bots))
        for start in ("first start", "next start", "next start"):
            with server(None, "--db", url) as running:
                running.settle()
                print(f"{start}, {matches:,} matches of {bots:,} bots:")
                for request in ("first request", "next request"):
                    print(f"  {request}: {asked(running)}", flush=True)
                    running.settle()  # many bots are rated after the answer


def asked(running: Server) -> str:
    cpu, began = running.cpu(), time.monotonic()
    with urllib.request.urlopen(f"{running.url}/api/v1/games/{GAME}/leaderboard") as answer:
        lines = json.load(answer)["bots"]
    took = time.monotonic() - began
    spent = running.cpu() - cpu
    running.settle()
    later = running.cpu() - cpu - spent
    intervals = sum(line["low"] is not None for line in lines)
    return (
        f"{took:.2f} s, {spent:.2f} s of CPU, then {later:.2f} s in the background; "
        f"{intervals} of {len(lines)} lines have an interval"
    )


def growth() -> None:
    print("| bots | rating | with intervals | memory |\n|---|---|---|---|", flush=True)
    for size in SIZES:
        command = [sys.executable, "-m", "bench.leaderboards", "rate", str(size)]
        subprocess.run(command, check=True, env=os.environ | {"OPENBLAS_NUM_THREADS": "1"})


def rate_once(bots: int) -> None:
    """Print a line of the table, for 100,000 matches."""
    blocks = Counter((match,) for match in results(MATCHES, bots))
    rate([])  # import numpy
    seconds = []
    for largest in (0, bots):
        began = time.process_time()
        rate(((block, times, 1.0) for block, times in blocks.items()), largest=largest)
        seconds.append(time.process_time() - began)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"| {bots:,} | {seconds[0]:.1f} s | {seconds[1]:.1f} s | {memory:.0f} MiB |", flush=True)


def main(words: list[str]) -> None:
    if words[:1] == ["growth"]:
        growth()
    elif words[:1] == ["rate"]:
        rate_once(int(words[1]))
    else:
        first_leaderboards(*[int(word) for word in words], *(MATCHES, BOTS)[len(words) :])


if __name__ == "__main__":
    main(sys.argv[1:])
