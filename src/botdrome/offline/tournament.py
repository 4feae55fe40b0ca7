"""Tournament: many matches of the same bots, in this process or in several."""

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import AbstractContextManager, closing
from functools import partial
from math import comb
from pathlib import Path
from tempfile import TemporaryFile
from time import time
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from botdrome.catalogue import CATALOGUE
from botdrome.client.program import CannotStart
from botdrome.contest.document import ContestDocument
from botdrome.contest.formats.format import Entrant, Fixture
from botdrome.contest.formats.round_robin import TurnsRoundRobin
from botdrome.contest.progress import ContestProgress, MakeFormat, fixture_result
from botdrome.contest.sequential import DuelBlocks, Seating, block_score
from botdrome.games.chance import Chance
from botdrome.games.game import random_opening
from botdrome.games.options import with_options
from botdrome.games.reading import plural
from botdrome.match.events import Player, Result
from botdrome.match.match import Match
from botdrome.match.record import fingerprint, match_file
from botdrome.match.terms import Milliseconds, Pace, Terms, offline
from botdrome.offline.batches import (
    BATCH_SECONDS,
    LARGEST_BATCH,
    Batches,
    in_batches,
    process_batches,
)
from botdrome.offline.isolation import ISOLATED, Isolation, close_idle
from botdrome.offline.scenes import SceneQueue, Show, Stage
from botdrome.offline.seats import Effort, ProgramSeat, Seat, check_bot, make_seat
from botdrome.offline.table import OfflineTable, play_match
from botdrome.store.entries import Epoch

OPENING_STEP = -2_000_000
"""The step of the chance that draws openings. No match and no bot uses it."""
LAST_LINES = 20
"""Lines of its log that are told with a bot's fault."""


class TournamentPlan(Struct, frozen=True):
    """The bots, the game and the number of matches."""

    game: str
    entrants: tuple[str, ...]
    names: tuple[str, ...]
    seats: int
    matches: int
    seed: int
    options: dict[str, Any] = field(default_factory=dict)
    save: str = ""
    """The folder for match files; empty: they are not saved."""
    isolation: Isolation = ISOLATED
    limit: Milliseconds | None = None
    """The time limit of a move; None: that of the game."""
    records: bool = False
    """Whether outcomes carry the match file and the last view."""
    openings: tuple[Any, ...] = ()
    """Values of the option `opening`: each is played with one seed."""
    pace: Pace | None = None
    """The time control; None: that of the game."""
    random_openings: bool = False
    """Whether each seed has random first moves of its own. Then a match is one board."""

    def game_options(self, fixture: Fixture) -> dict[str, Any]:
        """Return the options of one match."""
        openings = self.openings
        return self.options | (
            {"opening": openings[(fixture.seed - self.seed) % len(openings)]} if openings else {}
        )

    @property
    def document(self) -> ContestDocument:
        """The tournament as a contest."""
        return ContestDocument(
            name=self.game, game=self.game, players=self.seats, games=self.matches, seed=self.seed
        )

    def progress(self) -> ContestProgress:
        """Return the contest before its first match. Its format is that of `botdrome play`."""
        return self._in_format(TurnsRoundRobin)

    def _in_format(self, format_: MakeFormat) -> ContestProgress:
        entrants = [Entrant(name) for name in self.names]
        return ContestProgress(self.document, entrants, {}, format_=format_)

    def number(self, fixture: Fixture) -> int:
        """Return the place of a match in the order of play, from 0."""
        _, meeting, game = fixture.place
        return (game - 1) * comb(len(self.entrants), self.seats) + meeting - 1

    def terms(self) -> Terms:
        usual = CATALOGUE[self.game].terms
        terms = offline(usual if self.pace is None else replace(usual, pace=self.pace))
        terms = replace(terms, boards=1) if self.random_openings else terms
        return (
            terms
            if self.limit is None
            else replace(terms, pace=replace(terms.pace, limit=self.limit, first=None))
        )


class MatchOutcome(Struct, frozen=True):
    """The outcome of one match, by seat."""

    fixture: Fixture
    started: Epoch
    ended: Epoch
    result: Result
    efforts: tuple[Effort, ...]
    refused: tuple[int, ...]
    late: tuple[int, ...]
    """Moves that came after the limit, without those that put a bot out."""
    faults: dict[int, str]
    headlines: tuple[str, ...]
    logs: dict[int, str]
    """The last lines that bots at fault wrote, with their tracebacks."""
    unstarted: frozenset[int] = frozenset()
    """The bots that failed before they could make a move."""
    printed: frozenset[int] = frozenset()
    """The bots that printed something."""
    files: dict[str, bytes] = field(default_factory=dict)
    """Those to save, by name: the match file, then the logs of its bots."""
    file: str = ""
    """The match file, once it is saved."""
    record: bytes = b""
    view: dict[str, Any] = field(default_factory=dict)
    """The public view of the last position."""
    fingerprint: int = 0


class UnplayedMatch(Struct, frozen=True):
    """A match that could not be played."""

    fixture: Fixture
    why: str
    absent: tuple[int, ...] = ()
    """The seats of bots that cannot start; empty: it ends the processes that play it."""


PlayedMatch = MatchOutcome | UnplayedMatch


def play_fixture(plan: TournamentPlan, fixture: Fixture, show: Show | None = None) -> MatchOutcome:
    started = _now()
    match = Match(
        with_options(CATALOGUE[plan.game].game, plan.game_options(fixture)),
        plan.seats,
        plan.terms(),
        fixture.seed,
    )
    if plan.random_openings:
        _open(match)
    names = tuple(plan.names[entrant] for entrant in fixture.entrants)
    stage = Stage(match_name(plan, fixture), match, names, show) if show else None

    def seat(player: Player) -> Seat:
        entrant, seed = plan.entrants[fixture.entrants[player]], seed_of_bot(fixture.seed, player)
        return make_seat(entrant, plan.game, names[player], seed, plan.isolation)

    table = play_match(match, names, seat, stage)
    if stage is not None:
        stage.close()
    return _outcome(plan, fixture, started, match, names, table)


def _now() -> Epoch:
    return int(time() * 1000)


def _outcome(
    plan: TournamentPlan,
    fixture: Fixture,
    started: Epoch,
    match: Match,
    names: tuple[str, ...],
    table: OfflineTable,
) -> MatchOutcome:
    assert match.result is not None
    seats = table.seats
    logs = {player: seat.log for player, seat in enumerate(seats) if seat.log}
    files = {}
    if plan.save:
        name = match_name(plan, fixture)
        files[f"{name}.jsonl"] = match_file(match, names)
        for player, log in logs.items():
            kind = "stderr" if isinstance(seats[player], ProgramSeat) else "log"
            files[f"{name}.{player}.{kind}"] = log.encode(errors="replace")
    return MatchOutcome(
        fixture,
        started,
        _now(),
        match.result,
        tuple(seat.effort for seat in seats),
        tuple(table.refused),
        tuple(table.late),
        _late_faults(table.late, plan) | table.faults,
        tuple(map(table.headline, range(plan.seats))),
        {player: _last_lines(logs[player]) for player in table.faults if player in logs},
        frozenset(table.unstarted),
        frozenset(logs),
        files,
        record=match_file(match, names) if plan.records else b"",
        view=match.view(None) if plan.records else {},
        fingerprint=fingerprint(match),
    )


def _late_faults(counts: Sequence[int], plan: TournamentPlan) -> dict[int, str]:
    limit = f"after the limit of {plan.terms().pace.limit} ms"
    return {
        player: f"{plural(count, 'late move')}, {limit}"
        for player, count in enumerate(counts)
        if count
    }


def _open(match: Match) -> None:
    """Play the opening of the match's seed.

    Its moves are inputs like others, so the match replays from its record.
    """
    match.start()
    for raw in random_opening(match.game, match.players, Chance(match.seed, OPENING_STEP)):
        (player,) = match.awaited
        match.submit(player, raw, 0)


def _last_lines(log: str) -> str:
    return "\n".join(log.splitlines()[-LAST_LINES:])


def match_name(plan: TournamentPlan, fixture: Fixture) -> str:
    """Return the name under which a match is saved and shown."""
    return f"{plan.game}-{fixture.seed}-{plan.number(fixture) + 1:05}"


def seed_of_bot(seed: int, player: Player) -> int:
    """Derive a seed for a bot from the seed of the match.

    No step of the match uses it; those are 0 and above.
    """
    return Chance(seed, -1 - player).bits()


def saved(plan: TournamentPlan, outcome: MatchOutcome) -> MatchOutcome:
    """Write the files of a match."""
    if not plan.save:
        return outcome
    paths = {Path(plan.save, name): data for name, data in outcome.files.items()}
    for path, data in paths.items():
        path.write_bytes(data)
    return replace(outcome, files={}, file=str(next(iter(paths))))


def check_plan(plan: TournamentPlan) -> None:
    """Raise OSError if matches cannot be saved, and CannotStart for a bot that cannot start."""
    if plan.save:
        Path(plan.save).mkdir(parents=True, exist_ok=True)
        TemporaryFile(dir=plan.save).close()
    for entrant in dict.fromkeys(plan.entrants):
        check_bot(entrant, plan.game, plan.isolation)


def play_all(
    plan: TournamentPlan, jobs: int, scenes: SceneQueue | None = None, most: int = LARGEST_BATCH
) -> Generator[MatchOutcome, None, None]:
    """The outcomes as they come in; closing the generator ends what still runs.

    Bots that cannot start are named at once.

    `scenes`: where the matches are shown as they are played. For that they have processes of their
    own. `most`: matches that a process plays before it tells their outcomes.
    """
    check_plan(plan)
    progress = plan.progress()
    if scenes is None and jobs == 1:
        return counted(plan, _play_here(plan, progress.open.fixtures()), progress)
    matches = (
        matches_in_processes(plan, jobs, most)
        if scenes is None
        else matches_in_processes(plan, jobs, 1, partial(_show_on, scenes))
    )
    return counted(plan, _play_in(matches, progress.rounds[0].fixtures), progress)


def counted(
    plan: TournamentPlan, played: Generator[PlayedMatch, None, None], progress: ContestProgress
) -> Generator[MatchOutcome, None, None]:
    """Save the matches, add their results to the contest, and yield their outcomes.

    Raise CannotStart if a match could not be played.
    """
    with closing(played):
        for one in played:
            if isinstance(one, UnplayedMatch):
                raise CannotStart(one.why)
            progress.add(one.fixture.key, fixture_result(one.result, "", one.fingerprint))
            yield saved(plan, one)


def _play_here(
    plan: TournamentPlan, fixtures: Iterator[Fixture]
) -> Generator[MatchOutcome, None, None]:
    try:
        for fixture in fixtures:
            yield play_fixture(plan, fixture)
    finally:
        close_idle()


def _play_in(
    matches: AbstractContextManager[Batches[Fixture, PlayedMatch]], fixtures: Sequence[Fixture]
) -> Generator[PlayedMatch, None, None]:
    with matches as batches:
        yield from in_batches(batches, fixtures)


def matches_in_processes(
    plan: TournamentPlan,
    jobs: int,
    most: int = LARGEST_BATCH,
    ready: Callable[[], None] | None = None,
) -> AbstractContextManager[Batches[Fixture, PlayedMatch]]:
    """Start processes that play; an exception ends the matches that still run."""
    close_idle()
    seconds = BATCH_SECONDS if most > 1 else 0.0
    return process_batches(partial(play_portion, plan), jobs, most, seconds, ready)


_shows: list[Show] = []
"""The queue of this process for scenes."""


def _show_on(scenes: SceneQueue) -> None:
    _shows.append(scenes.put)


def play_portion(plan: TournamentPlan, portion: Sequence[Fixture]) -> list[PlayedMatch]:
    return [_played(plan, fixture) for fixture in portion]


def _played(plan: TournamentPlan, fixture: Fixture) -> PlayedMatch:
    try:
        return play_fixture(plan, fixture, *_shows)
    except CannotStart:
        absent = {
            seat: why
            for seat, entrant in enumerate(fixture.entrants)
            if (why := _cannot_start(plan, entrant))
        }
        if not absent:
            raise
        return UnplayedMatch(fixture, "; ".join(dict.fromkeys(absent.values())), tuple(absent))


def _cannot_start(plan: TournamentPlan, entrant: int) -> str:
    try:
        check_bot(plan.entrants[entrant], plan.game, plan.isolation)
    except CannotStart as problem:
        return str(problem)
    return ""


# Duel: a new and an old version of a bot, block by block, for the sequential test.


class DuelPlan(TournamentPlan, frozen=True):
    """The entrants are the new bot once per seat, then the old bot once per seat; `matches` is the
    number of blocks.
    """

    copies: int | None = None
    """Copies of the new bot at a table; None: half of the seats."""

    @property
    def block(self) -> int:
        """The number of matches on one seed."""
        return 2 if self.copies is None else self.seats

    def progress(self) -> ContestProgress:
        return self._in_format(partial(DuelBlocks, self.copies))

    def number(self, fixture: Fixture) -> int:
        _, block, game = fixture.place
        return (block - 1) * self.block + game - 1

    def is_new(self, entrant: int) -> bool:
        return entrant < self.seats


class PlayedBlock(Struct, frozen=True):
    """One seed in all its seatings."""

    outcomes: list[MatchOutcome]
    score: float
    """The share of the points of the new bot against the old one."""
    games: tuple[int, ...]
    """The same number for the same game in the same seats."""


def play_blocks(plan: DuelPlan, jobs: int) -> Generator[PlayedBlock, None, None]:
    """Yield the blocks in the order of their seeds: fast games would come first otherwise, and they
    may differ in result.
    """
    return _in_order(plan, play_all(plan, jobs, most=plan.block), plan.block)


def _in_order(
    plan: DuelPlan, outcomes: Generator[MatchOutcome, None, None], size: int
) -> Generator[PlayedBlock, None, None]:
    waiting: dict[int, list[MatchOutcome]] = {}
    seed = plan.seed
    with closing(outcomes):
        for outcome in outcomes:
            waiting.setdefault(outcome.fixture.seed, []).append(outcome)
            while len(waiting.get(seed, ())) == size:
                block = waiting.pop(seed)
                seats = [_seating(plan, one) for one in block]
                score = block_score(
                    (seating, one.result.places) for seating, one in zip(seats, block, strict=True)
                )
                games = [
                    hash((seating, one.fingerprint))
                    for seating, one in zip(seats, block, strict=True)
                ]
                yield PlayedBlock(block, score, tuple(sorted(games)))
                seed += 1


def _seating(plan: DuelPlan, outcome: MatchOutcome) -> Seating:
    return tuple(plan.is_new(entrant) for entrant in outcome.fixture.entrants)
