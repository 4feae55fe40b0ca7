"""Board break: the time between two boards of a match, in which the last one is being stored; or in
which the match moves.
"""

import asyncio
from collections.abc import Callable

from botdrome.match.match import News
from botdrome.match.terms import Milliseconds


class BoardBreak:
    """The table's clock stands still, and all events wait until the board is stored, or the match
    has moved.
    """

    def __init__(
        self,
        news: News,
        now: Milliseconds,
        since: float,
        storing: asyncio.Future[None] | None = None,
    ) -> None:
        self.news = news
        """The news of the end of the board."""
        self.now, self.since = now, since
        """When the break began, on the table's clock and on the loop's."""
        self.waiting: list[Callable[[], None]] = []
        self._storing = storing
        """Kept here because the loop keeps no reference to a task."""
