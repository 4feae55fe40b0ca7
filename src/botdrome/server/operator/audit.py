"""The audit log: the operator's actions with time, address and target. The store keeps it."""

import asyncio
import secrets
from itertools import count
from time import time

import msgspec
from msgspec import Struct

from botdrome.server.failures import log_failure
from botdrome.server.lobby.desk import Tasks
from botdrome.server.network.connection import CLIENT_SOURCE
from botdrome.store.store import Epoch, Note, Store

BOOK = "audit"
WRITING = 2.0
"""Seconds that an action waits until its line is stored; if the store is down, the line is stored
later.
"""
LONGEST = 500
"""Characters of each part of a line."""


class AuditLine(Struct, frozen=True):
    at: Epoch
    who: str
    address: str
    action: str
    target: str = ""
    detail: str = ""


class Audit:
    def __init__(self, store: Store, tasks: Tasks) -> None:
        self._store, self._tasks = store, tasks
        self._numbers = count()

    async def note(self, action: str, target: str = "", detail: str = "") -> None:
        at = int(time() * 1000)
        line = AuditLine(
            at, "operator", CLIENT_SOURCE.get(), action, target[:LONGEST], detail[:LONGEST]
        )
        # sorts by time, and is unique
        name = f"{at:015}-{next(self._numbers):09}-{secrets.token_hex(4)}"
        written = asyncio.Event()
        self._tasks.start(self._write(Note(BOOK, name, msgspec.to_builtins(line)), written))
        try:
            await asyncio.wait_for(written.wait(), WRITING)
        except TimeoutError:
            return

    async def _write(self, note: Note, written: asyncio.Event) -> None:
        try:
            await self._store.keep([note], retry=True)
        except Exception:
            log_failure("a line of the audit log could not be stored")
        written.set()

    async def newest(self, limit: int, offset: int) -> tuple[list[AuditLine], int]:
        """A page of the log, newest line first, and the number of all lines."""
        found, total = await self._store.reports.latest_notes(BOOK, limit, offset)
        return msgspec.convert(found, list[AuditLine]), total
