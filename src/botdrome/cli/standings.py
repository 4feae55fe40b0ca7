"""The report of a tournament: its table in the terminal, live or at the end, and its JSON."""

import sqlite3
from bisect import insort
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cached_property
from itertools import pairwise
from operator import itemgetter
from time import monotonic
from typing import Any, TextIO

import msgspec
from rich.console import Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from botdrome.cli.terminal import Terminal, progress_bar, table_of, unbroken
from botdrome.contest.formats.format import Fixture, Scores, StandingsLine
from botdrome.contest.formats.round_robin import ranked_by_points
from botdrome.contest.progress import BlockCounts, Repetition, fixture_result
from botdrome.contest.strength import MEAN, Ratings, rate
from botdrome.games.reading import plural
from botdrome.offline.entrants import bot_version
from botdrome.offline.seats import Effort
from botdrome.offline.tournament import MatchOutcome, TournamentPlan

MOST_LIVE = 15
"""Lines of the live standings."""
REDRAW = 0.5
"""Seconds between two updates."""
SHARE = 20
"""An update that takes long is made again after this multiple of its time, as in contests with many
thousands of results.
"""


class LiveStandings:
    """On a pipe nothing is drawn."""

    def __init__(self) -> None:
        self._bar, console = progress_bar(), Terminal(stderr=True)
        self._task = self._bar.add_task("", total=None)
        self._table: RenderableType = ""
        self._live = Live(
            console=console, get_renderable=lambda: Group(self._bar, self._table), transient=True
        )
        self._next = 0.0 if console.is_terminal else float("inf")

    def __enter__(self) -> "LiveStandings":
        self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._live.stop()

    def update(
        self,
        words: str,
        played: Callable[[], tuple[int, int | None]],
        table: Callable[[], RenderableType],
    ) -> None:
        """Draw anew, if it is time for that.

        `played` returns the number of matches, and that of all if it is known.
        """
        began = monotonic()
        if began >= self._next:
            completed, total = played()
            self._bar.update(self._task, description=words, completed=completed, total=total)
            self._table = table()
            self._next = began + max(REDRAW, SHARE * (monotonic() - began))


class MatchSpool:
    """Takes matches in any order, and returns them in the order of their numbers."""

    def __init__(self) -> None:
        self._store = sqlite3.connect("")  # a temporary file
        self._store.execute("CREATE TABLE spool (number INTEGER PRIMARY KEY, match TEXT)")

    def add(self, number: int, match: dict[str, Any]) -> None:
        text = msgspec.json.encode(match).decode()
        self._store.execute("INSERT INTO spool VALUES (?, ?)", (number, text))

    def parts(self) -> Iterator[str]:
        """Yield the text of the list, without its brackets."""
        comma = ""
        for (text,) in self._store.execute("SELECT match FROM spool ORDER BY number"):
            yield comma + text
            comma = ","

    def close(self) -> None:
        self._store.close()


MOST_EXAMPLES = 5
NUMBERS = ("wins", "draws", "losses", "points", "Elo", "95 %", "beats next", "a move")
NARROW = ("wins", "draws", "losses", "points", "Elo", "95 %", "beats\nnext", "a\nmove")
NO_FAULTS = "none"


class TournamentReport:
    """The collected outcomes of a tournament."""

    def __init__(self, plan: TournamentPlan, spooled: bool = False) -> None:
        """`spooled`: keep all matches on disk, for `write_json`."""
        self.plan = plan
        self.matches, self.scores = 0, Scores(plan.document)
        self.causes: list[Counter[str]] = [Counter() for _ in plan.entrants]
        self.efforts = [Effort() for _ in plan.entrants]
        self.refused, self.late = [0 for _ in plan.entrants], [0 for _ in plan.entrants]
        self.unstarted: set[int] = set()
        """The entrants that failed in a match before they could make a move."""
        self.printed: set[int] = set()
        """The entrants that printed something."""
        self._seeds: tuple[int, int] | None = None
        """The first and the last seed that was played."""
        self._spool = MatchSpool() if spooled else None
        self._blocks = BlockCounts(plan.names)
        self.unplayed: list[tuple[int, str]] = []
        """The matches that could not be played, by number."""
        self.fault_count = 0
        self.examples: list[tuple[int, str]] = []
        """The faults of the matches with the lowest numbers, for the authors of the bots."""

    def add(self, outcome: MatchOutcome) -> None:
        self.matches += 1
        if self._spool is not None:
            self._spool.add(self.plan.number(outcome.fixture), self._match(outcome))
        if outcome.faults:
            self._add_examples(outcome)
        self.scores.add(outcome.fixture, fixture_result(outcome.result, ""))
        self._blocks.add(
            outcome.fixture.seed,
            outcome.fixture.entrants,
            outcome.result.places,
            outcome.fingerprint,
        )
        for seat, entrant in enumerate(outcome.fixture.entrants):
            self.efforts[entrant].moves += outcome.efforts[seat].moves
            self.efforts[entrant].seconds += outcome.efforts[seat].seconds
            self.refused[entrant] += outcome.refused[seat]
            self.late[entrant] += outcome.late[seat]
            self.causes[entrant][outcome.result.causes[seat]] += 1
        self.unstarted |= {outcome.fixture.entrants[seat] for seat in outcome.unstarted}
        self.printed |= {outcome.fixture.entrants[seat] for seat in outcome.printed}
        first, last = self._seeds or (outcome.fixture.seed, outcome.fixture.seed)
        self._seeds = (min(first, outcome.fixture.seed), max(last, outcome.fixture.seed))

    def add_unplayed(self, fixture: Fixture, why: str) -> None:
        bots = ", ".join(self.plan.names[entrant] for entrant in fixture.entrants)
        number = self.plan.number(fixture)
        insort(self.unplayed, (number, f"match {number + 1}, seed {fixture.seed}, {bots}: {why}"))

    @property
    def standings(self) -> list[StandingsLine]:
        """Best first."""
        return ranked_by_points(self.scores, len(self.plan.entrants))

    @cached_property
    def ratings(self) -> Ratings:
        """The ratings of the bots, once all outcomes are added.

        A meeting on one seed is a block.
        """
        return rate(self._blocks.counted())

    @cached_property
    def repetition(self) -> Repetition:
        return self._blocks.repetition()

    @cached_property
    def beats_next(self) -> dict[int, float | None]:
        """The probability that an entrant is stronger than the next one in the table."""
        names, rated = self.plan.names, self.ratings.strengths
        return {
            one.entrant: self.ratings.beats(names[one.entrant], names[two.entrant])
            for one, two in pairwise(self.standings)
            if names[one.entrant] in rated and names[two.entrant] in rated
        }

    def elo(self, entrant: int) -> tuple[float | None, float | None, float | None]:
        """Return the rating as a difference to the mean of all bots, and the ends of its 95 %
        interval; None: unknown.
        """
        points, margin = elo_of(self.ratings, self.plan.names[entrant])
        if points is None or margin is None:
            return points, None, None
        return points, points - margin, points + margin

    @property
    def title(self) -> str:
        first, last = self._seeds or (self.plan.seed, self.plan.seed)
        seeds = f"seed {first}" if first == last else f"seeds {first} to {last}"
        return f"{self.plan.game}: {plural(self.matches, 'match', 'es')}, {seeds}"

    def faults(self, number: int) -> Counter[str]:
        """Count the causes of a bot's losses by fault, and its refused and late moves."""
        causes = sorted(self.causes[number].items())
        return Counter({cause: count for cause, count in causes if cause != "complete"}) + Counter(
            {"refused moves": self.refused[number], "late moves": self.late[number]}
        )

    def mean_time(self, entrant: int) -> float:
        """Return the seconds per move."""
        effort = self.efforts[entrant]
        return effort.seconds / effort.moves if effort.moves else 0.0

    def _add_examples(self, outcome: MatchOutcome) -> None:
        number, faults = self.plan.number(outcome.fixture), self._faults(outcome)
        self.fault_count += len(faults)
        for name, words in faults.items():
            insort(
                self.examples,
                (number, f"match {number + 1}, seed {outcome.fixture.seed}, {name}: {words}"),
                key=itemgetter(0),
            )
        del self.examples[MOST_EXAMPLES:]

    def _faults(self, outcome: MatchOutcome) -> dict[str, str]:
        """Return the headline of each bot at fault, by name; faults that did not put it out are
        told in full.
        """
        return {
            self.plan.names[outcome.fixture.entrants[seat]]: (
                words if outcome.result.causes[seat] == "complete" else outcome.headlines[seat]
            )
            for seat, words in outcome.faults.items()
        }

    def write_json(self, to: TextIO) -> None:
        """Write the matches in the order of their numbers, and the standings."""
        assert self._spool is not None
        plan = self.plan
        head = msgspec.json.encode(
            {"game": plan.game, "options": plan.options, "seed": plan.seed}
        ).decode()
        to.write(f'{head[:-1]},"matches":[')
        to.writelines(self._spool.parts())
        to.write(f"],{msgspec.json.encode(self.as_data()).decode()[1:]}\n")
        self._spool.close()

    def as_data(self) -> dict[str, Any]:
        return ({"unplayed": [words for _, words in self.unplayed]} if self.unplayed else {}) | {
            "standings": [self._standing(line) for line in self.standings],
            "distinctGames": self.repetition.games,
            "notComparable": apart(self.ratings),
        }

    def _match(self, outcome: MatchOutcome) -> dict[str, Any]:
        fixture, result = outcome.fixture, outcome.result
        data = {
            "number": self.plan.number(fixture) + 1,
            "seed": fixture.seed,
            **(
                {"opening": self.plan.game_options(fixture)["opening"]}
                if self.plan.openings
                else {}
            ),
            "bots": [self.plan.names[entrant] for entrant in fixture.entrants],
            "places": result.places,
            "scores": result.scores,
            "causes": result.causes,
            "headlines": outcome.headlines,
            "faults": self._faults(outcome),
            "logs": {
                self.plan.names[fixture.entrants[seat]]: text for seat, text in outcome.logs.items()
            },
        }
        return data | ({"file": outcome.file} if outcome.file else {})

    def _standing(self, line: StandingsLine) -> dict[str, Any]:
        return {
            "bot": self.plan.names[line.entrant],
            "version": bot_version(self.plan.entrants[line.entrant]),
            "wins": line.wins,
            "draws": line.draws,
            "losses": line.losses,
            "points": line.score,
            "elo": [None if value is None else round(value, 1) for value in self.elo(line.entrant)],
            "beatsNext": self.beats_next.get(line.entrant),
            "meanSecondsPerMove": self.mean_time(line.entrant),
            "faults": dict(self.faults(line.entrant)),
        }


def score_table(report: TournamentReport, width: int) -> RenderableType:
    names, title = report.plan.names, report.title
    rows = [[names[line.entrant], *_cells(report, line)] for line in report.standings]
    table = table_of(("bot", *NUMBERS, "faults"), rows, ("bot", "faults"), title)
    below: list[str] = []
    if Terminal(width=10_000).measure(table).maximum > width:
        # a name is never broken, and stands beside its numbers: it comes after them
        narrow = [[*row[1:-1], row[0]] for row in rows]
        table = unbroken(table_of((*NARROW, "bot"), narrow, title=title))
        at_fault = [f"{row[0]}: faults {row[-1]}" for row in rows if row[-1] != NO_FAULTS]
        below = at_fault or [f"faults: {NO_FAULTS}"]
    examples = [f"  {words}" for _, words in report.examples]
    if more := report.fault_count - len(examples):
        examples.append(f"  ... and {more} more; --json lists them all")
    dim = [Text(words, "dim") for words in examples]
    return Group(table, *map(Text, (*below, *_remarks(report))), *dim)


def live_table(report: TournamentReport) -> Table:
    """Return the standings so far, without what takes long to compute."""
    rows = ([report.plan.names[one.entrant], *_counts(one)] for one in report.standings[:MOST_LIVE])
    return table_of(("bot", *NUMBERS[:4]), rows)


def _remarks(report: TournamentReport) -> list[str]:
    """What the table cannot say: repeated games, and bots that never met."""
    remarks = [f"Not played: {words}" for _, words in report.unplayed[:MOST_EXAMPLES]]
    if (more_unplayed := len(report.unplayed) - len(remarks)) > 0:
        remarks.append(f"... and {more_unplayed} more that were not played; --json lists them all")
    remarks += remarks_on(report.ratings, report.repetition)
    if report.printed and not report.plan.save:
        names = ", ".join(report.plan.names[entrant] for entrant in sorted(report.printed))
        remarks.append(
            f"Printed something: {names}. `--save FOLDER` keeps it beside the match files."
        )
    return remarks


def remarks_on(ratings: Ratings, repetition: Repetition) -> Iterator[str]:
    """Yield what limits the ratings: repeated games, and bots that have never met."""
    if repeated := repetition.words():
        yield repeated
    if groups := apart(ratings):
        met = " | ".join(", ".join(group) for group in groups)
        yield f"Not comparable, since they have never met: {met}"


def elo_of(ratings: Ratings, bot: str) -> tuple[float | None, float | None]:
    """Return the difference to the mean of all bots, and half of its 95 % interval."""
    strength = ratings.strengths.get(bot)
    return (None, None) if strength is None else (strength.rating - MEAN, strength.margin)


def apart(ratings: Ratings) -> list[list[str]]:
    """Return the groups of bots whose ratings are not comparable; none if all are."""
    groups = ratings.groups()
    return groups if len(groups) > 1 else []


def _counts(line: StandingsLine) -> list[str]:
    return [*map(str, (line.wins, line.draws, line.losses)), f"{line.score:.4g}"]


def _cells(report: TournamentReport, line: StandingsLine) -> list[str]:
    faults = ", ".join(f"{cause} {count}" for cause, count in report.faults(line.entrant).items())
    points, low, high = report.elo(line.entrant)
    sure = report.beats_next.get(line.entrant)
    return [
        *_counts(line),
        "-" if points is None else f"{points:+.0f}",
        "-" if low is None else f"{low:+.0f} .. {high:+.0f}",
        "-" if sure is None else percent_text(sure),
        duration_text(report.mean_time(line.entrant)),
        faults or NO_FAULTS,
    ]


def percent_text(probability: float) -> str:
    """Return whole percents, which are never 0 or 100: nothing is certain."""
    return (
        ">99 %"
        if probability > 0.99
        else "<1 %"
        if probability < 0.01
        else f"{probability:.0%}".replace("%", " %")
    )


def duration_text(seconds: float) -> str:
    if not seconds:
        return "-"
    if seconds >= 1:
        return f"{seconds:.1f} s"
    return f"{seconds * 1000:.1f} ms" if seconds >= 0.001 else f"{seconds * 1e6:.0f} us"
