"""The running tables, as a list and as news of its changes."""

import asyncio
from collections.abc import AsyncGenerator

from botdrome.server.arena import LiveTable, Tables

MOST_TABLES = 200
PAUSE = 0.5
"""Seconds between two lists."""


def live_tables(tables: Tables, game: str | None = None, limit: int = MOST_TABLES) -> list[LiveTable]:
    """The longest running first."""
    found = [table for table in tables.live() if game in (None, table.game)]
    return sorted(found, key=lambda table: (table.started, table.id))[:limit]


async def live_changes(tables: Tables) -> AsyncGenerator[None, None]:
    """Comes at once, and again whenever a table has opened or closed, but not before a pause."""
    changed = asyncio.Event()
    forget = tables.on_change(changed.set)
    try:
        while True:
            changed.clear()
            yield
            await asyncio.sleep(PAUSE)
            await changed.wait()
    finally:
        forget()
