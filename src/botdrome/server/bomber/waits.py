"""Waits: those who have asked for a state that is yet to come. They cost nothing until it comes or their time is up."""

import asyncio
from collections import Counter
from collections.abc import Callable


class Wait:
    __slots__ = ("address", "after", "due", "tell")

    def __init__(self, after: int, address: str, tell: Callable[[], None]) -> None:
        self.after, self.address, self.tell, self.due = after, address, tell, 0.0


class Waits:
    """Of one room. All may wait equally long, so that one timer serves them all: it rings for the first."""

    def __init__(self, seconds: float, by_address: Counter[str]) -> None:
        self._seconds, self._by_address = seconds, by_address
        self._waits: dict[Wait, None] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._loop = asyncio.get_running_loop()

    def __len__(self) -> int:
        return len(self._waits)

    def add(self, wait: Wait) -> None:
        wait.due = self._loop.time() + self._seconds
        self._waits[wait] = None
        self._by_address[wait.address] += 1
        if self._timer is None:
            self._timer = self._loop.call_later(self._seconds, self._ring)

    def remove(self, wait: Wait) -> None:
        """It waits no longer, if it still did."""
        if wait in self._waits:
            del self._waits[wait]
            self._by_address[wait.address] -= 1
            if not self._by_address[wait.address]:
                del self._by_address[wait.address]

    def wake(self, number: int | None = None) -> None:
        """There is a state of this number; None: everybody is to look."""
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
