"""Bucket: how fast a client may send."""

from collections import OrderedDict
from time import monotonic

REMEMBERED = 10_000
"""Clients whose buckets are kept: whoever has not been here for longest is forgotten first."""


class Bucket:
    """So many messages at once, and so many a second in the long run."""

    __slots__ = ("_filled", "_left", "_rate", "_size")

    def __init__(self, rate: float, size: int) -> None:
        self._rate, self._size, self._left = rate, size, float(size)
        self._filled = monotonic()

    def take(self) -> bool:
        """False: too fast."""
        if self._left < 1 and self.dry_for():
            return False
        self._left -= 1
        return True

    def dry_for(self) -> float:
        """Seconds until the next message may come; 0: it may come now."""
        now = monotonic()
        self._left = min(self._size, self._left + (now - self._filled) * self._rate)
        self._filled = now
        return max(0.0, (1 - self._left) / self._rate)


class Buckets:
    """One for each client."""

    def __init__(self, rate: float, size: int) -> None:
        self._rate, self._size = rate, size
        self._buckets: OrderedDict[str, Bucket] = OrderedDict()

    def too_fast(self, client: str) -> float:
        """Seconds that a client has to wait before it may send this; 0: it may."""
        bucket = self._buckets.get(client)
        if bucket is None:
            bucket = self._buckets[client] = Bucket(self._rate, self._size)
            if len(self._buckets) > REMEMBERED:
                self._buckets.popitem(last=False)
        self._buckets.move_to_end(client)
        return 0.0 if bucket.take() else bucket.dry_for()

    def dry_for(self, client: str) -> float:
        """The same, for a client that does not send this yet."""
        bucket = self._buckets.get(client)
        return 0.0 if bucket is None else bucket.dry_for()
