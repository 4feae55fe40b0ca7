"""Board break: the time between two boards of a match, in which the last one is being stored."""

import asyncio
from collections.abc import Callable

from botdrome.match.course import News
from botdrome.match.terms import Milliseconds


class BoardBreak:
    """The clock of the table stands still, and whatever happens waits until the board is on disk."""

    def __init__(self, news: News, now: Milliseconds, since: float, storing: asyncio.Future[None]) -> None:
        self.news = news
        """Of the end of the board."""
        self.now, self.since = now, since
        """When it began, by the clock of the table and by that of the machine."""
        self.waiting: list[Callable[[], None]] = []
        self._storing = storing
        """Kept here, because the loop itself holds on to no task."""
