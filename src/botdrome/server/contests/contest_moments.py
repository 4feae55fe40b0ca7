"""ContestMoments: timers for the moments at which the documents of contests start and end them."""

import asyncio
from collections.abc import Callable
from datetime import datetime
from time import time
from typing import Literal

from botdrome.store.contest_journal import ContestEntry

Moment = Literal["start", "end"]
LONGEST_TIMER = 86_400.0
"""Seconds; a later moment is looked at again then."""


class ContestMoments:
    def __init__(self, ring: Callable[[str, Moment], None]) -> None:
        """`ring` is called with the name of a contest, perhaps before the moment has come."""
        self._ring, self._loop = ring, asyncio.get_running_loop()
        self._timers: dict[str, asyncio.TimerHandle] = {}

    def watch(self, entry: ContestEntry) -> None:
        """Ring at the next moment of a contest in this state."""
        name = entry.document.name
        self.forget(name)
        action: Moment = "start" if entry.state == "open" else "end"
        seconds = seconds_to(entry, action)
        waits = bool(entry.why) and action == "start"  # the moment has passed: the organiser starts it, or changes the document
        if seconds is not None and entry.state in ("open", "running", "paused") and not waits:
            self.ring_in(seconds, name, action)

    def forget(self, name: str) -> None:
        if (timer := self._timers.pop(name, None)) is not None:
            timer.cancel()

    def ring_in(self, seconds: float, name: str, action: Moment) -> None:
        self._timers[name] = self._loop.call_later(min(max(0.0, seconds), LONGEST_TIMER), self._ring, name, action)


def seconds_to(entry: ContestEntry, action: Moment) -> float | None:
    """Return the seconds to a moment of the document; None: it names none."""
    moment = entry.document.start if action == "start" else entry.document.end
    return None if moment is None else datetime.fromisoformat(moment).timestamp() - time()
