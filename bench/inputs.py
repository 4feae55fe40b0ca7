"""The cost of storing the inputs of running matches, and the time to take over the matches of a
dead node.

    python -m bench.inputs [MATCHES]

Tables with and without stored inputs play the same gomoku matches in turn, at 10,000 moves a
second. CPU time is that of this process, which has no connections, and that of PostgreSQL. A pause
is the longest time in which the loop did nothing else than one callback; on a busy machine, other
processes make it longer, but not its CPU time.
"""

import asyncio
import gc
import sys
from statistics import median
from time import perf_counter, process_time, thread_time

import uvloop
from msgspec import Struct
from msgspec.structs import replace
from tests.store.postgres import cpu_seconds, new_database, running_server

from botdrome.app import COLLECTIONS
from botdrome.catalogue import CATALOGUE
from botdrome.protocols import load_settings
from botdrome.server.calling.bot_caller import BotCaller
from botdrome.server.lobby.desk import Desk
from botdrome.server.lobby.url_bots import Invitations
from botdrome.server.nodes import membership
from botdrome.server.nodes.takeover import keep_matches
from botdrome.server.tables.table import Table
from botdrome.store.store import open_store

MATCHES, MOVES, PER_TURN, TURN = 300, 200, 100, 0.01
ROUNDS = 9


class Spent(Struct):
    """CPU time in microseconds for each move."""

    here: float
    store: float


def moves() -> list[dict[str, int]]:
    """Points in an order in which no player gets five in a row."""
    cells = [(x, y) for y in range(15) for x in range(15)]
    by_player = (
        [cell for cell in cells if (cell[0] // 2 + cell[1]) % 2 == player] for player in (0, 1)
    )
    return [{"x": x, "y": y} for pair in zip(*by_player, strict=False) for x, y in pair][:MOVES]


def tables(desk: Desk, matches: int) -> list[Table]:
    row = CATALOGUE["gomoku"]
    terms = replace(row.terms, boards=1, pace=replace(row.terms.pace, limit=None))
    made = [
        desk.tables.set_table(row.game, terms, ("ada", "bob"), ("", "")) for _ in range(matches)
    ]
    for table in made:
        desk.store.begin(table.entry)
        table.start()
    return made


async def play(made: list[Table], database: object, begin: int, end: int) -> Spent:
    points, here, store = moves(), process_time(), cpu_seconds(database)  # type: ignore[arg-type]
    slept = 0.0
    for number in range(begin, end):
        for at in range(0, len(made), PER_TURN):
            due = perf_counter() + TURN
            for table in made[at : at + PER_TURN]:
                verdict = table.submit(number % 2, points[number], b"")
                assert verdict == "accepted", verdict
            await asyncio.sleep(max(0, due - perf_counter()))
            slept += TURN
    each = 1e6 / (len(made) * (end - begin))
    return Spent((process_time() - here) * each, (cpu_seconds(database) - store) * each)  # type: ignore[arg-type]


async def main(matches: int) -> None:
    with running_server() as database:
        async with new_database(database) as url:
            await measure(url, matches, database)


async def measure(url: str, matches: int, database: object) -> None:
    settings = load_settings({"db": url})
    store = await open_store(url)
    members = await membership.join(store, replace(settings.cluster, name="ant"))
    desk = Desk(store, settings)
    invitations = Invitations(desk, BotCaller(settings))
    plain = tables(desk, matches)
    await keep_matches(desk, members, invitations)
    kept = tables(desk, matches)
    await store.journal.settled()
    gc.collect()
    gc.freeze()
    gc.set_threshold(*COLLECTIONS)
    step = MOVES // ROUNDS
    rounds = [
        [await play(made, database, number * step, (number + 1) * step) for made in (plain, kept)]
        for number in range(ROUNDS)
    ]
    without, stored = (median(pair[which].here for pair in rounds) for which in (0, 1))
    more = [
        median(after.here - before.here for before, after in rounds),
        median(a.store - b.store for b, a in rounds),
    ]
    print(
        f"{PER_TURN / TURN:,.0f} moves/s, {matches} matches: {without:.1f} us a move, with inputs "
        f"{stored:.1f}"
    )
    print(
        f"inputs cost (medians of {ROUNDS} rounds): {more[0]:+.1f} us a move here, {more[1]:+.1f} "
        "in PostgreSQL"
    )
    await asyncio.sleep(0.1)
    await take_over(url, kept)


async def take_over(url: str, kept: list[Table]) -> None:
    """Another node resumes all matches."""
    settings, store = load_settings({"db": url, "cluster_grace": 3600.0}), await open_store(url)
    members = await membership.join(store, replace(settings.cluster, name="bee"))
    desk = Desk(store, settings)
    await keep_matches(desk, members, Invitations(desk, BotCaller(settings)))
    former = (await store.match(kept[0].entry.id)).node  # type: ignore[union-attr]
    entries = [replace(table.entry, former=(former,)) for table in kept]
    late = asyncio.ensure_future(_lateness())
    began, spent = perf_counter(), process_time()
    await members.take_over(entries)
    wall, cpu = perf_counter() - began, process_time() - spent
    late.cancel()
    await asyncio.wait([late])
    for table in kept:
        again = desk.tables[table.entry.id]
        assert again is not None and again.match.position == table.match.position
    print(
        f"takeover of {len(kept)} matches of {kept[0].match.steps} moves: {wall * 1000:.0f} ms, "
        f"CPU {cpu * 1000:.0f} ms"
    )
    longest = [1000 * max(pauses) for pauses in zip(*PAUSES, strict=True)]
    print(
        f"longest pause of the loop: {longest[0]:.1f} ms, its CPU time at most {longest[1]:.1f} ms"
    )


PAUSES = [(0.0, 0.0)]
"""Seconds, and seconds of CPU time."""


async def _lateness() -> None:
    while True:
        began, spent = perf_counter(), thread_time()
        await asyncio.sleep(0)
        PAUSES.append((perf_counter() - began, thread_time() - spent))


if __name__ == "__main__":
    uvloop.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else MATCHES))
