"""`botdrome play`: a tournament, its progress and its table."""

import signal
import sys
from collections.abc import Generator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import msgspec
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.text import Text

from botdrome.cli.problems import REFUSED, Refusal, complain, format_called, read_options
from botdrome.cli.tables import Report, score_table
from botdrome.cli.terminal import Terminal
from botdrome.client.program import CannotStart
from botdrome.formats import Format
from botdrome.games.chance import Chance
from botdrome.games.game import BadOption
from botdrome.games.options import with_options
from botdrome.runner.scenes import SceneQueue
from botdrome.runner.tournament import Outcome, Plan, play_all

INTERRUPTED = 130


def run(
    game: str,
    bots: list[str],
    matches: int,
    jobs: int,
    seed: int,
    players: int | None,
    options: list[str],
    save: Path | None,
    as_json: bool,
    show: bool = False,
) -> int:
    try:
        row = format_called(game)
        seats = table_size(row, len(bots), players)
        given = read_options(options)
        with_options(row.game, given).start(seats, Chance(seed))
    except (BadOption, Refusal) as problem:
        complain(problem)
        return REFUSED
    plan = Plan(game, tuple(bots), distinct_names(bots), seats, matches, seed, given, str(save or ""))
    return _shown(plan, jobs, as_json) if show else _played(plan, jobs, as_json)


def _shown(plan: Plan, jobs: int, as_json: bool) -> int:
    """The same in the browser, where the matches stay until Ctrl-C."""
    from botdrome.cli.broadcast import Broadcast, open_browser  # a whole server, which is not needed otherwise

    console = Terminal(stderr=True)
    try:
        with Broadcast() as broadcast:
            signal.signal(signal.SIGTERM, signal.default_int_handler)
            console.print(Text("The matches are shown at ").append(broadcast.url, "cyan"), soft_wrap=True)
            if not open_browser(broadcast.url):
                console.print("There is no browser to open here: open that address in one.")
            status = _played(plan, jobs, as_json, broadcast.scenes)
            if status == 0:
                _wait_for_ctrl_c(console, broadcast.url)
            return status
    except Refusal as problem:
        complain(problem)
        return 1


def _wait_for_ctrl_c(console: Terminal, url: str) -> None:
    with suppress(KeyboardInterrupt):
        console.print(Text("They stay at ").append(url, "cyan").append(" until you press Ctrl-C."), soft_wrap=True)
        while True:
            signal.pause()


def _played(plan: Plan, jobs: int, as_json: bool, scenes: SceneQueue | None = None) -> int:
    try:
        outcomes = play_all(plan, jobs, scenes)
    except CannotStart as problem:
        complain(problem)
        return 1
    report = Report(plan)
    status = follow(outcomes, report)
    if as_json:
        sys.stdout.write(msgspec.json.encode(report.as_data()).decode() + "\n")
    else:
        Terminal().print(score_table(report))
    return status


def table_size(row: Format, bots: int, players: int | None) -> int:
    """How many sit at one table: all, where the game has room for them."""
    allowed = row.game.players
    seats = players if players is not None else min(bots, allowed[-1])
    if seats not in allowed:
        count = str(allowed[0]) if len(allowed) == 1 else f"{allowed[0]} to {allowed[-1]}"
        raise Refusal(f"{row.name} is for {count} players, not {seats}")
    if bots < seats:
        raise Refusal(f"{seats} players need {seats} bots; name one twice to let it play itself")
    return seats


def distinct_names(bots: list[str]) -> tuple[str, ...]:
    """The bots without folders, and numbered where one comes twice."""
    short = [" ".join(word.rpartition("/")[2] for word in bot.removeprefix("cmd:").split()) or bot for bot in bots]
    counts = [short[:number].count(name) for number, name in enumerate(short)]
    return tuple(f"{name} #{again + 1}" if again else name for name, again in zip(short, counts, strict=True))


def follow(outcomes: Generator[Outcome, None, None], report: Report) -> int:
    """Take in the outcomes behind a progress bar; Ctrl-C ends it early and keeps what there is."""
    columns: tuple[Any, ...] = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Terminal(stderr=True), transient=True) as bar:
        task = bar.add_task(report.plan.game, total=len(report.plan.fixtures()))
        try:
            with closing(outcomes):
                for outcome in outcomes:
                    report.add(outcome)
                    bar.advance(task)
        except KeyboardInterrupt:
            return INTERRUPTED
        except CannotStart as problem:
            complain(problem)
            return 1
    return 0
