"""Tournament: many matches of the same bots, in this process or in several."""

from collections.abc import Generator, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from botdrome.contest.schedule import Fixture, fixtures
from botdrome.formats import FORMATS
from botdrome.games.chance import Chance
from botdrome.games.options import with_options
from botdrome.match.events import Player, Result
from botdrome.match.match import Match
from botdrome.match.record import match_file
from botdrome.match.terms import offline
from botdrome.runner import entrants
from botdrome.runner.pool import in_processes
from botdrome.runner.scenes import SceneQueue, Show, Stage
from botdrome.runner.seats import Effort, ProgramSeat, Seat
from botdrome.runner.table import Table


class Plan(Struct, frozen=True):
    """What is to be played."""

    game: str
    entrants: tuple[str, ...]
    names: tuple[str, ...]
    seats: int
    matches: int
    seed: int
    options: dict[str, Any] = field(default_factory=dict)
    save: str = ""
    """The folder for match files; none: they are not kept."""

    def fixtures(self) -> list[Fixture]:
        return list(fixtures(len(self.entrants), self.seats, self.matches, self.seed))


class Outcome(Struct, frozen=True):
    """How one match went, seat by seat."""

    fixture: Fixture
    result: Result
    efforts: tuple[Effort, ...]
    refused: tuple[int, ...]
    faults: dict[int, str]
    file: str = ""


def play_fixture(plan: Plan, fixture: Fixture, show: Show | None = None) -> Outcome:
    row = FORMATS[plan.game]
    match = Match(with_options(row.game, plan.options), plan.seats, offline(row.terms), fixture.seed)
    names = tuple(plan.names[entrant] for entrant in fixture.entrants)
    stage = Stage(match_name(plan, fixture), match, names, show) if show else None
    seats: list[Seat] = []
    try:
        for player, entrant in enumerate(fixture.entrants):
            seats.append(entrants.seat(plan.entrants[entrant], plan.game, names[player], _seed_of_bot(fixture, player)))
        table = Table(match, seats, names, stage)
        table.play()
    finally:
        _send_home(seats)
    assert match.result is not None
    if stage is not None:
        stage.close()
    efforts = tuple(seat.effort for seat in seats)
    file = _save(plan, fixture, match, names, seats) if plan.save else ""
    return Outcome(fixture, match.result, efforts, tuple(table.refused), table.faults, file)


def match_name(plan: Plan, fixture: Fixture) -> str:
    """Under which a match is saved, and shown."""
    return f"{plan.game}-{fixture.seed}-{fixture.number + 1:05}"


def _seed_of_bot(fixture: Fixture, player: Player) -> int:
    """The same each time, and no draw of the match itself: those belong to steps from 0 on."""
    return Chance(fixture.seed, -1 - player).bits()


def _send_home(seats: Iterable[Seat]) -> None:
    for seat in seats:
        if isinstance(seat, ProgramSeat):
            seat.program.close()


def _save(plan: Plan, fixture: Fixture, match: Match, names: tuple[str, ...], seats: list[Seat]) -> str:
    """Write the match file, and beside it what its programs wrote to their standard error."""
    path = Path(plan.save) / f"{match_name(plan, fixture)}.jsonl"
    path.write_bytes(match_file(match, names))
    for player, seat in enumerate(seats):
        if isinstance(seat, ProgramSeat) and seat.program.errors:
            path.with_suffix(f".{player}.stderr").write_text(seat.program.errors)
    return str(path)


def play_all(plan: Plan, jobs: int, scenes: SceneQueue | None = None) -> Generator[Outcome, None, None]:
    """The outcomes as they come in; closing the generator ends what still runs. Bots that cannot start are named at once.

    `scenes`: where the matches are shown as they are played. For that they have processes of their own.
    """
    if plan.save:
        Path(plan.save).mkdir(parents=True, exist_ok=True)
    for entrant in plan.entrants:
        entrants.check(entrant, plan.game)
    if scenes is not None:
        return in_processes(partial(_play_portion, plan), plan.fixtures(), jobs, most=1, ready=partial(_show_on, scenes))
    if jobs == 1:
        return (play_fixture(plan, fixture) for fixture in plan.fixtures())
    return in_processes(partial(_play_portion, plan), plan.fixtures(), jobs)


_shows: list[Show] = []
"""In a process of its own: where its matches are shown."""


def _show_on(scenes: SceneQueue) -> None:
    _shows.append(scenes.put)


def _play_portion(plan: Plan, portion: Sequence[Fixture]) -> list[Outcome]:
    return [play_fixture(plan, fixture, *_shows) for fixture in portion]
