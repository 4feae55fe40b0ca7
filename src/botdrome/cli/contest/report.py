"""The report of a contest: its standings, rounds and log in the terminal, and its JSON."""

from datetime import datetime
from typing import Any

import msgspec
from msgspec import Struct
from rich.box import SIMPLE_HEAD
from rich.table import Table

from botdrome.contest.block_counts import Repetition, contest_blocks
from botdrome.contest.formats.format import Standing
from botdrome.contest.progress import ContestProgress
from botdrome.contest.strength import MEAN, Ratings, rate_counted
from botdrome.games.reading import plural
from botdrome.store.contest_journal import LogLine, StoredContest

SHOWN_LINES = 10
"""Lines of the log that are shown unless all are wanted."""


class ContestReport(Struct, frozen=True):
    """A contest and what follows from its results."""

    contest: StoredContest
    progress: ContestProgress
    ratings: Ratings
    repetition: Repetition

    def headline(self) -> str:
        document, state = self.contest.entry.document, self.contest.entry.state
        played, expected = len(self.progress.results), self.progress.expected
        about = f"{played} of {'' if self.progress.over else 'about '}" if expected else ""
        count = f"{about}{plural(expected or played, 'match', 'es')}"
        title = f"{document.title} ({document.name})" if document.title else document.name
        return f"{title}: {document.game}, {document.format_}, {state}, {count}"

    def as_data(self) -> dict[str, Any]:
        entry = self.contest.entry
        return {
            "name": entry.document.name,
            "game": entry.document.game,
            "format": entry.document.format_,
            "state": entry.state,
            "why": entry.why,
            "matches": {"played": len(self.progress.results), "expected": self.progress.expected},
            "standings": [self._standing(standing) for standing in self.progress.standings()],
            "distinctGames": self.repetition.games,
            "notComparable": self.ratings.groups() if len(self.ratings.groups()) > 1 else [],
            "rounds": [
                {
                    "number": round_.number,
                    "matches": len(round_.fixtures),
                    "played": sum(
                        fixture.key in self.progress.results for fixture in round_.fixtures
                    ),
                    "byes": [self.progress.entrants[number].name for number in round_.byes],
                }
                for round_ in self.progress.rounds
            ],
            "log": msgspec.to_builtins(self.contest.log),
        }

    def _standing(self, standing: Standing) -> dict[str, Any]:
        entrant = self.progress.entrants[standing.entrant]
        strength = self.ratings.strengths.get(entrant.name)
        data: dict[str, Any] = msgspec.to_builtins(standing) | {
            "bot": entrant.name,
            "version": entrant.version,
        }
        data["withdrawn"] = entrant.left is not None
        data["elo"] = None if strength is None else round(strength.rating - MEAN, 1)
        data["margin"] = (
            None if strength is None or strength.margin is None else round(strength.margin, 1)
        )
        return data


def report_of(contest: StoredContest) -> ContestReport:
    progress = ContestProgress(contest.entry.document, contest.entrants, contest.results)
    blocks = contest_blocks(progress)
    return ContestReport(contest, progress, rate_counted(blocks.counted()), blocks.repetition())


def standings_table(
    progress: ContestProgress, ratings: Ratings | None = None, most: int | None = None
) -> Table:
    """Return the table of the standings; without ratings it is cheap enough to be drawn again and
    again.
    """
    table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    numbers = ["score", "wins", "draws", "losses", "faults", *(["Elo", "95 %"] if ratings else [])]
    for heading in ("", "bot", *numbers, "note"):
        table.add_column(
            heading, justify="right" if heading in numbers or not heading else "left", no_wrap=True
        )
    for standing in progress.standings()[:most]:
        table.add_row(*_cells(progress, standing, ratings))
    return table


def _cells(progress: ContestProgress, standing: Standing, ratings: Ratings | None) -> list[str]:
    entrant = progress.entrants[standing.entrant]
    counts = (standing.wins, standing.draws, standing.losses, standing.no_shows + standing.crashes)
    notes = [
        standing.note,
        f"byes: {standing.byes}" if standing.byes else "",
        "withdrawn" if entrant.left is not None else "",
    ]
    cells = [str(standing.place), entrant.name, f"{standing.score:g}", *map(str, counts)]
    if ratings is not None:
        strength = ratings.strengths.get(entrant.name)
        cells.append("-" if strength is None else f"{strength.rating - MEAN:+.0f}")
        cells.append(
            "-" if strength is None or strength.margin is None else f"±{strength.margin:.0f}"
        )
    return [*cells, ", ".join(filter(None, notes))]


def round_lines(progress: ContestProgress) -> list[str]:
    lines = []
    for round_ in progress.rounds:
        played = sum(fixture.key in progress.results for fixture in round_.fixtures)
        byes = ", ".join(progress.entrants[number].name for number in round_.byes)
        matches = plural(len(round_.fixtures), "match", "es")
        lines.append(
            f"round {round_.number}: {played} of {matches}{f', byes: {byes}' if byes else ''}"
        )
    return lines


def log_line(line: LogLine) -> str:
    when = datetime.fromtimestamp(line.when / 1000).astimezone().isoformat(" ", "seconds")
    return " ".join(filter(None, (when, line.author, line.action, line.detail)))
