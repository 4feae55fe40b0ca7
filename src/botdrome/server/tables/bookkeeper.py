"""Bookkeeper: keeps statistics of matches, which are told only once they are stored."""

from typing import TYPE_CHECKING, Protocol

from botdrome.store.store import Note

if TYPE_CHECKING:
    from botdrome.server.tables.table import Table


class Bookkeeper(Protocol):
    def notes(self, table: "Table") -> tuple[Note, ...]:
        """Return what is stored together with the result of this match, or of the board that has just ended.

        Nothing that anybody is told changes yet. Notes are stored in the order in which they are returned.
        """

    def stored(self, table: "Table") -> None:
        """The last notes are on disk. This is called before anybody is told, and never for notes that could not be stored."""
