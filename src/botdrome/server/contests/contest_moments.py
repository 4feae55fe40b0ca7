"""ContestMoments: starts and ends contests at the moments that their documents name."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from datetime import datetime
from time import time
from typing import Literal

import structlog

from botdrome.server.contests.no_shows import RETRY
from botdrome.server.contests.pending_changes import Start
from botdrome.server.failures import log_failure
from botdrome.store.contest_journal import ContestEntry, ContestRefusal

log = structlog.get_logger()

Moment = Literal["start", "end"]
LONGEST_TIMER = 86_400.0
"""Seconds; a later moment is looked at again then."""


class ContestMoments:
    def __init__(
        self,
        start: Start,
        entry: Callable[[str], ContestEntry | None],
        act: Callable[[str, Moment], Awaitable[object]],
        let_wait: Callable[[str, str, str], Awaitable[None]],
    ) -> None:
        """`entry` returns a contest of this node, and `let_wait` stores why it cannot follow its
        document.
        """
        self._start, self._entry, self._act, self._let_wait = start, entry, act, let_wait
        self._loop = asyncio.get_running_loop()
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self.acting: Counter[str] = Counter()
        """Contests that are being started or ended, by game."""

    def watch(self, entry: ContestEntry) -> None:
        """Ring at the next moment of a contest in this state."""
        name = entry.document.name
        self.forget(name)
        action: Moment = "start" if entry.state == "open" else "end"
        seconds = seconds_to(entry, action)
        waits = (
            bool(entry.why) and action == "start"
        )  # the moment has passed: the organiser starts it, or changes the document
        if seconds is not None and entry.state in ("open", "running", "paused") and not waits:
            self.ring_in(seconds, name, action)

    def forget(self, name: str) -> None:
        if (timer := self._timers.pop(name, None)) is not None:
            timer.cancel()

    def ring_in(self, seconds: float, name: str, action: Moment) -> None:
        self._timers[name] = self._loop.call_later(
            min(max(0.0, seconds), LONGEST_TIMER), self._ring, name, action
        )

    def _ring(self, name: str, action: Moment) -> None:
        self._start(self._follow(name, action))

    async def _follow(self, name: str, action: Moment) -> None:
        entry = self._entry(name)
        if entry is None or (seconds_to(entry, action) or 0) > 0:
            return None if entry is None else self.watch(entry)
        game = entry.document.game
        self.acting[game] += 1
        try:
            await self._act(name, action)
        except ContestRefusal as problem:
            log.warning(
                "a contest cannot follow its document",
                contest=name,
                action=action,
                why=str(problem),
            )
            await self._let_wait(
                name, f"cannot {action}", f"it cannot {action} as its document says: {problem}"
            )
        except Exception:
            log_failure("a contest could not follow its document")
            self.ring_in(RETRY, name, action)
        finally:
            self.acting[game] -= 1
        return None


def seconds_to(entry: ContestEntry, action: Moment) -> float | None:
    """Return the seconds to a moment of the document; None: it names none."""
    moment = entry.document.start if action == "start" else entry.document.end
    return None if moment is None else datetime.fromisoformat(moment).timestamp() - time()
