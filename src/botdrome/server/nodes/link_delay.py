"""LinkDelay: how late the messages of another node are."""

from math import inf

WINDOW = 30.0
"""Seconds. The shortest way of a message in this and in the previous window counts as no delay."""


class LinkDelay:
    """How long messages from another node take beyond the shortest time.

    The clocks of two nodes differ, and drift.
    """

    def __init__(self) -> None:
        self._least = self._next = inf
        self._turn = 0.0

    def of(self, sent: float, now: float) -> float:
        if now >= self._turn:
            self._least, self._next, self._turn = self._next, inf, now + WINDOW
        took = now - sent
        if took < self._next:
            self._next = took
            self._least = min(self._least, took)
        return took - self._least
