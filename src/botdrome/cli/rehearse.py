"""`botdrome rehearse`: a contest with synthetic bots, and its report."""

import asyncio
import sys
from pathlib import Path

import msgspec
from msgspec import Struct
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from botdrome.cli.play import INTERRUPTED
from botdrome.cli.terminal import REFUSED, CommandError, Terminal, complain
from botdrome.client.rest import ServerProblem
from botdrome.contest.document import BadDocument, ContestDocument, read_document
from botdrome.games.reading import plural
from botdrome.match.terms import Terms
from botdrome.rehearsal.bot_faults import FaultRates
from botdrome.rehearsal.rehearsal import RehearsalPlan, RehearsalReport, rehearse

LONGEST_PAUSE = 10.0
"""Seconds of a slow move, where moves have no limit or a long one."""


class RehearseOptions(Struct, frozen=True):
    """The options of the command."""

    bots: int
    slow: str
    crash: str
    drop: str
    kills: int
    files: tuple[str, ...]
    seed: int
    minutes: float
    as_json: bool


def run(files: list[Path], given: RehearseOptions) -> int:
    try:
        plan = _plan(files, given)
    except CommandError as problem:
        complain(problem)
        return REFUSED
    try:
        report = _with_progress(plan)
    except ServerProblem as problem:
        complain(problem)
        return REFUSED
    except KeyboardInterrupt:
        return INTERRUPTED
    if given.as_json:
        sys.stdout.write(msgspec.json.encode(report).decode() + "\n")
    else:
        _show(report)
    return 0 if report.passed else 1


def _plan(files: list[Path], given: RehearseOptions) -> RehearsalPlan:
    documents = tuple(_document(file) for file in files)
    pause = min(_slow_enough(document.terms) for document in documents)
    rates = FaultRates(
        share("slow", given.slow), share("crash", given.crash), share("drop", given.drop), pause
    )
    return RehearsalPlan(
        documents, given.bots, rates, given.kills, given.seed, 60 * given.minutes, given.files
    )


def _document(file: Path) -> ContestDocument:
    try:
        return read_document(file.read_text())
    except OSError as error:
        raise CommandError(f"{file}: {error.strerror}") from None
    except (BadDocument, UnicodeDecodeError) as problem:
        raise CommandError(f"{file}: {problem}") from None


def _slow_enough(terms: Terms) -> float:
    limit = terms.pace.allowed(1)
    return LONGEST_PAUSE if limit is None else min(LONGEST_PAUSE, 1.2 * limit / 1000)


def share(option: str, text: str) -> float:
    """Read a share such as 5% or 0.05."""
    try:
        value = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise CommandError(f"--{option} is a share such as 5% or 0.05, not {text!r}")
    return value


def _with_progress(plan: RehearsalPlan) -> RehearsalReport:
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Terminal(stderr=True), transient=True) as bar:
        task = bar.add_task("rehearsal", total=None)
        return asyncio.run(
            rehearse(
                plan, lambda played, expected: bar.update(task, completed=played, total=expected)
            )
        )


def _show(report: RehearsalReport) -> None:
    terminal = Terminal()
    faults = ", ".join(f"{kind} {count}" for kind, count in sorted(report.faults.items())) or "none"
    used = f"{report.cpu_seconds:.1f} s of CPU time and {report.peak_megabytes:.0f} MB"
    terminal.print(f"{report.seconds:.0f} s; the server used {used}")
    terminal.print(f"faults of the bots: {faults}; kills of the server: {report.kills}")
    for one in report.contests:
        end = (
            "came to its end"
            if one.state == "over"
            else f"is {one.state}: it did not come to its end"
        )
        faults = f"{plural(one.no_shows, 'no-show')}, {plural(one.crashes, 'crash', 'es')}"
        counts = f"{one.played} of {plural(one.expected, 'result')}, {faults}"
        terminal.print(f"{one.name} {end}: {counts}", soft_wrap=True)
        if one.repeated:
            terminal.print(f"  matches that count twice: {', '.join(one.repeated)}", style="red")
