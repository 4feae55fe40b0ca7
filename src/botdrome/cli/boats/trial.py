"""`botdrome boats test`: runs a boat trial, shows its progress and figures, and stores them."""

import os
import re
import secrets
import sys
from collections.abc import Mapping
from contextlib import closing
from datetime import UTC, datetime
from math import sqrt
from pathlib import Path
from time import monotonic
from typing import Annotated

from rich.text import Text
from typer import Argument, Option

from botdrome.bots.house import HOUSE
from botdrome.cli.boats.widgets import BoardSheet, Panel
from botdrome.cli.standings import duration_text
from botdrome.cli.terminal import INTERRUPTED, CommandError, Terminal, command, complain
from botdrome.client.program import CannotStart
from botdrome.client.terminal_text import shown
from botdrome.games.battleship import boats_in
from botdrome.games.game import View
from botdrome.games.reading import plural
from botdrome.offline.boat_trial import (
    FLEET,
    GAME,
    SKIPPER,
    BoardRun,
    Trial,
    TrialBot,
    Watch,
    entered,
    runs,
)
from botdrome.offline.project import project_at
from botdrome.wire.boats.lines import square_name

# The figures of a boat trial, and the file in which they are added up, with the keys of the
# original.

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


def keep(path: Path, trial: Trial, figures: Figures, seconds: float) -> None:
    """Add the figures to the file, which is replaced in one step, or raise OSError."""
    entries = _read(path)
    entries |= _added(entries, trial, figures, seconds)
    entries |= {
        "board.width": str(trial.width),
        "board.height": str(trial.height),
        "last.seed": str(trial.seed),
        "last.date": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
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


LEAST_SIDE, LONGEST_SIDE = 8, 22
WATCHED_WIDTH = 80
UNFINISHED = "no game was finished"


@command(CannotStart, name="test")
def test_command(
    bot: Annotated[
        str,
        Argument(help="A house bot, FILE.py[:FUNCTION], MODULE:FUNCTION, or 'cmd:PROGRAM'."),
    ],
    positions: Annotated[int, Option(help="Number of boards.")] = 10_000,
    width: Annotated[int, Option(help="Their columns.")] = 10,
    height: Annotated[int, Option(help="Their rows.")] = 10,
    msa: Annotated[int, Option(help="Percent of their border that boats have free.")] = 0,
    seed: Annotated[int | None, Option(help="Seed for the boards and the bot.")] = None,
    watch: Annotated[bool, Option("--watch", help="Show every shot, and wait.")] = False,
    test_db: Annotated[Path, Option(metavar="FOLDER", help="Folder for the figures.")] = Path(
        "testDB"
    ),
    jobs: Annotated[
        int | None,
        Option("-j", "--jobs", help="Processes. \\[default: one per core for house bots, else 1]"),
    ] = None,
) -> int:
    """Let a bot sink random boards, and count its shots.

    Ends with status 0 after a test, 1 if the bot could not be started or sank no fleet, 2 for wrong
    options, and 130 after Ctrl-C.
    """
    for name, value, least, most in (
        ("width", width, LEAST_SIDE, LONGEST_SIDE),
        ("height", height, LEAST_SIDE, LONGEST_SIDE),
        ("msa", msa, 0, 100),
        ("positions", positions, 1, 10**9),
        ("jobs", jobs or 1, 1, 1024),
    ):
        if not least <= value <= most:
            raise CommandError(f"--{name} is from {least} to {most}, not {value}")
    trial = Trial(
        _entrant(bot), positions, secrets.randbits(32) if seed is None else seed, width, height, msa
    )
    jobs = jobs or (len(os.sched_getaffinity(0)) if trial.bot.startswith("house:") else 1)
    report = TrialReport(trial, entered(trial), test_db, watch)
    report.open()
    try:
        with closing(runs(trial, jobs, report.watch)) as coming:
            for run in coming:
                report.add(run)
    except KeyboardInterrupt:  # the figures so far are kept
        report.interrupted = True
    return report.close()


def _entrant(bot: str) -> str:
    """As the runner calls it."""
    name = bot.lower().removeprefix("house:")
    if name in HOUSE[GAME]:
        return f"house:{name}"
    if (
        bot.startswith("cmd:")
        or bot.endswith(".py")
        or project_at(bot)
        or (":" in bot and not bot.startswith("house:"))
    ):
        return bot
    others = "cmd:PROGRAM, FILE.py or MODULE:FUNCTION"
    raise CommandError(
        f"there is no bot {bot!r}; there are {', '.join(HOUSE[GAME])}, and your own as {others}"
    )


# Output.


def shot_seen(view: View, bot: str) -> Text:
    """Draw the last shot and the board with its boats; squares are named as in the client."""
    last, head = view["last"], f"round {view['round']}, goal {view['goal']}: {shown(bot)}"
    deed = "skips" if "skip" in last else "hits" if last["hit"] else "misses"
    where = "" if "skip" in last else f" {SKIPPER} at {square_name(last['x'], last['y'])}"
    heads = Text(f"   {SKIPPER}", "bold"), Text(f"   {view['scores'][0]} hit")
    sheet = BoardSheet(1, view["width"], view["height"], WATCHED_WIDTH)
    return Text(f"{head} {deed}{where}\n").append_text(
        sheet.draw([Panel(heads, "".join(view["own"]))])
    )


class TrialReport:
    def __init__(self, trial: Trial, entry: TrialBot, folder: Path, watched: bool) -> None:
        self._trial, self.entry, self._folder = trial, entry, folder
        self._figures = Figures()
        self._console = Terminal(soft_wrap=True)
        self._began = self._shown = monotonic()
        self._bar = False
        self.interrupted = False
        self.watch: Watch | None = self._pause if watched else None

    def say(self, words: str) -> None:
        self._clear_bar()
        self._console.print(words)

    def open(self) -> None:
        trial = self._trial
        bot = f"{self.entry.name} {self.entry.version}".strip()
        self.say(
            f"testing {bot} on {plural(trial.positions, 'position')} of {trial.width} by "
            f"{trial.height}, {FLEET}"
        )
        self.say(
            f"seed {trial.seed}, at least {trial.border} % of the boats' border free; the first "
            "position:"
        )
        for row in trial.position(0):
            self.say(f"  {' '.join(row)}")

    def add(self, run: BoardRun) -> None:
        self._figures.add(run)
        now = monotonic()
        if now - self._shown >= 1 and self.watch is None:
            self._shown = now
            self._progress(now - self._began)

    def _progress(self, seconds: float) -> None:
        figures, trial = self._figures, self._trial
        shots = f"{figures.average:.2f} shots on average" if figures.sunk else UNFINISHED
        line = (
            f"{100 * figures.hunted // trial.positions:3} %  {figures.hunted} of "
            f"{plural(trial.positions, 'position')}, "
            f"{shots}, {figures.hunted / seconds:.1f} positions a second"
        )
        if not sys.stdout.isatty():
            return self.say(line)
        self._clear_bar()
        sys.stdout.write(line[: self._console.width - 1])
        sys.stdout.flush()
        self._bar = True

    def _clear_bar(self) -> None:
        if self._bar:
            sys.stdout.write("\r\x1b[2K")
            self._bar = False

    def _pause(self, view: View) -> None:
        """Wait for Enter after every shot."""
        self._console.print(shot_seen(view, self.entry.name))
        self._console.print("Enter: the next shot; q and Enter: the end ", end="")
        answer = sys.stdin.readline()
        if not answer or answer.strip().lower() == "q":
            raise KeyboardInterrupt

    def close(self) -> int:
        """Show the figures and keep them."""
        figures, seconds = self._figures, monotonic() - self._began
        for name, value in self._lines(figures, seconds):
            self.say(f"{name:17}{value}")
        for example in figures.examples():
            self.say(f"  {example}")
        if figures.hunted:
            self._keep(figures, seconds)
        if self.interrupted:
            return INTERRUPTED
        return 0 if figures.sunk else 1

    def _lines(self, figures: Figures, seconds: float) -> list[tuple[str, str]]:
        clock = "of CPU time" if self._trial.bot.startswith("house:") else "by the clock"
        a_shot = (
            f"{duration_text(figures.seconds_a_shot)} a shot {clock}, " if figures.turns else ""
        )
        shots = [
            ("minimum shots", str(figures.least)),
            ("maximum shots", str(figures.most)),
            ("average shots", f"{figures.average:.2f}, +- {1.96 * figures.error:.2f} at 95 %"),
            ("perfect games", str(figures.perfect)),
        ]
        return [
            ("positions", f"{figures.hunted}, {figures.unique} of them unique"),
            *(shots if figures.sunk else [("shots", UNFINISHED)]),
            ("not sunk", str(len(figures.faults))),
            ("time", f"{a_shot}{seconds:.1f} s in all"),
        ]

    def _keep(self, figures: Figures, seconds: float) -> None:
        path = trial_file(self._folder, self._trial, self.entry.name, self.entry.version)
        try:
            keep(path, self._trial, figures, seconds)
        except OSError as problem:
            complain(f"{path}: {problem.strerror}")
            return
        self.say(f"kept in {path}")
