"""Ledger: lines of statistics, of which everybody is shown only what is stored.

A line is stored as a whole, so a change that is not on disk yet is reckoned with for the next one. Changes are stored in the
order in which they were drafted. If one cannot be stored, nothing of it remains: changes that were drafted on top of it are
reckoned again when they are stored, and their lines are stored once more.
"""

from collections.abc import Callable, Hashable, Mapping
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
L = TypeVar("L")

Lines = dict[K, L]
Look = Callable[[K], L | None]
Change = Callable[[Look[K, L]], Lines[K, L]]
"""From the lines as they were to those that it changes."""


class Ledger(Generic[K, L]):
    def __init__(self, stored: Mapping[K, L]) -> None:
        self.lines: Lines[K, L] = dict(stored)
        """What is on disk."""
        self._drafts: dict[Hashable, tuple[Change[K, L], Lines[K, L]]] = {}
        """The changes that are being stored, and the lines that were handed over."""
        self._latest: Lines[K, L] = {}
        """The lines as they will be when all of these are stored."""

    def latest(self, key: K) -> L | None:
        """The line on which the next change is based."""
        line = self._latest.get(key)
        return self.lines.get(key) if line is None else line

    def draft(self, entry: Hashable, change: Change[K, L]) -> Lines[K, L]:
        """Return the lines that are to be stored now. A new draft of an entry replaces the one before."""
        self.drop(entry)
        lines = change(self.latest)
        self._drafts[entry] = change, lines
        self._latest.update(lines)
        return lines

    def settle(self, entry: Hashable) -> tuple[Lines[K, L], Lines[K, L]]:
        """The lines of this entry are on disk: return them, and those of them that have to be stored again."""
        change, written = self._drafts.pop(entry)
        lines = change(self.lines.get)
        self.lines.update(lines)
        if not self._drafts:
            self._latest.clear()
        return lines, {key: line for key, line in lines.items() if written[key] != line}

    def drop(self, entry: Hashable) -> None:
        """This entry is not going to be stored, if it has not been already."""
        if self._drafts.pop(entry, None) is not None:
            self._latest.clear()
            for change, _ in self._drafts.values():
                self._latest.update(change(self.latest))
