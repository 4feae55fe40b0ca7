"""Budget: the loop time of one address, which its clients share. See `shares.py`."""

from collections import deque
from typing import Final, Protocol

BURST: Final = 0.005
"""Maximum seconds of loop time in a budget."""


class Held(Protocol):
    """A connection with held input, or other queued work for a client."""

    @property
    def later(self) -> float:
        """Estimated seconds of work that one piece causes after it was served."""

    def serve_held(self) -> bool:
        """Serve one piece. Return whether there is more."""


class Budget:
    """The loop time of one address, and its clients with held input."""

    __slots__ = ("filled", "left", "line", "period")

    def __init__(self, now: float) -> None:
        self.left, self.filled, self.period = BURST, now, 0
        self.line: deque[Sharer] = deque()


class Sharer:
    """An account at an address, or all guests there. Sharers of an address take turns."""

    __slots__ = ("__weakref__", "budget", "held")

    def __init__(self, budget: Budget) -> None:
        self.budget = budget
        self.held: deque[Held] = deque()
