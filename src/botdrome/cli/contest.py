"""`botdrome contest`: contests on this machine."""

import asyncio
import getpass
import os
import sys
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager, asynccontextmanager
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Protocol

import msgspec
import typer
from msgspec import Struct
from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from botdrome.cli.options import InProcess, IsolationFlags, Memory, Sandbox
from botdrome.cli.play import Dask
from botdrome.cli.standings import MOST_LIVE, LiveStandings
from botdrome.cli.terminal import REFUSED, CommandError, Terminal, complain
from botdrome.client.program import CannotStart
from botdrome.contest.block_counts import Repetition, contest_blocks
from botdrome.contest.document import EXAMPLE, BadDocument, ContestDocument, read_document
from botdrome.contest.formats.format import Standing
from botdrome.contest.progress import ContestProgress
from botdrome.contest.strength import MEAN, Ratings, rate_counted
from botdrome.games.reading import plural
from botdrome.offline.batches import PoolTrouble
from botdrome.offline.contest_opening import open_contest
from botdrome.offline.contest_players import ContestPlayers, contest_plan, players_in_processes
from botdrome.offline.contest_run import ContestRun
from botdrome.offline.tournament import TournamentPlan
from botdrome.store.contest_journal import (
    ContestJournal,
    ContestRefusal,
    ContestState,
    LogLine,
    StoredContest,
    UnknownContest,
)
from botdrome.store.entries import BadStoreUrl, StoreUnavailable
from botdrome.store.opening import open_store
from botdrome.store.store import Store

Place = Annotated[
    str,
    typer.Argument(
        metavar="CONTEST", help="A document such as cup.toml, or the store of a contest: cup.db."
    ),
]
Name = Annotated[
    str,
    typer.Argument(
        metavar="[NAME]", help="The contest, if the store has several.", show_default=False
    ),
]
Database = Annotated[
    str,
    typer.Option(
        "--db",
        metavar="FILE|URL",
        help="The store. \\[default: beside the document, cup.db]",
        show_default=False,
    ),
]
Jobs = Annotated[int, typer.Option("-j", "--jobs", min=1, help="Processes that play.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]

app = typer.Typer()


@app.command()
def run(
    place: Place,
    name: Name = "",
    jobs: Jobs = 1,
    dask: Dask = "",
    db: Database = "",
    in_process: InProcess = False,
    sandbox: Sandbox = False,
    memory: Memory = None,
    json: Json = False,
) -> None:
    """Play a contest on this machine, or continue it, also after a crash. Ctrl-C pauses it.

    Paths of bots are relative to the document. Ends with status 0 when the contest is over, 1 if it
    waits for you, 2 if the document is not valid, and 130 after Ctrl-C.
    """
    raise typer.Exit(
        run_contest(
            place,
            name,
            db,
            RunOptions(jobs, dask, IsolationFlags(in_process, sandbox, memory), json),
        )
    )


@app.command()
def resume(
    place: Place,
    name: Name = "",
    jobs: Jobs = 1,
    dask: Dask = "",
    db: Database = "",
    in_process: InProcess = False,
    sandbox: Sandbox = False,
    memory: Memory = None,
    json: Json = False,
) -> None:
    """Continue a paused contest: in the process that waits, or here if there is none."""
    raise typer.Exit(
        resume_contest(
            place,
            name,
            db,
            RunOptions(jobs, dask, IsolationFlags(in_process, sandbox, memory), json),
        )
    )


@app.command()
def rerun(
    place: Place,
    name: Name = "",
    bot: Annotated[
        list[str] | None, typer.Option(metavar="BOT", help="Play all matches of this bot again.")
    ] = None,
    only: Annotated[
        str,
        typer.Option(
            metavar="failed", help="`failed`: play matches with crashes and no-shows again."
        ),
    ] = "",
    jobs: Jobs = 1,
    dask: Dask = "",
    db: Database = "",
    in_process: InProcess = False,
    sandbox: Sandbox = False,
    memory: Memory = None,
    json: Json = False,
) -> None:
    """Play some matches again.

    Their old results stay in the log. Later rounds that depend on them are also played again.
    """
    given = RunOptions(jobs, dask, IsolationFlags(in_process, sandbox, memory), json)
    raise typer.Exit(rerun_contest(place, name, db, given, bot or [], only))


@app.command()
def show(
    place: Place,
    name: Name = "",
    db: Database = "",
    log: Annotated[
        bool, typer.Option("--log", help="Show the whole log, not only its end.")
    ] = False,
    json: Json = False,
) -> None:
    """Show the state of a contest, its standings with ratings and 95 % intervals, its rounds and
    its log.
    """
    raise typer.Exit(show_contest(place, name, db, log, json))


@app.command()
def pause(place: Place, name: Name = "", db: Database = "") -> None:
    """Pause a contest that runs in another process, after the matches that are being played."""
    raise typer.Exit(pause_contest(place, name, db))


@app.command()
def withdraw(
    place: Place,
    bot: Annotated[str, typer.Option(metavar="BOT", help="The name of the bot.")],
    name: Name = "",
    why: Annotated[str, typer.Option(help="The reason, for the log.")] = "",
    db: Database = "",
) -> None:
    """Take a bot out of a contest. It forfeits its matches of this round, and plays no more."""
    raise typer.Exit(withdraw_bot(place, name, db, bot, why))


SQLITE = "sqlite:///"


class ContestPlace(Struct, frozen=True):
    """Where a contest is."""

    shown: str
    """As it was given, for messages."""
    url: str
    """The store."""
    folder: Path
    """The folder to which the paths of bots are relative."""
    name: str = ""
    """Empty: the only contest of the store."""
    document: ContestDocument | None = None

    def store_files(self) -> list[Path]:
        """Return the files of the store, if it is in this folder."""
        file = Path(self.url.removeprefix(SQLITE))
        return [*file.parent.glob(f"{file.name}*")] if self.url.startswith(SQLITE) else []


class ContestControl(Protocol):
    """What an organiser does with a contest, wherever it is."""

    name: str

    async def load(self) -> StoredContest: ...

    async def change_state(self, state: ContestState) -> None: ...


class ContestHere:
    """A contest in a store of this machine."""

    def __init__(self, store: Store, name: str, place: ContestPlace) -> None:
        self.store, self.name, self.place, self.journal = store, name, place, ContestJournal(store)

    @property
    def author(self) -> str:
        """The owner in the document, or the user of this machine."""
        document = self.place.document
        return document.owner if document and document.owner else _user()

    async def load(self) -> StoredContest:
        return await self.journal.load(self.name)

    async def change_state(self, state: ContestState) -> None:
        await self.journal.change_state(self.name, state, self.author)

    async def claim(self) -> None:
        """Raise CommandError if another process runs the contest, or serves its store."""
        if not await self.store.claim():
            raise CommandError(
                "another process runs this contest or serves its store; pause it: "
                f"{self.command('pause')}"
            )

    def command(self, word: str) -> str:
        """Return a command for this contest, to tell the user."""
        name = f" {self.name}" if self.place.name and not self.place.document else ""
        return f"botdrome contest {word} {self.place.shown}{name}"


def place_of(words: str, name: str = "", db: str = "") -> ContestPlace:
    """Raise BadDocument for a document that is not valid, OSError if it cannot be read."""
    path = Path(words)
    if path.suffix == ".toml":
        document = document_in(path)
        if name not in ("", document.name):
            raise CommandError(f"{words} is the document of {document.name!r}, not of {name!r}")
        return ContestPlace(
            words,
            store_at(db or str(path.with_suffix(".db"))),
            path.resolve().parent,
            document.name,
            document,
        )
    url = store_at(db or words)
    folder = (
        Path(url.removeprefix(SQLITE)).resolve().parent if url.startswith(SQLITE) else Path.cwd()
    )
    return ContestPlace(words, url, folder, name)


def store_at(words: str) -> str:
    """Return the URL of a store that may be given as a file."""
    return words if "://" in words else f"{SQLITE}{Path(words).resolve()}"


def document_in(file: Path) -> ContestDocument:
    return read_document(file.read_text())


@asynccontextmanager
async def opened(place: ContestPlace, new: bool = False) -> AsyncIterator[ContestHere]:
    """Open the store of a contest; `new`: it may be created."""
    file = Path(place.url.removeprefix(SQLITE))
    if place.url.startswith(SQLITE) and not file.exists() and not new:
        raise CommandError(
            f"there is no store {file}; `botdrome contest run` with its document begins a contest"
        )
    store = await open_store(place.url)
    try:
        names = [place.name] if place.name else [*await ContestJournal(store).contests()]
        if len(names) != 1:
            there = f"there are {', '.join(names)}" if names else "there is none"
            raise CommandError(f"name one contest of {place.shown}; {there}")
        yield ContestHere(store, names[0], place)
    finally:
        await store.close()


def attempt(words: str, work: Callable[[], int | Coroutine[Any, Any, int]]) -> int:
    """Do the work of a command, and return its status.

    Errors are told in one line; those of a document with an example.
    """
    try:
        done = work()
        return done if isinstance(done, int) else asyncio.run(done)
    except BadDocument as bad:
        complain(f"{words}: {bad}\nThis document is correct:\n\n{EXAMPLE}")
        return REFUSED
    except CommandError as problem:
        complain(problem)
        return REFUSED
    except UnicodeDecodeError as problem:
        complain(f"{words}: this is no text: {problem}")
        return REFUSED
    except (ContestRefusal, UnknownContest, CannotStart, BadStoreUrl, StoreUnavailable) as problem:
        complain(problem.args[0] if problem.args else problem)
        return 1
    except OSError as error:
        complain(f"{error.filename or words}: {error.strerror}")
        return 1


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return f"user {os.getuid()}"


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


def show_contest(words: str, name: str, db: str, whole_log: bool, as_json: bool) -> int:
    return attempt(words, lambda: _show(words, name, db, whole_log, as_json))


async def _show(words: str, name: str, db: str, whole_log: bool, as_json: bool) -> int:
    async with opened(place_of(words, name, db)) as contest:
        report = report_of(await contest.journal.load_small(contest.name))
    if as_json:
        sys.stdout.write(msgspec.json.encode(report.as_data()).decode() + "\n")
    else:
        print_report(report, None if whole_log else SHOWN_LINES)
    return 0


def print_report(report: ContestReport, lines: int | None = 0) -> None:
    """Print the standings, and the rounds and these last lines of the log unless it is 0; None: the
    whole log.
    """
    terminal, entry = Terminal(), report.contest.entry
    terminal.print(Text(report.headline(), "bold"), soft_wrap=True)
    if entry.why:
        terminal.print(Text(f"It waits for its organiser: {entry.why}", "yellow"), soft_wrap=True)
    terminal.print(standings_table(report.progress, report.ratings), soft_wrap=True)
    if repeated := report.repetition.words():
        terminal.print(repeated, soft_wrap=True)
    groups = report.ratings.groups()
    if len(groups) > 1:
        apart = " | ".join(", ".join(group) for group in groups)
        terminal.print(f"Not comparable, since they have never met: {apart}", soft_wrap=True)
    if lines == 0:
        return
    for line in round_lines(report.progress):
        terminal.print(line, soft_wrap=True)
    log = report.contest.log
    for change in log if lines is None else log[-lines:]:
        terminal.print(Text(log_line(change), "dim"), soft_wrap=True)


def pause_contest(words: str, name: str, db: str) -> int:
    return attempt(words, lambda: _pause(words, name, db))


async def _pause(words: str, name: str, db: str) -> int:
    async with opened(place_of(words, name, db)) as contest:
        await contest.change_state("paused")
        Terminal().print(f"Paused. Continue it with: {contest.command('resume')}", soft_wrap=True)
    return 0


def withdraw_bot(words: str, name: str, db: str, bot: str, why: str) -> int:
    return attempt(words, lambda: _withdraw(words, name, db, bot, why))


async def _withdraw(words: str, name: str, db: str, bot: str, why: str) -> int:
    async with opened(place_of(words, name, db)) as contest:
        await contest.claim()
        stored = await contest.journal.load_small(contest.name)
        number = number_of([entrant.name for entrant in stored.entrants], bot)
        if stored.entrants[number].left is not None:
            raise CommandError(f"{bot} has been withdrawn already")
        progress = ContestProgress(stored.entry.document, stored.entrants, stored.results)
        forfeits = progress.withdraw(number)
        await contest.journal.withdraw(
            contest.name, number, progress.entrants[number].left or 0, contest.author, why
        )
        if forfeits:
            await contest.journal.keep_results(
                contest.name, forfeits, contest.author, "forfeits after a withdrawal"
            )
        Terminal().print(
            f"{bot} plays no more, and forfeits {plural(len(forfeits), 'match', 'es')}.",
            soft_wrap=True,
        )
    return 0


def number_of(names: list[str], bot: str) -> int:
    """Raise CommandError if no entrant has that name."""
    if bot not in names:
        raise CommandError(f"there is no bot {bot!r} in this contest; there are {', '.join(names)}")
    return names.index(bot)


INTERRUPTED = 130


class RunOptions(Struct, frozen=True):
    """The options of the commands that play."""

    jobs: int
    dask: str
    isolation: IsolationFlags
    as_json: bool

    def checked(self) -> "RunOptions":
        """Raise CommandError if they contradict each other."""
        self.isolation.isolation()
        if self.dask and self.jobs > 1:
            raise CommandError("--dask cannot be combined with -j: the workers play")
        return self


def run_contest(words: str, name: str, db: str, given: RunOptions) -> int:
    return attempt(words, lambda: _run(words, name, db, given.checked()))


async def _run(words: str, name: str, db: str, given: RunOptions) -> int:
    place = place_of(words, name, db)
    async with opened(place, new=place.document is not None) as contest:
        await contest.claim()
        return await _play(contest, given)


def resume_contest(words: str, name: str, db: str, given: RunOptions) -> int:
    return attempt(words, lambda: _resume(words, name, db, given.checked()))


async def _resume(words: str, name: str, db: str, given: RunOptions) -> int:
    async with opened(place_of(words, name, db)) as contest:
        if not await contest.store.claim():
            await contest.change_state("running")
            Terminal().print("The contest goes on in the process that runs it.")
            return 0
        return await _play(contest, given)


def rerun_contest(
    words: str, name: str, db: str, given: RunOptions, bots: Sequence[str], only: str
) -> int:
    return attempt(words, lambda: _rerun(words, name, db, given.checked(), bots, only))


async def _rerun(
    words: str, name: str, db: str, given: RunOptions, bots: Sequence[str], only: str
) -> int:
    if only not in ("", "failed") or not (bots or only):
        raise CommandError("say which matches: --bot BOT, or --only failed")
    async with opened(place_of(words, name, db)) as contest:
        await contest.claim()
        await _annul(contest, await contest.load(), bots, only)
        return await _play(contest, given)


async def _annul(
    contest: ContestHere, stored: StoredContest, bots: Sequence[str], only: str
) -> None:
    """Take back the results of these bots, or those with faults, or both: then the faults of these
    bots.
    """
    names = [entrant.name for entrant in stored.entrants]
    wanted = {number_of(names, bot) for bot in bots}
    progress = ContestProgress(stored.entry.document, stored.entrants, stored.results)
    keys = progress.with_results(wanted, bool(only))
    back = [number for number in sorted(wanted) if stored.entrants[number].left is not None]
    if not keys and not back:
        raise CommandError("there are no such matches to play again")
    dropped = progress.forget(keys)
    why = " ".join(filter(None, [f"of {', '.join(bots)}" if bots else "", only]))
    old = {key: stored.results[key] for key in sorted(dropped) if key in stored.results}
    for number in back:
        await contest.journal.reinstate(contest.name, number, contest.author)
    await contest.journal.annul_results(contest.name, old, contest.author, f"played again: {why}")


async def _play(contest: ContestHere, given: RunOptions) -> int:
    """Play a contest whose store this process has claimed, and print the standings."""
    isolation = given.isolation.isolation()
    os.chdir(contest.place.folder)
    document = contest.place.document or (await contest.journal.entry(contest.name)).document
    stored = await open_contest(contest.journal, document, contest.author, isolation)
    status = 0
    try:
        plan = contest_plan(document, stored.entrants, isolation)
        with _players(plan, given, contest.place) as players, LiveStandings() as live:
            why = await ContestRun(
                contest.store, stored, players, contest.author, partial(_drawn, live)
            ).play()
        if why:
            complain(
                f"the contest waits for you: {why}\nThen continue it with: {contest.command('run')}"
            )
            status = 1
    except asyncio.CancelledError:
        await _interrupted(contest)
        status = INTERRUPTED
    except (BrokenProcessPool, PoolTrouble) as trouble:
        told = trouble if isinstance(trouble, PoolTrouble) else "a process that played was killed"
        complain(f"{told}; then continue the contest with: {contest.command('run')}")
        status = 1
    report = report_of(await contest.journal.load_small(contest.name))
    if given.as_json:
        sys.stdout.write(msgspec.json.encode(report.as_data()).decode() + "\n")
    else:
        print_report(report)
    return status


def _players(
    plan: TournamentPlan, given: RunOptions, place: ContestPlace
) -> AbstractContextManager[ContestPlayers]:
    if not given.dask:
        return players_in_processes(plan, given.jobs)
    from botdrome.offline.dask_pool import players_on_dask

    return players_on_dask(plan, given.dask, place.store_files(), complain)


async def _interrupted(contest: ContestHere) -> None:
    """Pause the contest after Ctrl-C."""
    task = asyncio.current_task()
    assert task is not None
    task.uncancel()
    if (await contest.journal.entry(contest.name)).state == "running":
        await contest.change_state("paused")
    Terminal(stderr=True).print(
        f"Paused. Continue it with: {contest.command('run')}", soft_wrap=True
    )


def _drawn(live: LiveStandings, run: ContestRun) -> None:
    progress = run.progress
    words = (
        f"{run.document.name}: "
        f"{'paused' if run.paused else f'round {progress.rounds_played + bool(progress.open)}'}"
    )
    live.update(
        words,
        lambda: (len(progress.results), progress.expected or None),
        lambda: standings_table(progress, most=MOST_LIVE),
    )
