"""Place: one port of one address that was checked, the lines kept to it, and how many calls may be made at once."""

import asyncio
from collections import deque
from weakref import WeakValueDictionary

from botdrome.server.calling.answer import CallFailed
from botdrome.server.calling.line import Line
from botdrome.server.settings import Settings

MOST_WAITING = 10_000


class Gate:
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
    def __init__(self, address: str, port: int, name: str, gates: tuple[Gate, Gate]) -> None:
        """`name` is the one on the certificate; empty: no TLS."""
        self.address, self.port, self.name = address, port, name
        self.idle: list[Line] = []
        self._gates = self._at_port, self._at_host = gates

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

    async def enter(self) -> None:
        await self._at_port.enter()
        try:
            await self._at_host.enter()
        except BaseException:
            self._at_port.leave()
            raise

    def leave(self) -> None:
        for gate in self._gates:
            if gate.waiting:
                gate.leave()
            else:
                gate.inside -= 1


class Places:
    """Every place there is, as long as somebody holds on to it."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._places: WeakValueDictionary[tuple[str, int, str], Place] = WeakValueDictionary()
        self._gates: WeakValueDictionary[tuple[str, int], Gate] = WeakValueDictionary()

    def at(self, address: str, port: int, name: str) -> Place:
        place = self._places.get((address, port, name))
        if place is None:
            settings = self._settings
            gates = self._gate(address, port, settings.calls_per_port), self._gate(address, 0, settings.calls_per_host)
            place = self._places[address, port, name] = Place(address, port, name, gates)
        return place

    def _gate(self, address: str, port: int, most: int) -> Gate:
        gate = self._gates.get((address, port))
        if gate is None:
            gate = self._gates[address, port] = Gate(most)
        return gate
