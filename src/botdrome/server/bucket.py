"""Bucket: how fast a client may send."""

from time import monotonic


class Bucket:
    """So many messages at once, and so many a second in the long run."""

    __slots__ = ("_filled", "_left", "_rate", "_size")

    def __init__(self, rate: float, size: int) -> None:
        self._rate, self._size, self._left = rate, size, float(size)
        self._filled = monotonic()

    def take(self) -> bool:
        """False: too fast."""
        if self._left >= 1:
            self._left -= 1
            return True
        now = monotonic()
        self._left = min(self._size, self._left + (now - self._filled) * self._rate)
        self._filled = now
        if self._left < 1:
            return False
        self._left -= 1
        return True
