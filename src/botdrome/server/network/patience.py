"""Patience: how long others are waited for, with one timer for all of them instead of one each."""

import asyncio


class Patience:
    """Whoever is waited for too long is cut off."""

    __slots__ = ("_awaited", "_looking", "_seconds")

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._awaited: dict[asyncio.Transport, float] = {}
        """Since when, the longest first."""
        self._looking = False
        """Whether the timer runs."""

    def begin(self, transport: asyncio.Transport) -> None:
        loop = asyncio.get_running_loop()
        self._awaited[transport] = loop.time()
        if not self._looking:
            self._looking = True
            loop.call_later(self._seconds, self._look)

    def end(self, transport: asyncio.Transport) -> None:
        self._awaited.pop(transport, None)

    def _look(self) -> None:
        """Of those who have time left only the first is looked at: there may be thousands."""
        loop = asyncio.get_running_loop()
        now, overdue = loop.time(), list[asyncio.Transport]()
        self._looking = False
        for transport, since in self._awaited.items():
            left = since + self._seconds - now
            if left > 0:
                self._looking = True
                loop.call_later(left, self._look)
                break
            overdue.append(transport)
        for transport in overdue:
            del self._awaited[transport]
            transport.abort()
