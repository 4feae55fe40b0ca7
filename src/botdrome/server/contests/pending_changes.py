"""PendingChanges: changes of the entrants of a contest that are being stored."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

from botdrome.server.contests.no_shows import RETRY
from botdrome.server.failures import log_failure

Start = Callable[[Coroutine[Any, Any, None]], None]
"""Starts a background task."""


class PendingChanges:
    """No match begins while there are any, since the next pairing depends on them."""

    def __init__(self) -> None:
        self._left = 0

    def __bool__(self) -> bool:
        return self._left > 0

    async def store(self, change: Callable[[], Awaitable[object]]) -> None:
        """Try until it is stored: the plan of the contest has changed already."""
        self._left += 1
        try:
            while not await _done(change):
                await asyncio.sleep(RETRY)
        finally:
            self._left -= 1


async def _done(change: Callable[[], Awaitable[object]]) -> bool:
    try:
        await change()
    except Exception:
        log_failure("a change of a contest could not be stored")
        return False
    return True
