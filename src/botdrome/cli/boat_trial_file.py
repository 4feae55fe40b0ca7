"""Trial file: the figures of all trials of one bot on boards of one size, as the original keeps them: key=value lines."""

import os
import re
from collections.abc import Mapping
from pathlib import Path

from botdrome.cli.boat_trial_figures import Figures
from botdrome.runner.boat_trial import Trial

NOT_IN_FILES = re.compile(r"[^\w.+-]+")
LONGEST_NAME = 60
COUNTED = (
    "positionCount", "uniquePositionCount", "shotCount", "minShotCount", "maxShotCount", "perfectCount", "time", "minSurfaceArea",
    "unsunkCount",
)  # fmt: skip
"""Of the last trial, and added up over all of them; the original does so with the minimum and the maximum, too."""


def trial_file(folder: Path, trial: Trial, name: str, version: str) -> Path:
    bot = NOT_IN_FILES.sub("_", f"{name}-{version or '0'}")[:LONGEST_NAME]
    return folder / f"test.{trial.width}x{trial.height}.{bot}.ini"


def keep(path: Path, trial: Trial, figures: Figures, seconds: float, date: str) -> None:
    """Add the figures to the file; or OSError. It is whole at any time."""
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
    lines = [line.partition("=") for line in path.read_text(errors="replace").splitlines() if not line.startswith("#")]
    return {key.strip(): value.strip() for key, sign, value in lines if sign}


def _added(before: Mapping[str, str], trial: Trial, figures: Figures, seconds: float) -> dict[str, str]:
    last = (
        figures.hunted, figures.unique, figures.shots, figures.least, figures.most, figures.perfect, round(seconds * 1000),
        trial.border, len(figures.faults),
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
    """What somebody wrote there by hand counts as nothing."""
    text = entries.get(key, "0")
    return int(text) if text.isascii() and text.isdecimal() else 0
