"""Places: a number of them for everybody, of which nobody can have all."""

from collections import Counter


class Places:
    """Nobody has more places than are free: whoever comes for the first time finds one, unless many share them all."""

    def __init__(self, places: int) -> None:
        self._free = places
        self._taken: Counter[str] = Counter()

    def take(self, guest: str) -> bool:
        """False: there is none, or none for this guest."""
        if self._taken[guest] >= self._free:
            if not self._taken[guest]:
                del self._taken[guest]
            return False
        self._free -= 1
        self._taken[guest] += 1
        return True

    def leave(self, guest: str) -> None:
        self._free += 1
        self._taken[guest] -= 1
        if not self._taken[guest]:
            del self._taken[guest]
