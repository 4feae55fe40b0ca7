"""Requests that wait for the next state of a room."""

import asyncio
from collections import Counter
from collections.abc import Callable


class Wait:
    __slots__ = ("address", "after", "due", "tell")

    def __init__(self, after: int, address: str, tell: Callable[[], None]) -> None:
        self.after, self.address, self.tell, self.due = after, address, tell, 0.0


class Waits:
    """The waiting requests of one room. All have the same timeout, so one timer serves them all."""

    def __init__(self, seconds: float, by_address: Counter[str]) -> None:
        self._seconds, self._by_address = seconds, by_address
        self._waits: dict[Wait, None] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._loop = asyncio.get_running_loop()

    def __len__(self) -> int:
        return len(self._waits)

    def from_address(self, address: str) -> int:
        """Return how many requests from this address wait, in all rooms."""
        return self._by_address[address]

    def add(self, wait: Wait) -> None:
        wait.due = self._loop.time() + self._seconds
        self._waits[wait] = None
        self._by_address[wait.address] += 1
        if self._timer is None:
            self._timer = self._loop.call_later(self._seconds, self._ring)

    def remove(self, wait: Wait) -> None:
        """Remove a request whose client has disconnected."""
        if wait in self._waits:
            del self._waits[wait]
            self._by_address[wait.address] -= 1
            if not self._by_address[wait.address]:
                del self._by_address[wait.address]

    def wake(self, number: int | None = None) -> None:
        """Answer the requests that wait for a state up to this number; None: all requests."""
        if not self._waits:
            return
        for wait in [wait for wait in self._waits if number is None or number > wait.after]:
            self._end(wait)

    def _end(self, wait: Wait) -> None:
        if wait in self._waits:
            self.remove(wait)
            wait.tell()

    def _ring(self) -> None:
        now = self._loop.time()
        for wait in [wait for wait in self._waits if wait.due <= now + 0.001]:
            self._end(wait)
        first = next(iter(self._waits), None)
        self._timer = None if first is None else self._loop.call_later(first.due - now, self._ring)

    def close(self) -> None:
        self.wake()
        if self._timer is not None:
            self._timer.cancel()
