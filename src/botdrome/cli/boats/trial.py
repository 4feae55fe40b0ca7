"""`botdrome boats --test`: runs a boat trial, shows its progress and figures, and stores them."""

import asyncio
import os
import secrets
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic

from msgspec import Struct
from msgspec.structs import replace
from rich.text import Text

from botdrome.bots.house import HOUSE
from botdrome.cli.boats.sheet import BoardSheet, Panel
from botdrome.cli.boats.trial_figures import Figures, keep, trial_file
from botdrome.cli.terminal import REFUSED, CommandError, Terminal, complain
from botdrome.cli.tournament_report import duration_text
from botdrome.client.program import CannotStart
from botdrome.client.terminal_text import shown
from botdrome.games.game import View
from botdrome.games.reading import plural
from botdrome.runner.boat_bots import TrialBot, entered, runs
from botdrome.runner.boat_tcp import TrialServer, tcp_runs
from botdrome.runner.boat_trial import FLEET, GAME, SKIPPER, BoardRun, Trial, Watch
from botdrome.wire.boats.lines import PORT, square_name

INTERRUPTED = 130
LEAST_SIDE, LONGEST_SIDE = 8, 22
TCP = "tcp"
WATCHED_WIDTH = 80
UNFINISHED = "no game was finished"


class TrialOptions(Struct, frozen=True, kw_only=True):
    """The options of the command line."""

    bot: str
    """A house bot by its name, cmd:PROGRAM ARGS, FILE.py[:FUNCTION], MODULE:FUNCTION, or
    tcp[:[HOST:]PORT].
    """
    positions: int = 10_000
    width: int = 10
    height: int = 10
    watch: bool = False
    test_db: Path = Path("testDB")
    msa: int = 0
    seed: int | None = None
    """None: any, and it is shown."""
    jobs: int | None = None
    """None: as many as there are processors for house bots, one for all others."""


def run_trial(options: TrialOptions) -> int:
    """Return 0 after a trial, 1 if the bot could not be started or sank no fleet, 2 for wrong
    options.
    """
    try:
        trial = trial_of(options)
        if options.bot.partition(":")[0] == TCP:
            return _over_tcp(options, trial)
        entry = entered(trial)
    except CommandError as problem:
        complain(problem)
        return REFUSED
    except (CannotStart, OSError) as problem:
        complain(problem)
        return 1
    jobs = options.jobs or (len(os.sched_getaffinity(0)) if trial.bot.startswith("house:") else 1)
    report = TrialReport(options, trial, entry)
    report.open()
    with _interruptible(report), closing(runs(trial, entry, jobs, report.watch)) as coming:
        for run in coming:
            report.add(run)
    return report.close()


def trial_of(options: TrialOptions) -> Trial:
    """Or CommandError."""
    for name, value, least, most in (
        ("width", options.width, LEAST_SIDE, LONGEST_SIDE),
        ("height", options.height, LEAST_SIDE, LONGEST_SIDE),
        ("msa", options.msa, 0, 100),
        ("positions", options.positions, 1, 10**9),
        ("jobs", options.jobs or 1, 1, 1024),
    ):
        if not least <= value <= most:
            raise CommandError(f"--{name} is from {least} to {most}, not {value}")
    seed = secrets.randbits(32) if options.seed is None else options.seed
    return Trial(
        _entrant(options.bot), options.positions, seed, options.width, options.height, options.msa
    )


def _entrant(bot: str) -> str:
    """As the runner calls it."""
    name = bot.lower().removeprefix("house:")
    if name in HOUSE[GAME]:
        return f"house:{name}"
    if (
        bot.partition(":")[0] in ("cmd", TCP)
        or bot.endswith(".py")
        or (":" in bot and not bot.startswith("house:"))
    ):
        return bot
    others = "cmd:PROGRAM, FILE.py, MODULE:FUNCTION or tcp:PORT"
    raise CommandError(
        f"there is no bot {bot!r}; there are {', '.join(HOUSE[GAME])}, and your own as {others}"
    )


# Over TCP.


def _over_tcp(options: TrialOptions, trial: Trial) -> int:
    host, port = _address(options.bot)
    report = TrialReport(options, trial, TrialBot(TCP, ""))
    with asyncio.Runner() as runner:
        server = TrialServer(trial, report.watch)
        listener, port = runner.run(server.open(host, port))
        report.open()
        report.say(
            f"listening on {host} port {port}: let your bot come "
            f"{plural(trial.positions, 'time')}, once for each position"
        )
        with (
            _interruptible(report),
            closing(tcp_runs(server, runner, listener, trial.positions)) as coming,
        ):
            for run in coming:
                report.add(run)
    report.entry = replace(report.entry, name=server.name or TCP)
    return report.close()


def _address(bot: str) -> tuple[str, int]:
    """Of tcp, tcp:PORT or tcp:HOST:PORT; or CommandError."""
    host, _, port = bot.removeprefix(TCP).removeprefix(":").rpartition(":")
    word = port or str(PORT)
    if not word.isascii() or not word.isdecimal() or int(word) > 65535:
        raise CommandError(f"{bot}: a port is from 0 to 65535, not {word!r}")
    return host or "127.0.0.1", int(word)


# Output.


@contextmanager
def _interruptible(report: "TrialReport") -> Iterator[None]:
    """Ctrl-C ends a trial early and keeps its figures so far."""
    try:
        yield
    except KeyboardInterrupt:
        report.interrupted = True


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
    def __init__(self, options: TrialOptions, trial: Trial, entry: TrialBot) -> None:
        self._trial, self.entry = trial, entry
        self._folder = options.test_db
        self._figures = Figures()
        self._console = Terminal(soft_wrap=True)
        self._began = self._shown = monotonic()
        self._bar = False
        self.interrupted = False
        self.watch: Watch | None = self._pause if options.watch else None

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

    def add(self, run: BoardRun | None) -> None:
        """None: time has passed."""
        if run is not None:
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
            keep(
                path,
                self._trial,
                figures,
                seconds,
                datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            )
        except OSError as problem:
            complain(f"{path}: {problem.strerror}")
            return
        self.say(f"kept in {path}")
