"""A disk for a journal: it writes when it is let."""

import asyncio
from collections.abc import Sequence
from functools import partial

from botdrome.store.changes import Begin, Change, End, Outcome, change_bot
from botdrome.store.entries import StoreUnavailable, UnknownBot, Unstorable
from botdrome.store.journal import Journal

PROBE = ""
"""The name of a change that only finds out whether the disk can be written."""


class Disk:
    """Writes when it is let."""

    def __init__(self) -> None:
        self.batches: list[list[str]] = []
        self.free = asyncio.Event()
        self.free.set()
        self.asked = asyncio.Event()
        self.full = False

    async def tried_again(self) -> None:
        self.asked.clear()
        await self.asked.wait()

    async def writes_again(self, pages: Journal) -> None:
        while pages.trouble:
            await self.tried_again()

    async def write(self, changes: Sequence[Change]) -> list[Outcome]:
        names = [
            change.id
            if isinstance(change, Begin | End)
            else change.args[0]
            if isinstance(change, partial)
            else PROBE
            for change in changes
        ]
        self.batches.append(names)
        self.asked.set()
        await self.free.wait()
        if self.full:
            raise StoreUnavailable("disk full")
        if "bad" in names:
            raise Unstorable("bad")
        return [UnknownBot(name) if name == "unknown" else f"did {name}" for name in names]


def change(name: str) -> Change:
    return partial(change_bot, name, "token_hash", None)


async def entered(pages: Journal, *names: str) -> "asyncio.Future[list[object]]":
    tasks = asyncio.gather(*(pages.enter(change(name)) for name in names), return_exceptions=True)
    await asyncio.sleep(0)
    return tasks
