"""Throughput of the store: producers begin and end matches, and wait until each is on disk.

`python -m bench.store` measures SQLite and a PostgreSQL server that it starts; `python -m
bench.store URL` measures that store.
"""

import asyncio
import os
import sys
import tempfile
import time
from collections.abc import Callable

import uvloop
from msgspec import Struct
from tests.store.postgres import cpu_seconds, new_database, running_server

from botdrome.match.events import BoardResult, Result
from botdrome.store.entries import Finish, MatchEntry
from botdrome.store.store import Store, open_store

PRODUCERS = 200
SECONDS = 4.0
BOARD = BoardResult((1.0, 0.0), (1, 2), ("complete", "complete"))
RESULT = Result(BOARD.places, BOARD.scores, BOARD.causes, (BOARD,))
VIEW = {
    "board": [["X", "O", ""]] * 3,
    "marks": {"X": "ada", "O": "bob"},
    "waitingFor": [],
    "result": "victory",
}


class Figures(Struct):
    """The results; CPU in microseconds per match."""

    rate: float
    cpu: float
    other_cpu: float
    worst: float
    """The longest wait of a producer, in seconds."""


def lines(size: int) -> bytes:
    """Return bytes that compress like a record."""
    text = b""
    while len(text) < size:
        text += b'{"t":%d,"do":"move","by":0,"say":[3,4],"news":"%s"}\n' % (
            len(text),
            os.urandom(4).hex().encode(),
        )
    return text[:size]


RECORD, FLIGHTS = lines(2048), (lines(1024), lines(1024))


async def produce(store: Store, seconds: float) -> tuple[int, float]:
    """Return the number of stored matches and the longest wait."""
    until, stored, worst = time.monotonic() + seconds, 0, 0.0

    async def producer(number: int) -> None:
        nonlocal stored, worst
        names = (f"bot {number}", f"bot {number % 7}")
        while (began := time.monotonic()) < until:
            now = int(time.time() * 1000)
            match_id = os.urandom(8).hex()
            store.begin(MatchEntry(match_id, "noughts-and-crosses", names, now, seed=number))
            await store.finish(Finish(match_id, "ended", now, RESULT, VIEW, RECORD, FLIGHTS))
            stored, worst = stored + 1, max(worst, time.monotonic() - began)

    await asyncio.gather(*(producer(number) for number in range(PRODUCERS)))
    return stored, worst


async def measure(url: str, other_cpu: Callable[[], float] = lambda: 0.0) -> Figures:
    store = await open_store(url)
    try:
        await produce(store, SECONDS / 4)
        cpu, other, began = time.process_time(), other_cpu(), time.monotonic()
        stored, worst = await produce(store, SECONDS)
        took = time.monotonic() - began
        spent, other_spent = time.process_time() - cpu, other_cpu() - other
        return Figures(stored / took, spent / stored * 1e6, other_spent / stored * 1e6, worst)
    finally:
        await store.close()


def show(name: str, figures: Figures) -> None:
    print(
        f"{name:12}{figures.rate:>12,.0f}{figures.cpu:>16.0f}{figures.other_cpu:>20.0f}{figures.worst * 1000:>16.0f}"
    )


async def both() -> None:
    with tempfile.TemporaryDirectory() as folder:
        show("SQLite", await measure(f"sqlite:///{folder}/bench.db"))
    with running_server() as server:
        async with new_database(server) as url:
            show("PostgreSQL", await measure(url, lambda: cpu_seconds(server)))


async def one(url: str) -> None:
    show(url.partition(":")[0], await measure(url))


def main(urls: list[str]) -> None:
    print(
        f"{'store':12}{'matches/s':>12}{'CPU us/match':>16}{'CPU of the server':>20}{'worst wait ms':>16}"
    )
    uvloop.run(one(urls[0]) if urls else both())


if __name__ == "__main__":
    main(sys.argv[1:])
