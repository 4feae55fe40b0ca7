"""`botdrome export`, `import` and `backup`: what a server has stored, out and in."""

import asyncio
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path

from rich.console import Console

from botdrome.cli.problems import complain
from botdrome.server.settings import Settings
from botdrome.store.opening import BadStoreUrl, StoreUnavailable, backup_sqlite, open_store


def export(db: str, file: Path | None) -> int:
    return _attempt(lambda: asyncio.run(_export(_url(db), file)))


def take_in(db: str, file: Path) -> int:
    return _attempt(lambda: asyncio.run(_take_in(_url(db), file)))


def backup(db: str, target: Path) -> int:
    return _attempt(lambda: backup_sqlite(_url(db), target))


def _url(db: str) -> str:
    return Settings(db=db).store_url


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


async def _take_in(url: str, file: Path) -> None:
    store = await open_store(url)
    try:
        new = await store.restore(_lines(file))
    finally:
        await store.close()
    Console(stderr=True).print(f"{new} entries were new")


async def _lines(file: Path) -> AsyncIterator[bytes]:
    with file.open("rb") as source:
        for line in source:
            yield line
