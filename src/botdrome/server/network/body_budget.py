"""Memory limit for incomplete request bodies."""

from botdrome.server.workers.limits import SharedSlots

UNIT = 16 << 10
"""Bytes counted at a time. Smaller bodies are not counted, since the number of connections is limited."""
TOTAL = 64 << 20
"""Bytes for all connections. One address can use half of it."""


def body_units() -> SharedSlots:
    return SharedSlots(TOTAL // UNIT)


class BodyBudget:
    """The share of one connection."""

    __slots__ = ("_owner", "_size", "_taken", "_units")

    def __init__(self, units: SharedSlots) -> None:
        self._units, self._owner = units, ""
        self._size = self._taken = 0

    def add(self, size: int, owner: str) -> bool:
        """Reserve memory. Return False if none is left."""
        self._size, self._owner = self._size + size, owner
        while self._size > UNIT * (self._taken + 1):
            if not self._units.take(owner):
                return False
            self._taken += 1
        return True

    def drop(self) -> None:
        for _ in range(self._taken):
            self._units.release(self._owner)
        self._size = self._taken = 0
