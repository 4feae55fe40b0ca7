"""Board ids, which are reserved in the store before they are used, and the ids of questions."""

from collections.abc import Callable
from itertools import count
from random import randrange
from time import time
from typing import Any

from botdrome.store.store import Note, Store

BOOK = "duel boards"
BLOCK = 1000
"""Ids reserved at once. After a crash, unused ones are skipped."""
NUMBERS = 100_001
"""The number in a question's id is below this."""


class NoBoardIds(Exception):
    """All ids that were reserved are used, and the store cannot reserve others at present."""


class BoardIds:
    """Ids rise as long as the store is kept, and none is given twice."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._last = self._reserved = 0
        self.reserving = False
        self._closed = True

    async def open(self) -> None:
        """Reserve the first ids that nobody has taken."""
        counter: dict[str, Any] = (await self._store.notes(BOOK)).get("", {})
        self._last = self._reserved = counter.get("last", 0)
        self._closed = False
        await self.reserve()

    @property
    def left(self) -> int:
        return self._reserved - self._last

    def take(self, boards: int) -> int:
        """Return the first of this many ids in a row."""
        if boards > self.left:
            raise NoBoardIds(f"{boards} ids are needed and {self.left} are reserved")
        first = self._last + 1
        self._last += boards
        return first

    @property
    def low(self) -> bool:
        """Whether more ids should be reserved now."""
        return self.left < BLOCK // 2 and not self.reserving

    async def reserve(self) -> None:
        if self._closed:
            return
        self.reserving = True
        try:
            await self._note(self._reserved + BLOCK)
        finally:
            self.reserving = False

    def leave(self) -> None:
        """Another node reserves ids from now on. Those that are left can still be taken."""
        self._closed = True

    async def close(self) -> None:
        """Give back unused ids. None can be taken afterwards."""
        if self._closed:
            return
        self._closed = True
        self._reserved = self._last
        await self._note(self._last)

    async def _note(self, last: int) -> None:
        await self._store.keep([Note(BOOK, "", {"last": last})])
        if not self._closed:
            self._reserved = last


async def open_board_ids(store: Store) -> BoardIds:
    ids = BoardIds(store)
    await ids.open()
    return ids


def question_ids() -> Callable[[], str]:
    """Return ids like the original's: a time without trailing zeros, and a number up to 100,000.

    The time is that of the match. The number counts up from a random one.
    """
    began, numbers = repr(round(time(), 6)), count(randrange(NUMBERS))
    return lambda: f"{began}-{next(numbers) % NUMBERS}"
