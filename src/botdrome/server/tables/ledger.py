"""Ledger: lines of statistics. Readers see only stored values.

A line is stored as a whole, so each change builds on earlier changes that are not on disk yet.
Changes are stored in the order in which they were drafted, and are shown in that order as well: one
that is reported early waits for those before it. If one cannot be stored, nothing of it remains:
changes that were drafted on top of it are reckoned again when they are shown, and their lines are
corrected on disk.
"""

from collections.abc import Awaitable, Callable, Hashable, Mapping
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
L = TypeVar("L")

Lines = dict[K, L]
Look = Callable[[K], L | None]
Change = Callable[[Look[K, L]], Lines[K, L]]
"""From the lines before to the lines that it changes."""


class PendingChange(Generic[K, L]):
    """A change that is being stored."""

    __slots__ = ("change", "settled", "written")

    def __init__(self, change: Change[K, L], written: Lines[K, L]) -> None:
        self.change, self.written = change, written
        self.settled = False
        """Whether its lines are stored."""


class Ledger(Generic[K, L]):
    def __init__(self, stored: Mapping[K, L]) -> None:
        self.lines: Lines[K, L] = dict(stored)
        """The stored lines, which are shown."""
        self._order: list[PendingChange[K, L]] = []
        """Changes that are not shown yet."""
        self._open: dict[Hashable, PendingChange[K, L]] = {}
        """The changes that are not stored yet, by entry."""
        self._latest: Lines[K, L] = {}
        """The lines after all these changes."""
        self._wrong: set[K] = set()
        """Lines that were stored with a change that was dropped."""
        self._correcting = 0

    @property
    def settled(self) -> bool:
        """Whether the stored lines are those that are shown."""
        return not (self._order or self._wrong or self._correcting)

    def latest(self, key: K) -> L | None:
        """Return the line on which the next change is based."""
        line = self._latest.get(key)
        return self.lines.get(key) if line is None else line

    def draft(self, entry: Hashable, change: Change[K, L]) -> Lines[K, L]:
        """Return the lines to store now. Settle or drop the draft of an entry before its next."""
        assert entry not in self._open
        lines = change(self.latest)
        self._open[entry] = draft = PendingChange(change, lines)
        self._order.append(draft)
        self._latest.update(lines)
        return lines

    def settle(self, entry: Hashable) -> Lines[K, L]:
        """The lines of this entry are stored, if it has any.

        Return all lines that are shown from now on.
        """
        draft = self._open.pop(entry, None)
        if draft is None:
            return {}
        draft.settled = True
        return self._advance()

    def drop(self, entry: Hashable) -> Lines[K, L]:
        """This entry will not be stored, unless it is already.

        Return the lines that are shown from now on.
        """
        draft = self._open.pop(entry, None)
        if draft is None:
            return {}
        self._order.remove(draft)
        self._latest.clear()
        for later in self._order:
            self._latest.update(later.change(self.latest))
        return self._advance()

    def corrections(self) -> Lines[K, L]:
        """Return the lines to store again, once. Hand them to the store before any other draft."""
        coming = {key for draft in self._order for key in draft.written} if self._wrong else set()
        ready, self._wrong = self._wrong - coming, self._wrong & coming
        return {key: self.lines[key] for key in ready}

    async def correct(self, keep: Callable[[Lines[K, L]], Awaitable[None]]) -> None:
        """Store lines again that included a dropped change."""
        lines = self.corrections()
        self._correcting += 1
        try:
            await keep(lines)
        finally:
            self._correcting -= 1

    def _advance(self) -> Lines[K, L]:
        shown: Lines[K, L] = {}
        while self._order and self._order[0].settled:
            draft = self._order.pop(0)
            lines = draft.change(self.lines.get)
            self.lines.update(lines)
            shown |= lines
            self._wrong -= lines.keys()
            self._wrong |= {key for key, line in lines.items() if draft.written[key] != line}
        if not self._order:
            self._latest.clear()
        return shown
