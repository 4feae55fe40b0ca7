"""`botdrome export`, `import` and `backup`: what a server has stored, out and in."""

import asyncio
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import nullcontext
from pathlib import Path

from rich.console import Console

from botdrome.cli.problems import complain
from botdrome.cli.stores import existing, store_url
from botdrome.store.opening import BadStoreUrl, StoreUnavailable, backup_sqlite, open_store

STANDARD = Path("-")
"""Standard output, or input."""


def export(db: str, file: Path | None) -> int:
    return _attempt(lambda: asyncio.run(_export(existing(store_url(db)), None if file == STANDARD else file)))


def take_in(db: str, file: Path) -> int:
    return _attempt(lambda: asyncio.run(_take_in(store_url(db), None if file == STANDARD else file)))


def backup(db: str, target: Path) -> int:
    return _attempt(lambda: backup_sqlite(existing(store_url(db)), target))


def _attempt(work: Callable[[], None]) -> int:
    try:
        work()
    except (BadStoreUrl, StoreUnavailable, OSError, ValueError) as problem:
        complain(problem)
        return 1
    return 0


async def _export(url: str, file: Path | None) -> None:
    store = await open_store(url)
    target = file.open("wb") if file else sys.stdout.buffer
    try:
        async for line in store.export():
            target.write(line)
        target.flush()
    finally:
        if file:
            target.close()
        await store.close()


async def _take_in(url: str, file: Path | None) -> None:
    store = await open_store(url)
    try:
        new = await store.restore(_lines(file))
    finally:
        await store.close()
    Console(stderr=True).print(f"{new} entries were new")


async def _lines(file: Path | None) -> AsyncIterator[bytes]:
    with file.open("rb") if file else nullcontext(sys.stdin.buffer) as source:
        for line in source:
            yield line
