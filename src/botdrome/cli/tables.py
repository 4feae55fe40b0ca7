"""Tables: what a tournament came to, for people and as data."""

from collections import Counter
from math import isinf
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from botdrome.contest.standings import Standings, Tally
from botdrome.runner.seats import Effort
from botdrome.runner.tournament import Outcome, Plan

MOST_EXAMPLES = 5


class Report:
    """Gathers the outcomes of a tournament."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.standings = Standings(len(plan.entrants))
        self.efforts = [Effort() for _ in plan.entrants]
        self.refused = [0 for _ in plan.entrants]
        self.outcomes: list[Outcome] = []

    def add(self, outcome: Outcome) -> None:
        self.outcomes.append(outcome)
        self.standings.add(outcome.fixture.entrants, outcome.result)
        for seat, entrant in enumerate(outcome.fixture.entrants):
            self.efforts[entrant].moves += outcome.efforts[seat].moves
            self.efforts[entrant].seconds += outcome.efforts[seat].seconds
            self.refused[entrant] += outcome.refused[seat]

    def faults(self, tally: Tally) -> Counter[str]:
        """How often a bot went out, by cause, and how many of its moves were refused."""
        counted = Counter({cause: count for cause, count in tally.causes.items() if cause != "complete"})
        if self.refused[tally.entrant]:
            counted["refused moves"] = self.refused[tally.entrant]
        return counted

    def mean_time(self, entrant: int) -> float:
        """Seconds a move."""
        effort = self.efforts[entrant]
        return effort.seconds / effort.moves if effort.moves else 0.0

    def examples(self) -> list[str]:
        """The first faults, in words for the authors."""
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

    def _match(self, outcome: Outcome) -> dict[str, Any]:
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


def score_table(report: Report) -> RenderableType:
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


def _cells(report: Report, tally: Tally) -> list[str]:
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
    """A bot that won or lost everything has no finite difference, only a bound."""
    return f"{'-' if points < 0 else '+'}∞" if isinf(points) else f"{points:+.0f}"


def duration_text(seconds: float) -> str:
    if not seconds:
        return "-"
    if seconds >= 1:
        return f"{seconds:.1f} s"
    return f"{seconds * 1000:.1f} ms" if seconds >= 0.001 else f"{seconds * 1e6:.0f} us"
