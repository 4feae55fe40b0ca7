"""LateEntries: entries of statistics by nodes that are not the home of the rooms any more.

The home of rooms stores lines of statistics as a whole. A game that ends at another node, because
the rooms have moved since it began, is stored there as an entry, in the same transaction as its
result. The home looks for such entries and counts them: one transaction stores the lines and
deletes the entry. So each counts once, whichever node dies.
"""

import asyncio
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, Protocol

import msgspec
from msgspec import Struct

from botdrome.server.failures import log_failure
from botdrome.store.store import Note, Store, StoreUnavailable

LOOK = 1.0
"""Seconds between two looks of the home for entries of other nodes."""


class Statistics(Protocol):
    def draft_late(self, name: str, value: Mapping[str, Any]) -> Sequence[Note]:
        """Return the lines to store for a late entry."""

    def settle(self, entry: Hashable) -> None:
        """The lines are stored."""

    def drop(self, entry: Hashable) -> None:
        """The lines could not be stored."""

    async def correct(self, store: Store) -> None:
        """Store lines again that included a dropped entry."""


class LateEntries:
    def __init__(self, book: str, statistics: Statistics) -> None:
        self._book, self._statistics = book, statistics
        self.away = False
        """Whether another node has the rooms, so that this one stores late entries."""
        self._turn = 0
        """Changes whenever rooms are opened or left."""
        self._unreadable: set[str] = set()
        self._timer: asyncio.TimerHandle | None = None
        self._looking: asyncio.Task[None] | None = None

    def note(self, name: str, entry: Struct) -> Note:
        return Note(self._book, name, msgspec.to_builtins(entry))

    async def open(self, store: Store, watch: bool) -> None:
        """Count the entries, after the lines were read.

        `watch`: look for others until the rooms are left.
        """
        self.close()
        turn = self._turn
        await self._count(store, turn)
        self.away = False
        if watch and turn == self._turn:
            self._watch(store, turn)

    def leave(self) -> None:
        """Another node gets the rooms."""
        self.away = True
        self.close()

    def close(self) -> None:
        self._turn += 1
        if self._timer is not None:
            self._timer.cancel()

    def _watch(self, store: Store, turn: int) -> None:
        self._timer = asyncio.get_running_loop().call_later(LOOK, self._look, store, turn)

    def _look(self, store: Store, turn: int) -> None:
        self._looking = asyncio.ensure_future(self._count_and_watch(store, turn))

    async def _count_and_watch(self, store: Store, turn: int) -> None:
        try:
            await self._count(store, turn)
        except Exception:
            log_failure("the games that ended at other nodes could not be counted")
        if turn == self._turn:
            self._watch(store, turn)

    async def _count(self, store: Store, turn: int) -> None:
        for name, value in (await store.notes(self._book)).items():
            if turn == self._turn and name not in self._unreadable:
                await self._count_one(store, name, value)

    async def _count_one(self, store: Store, name: str, value: Mapping[str, Any]) -> None:
        try:
            notes = self._statistics.draft_late(name, value)
            await store.keep(notes, retry=True, instead_of=Note(self._book, name, {}))
        except Exception as problem:
            self._statistics.drop(name)
            if isinstance(problem, StoreUnavailable):
                raise  # it was closed, or this node was declared dead
            self._unreadable.add(name)
            log_failure(
                "a game that ended at another node cannot be counted", book=self._book, name=name
            )
        else:
            self._statistics.settle(name)
        await self._statistics.correct(store)
