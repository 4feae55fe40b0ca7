"""Connection timeouts of equal length, with one timer for all connections."""

import asyncio


class ConnectionTimeouts:
    """Aborts connections that take too long."""

    __slots__ = ("_awaited", "_looking", "_seconds")

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._awaited: dict[asyncio.Transport, float] = {}
        """The start of each wait, oldest first."""
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
        """Abort overdue connections. The loop stops at the first that has time left, since there may be thousands."""
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
