"""The running tables: a list of them, and a look at one."""

from typing import Any

import msgspec

from botdrome.games.game import View
from botdrome.server.arena import LiveTable, Tables

MOST_TABLES = 200
PAUSE = 0.5
"""Seconds between two lists."""


def live_tables(tables: Tables, game: str | None = None) -> tuple[list[LiveTable], int]:
    """The longest running, in this order; and how many there are."""
    found = tables.live(game, MOST_TABLES)
    return sorted(found, key=lambda table: (table.started, table.id)), tables.count(game)


class _Glance:
    """A spectator that looks once."""

    def __init__(self) -> None:
        self.view: View | None = None

    def show(self, message: bytes) -> None:
        if self.view is None:
            self.view = msgspec.json.decode(message)["view"]

    def end(self) -> None:
        pass


def glance(tables: Tables, match_id: str) -> dict[str, Any] | None:
    """The present public position of a match that runs."""
    one = _Glance()
    if tables.watch(match_id, one):
        tables.unwatch(match_id, one)
    return one.view
