"""Grades: what the bots of a contest reach against the opponents that its document names."""

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import astuple

from botdrome.contest.document import ContestDocument
from botdrome.contest.formats.format import (
    Entrant,
    EntrantNumber,
    StandingsLine,
    duels_of,
    played_in,
)
from botdrome.contest.progress import ContestProgress, contest_ratings
from botdrome.contest.strength import wilson

DIGITS = 4


class Share(Struct, frozen=True):
    """The share of the points of a bot against one opponent, with its 95 % interval."""

    matches: int
    different: int
    """Different games; a game that is repeated move by move makes the interval no narrower."""
    score: float
    low: float
    high: float


class GradedEntrant(Struct, frozen=True):
    entrant: EntrantNumber
    grade: str
    """The first of the document that it reaches; empty: none."""
    shares: dict[str, Share]
    """By opponent; those that it has met."""


def graded(progress: ContestProgress) -> list[GradedEntrant]:
    """Return the grades of all bots that the document does not name; empty if it has no grades."""
    document = progress.document
    if not document.grades:
        return []
    shares = _shares(progress)
    named = {entrant.name or entrant.bot for entrant in document.entrants}
    return [
        GradedEntrant(number, _grade(progress, mine), mine)
        for number, entrant in enumerate(progress.entrants)
        if entrant.name not in named
        for mine in [shares.get(number, {})]
    ]


def _grade(progress: ContestProgress, shares: dict[str, Share]) -> str:
    reached = (
        grade.name
        for grade in progress.document.grades
        if grade.against in shares and shares[grade.against].low >= grade.score
    )
    return next(reached, "")


def _shares(progress: ContestProgress) -> dict[EntrantNumber, dict[str, Share]]:
    wanted = {grade.against for grade in progress.document.grades}
    points = dict[tuple[EntrantNumber, str], list[int]]()
    games = dict[tuple[EntrantNumber, str], set[object]]()
    for fixture, result in played_in(progress.rounds, progress.results):
        game = (result.fingerprint, fixture.entrants) if result.fingerprint else fixture.key
        for one, two, scored in duels_of(fixture, result):
            against = progress.entrants[two].name
            if against in wanted:
                points.setdefault((one, against), []).append(scored)
                games.setdefault((one, against), set()).add(game)
    found = dict[EntrantNumber, dict[str, Share]]()
    for (one, against), all_ in points.items():
        found.setdefault(one, {})[against] = _share(all_, len(games[one, against]))
    return found


def _share(points: list[int], different: int) -> Share:
    score = sum(points) / (2 * len(points))
    low, high = wilson(score, different)
    return Share(len(points), different, *(round(number, DIGITS) for number in (score, low, high)))


# The grades as a table.

COLUMNS = (
    "participant", "bot", "version", "place", "score", "wins", "draws", "losses", "rating",
    "margin", "grade",
)  # fmt: skip
FIELDS = Share.__struct_fields__
"""Of each opponent."""


def _opponents(document: ContestDocument) -> list[str]:
    return list(dict.fromkeys(grade.against for grade in document.grades))


def grade_columns(document: ContestDocument) -> list[str]:
    return [*COLUMNS, *(f"{one}: {field}" for one in _opponents(document) for field in FIELDS)]


def grade_lines(progress: ContestProgress, owners: Mapping[str, str]) -> list[Sequence[object]]:
    """Return a line for each bot that has an owner here, best first."""
    grades = {one.entrant: one for one in graded(progress)}
    strengths = contest_ratings(progress).strengths
    opponents = _opponents(progress.document)

    def cells(line: StandingsLine, entrant: Entrant) -> Iterator[object]:
        yield from (owners[entrant.name], entrant.name, entrant.version, line.place, line.score)
        yield from (line.wins, line.draws, line.losses)
        one = strengths.get(entrant.name)
        for value in (one.rating, one.margin) if one else (None, None):
            yield None if value is None else round(value)
        grade = grades.get(line.entrant)
        yield grade.grade if grade else ""
        for share in [grade.shares.get(other) if grade else None for other in opponents]:
            yield from astuple(share) if share else [""] * len(FIELDS)

    found = ((line, progress.entrants[line.entrant]) for line in progress.standings())
    return [list(cells(line, entrant)) for line, entrant in found if entrant.name in owners]
