"""Subscriber: follows the match at a table.

Spectators, statistics, contests, house bots and rooms all do so in this way.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

from botdrome.match.events import meant_for
from botdrome.match.match import News
from botdrome.store.store import Note

if TYPE_CHECKING:
    from botdrome.server.tables.table import Table


class Subscriber:
    """The functions that a table calls.

    None of them waits or raises. Those that are not given are not called.
    """

    __slots__ = ("changed", "notes", "notify", "over", "stored")

    def __init__(
        self,
        notify: Callable[[News], None] | None = None,
        changed: Callable[[], None] | None = None,
        notes: Callable[["Table"], tuple[Note, ...]] | None = None,
        stored: Callable[["Table"], None] | None = None,
        over: Callable[["Table"], None] | None = None,
    ) -> None:
        """`notify` gets the news that everybody may see; a result only once it is stored.

        `changed` is called after each change that does not end the match: a subscriber may look at
        the match then. `notes` returns statistics that are stored together with a board or the
        result. They are told to nobody before `stored` is called, which is never called for notes
        that could not be stored. `over` is called last. `Table.stored` says whether the result was
        stored. A match without a result then goes on at another node.
        """
        self.notify, self.changed, self.notes, self.stored, self.over = (
            notify,
            changed,
            notes,
            stored,
            over,
        )


class Subscribers:
    """All subscribers of one table, called in the order in which they came."""

    __slots__ = ("_all", "_changed", "_notified")

    def __init__(self) -> None:
        self._all: list[Subscriber] = []
        self._notified: list[Callable[[News], None]] = []
        self._changed: list[Callable[[], None]] = []

    def add(self, subscriber: Subscriber) -> None:
        self._all.append(subscriber)
        if subscriber.notify is not None:
            self._notified.append(subscriber.notify)
        if subscriber.changed is not None:
            self._changed.append(subscriber.changed)

    def remove(self, subscriber: Subscriber) -> None:
        """The lists are made anew, since a subscriber may leave while it is being called."""
        rest = [one for one in self._all if one is not subscriber]
        self._all, self._notified, self._changed = [], [], []
        for one in rest:
            self.add(one)

    def notify(self, news: News) -> None:
        if self._notified:
            public = [piece for piece in news if meant_for(piece[0]) is None]
            for notify in self._notified:
                notify(public)

    def changed(self) -> None:
        for changed in self._changed:
            changed()

    def notes(self, table: "Table") -> tuple[Note, ...]:
        return tuple(
            [note for one in self._all if one.notes is not None for note in one.notes(table)]
        )

    def stored(self, table: "Table") -> None:
        for subscriber in self._all:
            if subscriber.stored is not None:
                subscriber.stored(table)

    def over(self, table: "Table") -> None:
        for subscriber in self._all:
            if subscriber.over is not None:
                subscriber.over(table)
