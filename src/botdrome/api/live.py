"""The running tables, as a list."""

from botdrome.server.arena import LiveTable, Tables

MOST_TABLES = 200
PAUSE = 0.5
"""Seconds between two lists."""


def live_tables(tables: Tables, game: str | None = None) -> tuple[list[LiveTable], int]:
    """The longest running, in this order; and how many there are."""
    found = tables.live(game, MOST_TABLES)
    return sorted(found, key=lambda table: (table.started, table.id)), tables.count(game)
