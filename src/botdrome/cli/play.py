"""`botdrome play`: a tournament on this machine."""

import signal
import sys
from collections.abc import Generator
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from msgspec import Struct

from botdrome.catalogue import CatalogueEntry
from botdrome.cli.options import BOT_HELP, PLAYING, Game, Limit, Option, PlayOptions
from botdrome.cli.standings import LiveStandings, TournamentReport, live_table, score_table
from botdrome.cli.terminal import (
    INTERRUPTED,
    CommandError,
    Terminal,
    complain,
    game_called,
    note,
    read_options,
    reporting,
)
from botdrome.client.program import CannotStart
from botdrome.games.chance import Chance
from botdrome.games.game import BadOption
from botdrome.games.game import Game as Rules
from botdrome.games.gomoku import Gomoku
from botdrome.games.options import with_options
from botdrome.match.terms import BadTimeControl, Pace, read_time_control
from botdrome.offline.batches import PoolTrouble
from botdrome.offline.entrants import distinct_names
from botdrome.offline.scenes import SceneQueue
from botdrome.offline.tournament import MatchOutcome, TournamentPlan, play_all
from botdrome.wire.gomocup import EXAMPLE, BadOpening, read_openings

if TYPE_CHECKING:
    from botdrome.offline.dask_pool import UnplayedMatch

MATCHES = 10

app = typer.Typer()


@app.command()
@reporting(CannotStart)
def play(
    game: Game,
    bots: Annotated[list[str], typer.Argument(help=f"{BOT_HELP}, or replay:FILE.jsonl[:PLAYER].")],
    matches: Annotated[
        int | None,
        typer.Option(
            "-n",
            "--matches",
            min=1,
            help="Matches for every group of bots at one table. \\[default: 10]",
        ),
    ] = None,
    playing: PlayOptions = PLAYING,
    seed: Annotated[
        int, typer.Option(help="The first seed. Each seed is played once per seating.")
    ] = 1,
    players: Annotated[
        int | None,
        typer.Option(min=1, help="Seats at a table. \\[default: all bots, up to the game's limit]"),
    ] = None,
    option: Option = None,
    openings: Annotated[
        str,
        typer.Option(
            metavar="FILE|random|none",
            help="Openings for gomoku, as in Gomocup, or random ones in games without chance. "
            "Each is played once per seating.",
        ),
    ] = "none",
    limit: Limit = None,
    clock: Annotated[
        str,
        typer.Option(
            metavar="CONTROL",
            help="A chess clock in seconds, such as 40/60+0.6, or a bank, such as 5/move+60.",
        ),
    ] = "",
    save: Annotated[
        Path | None,
        typer.Option(help="Save a match file of every match in this folder, and the bots' logs."),
    ] = None,
    json: Annotated[
        bool, typer.Option("--json", help="Print all matches and the standings as JSON.")
    ] = False,
    show: Annotated[
        bool, typer.Option("--open", help="Show the matches live in the browser.")
    ] = False,
) -> int:
    """Play bots against each other on this machine, and show the standings with ratings and their
    95 % intervals.

    Each bot runs in a process of its own; house bots do not. A bot that fails loses, and the
    matches go on. Ends with status 0 if the matches were played, 1 if a bot could not be started or
    a match could not be played, 2 if the command is not valid, and 130 after Ctrl-C.
    """
    if playing.dask and show:
        raise CommandError("--dask cannot be combined with --open")
    row, options = game_called(game), read_options(option)
    seats = table_size(row, len(bots), players)
    rules = with_options(row.game, options)
    rules.start(seats, Chance(seed))
    chosen = openings_called(openings, rules, seats)
    plan = TournamentPlan(
        game, tuple(bots), distinct_names(bots), seats,
        matches or len(chosen.listed) * seats or MATCHES, seed, options, str(save or ""),
        playing.isolation, limit, openings=chosen.listed,
        pace=_pace(clock), random_openings=chosen.random,
    )  # fmt: skip
    if show:
        return _shown(plan, json, playing.jobs)
    return played(plan, json, playing.jobs, playing.dask)


RANDOM, NONE = "random", "none"


class Openings(Struct, frozen=True):
    listed: tuple[Any, ...] = ()
    """Values of the option `opening`."""
    random: bool = False


def openings_called(called: str, game: Rules[Any], seats: int) -> Openings:
    """Return the openings that an option names. Raise CommandError if they cannot be played."""
    if called == NONE:
        return Openings()
    if called != RANDOM:
        return Openings(_from_file(Path(called), game, seats))
    if not game.opening_moves:
        raise CommandError(
            f"--openings random is for games without chance; seeds make the matches of {game.name} "
            "differ"
        )
    return Openings(random=True)


def usual_openings(game: Rules[Any]) -> Openings:
    """Return those of `duel`: random ones in games without chance, unless an opening is set."""
    return Openings(random=game.opening_moves > 0 and getattr(game, "opening", None) is None)


def _from_file(file: Path, game: Rules[Any], seats: int) -> tuple[Any, ...]:
    """Read a file of openings, and check that each of them can be played."""
    if not isinstance(game, Gomoku):
        raise CommandError(f"--openings FILE is for gomoku, not for {game.name}")
    if game.opening is not None:
        raise CommandError("--openings cannot be combined with --option opening=...")
    try:
        openings = read_openings(file.read_text(), game.size)
    except OSError as error:
        raise CommandError(f"{file} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise CommandError(f"{file} is no text file") from None
    except BadOpening as problem:
        raise CommandError(f"{file}: {problem}") from None
    for number, opening in openings.items():
        try:
            with_options(game, {"opening": opening}).check(seats)
        except BadOption as problem:
            raise CommandError(
                f"{file}: line {number}: {str(problem).removeprefix('opening: ')}; {EXAMPLE}"
            ) from None
    return tuple(openings.values())


def _pace(clock: str) -> Pace | None:
    try:
        return read_time_control(clock) if clock else None
    except BadTimeControl as problem:
        raise CommandError(f"--clock: {problem}") from None


def _shown(plan: TournamentPlan, as_json: bool, jobs: int) -> int:
    """Play, and show the matches in the browser until Ctrl-C."""
    from botdrome.cli.broadcast import Broadcast, invite  # imports a whole server

    with Broadcast() as broadcast:
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        invite("The matches are shown at ", broadcast.url)
        status = played(plan, as_json, jobs, scenes=broadcast.scenes)
        with suppress(KeyboardInterrupt):
            if status == 0:
                note(f"They stay at {broadcast.url} until you press Ctrl-C.")
            while status == 0:
                signal.pause()
        return status


def played(
    plan: TournamentPlan,
    as_json: bool = False,
    jobs: int = 1,
    dask: str = "",
    scenes: SceneQueue | None = None,
) -> int:
    """Play, print the table or JSON, and return the status."""
    report = TournamentReport(plan, spooled=as_json)
    try:
        outcomes = _on_dask(report, dask) if dask else play_all(plan, jobs, scenes)
    except OSError as error:
        complain(f"matches cannot be saved in {plan.save}: {error.strerror}")
        return 1
    status = follow(outcomes, report) or int(bool(report.unplayed or report.unstarted))
    if status not in (0, INTERRUPTED) and not (report.matches or report.unplayed):
        return status
    if as_json:
        report.write_json(sys.stdout)
    else:
        terminal = Terminal()
        terminal.print(score_table(report, terminal.width), soft_wrap=True)
    return status


def _on_dask(report: TournamentReport, address: str) -> Generator[MatchOutcome, None, None]:
    from botdrome.offline.dask_pool import play_on_dask

    def unplayed(match: "UnplayedMatch") -> None:
        report.add_unplayed(match.fixture, match.why)

    return play_on_dask(report.plan, address, unplayed, complain)


def table_size(row: CatalogueEntry, bots: int, players: int | None) -> int:
    """Return the number of seats at a table: all bots, up to the game's limit."""
    allowed = row.game.players
    seats = players if players is not None else min(bots, allowed[-1])
    if seats not in allowed:
        count = str(allowed[0]) if len(allowed) == 1 else f"{allowed[0]} to {allowed[-1]}"
        raise CommandError(f"{row.name} is for {count} players, not {seats}")
    if bots < seats:
        raise CommandError(
            f"{seats} players need {seats} bots; name one twice to let it play itself"
        )
    return seats


def follow(outcomes: Generator[MatchOutcome, None, None], report: TournamentReport) -> int:
    """Collect the outcomes, and show how far it is.

    Ctrl-C ends the tournament early and keeps the outcomes so far.
    """
    total = report.plan.progress().expected
    with LiveStandings() as live:
        draw = partial(
            live.update,
            report.plan.game,
            lambda: (report.matches, total),
            partial(live_table, report),
        )
        try:
            with closing(outcomes):
                draw()
                for outcome in outcomes:
                    report.add(outcome)
                    draw()
        except KeyboardInterrupt:
            return INTERRUPTED
        except (CannotStart, PoolTrouble) as problem:
            complain(problem)
            return 1
        except BrokenProcessPool:
            complain("a process that played was killed; the table has the matches before that")
            return 1
        except OSError as error:
            complain(f"{error.filename or report.plan.save}: {error.strerror}")
            return 1
    return 0
