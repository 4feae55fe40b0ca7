"""NoShows: the entrants of a contest that are not here, and a timer that wakes when the next one is
overdue.
"""

import asyncio
from collections.abc import Callable, Iterable

from botdrome.contest.document import Penalties

RETRY = 1.0
"""Seconds until fixtures are tried again while no match may begin or a result could not be stored.
"""


class NoShows:
    def __init__(self, wake: Callable[[], None]) -> None:
        self._wake, self._loop = wake, asyncio.get_running_loop()
        self._since: dict[str, float] = {}
        self._timer: asyncio.TimerHandle | None = None

    def __contains__(self, name: str) -> bool:
        return name in self._since

    def expect(self, name: str) -> None:
        """An entrant is not here, and is expected from now on."""
        self._since[name] = self._loop.time()

    def leave(self, name: str) -> None:
        self._since.setdefault(name, self._loop.time())

    def arrive(self, name: str) -> None:
        self._since.pop(name, None)

    def overdue(self, awaited: Iterable[str], rules: Penalties) -> set[str]:
        if rules.no_show == "wait":
            return set()
        now = self._loop.time()
        return {name for name in awaited if now - self._since[name] >= rules.wait}

    def watch(self, awaited: Iterable[str], rules: Penalties) -> None:
        """Wake when the first of these is overdue."""
        self.stop()
        since = [self._since[name] for name in awaited]
        if since and rules.no_show != "wait":
            self.wake_in(min(since) + rules.wait - self._loop.time())

    def wake_in(self, seconds: float) -> None:
        self.stop()
        self._timer = self._loop.call_later(max(seconds, RETRY), self._wake)

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
