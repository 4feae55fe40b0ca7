"""Luggage: what has come of a request whose body is not whole. It takes room, of which nobody can have all."""

from botdrome.server.workers.limits import SharedSlots

BAG = 16 << 10
"""Bytes that go into one place. What is smaller is not counted: the connections are."""
ROOM = 64 << 20
"""Bytes for everybody: one address can have half."""


def luggage_room() -> SharedSlots:
    return SharedSlots(ROOM // BAG)


class Luggage:
    """One guest's."""

    __slots__ = ("_bags", "_owner", "_room", "_size")

    def __init__(self, room: SharedSlots) -> None:
        self._room, self._owner = room, ""
        self._size = self._bags = 0

    def add(self, size: int, owner: str) -> bool:
        """False: there is no room for it."""
        self._size, self._owner = self._size + size, owner
        while self._size > BAG * (self._bags + 1):
            if not self._room.take(owner):
                return False
            self._bags += 1
        return True

    def drop(self) -> None:
        for _ in range(self._bags):
            self._room.release(self._owner)
        self._size = self._bags = 0
