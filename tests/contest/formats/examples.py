"""Contests for tests: documents, entrants, and results that follow from the fixture's key."""

from collections.abc import Callable
from typing import Any

from botdrome.contest.document import ContestDocument, document_from
from botdrome.contest.formats.format import Entrant, Fixture, FixtureResult
from botdrome.contest.progress import ContestProgress
from botdrome.games.chance import Chance

Referee = Callable[[Fixture], FixtureResult]


def document(format_: str = "round-robin", **keys: Any) -> ContestDocument:
    game = "gomoku" if keys.get("players", 2) == 2 else "bomberman"
    return document_from({"name": "cup", "game": game, "format": format_, **keys})


def bots(count: int) -> list[Entrant]:
    return [Entrant(f"bot{number}") for number in range(count)]


def seeds_win(fixture: Fixture) -> FixtureResult:
    """The earlier entrant ends ahead of the later one."""
    order = sorted(fixture.entrants)
    return FixtureResult(tuple(order.index(number) + 1 for number in fixture.entrants))


def by_chance(fixture: Fixture) -> FixtureResult:
    """Some matches end level."""
    chance = Chance(fixture.seed, len(fixture.key) + fixture.entrants[0])
    marks = [chance.below(3) for _ in fixture.entrants]
    return FixtureResult(tuple(1 + sum(other > mark for other in marks) for mark in marks))


def played(
    progress: ContestProgress, referee: Referee = seeds_win, most: int = 100_000
) -> ContestProgress:
    """Play until the contest is over, or so many matches."""
    for _ in range(most):
        if not progress.open:
            break
        fixture = next(iter(progress.open.values()))
        assert progress.add(fixture.key, referee(fixture))
    return progress


def contest(
    format_: str, entrants: int, referee: Referee = seeds_win, **keys: Any
) -> ContestProgress:
    """Return a contest that was played to its end."""
    return played(ContestProgress(document(format_, **keys), bots(entrants), {}), referee)


def order(progress: ContestProgress) -> list[int]:
    return [line.entrant for line in progress.standings()]
