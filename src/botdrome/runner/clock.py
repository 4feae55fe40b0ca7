"""Clock: milliseconds since a match began."""

from time import perf_counter


class Clock:
    """It ticks for programs only. Bots that are functions are played in no time, so that the same seed gives the same match."""

    def __init__(self, ticking: bool) -> None:
        self._ticking = ticking
        self._since = perf_counter()
        self._ahead = 0

    def now(self) -> int:
        return self._ahead + (int((perf_counter() - self._since) * 1000) if self._ticking else 0)

    def advance(self, to: int) -> None:
        """Jump ahead, where there is nobody to wait for."""
        self._ahead += max(0, to - self.now())

    def leave_out(self, seconds: float) -> None:
        """Take back time in which the programs could not be heard."""
        self._since += seconds
