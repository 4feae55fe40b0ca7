"""Statistics: lines, such as the totals of a player, into which entries are folded.

A node that stores a match stores what it adds to statistics as an entry, in the same transaction.
The home of the rooms reads the entries and folds them into lines: one transaction stores the lines
and deletes the entries. So each entry counts once, whichever node dies, and only stored lines are
shown. A single server is the home of all rooms.
"""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

import msgspec
from msgspec import Struct

from botdrome.server.failures import log_failure
from botdrome.store.entries import Note, StoreUnavailable
from botdrome.store.store import Store

LOOK = 1.0
"""Seconds between two looks for entries of other nodes, and before a retry."""
PAUSE = 0.25
"""Seconds between two rounds, so that a busy server folds the entries of many matches at once."""
AT_ONCE = 50
"""Entries per transaction."""

Entries = Mapping[str, Mapping[str, Any]]
"""By name. They are folded in the order of their names."""


class Statistics:
    def __init__(self, store: Store, book: str) -> None:
        """`book` has the entries."""
        self._store, self._book = store, book
        self._home = self._watching = self._wanted = self._pausing = self._again = False
        """`_wanted`: entries were stored since the last round began. `_again`: even without any,
        look again later.
        """
        self._unreadable: set[str] = set()
        self._timer: asyncio.TimerHandle | None = None
        self._round: asyncio.Task[None] | None = None

    def fold(self, entries: Entries) -> tuple[list[Note], Callable[[], None]]:
        """Return the lines to store, and a function that shows them once they are stored."""
        raise NotImplementedError

    def entry(self, name: str, value: Struct) -> Note:
        return Note(self._book, name, msgspec.to_builtins(value))

    async def open(self, watch: bool = False) -> None:
        """Fold all entries, after the lines were read. `watch`: other nodes may store more."""
        self._home, self._watching, self._again = True, watch, watch
        first = self._round = asyncio.ensure_future(self._fold_all())
        try:
            await first
        except BaseException:
            self.leave()
            raise
        finally:
            self._round = None
        if self._home:
            self._end_pause()

    def leave(self) -> None:
        """Fold no more: another node becomes the home, or the server stops."""
        self._home = self._pausing = False
        if self._timer is not None:
            self._timer.cancel()

    @property
    def settled(self) -> bool:
        """Whether another node can read the lines."""
        return self._round is None

    async def folded(self) -> None:
        """Wait until the entries that are stored now are folded, unless the store fails."""
        for _ in range(2):  # the current round may have read the entries before
            if self._pausing and self._wanted:
                self._end_pause()
            current = self._round
            while current is not None and not current.done() and not self._store.journal.trouble:
                await asyncio.wait([current], timeout=0.1)

    def look(self) -> None:
        """Fold entries that were stored. A node that is not the home leaves them to it."""
        self._wanted = self._home
        if self._home and self._round is None and not self._pausing:
            self._round = asyncio.ensure_future(self._fold_round())

    async def _fold_round(self) -> None:
        self._wanted, self._again = False, self._watching
        try:
            await self._fold_all()
        except Exception:
            log_failure("entries of statistics could not be counted", book=self._book)
            self._wanted, self._again = False, True
        self._round = None
        if self._home:
            self._pausing = True
            self._set_timer(PAUSE, self._end_pause)

    def _end_pause(self) -> None:
        self._pausing = False
        if self._wanted:
            self.look()
        elif self._again:
            self._set_timer(LOOK - PAUSE, self.look)

    def _set_timer(self, seconds: float, act: Callable[[], None]) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_later(seconds, act)

    async def _fold_all(self) -> None:
        found = await self._store.notes(self._book)
        names = [name for name in found if name not in self._unreadable]
        while names and self._home:
            some, names = names[:AT_ONCE], names[AT_ONCE:]
            await self._fold_some({name: found[name] for name in some})

    async def _fold_some(self, entries: Entries) -> None:
        try:
            notes, show = self.fold(entries)
            await self._store.keep(notes, retry=True, instead_of=(self._book, list(entries)))
        except StoreUnavailable:
            raise  # it was closed, or this node was declared dead
        except Exception:
            if len(entries) > 1:
                for name, value in entries.items():
                    await self._fold_some({name: value})
            else:
                self._unreadable |= entries.keys()
                log_failure("an entry cannot be counted", book=self._book, name=min(entries))
        else:
            show()
