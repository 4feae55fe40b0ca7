"""Token bucket: a rate limit. It receives the time, in seconds on any clock."""


class TokenBucket:
    """Allow `size` messages at once, and `rate` a second in the long run."""

    __slots__ = ("_filled", "_left", "_rate", "_size")

    def __init__(self, rate: float, size: int, now: float) -> None:
        self._rate, self._size, self._left = rate, size, float(size)
        self._filled = now

    def take(self, now: float) -> bool:
        """Return whether another message is allowed, and count it if so."""
        if self._left < 1 and self.wait(now):
            return False
        self._left -= 1
        return True

    def wait(self, now: float) -> float:
        """Return the seconds until the next message is allowed; 0 if it is allowed now."""
        self._left = min(self._size, self._left + (now - self._filled) * self._rate)
        self._filled = now
        return max(0.0, (1 - self._left) / self._rate)
