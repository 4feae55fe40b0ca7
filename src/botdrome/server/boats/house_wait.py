"""HouseWait: how long the players of a room wait for more, before house bots take the
free seats.
"""

import asyncio
from collections.abc import Callable

from botdrome.server.lobby.put_off import RETRY


class HouseWait:
    """The wait restarts with each player that joins."""

    def __init__(self, call: Callable[[], None]) -> None:
        self._call, self._at_latest = call, 0.0
        self._timer: asyncio.TimerHandle | None = None

    def restart(self, seconds: float, joined: int, most: int) -> None:
        """A player has joined.

        Clients that join and leave cannot prolong the wait of the others without end.
        """
        now = asyncio.get_running_loop().time()
        if joined == 1:
            self._at_latest = now + seconds * (most - 1)
        self._call_at(min(now + seconds, self._at_latest))

    def retry(self) -> None:
        """No game can start at present."""
        self._call_at(asyncio.get_running_loop().time() + RETRY)

    def _call_at(self, when: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_at(when, self._over)

    def _over(self) -> None:
        self._timer = None
        self._call()

    def share(self, call: Callable[[], None]) -> bool:
        """Call this at the end of the wait, too. Return False if nothing waits."""
        if self._timer is None:
            return False
        asyncio.get_running_loop().call_at(self._timer.when(), call)
        return True
