"""Memory for the bodies of requests that are not complete."""

from botdrome.server.workers.limits import SharedSlots

UNIT = 16 << 10
"""Bytes that are counted at a time. Smaller bodies are not counted: the connections are."""
TOTAL = 64 << 20
"""Bytes for all connections. One address can have half."""


def body_units() -> SharedSlots:
    return SharedSlots(TOTAL // UNIT)


class BodyBudget:
    """One connection's part of the memory."""

    __slots__ = ("_owner", "_size", "_taken", "_units")

    def __init__(self, units: SharedSlots) -> None:
        self._units, self._owner = units, ""
        self._size = self._taken = 0

    def add(self, size: int, owner: str) -> bool:
        """False: no memory is left."""
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
