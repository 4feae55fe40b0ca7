"""Players of a contest's fixtures: worker processes, or this process itself."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from functools import partial
from time import time
from typing import Protocol

from msgspec import Struct

from botdrome.client.program import CannotStart
from botdrome.contest.document import ContestDocument
from botdrome.contest.formats.format import Entrant, Fixture
from botdrome.offline.batches import unless_ended, worker_pool
from botdrome.offline.entrants import distinct_names
from botdrome.offline.isolation import Isolation, close_idle
from botdrome.offline.seats import check_bot
from botdrome.offline.tournament import MatchOutcome, TournamentPlan, play_fixture
from botdrome.store.entries import Epoch


class PlayedFixture(Struct, frozen=True):
    """A fixture and its match. If some of its bots could not start, there was none."""

    fixture: Fixture
    started: Epoch
    ended: Epoch
    outcome: MatchOutcome | None = None
    absent: dict[int, str] = {}
    """Why a bot could not start, by seat."""


class ContestPlayers(Protocol):
    """Plays fixtures, some at a time."""

    @property
    def jobs(self) -> int: ...

    def play(self, fixtures: Sequence[Fixture]) -> asyncio.Future[list[PlayedFixture]]: ...


def entrant_names(document: ContestDocument) -> tuple[str, ...]:
    """Return the names of the document's entrants; one without a name is called like its file."""
    derived = distinct_names([entrant.bot for entrant in document.entrants])
    return tuple(
        entrant.name or name for entrant, name in zip(document.entrants, derived, strict=True)
    )


def contest_plan(
    document: ContestDocument, entrants: Sequence[Entrant], isolation: Isolation
) -> TournamentPlan:
    """Return the settings of the contest's matches.

    The entrants are those of the document, in its order.
    """
    return TournamentPlan(
        document.game,
        tuple(entrant.bot for entrant in document.entrants),
        tuple(entrant.name for entrant in entrants),
        document.seats,
        matches=1,
        seed=document.seed,
        options=document.options,
        isolation=isolation,
        records=True,
        pace=document.terms.pace,
    )


def play_portion(plan: TournamentPlan, fixtures: Sequence[Fixture]) -> list[PlayedFixture]:
    return [_play(plan, fixture) for fixture in fixtures]


def _play(plan: TournamentPlan, fixture: Fixture) -> PlayedFixture:
    started = _now()
    try:
        outcome = play_fixture(plan, fixture)
    except CannotStart:
        absent = {
            seat: why
            for seat, entrant in enumerate(fixture.entrants)
            if (why := _cannot_start(plan, entrant))
        }
        if not absent:
            raise
        return PlayedFixture(fixture, started, _now(), absent=absent)
    return PlayedFixture(fixture, started, _now(), outcome)


def _cannot_start(plan: TournamentPlan, entrant: int) -> str:
    try:
        check_bot(plan.entrants[entrant], plan.game, plan.isolation)
    except CannotStart as problem:
        return str(problem)
    return ""


def _now() -> Epoch:
    return int(time() * 1000)


class PlayersHere:
    """Plays in this process, and blocks it meanwhile."""

    jobs = 1

    def __init__(self, plan: TournamentPlan) -> None:
        self._plan = plan

    def play(self, fixtures: Sequence[Fixture]) -> asyncio.Future[list[PlayedFixture]]:
        future: asyncio.Future[list[PlayedFixture]] = asyncio.get_running_loop().create_future()
        future.set_result(play_portion(self._plan, fixtures))
        return future


class PlayersInProcesses:
    def __init__(self, plan: TournamentPlan, pool: ProcessPoolExecutor, jobs: int) -> None:
        self._work: Callable[[Sequence[Fixture]], list[PlayedFixture]] = partial(
            unless_ended, partial(play_portion, plan)
        )
        self._pool, self.jobs = pool, jobs

    def play(self, fixtures: Sequence[Fixture]) -> asyncio.Future[list[PlayedFixture]]:
        return asyncio.wrap_future(self._pool.submit(self._work, fixtures))


@contextmanager
def players_in_processes(plan: TournamentPlan, jobs: int) -> Iterator[PlayersInProcesses]:
    """Start worker processes; an exception ends the matches that still run."""
    close_idle()
    with worker_pool(jobs) as pool:
        yield PlayersInProcesses(plan, pool, jobs)
