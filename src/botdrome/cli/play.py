"""`botdrome play` and `duel`: tournaments on this machine, and whether a new bot is better."""

import signal
import sys
from collections import Counter
from collections.abc import Generator
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing, suppress
from functools import partial
from math import isinf
from pathlib import Path
from typing import Annotated, Any

import typer
from msgspec import Struct
from typer import Argument, Option
from typer.core import TyperCommand

from botdrome.catalogue import CatalogueEntry
from botdrome.cli.options import (
    BOT_HELP,
    ISOLATION,
    PLAYING,
    Game,
    GameOptions,
    Jobs,
    Limit,
    PlayOptions,
)
from botdrome.cli.standings import LiveStandings, TournamentReport, live_table, score_table
from botdrome.cli.terminal import (
    INTERRUPTED,
    CommandError,
    Terminal,
    command,
    complain,
    game_called,
    note,
    print_json,
    progress_bar,
    read_options,
    say,
)
from botdrome.client.program import CannotStart
from botdrome.contest.progress import Repetition
from botdrome.contest.sequential import BlockScores, Decision, SequentialTest
from botdrome.games.chance import Chance
from botdrome.games.game import BadOption
from botdrome.games.game import Game as Rules
from botdrome.games.gomoku import Gomoku
from botdrome.games.options import with_options
from botdrome.games.reading import plural
from botdrome.match.terms import BadTimeControl, Pace, read_time_control
from botdrome.offline.batches import PoolTrouble
from botdrome.offline.entrants import distinct_names
from botdrome.offline.isolation import Isolation
from botdrome.offline.scenes import SceneQueue
from botdrome.offline.tournament import (
    DuelPlan,
    MatchOutcome,
    PlayedBlock,
    TournamentPlan,
    play_all,
    play_blocks,
)
from botdrome.wire.gomocup import EXAMPLE, BadOpening, read_openings

MATCHES = 10


@command(CannotStart)
def play(
    game: Game,
    bots: Annotated[list[str], Argument(help=f"{BOT_HELP}, or replay:FILE.jsonl[:PLAYER].")],
    matches: Annotated[
        int | None,
        Option(
            "-n",
            "--matches",
            min=1,
            help="Matches for every group of bots at one table. \\[default: 10]",
        ),
    ] = None,
    playing: PlayOptions = PLAYING,
    seed: Annotated[int, Option(help="The first seed. Each seed is played once per seating.")] = 1,
    players: Annotated[
        int | None,
        Option(min=1, help="Seats at a table. \\[default: all bots, up to the game's limit]"),
    ] = None,
    option: GameOptions = None,
    openings: Annotated[
        str,
        Option(
            metavar="FILE|random|none",
            help="Openings for gomoku, as in Gomocup, or random ones in games without chance. "
            "Each is played once per seating.",
        ),
    ] = "none",
    limit: Limit = None,
    clock: Annotated[
        str,
        Option(
            metavar="CONTROL",
            help="A chess clock in seconds, such as 40/60+0.6, or a bank, such as 5/move+60.",
        ),
    ] = "",
    save: Annotated[
        Path | None,
        Option(help="Save a match file of every match in this folder, and the bots' logs."),
    ] = None,
    json: Annotated[
        bool, Option("--json", help="Print all matches and the standings as JSON.")
    ] = False,
    show: Annotated[bool, Option("--open", help="Show the matches live in the browser.")] = False,
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


class Openings(Struct, frozen=True):
    listed: tuple[Any, ...] = ()
    """Values of the option `opening`."""
    random: bool = False


def openings_called(called: str, game: Rules[Any], seats: int) -> Openings:
    """Return the openings that an option names. Raise CommandError if they cannot be played.

    Without a name, they are random in games without chance, unless an opening is set.
    """
    if not called:
        return Openings(random=game.opening_moves > 0 and getattr(game, "opening", None) is None)
    if called not in ("none", "random"):
        return Openings(_from_file(Path(called), game, seats))
    if called == "random" and not game.opening_moves:
        raise CommandError(
            f"--openings random is for games without chance; seeds make the matches of {game.name} "
            "differ"
        )
    return Openings(random=called == "random")


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

    return play_on_dask(
        report.plan,
        address,
        lambda match: report.add_unplayed(match.fixture, match.why),
        complain,
    )


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


UNUSABLE = 3
"""The exit status if a bot or the command cannot be used; 1 and 2 are answers."""
STATUS: dict[Decision | None, int] = {"better": 0, "not better": 1, None: 2}
REPEATED = 500
"""Blocks without a new game after which the test ends undecided."""
EVERY = 100
"""Blocks between two lines of progress where there is no terminal."""


class DuelCommand(TyperCommand):
    def parse_args(self, ctx: typer.Context, args: list[str]) -> list[str]:  # type: ignore[override]
        try:
            return super().parse_args(ctx, args)
        except Exception as problem:
            if getattr(problem, "exit_code", 0):  # `--help` has 0, and a wrong command 2
                problem.exit_code = UNUSABLE  # type: ignore[attr-defined]
            raise


@command(CannotStart, refused=UNUSABLE, failed=UNUSABLE, cls=DuelCommand)
def duel(
    game: Game,
    new: Annotated[str, Argument(help=f"The new bot: {BOT_HELP}.")],
    old: Annotated[str, Argument(help="The old bot.")],
    players: Annotated[
        int | None,
        Option(min=2, help="Seats at a table. \\[default: the fewest of the game]"),
    ] = None,
    sprt: Annotated[
        str,
        Option(
            metavar="ELO0,ELO1", help="Not better means at most ELO0; better means at least ELO1."
        ),
    ] = "0,20",
    alpha: Annotated[
        float,
        Option(min=0.001, max=0.4, help="The risk to accept a bot that is only ELO0 better."),
    ] = 0.05,
    beta: Annotated[
        float,
        Option(min=0.001, max=0.4, help="The risk to reject a bot that is ELO1 better."),
    ] = 0.05,
    max_blocks: Annotated[
        int, Option(min=16, help="Blocks after which the test ends undecided.")
    ] = 5000,
    copies: Annotated[
        int | None,
        Option(
            min=1,
            help="Copies of NEW at a table; the seats rotate. \\[default: in half of the seats, "
            "then in the others]",
        ),
    ] = None,
    jobs: Jobs = 1,
    seed: Annotated[int, Option(help="The seed of the first block; each block has its own.")] = 1,
    openings: Annotated[
        str,
        Option(
            metavar="FILE|random|none",
            help="Openings, each played once per seating: a file as in Gomocup, or random ones. "
            "\\[default: random in games without chance]",
        ),
    ] = "",
    option: GameOptions = None,
    limit: Limit = None,
    isolation: Isolation = ISOLATION,
    json: Annotated[bool, Option("--json", help="Print the summary as JSON.")] = False,
    summary: Annotated[
        Path | None,
        Option(
            envvar="GITHUB_STEP_SUMMARY", help="Append a summary in Markdown to this file, for CI."
        ),
    ] = None,
) -> int:
    """Find out whether NEW is better than OLD: play until a sequential test decides.

    A block is one seed with balanced seats. The result is the same with any number of processes.
    Ends with status 0 if NEW is better, 1 if it is not, 2 if that is undecided after --max-blocks,
    3 if a bot cannot start or the command is not valid, and 130 after Ctrl-C.
    """
    row, options = game_called(game), read_options(option)
    test = SequentialTest(*sprt_bounds(sprt), alpha, beta)
    seats = _seats(row.name, [count for count in row.game.players if count > 1], players, copies)
    rules = with_options(row.game, options)
    rules.start(seats, Chance(seed))
    chosen = openings_called(openings, rules, seats)
    entrants = (new,) * seats + (old,) * seats
    plan = DuelPlan(
        game, entrants, distinct_names(entrants), seats, max_blocks, seed, options,
        isolation=isolation, limit=limit,
        openings=chosen.listed, random_openings=chosen.random, copies=copies,
    )  # fmt: skip
    report = DuelReport(plan, distinct_names([new, old]), test)
    status = _played(report, jobs)
    if summary is not None:
        with summary.open("a") as file:
            file.write(report.markdown())
    if json:
        print_json(report.as_data())
    else:
        say("\n".join(report.lines()))
    return status


def sprt_bounds(sprt: str) -> tuple[float, float]:
    try:
        elo0, elo1 = map(float, sprt.split(","))
    except ValueError:
        raise CommandError(f"--sprt takes two Elo differences such as 0,20, not {sprt!r}") from None
    if not -1000 <= elo0 < elo1 <= 1000:
        raise CommandError(
            f"--sprt takes two rising Elo differences from -1000 to 1000 such as 0,20, not {sprt!r}"
        )
    return elo0, elo1


def _seats(game: str, allowed: list[int], players: int | None, copies: int | None) -> int:
    seats = players or allowed[0]
    if seats not in allowed:
        raise CommandError(f"{game} is for {allowed[0]} to {allowed[-1]} players, not {seats}")
    if copies is not None and copies >= seats:
        raise CommandError(
            f"--copies is a number from 1 to {seats - 1} at a table of {seats}, not {copies}"
        )
    return seats


class DuelReport:
    """The blocks so far, and the decision."""

    def __init__(self, plan: DuelPlan, names: tuple[str, ...], test: SequentialTest) -> None:
        self.plan, self.names, self.test = plan, names, test
        self.scores, self.games = BlockScores(), 0
        self._blocks: set[tuple[int, ...]] = set()
        self._distinct: set[int] = set()
        self._newest = 0
        """The last block with games that were new."""
        self.faults: tuple[Counter[str], Counter[str]] = (Counter(), Counter())
        """The causes of losses by fault, of the new bot and of the old one."""

    def add(self, block: PlayedBlock) -> None:
        new = block.games not in self._blocks
        self.scores.add(block.score, new)
        if new:
            self._blocks.add(block.games)
            self._distinct.update(block.games)
            self._newest = self.scores.blocks
        self.games += len(block.outcomes)
        for outcome in block.outcomes:
            for entrant, cause in zip(outcome.fixture.entrants, outcome.result.causes, strict=True):
                if cause != "complete":
                    self.faults[not self.plan.is_new(entrant)][cause] += 1

    @property
    def decision(self) -> Decision | None:
        return self.scores.decision(self.test)

    @property
    def repetition(self) -> Repetition:
        return Repetition(len(self._distinct), self.games, self.scores.distinct, self.scores.blocks)

    @property
    def exhausted(self) -> bool:
        """Whether the bots only repeat their games, so that more of them would decide nothing."""
        return self.scores.blocks - self._newest >= REPEATED

    def progress(self) -> str:
        test, scores = self.test, self.scores
        ratio = f"LLR {scores.llr(test):+.2f} [{test.lower:.2f}, {test.upper:.2f}]"
        return f"blocks {scores.blocks}  {ratio}  score {scores.mean:.1%}"

    def as_data(self) -> dict[str, Any]:
        test, scores, plan = self.test, self.scores, self.plan
        return {
            "decision": self.decision or "undecided",
            "new": self.names[0],
            "old": self.names[1],
            "game": plan.game,
            "options": plan.options,
            "players": plan.seats,
            "copies": plan.copies,
            "seed": plan.seed,
            "sprt": [test.elo0, test.elo1],
            "alpha": test.alpha,
            "beta": test.beta,
            "blocks": scores.blocks,
            "games": self.games,
            "distinctGames": self.repetition.games,
            "distinctBlocks": scores.distinct,
            "openings": "random" if plan.random_openings else len(plan.openings) or "none",
            "score": scores.mean,
            "elo": [None if isinf(value) else round(value, 1) for value in scores.elo()],
            "llr": scores.llr(test),
            "bounds": [test.lower, test.upper],
            "faults": {"new": dict(self.faults[0]), "old": dict(self.faults[1])},
        }

    def lines(self) -> list[str]:
        """The summary as sentences."""
        (new, old), test, scores = self.names, self.test, self.scores
        elo, low, high = scores.elo()
        found = {
            "better": f"{new} is better than {old}.",
            "not better": f"{new} is not better than {old} by {test.elo1:g} Elo.",
            None: f"Undecided after {plural(scores.blocks, 'block')}: whether {new} is better than "
            f"{old} by {test.elo1:g} Elo.",
        }[self.decision]
        lines = [
            found,
            f"{plural(self.games, 'game')} of {self.plan.game} with {self.plan.seats} players: "
            f"{self.progress()}",
            f"Elo difference {elo:+.0f} (95 % interval {low:+.0f} .. {high:+.0f})",
        ]
        if repeated := self.repetition.words():
            lines.append(repeated)
        if self.exhausted:
            lines.append(
                f"The last {REPEATED} blocks brought no new game, so more of them would decide "
                "nothing."
            )
        if self.decision is not None:
            far, looks = ("high", "good") if self.decision == "better" else ("low", "bad")
            lines.append(
                f"On average this estimate is too {far}, since the test stops when results look "
                f"{looks}."
            )
            lines.append(
                "After a stop such an interval contains the truth in 86 to 91 of 100 cases, not in "
                "95."
            )
        for name, faults in zip(self.names, self.faults, strict=True):
            if faults:
                counts = ", ".join(f"{cause} {count}" for cause, count in faults.items())
                lines.append(f"Faults of {name}: {counts}")
        return lines

    def markdown(self) -> str:
        found, *rest = self.lines()
        return f"### {found}\n\n" + "".join(f"- {line}\n" for line in rest) + "\n"


def _check_started(names: tuple[str, ...], plan: DuelPlan, block: PlayedBlock) -> None:
    """Raise CannotStart if a bot failed before its first move: such games say nothing about
    strength.
    """
    for outcome in block.outcomes:
        for seat in outcome.unstarted:
            raise CannotStart(
                f"{names[not plan.is_new(outcome.fixture.entrants[seat])]}: {outcome.faults[seat]}"
            )


def _played(report: DuelReport, jobs: int) -> int:
    """Play until the test decides. Ctrl-C ends it early and keeps the results so far."""
    blocks = play_blocks(report.plan, jobs)
    with progress_bar() as bar:
        task = bar.add_task(report.progress(), total=report.plan.matches)
        try:
            with closing(blocks):
                for block in blocks:
                    _check_started(report.names, report.plan, block)
                    report.add(block)
                    bar.update(task, description=report.progress(), advance=1)
                    if not bar.console.is_terminal and report.scores.blocks % EVERY == 0:
                        note(report.progress())
                    if report.decision is not None or report.exhausted:
                        break
        except KeyboardInterrupt:
            return INTERRUPTED
    return STATUS[report.decision]
