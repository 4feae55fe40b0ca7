"""Background tasks of the server."""

import asyncio
from collections.abc import Coroutine
from typing import Any


class Tasks:
    """Background tasks. The event loop itself keeps no reference to a task."""

    def __init__(self) -> None:
        self._running: set[asyncio.Task[None]] = set()

    def start(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.ensure_future(work)
        self._running.add(task)
        task.add_done_callback(self._running.discard)
