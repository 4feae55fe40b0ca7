"""Rate limits on the real clock."""

from collections import OrderedDict
from time import monotonic

from botdrome.wire.token_bucket import TokenBucket

REMEMBERED = 10_000
"""Maximum number of buckets kept. The least recently used is dropped first."""


class Bucket:
    """A token bucket on the real clock."""

    __slots__ = ("_tokens",)

    def __init__(self, rate: float, size: int) -> None:
        self._tokens = TokenBucket(rate, size, monotonic())

    def take(self) -> bool:
        """Return whether another message is allowed, and count it if so."""
        return self._tokens.take(monotonic())

    def dry_for(self) -> float:
        """Return the seconds until the next message is allowed; 0 if it is allowed now."""
        return self._tokens.wait(monotonic())


class Buckets:
    """A rate limit for each client."""

    def __init__(self, rate: float, size: int) -> None:
        self._rate, self._size = rate, size
        self._buckets: OrderedDict[str, Bucket] = OrderedDict()

    def too_fast(self, client: str) -> float:
        """Count a message and return 0, or return the seconds until the client may send it."""
        bucket = self._buckets.get(client)
        if bucket is None:
            bucket = self._buckets[client] = Bucket(self._rate, self._size)
            if len(self._buckets) > REMEMBERED:
                self._buckets.popitem(last=False)
        self._buckets.move_to_end(client)
        return 0.0 if bucket.take() else bucket.dry_for()

    def dry_for(self, client: str) -> float:
        """Return the seconds until the client may send a message, without counting one."""
        bucket = self._buckets.get(client)
        return 0.0 if bucket is None else bucket.dry_for()
