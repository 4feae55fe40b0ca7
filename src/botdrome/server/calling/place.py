"""Place: one port of one address that was checked, the lines kept to it, and how many calls may be made at once."""

import asyncio
from collections import deque
from weakref import WeakValueDictionary

from botdrome.server.calling.answer import CallFailed
from botdrome.server.calling.line import Line
from botdrome.server.settings import Settings

MOST_WAITING = 10_000
NONE_KEPT_FOR = 60.0
"""Seconds in which no line is kept to a place where one that was kept did harm."""


class Turnstile:
    """So many at once; the others wait in line."""

    __slots__ = ("__weakref__", "inside", "most", "waiting")

    def __init__(self, most: int) -> None:
        self.most, self.inside = most, 0
        self.waiting: deque[asyncio.Future[None]] = deque()

    async def enter(self) -> None:
        if self.inside < self.most:
            self.inside += 1
            return
        if len(self.waiting) >= MOST_WAITING:
            raise CallFailed("too many calls wait for that host")
        turn = asyncio.get_running_loop().create_future()
        self.waiting.append(turn)
        try:
            await turn
        except BaseException:
            if turn.done() and not turn.cancelled():
                self.leave()
            raise

    def leave(self) -> None:
        """Whoever waits longest goes in in one's stead."""
        waiting = self.waiting
        while waiting:
            turn = waiting.popleft()
            if not turn.done():
                return turn.set_result(None)
        self.inside -= 1
        return None


class Place:
    def __init__(self, address: str, port: int, name: str, turnstiles: tuple[Turnstile, Turnstile]) -> None:
        """`name` is the one on the certificate; empty: no TLS."""
        self.address, self.port, self.name = address, port, name
        self.idle: list[Line] = []
        self.keeps = True
        """Whether lines are kept here."""
        self._turnstiles = self._at_port, self._at_host = turnstiles

    def free_line(self) -> Line | None:
        """A line that was kept, if a call can be made at once; then the place is entered."""
        port, host = self._at_port, self._at_host
        if not self.idle or port.inside >= port.most or host.inside >= host.most:
            return None
        line = self.idle.pop() if self.idle[-1].usable else self.kept()
        if line is not None:
            port.inside += 1
            host.inside += 1
        return line

    def kept(self) -> Line | None:
        """A line that was used before: the one used last."""
        idle = self.idle
        while idle:
            line = idle.pop()
            if line.usable:
                return line
        return None

    def make_way(self) -> None:
        """A new line is not answered: perhaps the host has one thread, and that waits for more on a line that was kept."""
        if self.idle:
            self.keep_none()

    def keep_none(self) -> None:
        """Lines that are kept do harm here."""
        idle, self.idle = self.idle, []
        for line in idle:
            line.hang_up()
        if self.keeps:
            self.keeps = False
            asyncio.get_running_loop().call_later(NONE_KEPT_FOR, self._keep_again)

    def _keep_again(self) -> None:
        self.keeps = True

    async def enter(self) -> None:
        await self._at_port.enter()
        try:
            await self._at_host.enter()
        except BaseException:
            self._at_port.leave()
            raise

    def leave(self) -> None:
        for turnstile in self._turnstiles:
            if turnstile.waiting:
                turnstile.leave()
            else:
                turnstile.inside -= 1


class Places:
    """Every place there is, as long as somebody holds on to it."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._places: WeakValueDictionary[tuple[str, int, str], Place] = WeakValueDictionary()
        self._turnstiles: WeakValueDictionary[tuple[str, int], Turnstile] = WeakValueDictionary()

    def at(self, address: str, port: int, name: str) -> Place:
        place = self._places.get((address, port, name))
        if place is None:
            at_port = self._turnstile(address, port, self._settings.calls_per_port)
            at_host = self._turnstile(address, 0, self._settings.calls_per_host)
            place = self._places[address, port, name] = Place(address, port, name, (at_port, at_host))
        return place

    def _turnstile(self, address: str, port: int, most: int) -> Turnstile:
        turnstile = self._turnstiles.get((address, port))
        if turnstile is None:
            turnstile = self._turnstiles[address, port] = Turnstile(most)
        return turnstile
