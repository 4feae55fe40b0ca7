"""The figures of a boat trial, and the file in which they are added up, with the keys of the
original.
"""

import os
import re
from collections.abc import Mapping
from math import sqrt
from pathlib import Path

from botdrome.games.battleship import boats_in
from botdrome.runner.boat_trial import FLEET, BoardRun, Trial

SQUARES = boats_in(FLEET).squares
MOST_EXAMPLES = 5
NOT_IN_FILES = re.compile(r"[^\w.+-]+")
LONGEST_NAME = 60
COUNTED = (
    "positionCount", "uniquePositionCount", "shotCount", "minShotCount", "maxShotCount",
    "perfectCount", "time", "minSurfaceArea", "unsunkCount",
)  # fmt: skip
"""Keys for the last trial and for the sum of all. The original adds up minimum and maximum, too."""


class Figures:
    """Adds up the runs of a trial.

    Only boards that were sunk count for the shots; skips are turns.
    """

    def __init__(self) -> None:
        self.hunted = 0
        self.sunk = 0
        self.shots = 0
        self._squares = 0
        self.least = 0
        self.most = 0
        self.perfect = 0
        self.seconds = 0.0
        """Used by the bot."""
        self.turns = 0
        """Turns on all boards, sunk or not."""
        self._boards: set[int] = set()
        self.faults: list[BoardRun] = []

    def add(self, run: BoardRun) -> None:
        self.hunted += 1
        self.turns += run.turns
        self.seconds += run.seconds
        self._boards.add(run.board)
        if run.fault:
            self.faults.append(run)
            return
        shots = run.turns
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
        """Describe the first faults."""
        first = sorted(self.faults, key=lambda run: run.number)[:MOST_EXAMPLES]
        rest = len(self.faults) - len(first)
        shown = [f"position {run.number + 1}, turn {run.turns}: {run.fault}" for run in first]
        return [*shown, f"... and {rest} more"] if rest else shown


# The file.


def trial_file(folder: Path, trial: Trial, name: str, version: str) -> Path:
    bot = NOT_IN_FILES.sub("_", f"{name}-{version or '0'}")[:LONGEST_NAME]
    return folder / f"test.{trial.width}x{trial.height}.{bot}.ini"


def keep(path: Path, trial: Trial, figures: Figures, seconds: float, date: str) -> None:
    """Add the figures to the file, which is replaced in one step, or raise OSError."""
    entries = _read(path)
    entries |= _added(entries, trial, figures, seconds)
    entries |= {
        "board.width": str(trial.width),
        "board.height": str(trial.height),
        "last.seed": str(trial.seed),
        "last.date": date,
    }
    path.parent.mkdir(mode=0o750, parents=True, exist_ok=True)
    draft = path.with_name(f"{path.name}.{os.getpid()}.new")
    draft.write_text("".join(f"{key}={entries[key]}\n" for key in sorted(entries)))
    draft.replace(path)


def _read(path: Path) -> dict[str, str]:
    if not path.exists():
        return {}
    lines = [
        line.partition("=")
        for line in path.read_text(errors="replace").splitlines()
        if not line.startswith("#")
    ]
    return {key.strip(): value.strip() for key, sign, value in lines if sign}


def _added(
    before: Mapping[str, str], trial: Trial, figures: Figures, seconds: float
) -> dict[str, str]:
    last = (
        figures.hunted, figures.unique, figures.shots, figures.least, figures.most, figures.perfect,
        round(seconds * 1000), trial.border, len(figures.faults),
    )  # fmt: skip
    added = {"testsRun": _number(before, "testsRun") + 1}
    for key, value in zip(COUNTED, last, strict=True):
        added[f"last.{key}"] = value
        added[f"total.{key}"] = _number(before, f"total.{key}") + value
    if figures.sunk:
        known = _number(before, "minShotCount")
        added["minShotCount"] = min(known, figures.least) if known else figures.least
        added["maxShotCount"] = max(_number(before, "maxShotCount"), figures.most)
    return {key: str(value) for key, value in added.items()}


def _number(entries: Mapping[str, str], key: str) -> int:
    """Anything but a number counts as 0."""
    text = entries.get(key, "0")
    return int(text) if text.isascii() and text.isdecimal() else 0
