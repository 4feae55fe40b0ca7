"""`botdrome export`, `import`, `backup` and `operator-token`: commands on the store of a server."""

import asyncio
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import nullcontext
from io import BufferedReader
from pathlib import Path
from typing import Any, cast

from botdrome.cli.terminal import Terminal, complain
from botdrome.server.operator.keys import new_token
from botdrome.server.settings import Settings
from botdrome.store.battlebot import documents, translated
from botdrome.store.damage import BrokenMatch
from botdrome.store.opening import BadStoreUrl, StoreUnavailable, backup_sqlite, open_store
from botdrome.store.sqlite import open_private
from botdrome.store.store import BadExport

SQLITE = "sqlite:///"


def store_url(db: str) -> str:
    """Return the URL of the store, as for the server; empty: the default."""
    return Settings(db=db).store_url


def existing(url: str) -> str:
    """Raise StoreUnavailable if an SQLite file is missing, so that reading does not create it."""
    file = url.removeprefix(SQLITE)
    if url.startswith(SQLITE) and not Path(file).exists():
        raise StoreUnavailable(f"{url}: the store does not exist")
    return url


STANDARD = Path("-")
"""Standard output or input."""
OURS = b'{"kind":'
"""The beginning of a Botdrome export."""


def export(db: str, file: Path | None) -> int:
    return _attempt(
        lambda: asyncio.run(_export(existing(store_url(db)), None if file == STANDARD else file))
    )


def take_in(db: str, files: Sequence[Path]) -> int:
    return _attempt(lambda: asyncio.run(_take_in(store_url(db), files)))


def backup(db: str, target: Path) -> int:
    return _attempt(lambda: backup_sqlite(existing(store_url(db)), target))


def operator_token(db: str) -> int:
    return _attempt(
        lambda: Terminal().print(asyncio.run(_new_token(store_url(db))), soft_wrap=True)
    )


async def _new_token(url: str) -> str:
    store = await open_store(url)
    try:
        return await new_token(store)
    finally:
        await store.close()


def _attempt(work: Callable[[], bool | None]) -> int:
    """Return the exit status. `work` returns False if it left something out."""
    try:
        done = work()
    except (BadStoreUrl, BrokenMatch, StoreUnavailable, OSError, ValueError) as problem:
        complain(problem)
        return 1
    return 1 if done is False else 0


async def _export(url: str, file: Path | None) -> None:
    store = await open_store(url)
    target = open(file, "wb", opener=open_private) if file else sys.stdout.buffer  # noqa: SIM115
    try:
        async for line in store.export():
            target.write(line)
        target.flush()
    finally:
        if file:
            target.close()
        await store.close()


async def _take_in(url: str, files: Sequence[Path]) -> bool:
    """Return False if something was left out."""
    store, new, complaints = await open_store(url), 0, Complaints()
    try:
        for file in files:
            complaints.file = file
            try:
                new += await store.restore(_lines(file, complaints))
            except BadExport as problem:
                raise BadExport(f"{file}: {problem}") from None
    finally:
        await store.close()
    Terminal(stderr=True).print(f"{new} entries were new")
    return not complaints.count


class Complaints:
    """Reports and counts the entries that are left out."""

    def __init__(self) -> None:
        self.file, self.count = STANDARD, 0

    def add(self, words: str) -> None:
        self.count += 1
        complain(f"{self.file}: {words}; left out")


async def _lines(file: Path, complaints: Complaints) -> AsyncIterator[bytes]:
    """Yield the lines of an export, translated if the file is from a Battlebot database."""
    with nullcontext(_standard_input()) if file == STANDARD else file.open("rb") as source:
        ours = source.peek(len(OURS)).lstrip().startswith(OURS)
        for line in source if ours else translated(documents(source), complaints.add):
            yield line


def _standard_input() -> BufferedReader:
    """Return a stream that can be peeked into."""
    return BufferedReader(cast(Any, sys.stdin.buffer))
