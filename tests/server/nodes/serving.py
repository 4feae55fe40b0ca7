"""Whole servers as nodes of one cluster, in one event loop, on a real PostgreSQL and a real NATS."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

from botdrome.app import RunningServer
from tests.server.clients import server

NAMES = ("ant", "bee", "cat", "dog", "eel")


@asynccontextmanager
async def nodes(db: str, nats: str, count: int = 3, **settings: Any) -> AsyncIterator[list[RunningServer]]:
    """Servers that know each other, on free ports. Further settings are as in `clients.server`."""
    quick: dict[str, Any] = {"db": db, "nats": nats, "cluster_beat": 0.05, "cluster_death": 1.0} | settings
    async with AsyncExitStack() as stack:
        opened = [await stack.enter_async_context(server(Path(), cluster_name=name, **quick)) for name in NAMES[:count]]
        for one in opened:
            await one.desk.cluster.members._beat()  # type: ignore[union-attr]
        yield opened
