"""Figures: what a boat trial comes to."""

from math import sqrt

from botdrome.games.fleet import boats_in
from botdrome.runner.boat_trial import FLEET, Hunt

SQUARES = boats_in(FLEET).squares
MOST_EXAMPLES = 5


class Figures:
    """Gathers the hunts of a trial. Turns count for boards that were sunk alone; skips are turns."""

    def __init__(self) -> None:
        self.hunted = 0
        self.sunk = 0
        self.shots = 0
        self._squares = 0
        self.least = 0
        self.most = 0
        self.perfect = 0
        self.seconds = 0.0
        """That the bot took."""
        self.turns = 0
        """All of them, also on boards that were not sunk."""
        self._boards: set[int] = set()
        self.faults: list[Hunt] = []

    def add(self, hunt: Hunt) -> None:
        self.hunted += 1
        self.turns += hunt.turns
        self.seconds += hunt.seconds
        self._boards.add(hunt.board)
        if hunt.fault:
            self.faults.append(hunt)
            return
        shots = hunt.turns
        self.least = min(self.least, shots) if self.sunk else shots
        self.most = max(self.most, shots)
        self.sunk += 1
        self.shots += shots
        self._squares += shots * shots
        self.perfect += shots == SQUARES

    @property
    def unique(self) -> int:
        return len(self._boards)

    @property
    def average(self) -> float:
        return self.shots / self.sunk if self.sunk else 0.0

    @property
    def spread(self) -> float:
        """The standard deviation of the shots that a board takes."""
        return sqrt(max(0.0, self._squares / self.sunk - self.average**2)) if self.sunk else 0.0

    @property
    def error(self) -> float:
        """The standard error of the average."""
        return self.spread / sqrt(self.sunk) if self.sunk else 0.0

    @property
    def seconds_a_shot(self) -> float:
        return self.seconds / self.turns if self.turns else 0.0

    def examples(self) -> list[str]:
        """The first faults in words."""
        first = sorted(self.faults, key=lambda hunt: hunt.number)[:MOST_EXAMPLES]
        rest = len(self.faults) - len(first)
        shown = [f"position {hunt.number + 1}, turn {hunt.turns}: {hunt.fault}" for hunt in first]
        return [*shown, f"... and {rest} more"] if rest else shown
