"""`botdrome play`: a tournament, its progress bar and its standings."""

import signal
import sys
from collections import Counter
from collections.abc import Generator
from contextlib import closing, suppress
from math import isinf
from pathlib import Path
from typing import Any

import msgspec
from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from botdrome.cli.terminal import REFUSED, CommandError, Terminal, complain, format_called, read_options
from botdrome.client.program import CannotStart
from botdrome.contest.standings import Standings, Tally
from botdrome.formats import Format
from botdrome.games.chance import Chance
from botdrome.games.game import BadOption
from botdrome.games.options import with_options
from botdrome.runner.names import distinct_names
from botdrome.runner.scenes import SceneQueue
from botdrome.runner.seats import Effort
from botdrome.runner.tournament import MatchOutcome, TournamentPlan, play_all

MOST_EXAMPLES = 5


class TournamentReport:
    """The collected outcomes of a tournament."""

    def __init__(self, plan: TournamentPlan) -> None:
        self.plan = plan
        self.standings = Standings(len(plan.entrants))
        self.efforts = [Effort() for _ in plan.entrants]
        self.refused = [0 for _ in plan.entrants]
        self.outcomes: list[MatchOutcome] = []

    def add(self, outcome: MatchOutcome) -> None:
        self.outcomes.append(outcome)
        self.standings.add(outcome.fixture.entrants, outcome.result)
        for seat, entrant in enumerate(outcome.fixture.entrants):
            self.efforts[entrant].moves += outcome.efforts[seat].moves
            self.efforts[entrant].seconds += outcome.efforts[seat].seconds
            self.refused[entrant] += outcome.refused[seat]

    def faults(self, tally: Tally) -> Counter[str]:
        """Count the causes of a bot's losses by fault, and its refused moves."""
        counted = Counter({cause: count for cause, count in tally.causes.items() if cause != "complete"})
        if self.refused[tally.entrant]:
            counted["refused moves"] = self.refused[tally.entrant]
        return counted

    def mean_time(self, entrant: int) -> float:
        """Return the seconds per move."""
        effort = self.efforts[entrant]
        return effort.seconds / effort.moves if effort.moves else 0.0

    def examples(self) -> list[str]:
        """Describe each fault, for the authors of the bots."""
        return [
            f"match {fixture.number + 1}, seed {fixture.seed}, {self.plan.names[fixture.entrants[seat]]}: {words}"
            for fixture, faults in ((outcome.fixture, outcome.faults) for outcome in self.outcomes)
            for seat, words in faults.items()
        ]

    def as_data(self) -> dict[str, Any]:
        plan = self.plan
        return {
            "game": plan.game,
            "options": plan.options,
            "seed": plan.seed,
            "matches": [self._match(outcome) for outcome in self.outcomes],
            "standings": [self._standing(tally) for tally in self.standings.ranked()],
        }

    def _match(self, outcome: MatchOutcome) -> dict[str, Any]:
        fixture, result = outcome.fixture, outcome.result
        data = {
            "number": fixture.number + 1,
            "seed": fixture.seed,
            "bots": [self.plan.names[entrant] for entrant in fixture.entrants],
            "places": result.places,
            "scores": result.scores,
            "causes": result.causes,
            "faults": {self.plan.names[fixture.entrants[seat]]: words for seat, words in outcome.faults.items()},
        }
        return data | ({"file": outcome.file} if outcome.file else {})

    def _standing(self, tally: Tally) -> dict[str, Any]:
        elo = tally.elo
        return {
            "bot": self.plan.names[tally.entrant],
            "wins": tally.wins,
            "draws": tally.draws,
            "losses": tally.losses,
            "points": tally.points,
            "elo": [None if isinf(value) else round(value, 1) for value in (elo.points, elo.low, elo.high)],
            "meanSecondsPerMove": self.mean_time(tally.entrant),
            "faults": dict(self.faults(tally)),
        }


def score_table(report: TournamentReport) -> RenderableType:
    plan, standings = report.plan, report.standings
    last = plan.seed + (plan.matches - 1) // plan.seats
    title = f"{plan.game}: {standings.matches} matches, seeds {plan.seed} to {last}"
    table = Table(title=title, title_justify="left", title_style="bold", box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("bot", overflow="fold", min_width=12)
    for heading in ("wins", "draws", "losses", "points", "Elo", "95 %", "a move"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("faults", overflow="fold", min_width=12)
    for tally in standings.ranked():
        table.add_row(plan.names[tally.entrant], *_cells(report, tally))
    examples = report.examples()
    shown = [Text(f"  {example}", style="dim") for example in examples[:MOST_EXAMPLES]]
    if len(examples) > MOST_EXAMPLES:
        shown.append(Text(f"  ... and {len(examples) - MOST_EXAMPLES} more; --json lists them all", style="dim"))
    return Group(table, *shown)


def _cells(report: TournamentReport, tally: Tally) -> list[str]:
    faults = ", ".join(f"{cause} {count}" for cause, count in report.faults(tally).items())
    return [
        str(tally.wins),
        str(tally.draws),
        str(tally.losses),
        f"{tally.points:g}",
        elo_text(tally.elo.points),
        f"{elo_text(tally.elo.low)} .. {elo_text(tally.elo.high)}",
        duration_text(report.mean_time(tally.entrant)),
        faults or "none",
    ]


def elo_text(points: float) -> str:
    """A bot that won or lost all games has an infinite difference."""
    return f"{'-' if points < 0 else '+'}∞" if isinf(points) else f"{points:+.0f}"


def duration_text(seconds: float) -> str:
    if not seconds:
        return "-"
    if seconds >= 1:
        return f"{seconds:.1f} s"
    return f"{seconds * 1000:.1f} ms" if seconds >= 0.001 else f"{seconds * 1e6:.0f} us"


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
    except (BadOption, CommandError) as problem:
        complain(problem)
        return REFUSED
    plan = TournamentPlan(game, tuple(bots), distinct_names(bots), seats, matches, seed, given, str(save or ""))
    return _shown(plan, jobs, as_json) if show else _played(plan, jobs, as_json)


def _shown(plan: TournamentPlan, jobs: int, as_json: bool) -> int:
    """Play, and show the matches in the browser until Ctrl-C."""
    from botdrome.cli.broadcast import Broadcast, open_browser  # imports a whole server

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
    except CommandError as problem:
        complain(problem)
        return 1


def _wait_for_ctrl_c(console: Terminal, url: str) -> None:
    with suppress(KeyboardInterrupt):
        console.print(Text("They stay at ").append(url, "cyan").append(" until you press Ctrl-C."), soft_wrap=True)
        while True:
            signal.pause()


def _played(plan: TournamentPlan, jobs: int, as_json: bool, scenes: SceneQueue | None = None) -> int:
    try:
        outcomes = play_all(plan, jobs, scenes)
    except CannotStart as problem:
        complain(problem)
        return 1
    report = TournamentReport(plan)
    status = follow(outcomes, report)
    if as_json:
        sys.stdout.write(msgspec.json.encode(report.as_data()).decode() + "\n")
    else:
        Terminal().print(score_table(report))
    return status


def table_size(row: Format, bots: int, players: int | None) -> int:
    """Return the number of seats at a table: all bots, up to the game's limit."""
    allowed = row.game.players
    seats = players if players is not None else min(bots, allowed[-1])
    if seats not in allowed:
        count = str(allowed[0]) if len(allowed) == 1 else f"{allowed[0]} to {allowed[-1]}"
        raise CommandError(f"{row.name} is for {count} players, not {seats}")
    if bots < seats:
        raise CommandError(f"{seats} players need {seats} bots; name one twice to let it play itself")
    return seats


def follow(outcomes: Generator[MatchOutcome, None, None], report: TournamentReport) -> int:
    """Collect the outcomes and show a progress bar. Ctrl-C ends the tournament early and keeps the outcomes so far."""
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
