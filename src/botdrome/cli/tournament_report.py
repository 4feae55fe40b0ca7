"""The report of a tournament: its table in the terminal, and its JSON."""

from collections import Counter
from math import isinf
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from botdrome.cli.terminal import Terminal
from botdrome.contest.standings import Standings, Tally
from botdrome.runner.seats import Effort
from botdrome.runner.tournament import MatchOutcome, TournamentPlan

MOST_EXAMPLES = 5
NUMBERS = ("wins", "draws", "losses", "points", "Elo", "95 %", "a move")


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
            f"match {outcome.fixture.number + 1}, seed {outcome.fixture.seed}, {name}: {words}"
            for outcome in self.outcomes
            for name, words in self._faults(outcome).items()
        ]

    def _faults(self, outcome: MatchOutcome) -> dict[str, str]:
        """Return the headline of each bot at fault, by name; faults that did not put it out are told in full."""
        return {
            self.plan.names[outcome.fixture.entrants[seat]]: (
                words if outcome.result.causes[seat] == "complete" else outcome.headlines[seat]
            )
            for seat, words in outcome.faults.items()
        }

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
            "headlines": outcome.headlines,
            "faults": self._faults(outcome),
            "logs": {self.plan.names[fixture.entrants[seat]]: text for seat, text in outcome.logs.items()},
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


def score_table(report: TournamentReport, width: int) -> RenderableType:
    plan, standings = report.plan, report.standings
    last = plan.fixtures()[-1].seed
    title = f"{plan.game}: {standings.matches} matches, seeds {plan.seed} to {last}"
    ranked = standings.ranked()
    rows = [[plan.names[tally.entrant], *_cells(report, tally)] for tally in ranked]
    table = _table(title, ("bot", *NUMBERS, "faults"), rows)
    below: list[Text] = []
    if Terminal(width=10_000).measure(table).maximum > width:  # a name is never broken: it goes below its numbers
        table = _table(title, ("", *NUMBERS), [[str(place), *row[1:-1]] for place, row in enumerate(rows, 1)])
        below = [_unbroken(f"{place} {row[0]}: faults {row[-1]}") for place, row in enumerate(rows, 1)]
    examples = report.examples()
    shown = [_unbroken(f"  {example}", "dim") for example in examples[:MOST_EXAMPLES]]
    if len(examples) > MOST_EXAMPLES:
        shown.append(_unbroken(f"  ... and {len(examples) - MOST_EXAMPLES} more; --json lists them all", "dim"))
    return Group(table, *below, *shown)


def _table(title: str, headings: tuple[str, ...], rows: list[list[str]]) -> Table:
    table = Table(title=title, title_justify="left", title_style="bold", box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    for heading in headings:
        table.add_column(heading, justify="right" if heading in NUMBERS else "left", no_wrap=True)
    for row in rows:
        table.add_row(*row)
    return table


def _unbroken(text: str, style: str = "") -> Text:
    """Return a line that only the terminal itself breaks, as it does with all text that is too long."""
    return Text(text, style, no_wrap=True, overflow="ignore")


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
