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
from rich.text import Text

from botdrome.catalogue import CatalogueEntry
from botdrome.cli.options import InProcess, IsolationFlags, Memory, Sandbox, game_names
from botdrome.cli.standings import LiveStandings, TournamentReport, live_table, score_table
from botdrome.cli.terminal import (
    REFUSED,
    CommandError,
    Terminal,
    complain,
    format_called,
    read_options,
)
from botdrome.client.program import CannotStart
from botdrome.games.chance import Chance
from botdrome.games.game import BadOption, Game
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

Bots = Annotated[
    list[str],
    typer.Argument(
        help="house:NAME, FILE.py[:NAME], FOLDER, MODULE:NAME, replay:FILE.jsonl[:PLAYER], "
        "or a program: 'view:...', 'cmd:...', 'pbrain:...'."
    ),
]

Limit = Annotated[
    int | None,
    typer.Option(min=1, metavar="MS", help="The time limit of a move. \\[default: the game's]"),
]
Dask = Annotated[
    str,
    typer.Option(
        metavar="ADDRESS",
        help="Play on a Dask cluster instead: its scheduler, such as tcp://10.0.0.5:8786.",
    ),
]
OpeningsOption = Annotated[
    str,
    typer.Option(
        metavar="FILE|random|none",
        help="Openings for gomoku, as in Gomocup, or random ones in games without chance. Each is "
        "played once per seating.",
    ),
]
TimeControl = Annotated[
    str,
    typer.Option(
        metavar="CONTROL",
        help="A chess clock in seconds, such as 40/60+0.6, or a bank, such as 5/move+60.",
    ),
]

app = typer.Typer()


@app.command()
def play(
    game: Annotated[
        str,
        typer.Argument(
            help="The name of a game; `botdrome games` lists them.", autocompletion=game_names
        ),
    ],
    bots: Bots,
    matches: Annotated[
        int | None,
        typer.Option(
            "-n",
            "--matches",
            min=1,
            help="Matches for every group of bots at one table. \\[default: 10]",
        ),
    ] = None,
    jobs: Annotated[int, typer.Option("-j", "--jobs", min=1, help="Processes that play.")] = 1,
    dask: Dask = "",
    seed: Annotated[
        int, typer.Option(help="The first seed. Each seed is played once per seating.")
    ] = 1,
    players: Annotated[
        int | None,
        typer.Option(min=1, help="Seats at a table. \\[default: all bots, up to the game's limit]"),
    ] = None,
    option: Annotated[
        list[str] | None, typer.Option("-o", "--option", help="NAME=VALUE, an option of the game.")
    ] = None,
    openings: OpeningsOption = "none",
    limit: Limit = None,
    clock: TimeControl = "",
    save: Annotated[
        Path | None,
        typer.Option(help="Save a match file of every match in this folder, and the bots' logs."),
    ] = None,
    in_process: InProcess = False,
    sandbox: Sandbox = False,
    memory: Memory = None,
    json: Annotated[
        bool, typer.Option("--json", help="Print all matches and the standings as JSON.")
    ] = False,
    show: Annotated[
        bool, typer.Option("--open", help="Show the matches live in the browser.")
    ] = False,
) -> None:
    """Play bots against each other on this machine, and show the standings with ratings and their
    95 % intervals.

    Each bot runs in a process of its own; house bots do not. A bot that fails loses, and the
    matches go on. Ends with status 0 if the matches were played, 1 if a bot could not be started or
    a match could not be played, 2 if the command is not valid, and 130 after Ctrl-C.
    """
    given = PlayOptions(
        matches=matches, jobs=jobs, dask=dask, seed=seed, players=players, options=option or [],
        openings=openings, limit=limit, clock=clock, save=save,
        isolation=IsolationFlags(in_process, sandbox, memory), as_json=json, show=show,
    )  # fmt: skip
    raise typer.Exit(run(game, bots, given))


RANDOM, NONE = "random", "none"


class Openings(Struct, frozen=True):
    listed: tuple[Any, ...] = ()
    """Values of the option `opening`."""
    random: bool = False


def openings_called(called: str, game: Game[Any], seats: int) -> Openings:
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


def usual_openings(game: Game[Any]) -> Openings:
    """Return those of `duel`: random ones in games without chance, unless an opening is set."""
    return Openings(random=game.opening_moves > 0 and getattr(game, "opening", None) is None)


def _from_file(file: Path, game: Game[Any], seats: int) -> tuple[Any, ...]:
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


INTERRUPTED = 130
MATCHES = 10


class PlayOptions(Struct, frozen=True, kw_only=True):
    """The options of the command."""

    matches: int | None = None
    jobs: int = 1
    dask: str = ""
    seed: int = 1
    players: int | None = None
    options: list[str] = []
    openings: str = NONE
    save: Path | None = None
    limit: int | None = None
    clock: str = ""
    isolation: IsolationFlags = IsolationFlags()
    as_json: bool = False
    show: bool = False


def run(game: str, bots: list[str], given: PlayOptions) -> int:
    try:
        plan = _plan(game, bots, given)
    except (BadOption, CommandError) as problem:
        complain(problem)
        return REFUSED
    return (_shown if given.show else _played)(plan, given)


def _plan(game: str, bots: list[str], given: PlayOptions) -> TournamentPlan:
    if given.dask and (given.jobs > 1 or given.show):
        raise CommandError(
            f"--dask cannot be combined with {'--open' if given.show else '-j: the workers play'}"
        )
    row = format_called(game)
    seats = table_size(row, len(bots), given.players)
    options = read_options(given.options)
    set_up = with_options(row.game, options)
    set_up.start(seats, Chance(given.seed))
    openings = openings_called(given.openings, set_up, seats)
    matches = given.matches or len(openings.listed) * seats or MATCHES
    return TournamentPlan(
        game, tuple(bots), distinct_names(bots), seats, matches, given.seed, options,
        str(given.save or ""), given.isolation.isolation(), given.limit, openings=openings.listed,
        pace=_pace(given.clock), random_openings=openings.random,
    )  # fmt: skip


def _pace(clock: str) -> Pace | None:
    try:
        return read_time_control(clock) if clock else None
    except BadTimeControl as problem:
        raise CommandError(f"--clock: {problem}") from None


def _shown(plan: TournamentPlan, given: PlayOptions) -> int:
    """Play, and show the matches in the browser until Ctrl-C."""
    from botdrome.cli.broadcast import Broadcast, open_browser  # imports a whole server

    console = Terminal(stderr=True)
    try:
        with Broadcast() as broadcast:
            signal.signal(signal.SIGTERM, signal.default_int_handler)
            console.print(
                Text("The matches are shown at ").append(broadcast.url, "cyan"), soft_wrap=True
            )
            if not open_browser(broadcast.url):
                console.print("There is no browser to open here: open that address in one.")
            status = _played(plan, given, broadcast.scenes)
            if status == 0:
                _wait_for_ctrl_c(console, broadcast.url)
            return status
    except CommandError as problem:
        complain(problem)
        return 1


def _wait_for_ctrl_c(console: Terminal, url: str) -> None:
    with suppress(KeyboardInterrupt):
        console.print(
            Text("They stay at ").append(url, "cyan").append(" until you press Ctrl-C."),
            soft_wrap=True,
        )
        while True:
            signal.pause()


def _played(plan: TournamentPlan, given: PlayOptions, scenes: SceneQueue | None = None) -> int:
    report = TournamentReport(plan, spooled=given.as_json)
    try:
        outcomes = (
            _on_dask(report, given.dask) if given.dask else play_all(plan, given.jobs, scenes)
        )
    except CannotStart as problem:
        complain(problem)
        return 1
    except OSError as error:
        complain(f"matches cannot be saved in {plan.save}: {error.strerror}")
        return 1
    status = follow(outcomes, report) or int(bool(report.unplayed or report.unstarted))
    if status not in (0, INTERRUPTED) and not (report.matches or report.unplayed):
        return status
    if given.as_json:
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
