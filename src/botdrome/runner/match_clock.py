"""The clock of an offline match."""

from time import perf_counter

from botdrome.match.terms import Milliseconds


class MatchClock:
    """It stands still within a step, so that the same seed gives the same match, whatever time it
    takes.

    Only a limit that is exceeded moves it, and in a match with a time bank the thinking of the
    players.
    """

    def __init__(self, now: Milliseconds) -> None:
        self.now, self._since = now, perf_counter()

    def restart(self) -> None:
        """A step opens."""
        self._since = perf_counter()

    def left(self, deadline: Milliseconds) -> float:
        """Return the seconds that programs still have."""
        return (deadline - self.now) / 1000 + self._since - perf_counter()

    def leave_out(self, seconds: float) -> None:
        """Subtract time in which programs could not be read."""
        self._since += seconds

    def spend(self, seconds: float | None = None) -> None:
        """Move on by the time that a function took; None: that a program took."""
        spent = int((perf_counter() - self._since if seconds is None else seconds) * 1000)
        self.now += spent
        self._since += spent / 1000 if seconds is None else 0.0

    def advance(self, to: Milliseconds) -> None:
        self.now = max(self.now, to)
        self.restart()
