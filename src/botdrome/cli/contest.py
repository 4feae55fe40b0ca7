"""`botdrome contest`: contests on this machine, or with --server on a server."""

import asyncio
import getpass
import os
from collections.abc import AsyncIterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager, asynccontextmanager
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer
from msgspec import Struct
from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from botdrome.cli.archives import sign
from botdrome.cli.contest_documents import document_in, reporting_contests
from botdrome.cli.contest_server import ContestThere
from botdrome.cli.options import (
    Dask,
    InProcess,
    Jobs,
    Json,
    Memory,
    OperatorToken,
    Sandbox,
    isolation_of,
)
from botdrome.cli.standings import MOST_LIVE, LiveStandings
from botdrome.cli.terminal import (
    INTERRUPTED,
    CommandError,
    Terminal,
    complain,
    note,
    print_json,
    say,
    unbroken,
)
from botdrome.contest.block_counts import Repetition, contest_blocks
from botdrome.contest.document import ContestDocument
from botdrome.contest.formats.format import Standing
from botdrome.contest.progress import ContestProgress
from botdrome.contest.strength import MEAN, Ratings, rate_counted
from botdrome.games.reading import plural
from botdrome.offline.batches import PoolTrouble
from botdrome.offline.contest_opening import open_contest
from botdrome.offline.contest_players import ContestPlayers, contest_plan, players_in_processes
from botdrome.offline.contest_run import ContestRun
from botdrome.offline.isolation import Isolation
from botdrome.offline.tournament import TournamentPlan
from botdrome.store.contest_archive import write_archive
from botdrome.store.contest_journal import (
    ContestJournal,
    ContestState,
    LogLine,
    StoredContest,
)
from botdrome.store.opening import open_store
from botdrome.store.store import Store

Place = Annotated[
    str,
    typer.Argument(
        metavar="CONTEST",
        help="A document such as cup.toml, a store such as cup.db, or with --server a name.",
    ),
]
Name = Annotated[
    str,
    typer.Argument(
        metavar="[NAME]", help="The contest, if the store has several.", show_default=False
    ),
]
ContestStore = Annotated[
    str,
    typer.Option(
        "--db",
        metavar="FILE|URL",
        help="The store. \\[default: beside the document, cup.db]",
        show_default=False,
    ),
]
ContestServer = Annotated[
    str, typer.Option("--server", metavar="URL", help="The contest is on this server.")
]
Bots = Annotated[
    list[str] | None, typer.Option(metavar="BOT", help="Play all matches of this bot again.")
]
Only = Annotated[
    str,
    typer.Option(metavar="failed", help="`failed`: play matches with crashes and no-shows again."),
]
SQLITE = "sqlite:///"
SHOWN_LINES = 10
"""Lines of the log that are shown unless all are wanted."""

app = typer.Typer()


@app.command()
@reporting_contests
async def run(
    place: Place,
    name: Name = "",
    jobs: Jobs = 1,
    dask: Dask = "",
    db: ContestStore = "",
    in_process: InProcess = False,
    sandbox: Sandbox = False,
    memory: Memory = None,
    json: Json = False,
) -> int:
    """Play a contest on this machine, or continue it, also after a crash. Ctrl-C pauses it.

    Paths of bots are relative to the document. Ends with status 0 when the contest is over, 1 if it
    waits for you, 2 if the document is not valid, and 130 after Ctrl-C.
    """
    given = RunOptions(jobs, dask, isolation_of(in_process, sandbox, memory), json).checked()
    where = place_of(place, name, db)
    async with opened(where, new=where.document is not None) as contest:
        await contest.claim()
        return await _play(contest, given)


@app.command()
@reporting_contests
async def resume(
    place: Place,
    name: Name = "",
    jobs: Jobs = 1,
    dask: Dask = "",
    db: ContestStore = "",
    in_process: InProcess = False,
    sandbox: Sandbox = False,
    memory: Memory = None,
    json: Json = False,
    server: ContestServer = "",
    token: OperatorToken = "",
) -> int:
    """Continue a paused contest: in the process that waits, or here if there is none."""
    if server:
        return ContestThere(server, token, place).act("resume")
    given = RunOptions(jobs, dask, isolation_of(in_process, sandbox, memory), json).checked()
    async with opened(place_of(place, name, db)) as contest:
        if not await contest.store.claim():
            await contest.change_state("running")
            say("The contest goes on in the process that runs it.")
            return 0
        return await _play(contest, given)


@app.command()
@reporting_contests
async def repeat(
    place: Place,
    name: Name = "",
    bot: Bots = None,
    only: Only = "",
    jobs: Jobs = 1,
    dask: Dask = "",
    db: ContestStore = "",
    in_process: InProcess = False,
    sandbox: Sandbox = False,
    memory: Memory = None,
    json: Json = False,
    server: ContestServer = "",
    token: OperatorToken = "",
) -> int:
    """Play some matches again. Their old results stay in the log.

    Later rounds that depend on them are also played again. On a server the contest must be paused,
    and they are played once you resume it.
    """
    if only not in ("", "failed") or not (bot or only):
        raise CommandError("say which matches: --bot BOT, or --only failed")
    if server:
        return ContestThere(server, token, place).repeat(bot or [], bool(only))
    given = RunOptions(jobs, dask, isolation_of(in_process, sandbox, memory), json).checked()
    async with opened(place_of(place, name, db)) as contest:
        await contest.claim()
        await _annul(contest, await contest.load(), bot or [], only)
        return await _play(contest, given)


@app.command()
@reporting_contests
async def show(
    place: Place,
    name: Name = "",
    db: ContestStore = "",
    log: Annotated[
        bool, typer.Option("--log", help="Show the whole log, not only its end.")
    ] = False,
    json: Json = False,
    server: ContestServer = "",
) -> int:
    """Show the state of a contest, its standings with ratings and 95 % intervals, its rounds and
    its log; on a server also the bots that it waits for.
    """
    if server:
        return ContestThere(server, "", place).show(json)
    async with opened(place_of(place, name, db)) as contest:
        report = report_of(await contest.journal.load_small(contest.name))
    if json:
        print_json(report.as_data())
    else:
        print_report(report, None if log else SHOWN_LINES)
    return 0


@app.command()
@reporting_contests
async def pause(
    place: Place,
    name: Name = "",
    db: ContestStore = "",
    server: ContestServer = "",
    token: OperatorToken = "",
) -> int:
    """Pause a contest that runs in another process or on a server, after the matches that are being
    played.
    """
    if server:
        return ContestThere(server, token, place).act("pause")
    async with opened(place_of(place, name, db)) as contest:
        await contest.change_state("paused")
        say(f"Paused. Continue it with: {contest.command('resume')}")
    return 0


@app.command()
@reporting_contests
async def withdraw(
    place: Place,
    bot: Annotated[str, typer.Argument(help="The name of the bot.")],
    name: Name = "",
    why: Annotated[str, typer.Option(help="The reason, for the log.")] = "",
    db: ContestStore = "",
    server: ContestServer = "",
    token: OperatorToken = "",
) -> int:
    """Take a bot out of a contest. It forfeits its matches of this round, and plays no more."""
    if server:
        return ContestThere(server, token, place).withdraw(bot, why)
    async with opened(place_of(place, name, db)) as contest:
        await contest.claim()
        stored = await contest.journal.load_small(contest.name)
        number = number_of([entrant.name for entrant in stored.entrants], bot)
        if stored.entrants[number].left is not None:
            raise CommandError(f"{bot} has been withdrawn already")
        progress = ContestProgress(stored.entry.document, stored.entrants, stored.results)
        forfeits = progress.withdraw(number)
        left = progress.entrants[number].left or 0
        await contest.journal.withdraw(contest.name, number, left, contest.author, why)
        if forfeits:
            await contest.journal.keep_results(
                contest.name, forfeits, contest.author, "forfeits after a withdrawal"
            )
        say(f"{bot} plays no more, and forfeits {plural(len(forfeits), 'match', 'es')}.")
    return 0


@app.command()
@reporting_contests
async def archive(
    place: Place,
    name: Name = "",
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", metavar="FILE", help="The file to write. \\[default: NAME.zip]"
        ),
    ] = None,
    key: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Sign the archive with this SSH key; the signature is in FILE.sig."
        ),
    ] = None,
    db: ContestStore = "",
) -> None:
    """Write an archive: document, entrants, match files, results, standings, ratings and log."""
    async with opened(place_of(place, name, db)) as contest:
        file = output or Path(f"{contest.name}.zip")
        matches = await write_archive(contest.store, contest.name, file)
    say(f"{file} has {plural(matches, 'match', 'es')}. Check it with: botdrome verify {file}")
    if key is not None:
        say(f"The signature is in {sign(file, key)}.")


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


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return f"user {os.getuid()}"


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
    """Return the table of the standings, with the names of bots beside their numbers.

    Without ratings it is cheap enough to be drawn again and again.
    """
    table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    numbers = ["score", "wins", "draws", "losses", "faults", *(["Elo", "95 %"] if ratings else [])]
    for heading in ("", *numbers, "bot", "note"):
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
    cells = [str(standing.place), f"{standing.score:g}", *map(str, counts)]
    if ratings is not None:
        strength = ratings.strengths.get(entrant.name)
        cells.append("-" if strength is None else f"{strength.rating - MEAN:+.0f}")
        cells.append(
            "-" if strength is None or strength.margin is None else f"±{strength.margin:.0f}"
        )
    return [*cells, entrant.name, ", ".join(filter(None, notes))]


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


def print_report(report: ContestReport, lines: int | None = 0) -> None:
    """Print the standings, and the rounds and these last lines of the log unless it is 0; None: the
    whole log.
    """
    terminal, entry = Terminal(), report.contest.entry
    terminal.print(Text(report.headline(), "bold"), soft_wrap=True)
    if entry.why:
        terminal.print(Text(f"It waits for its organiser: {entry.why}", "yellow"), soft_wrap=True)
    terminal.print(unbroken(standings_table(report.progress, report.ratings)), soft_wrap=True)
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


def number_of(names: list[str], bot: str) -> int:
    """Raise CommandError if no entrant has that name."""
    if bot not in names:
        raise CommandError(f"there is no bot {bot!r} in this contest; there are {', '.join(names)}")
    return names.index(bot)


class RunOptions(Struct, frozen=True):
    """The options of the commands that play."""

    jobs: int
    dask: str
    isolation: Isolation
    as_json: bool

    def checked(self) -> "RunOptions":
        """Raise CommandError if they contradict each other."""
        if self.dask and self.jobs > 1:
            raise CommandError("--dask cannot be combined with -j: the workers play")
        return self


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
    os.chdir(contest.place.folder)
    document = contest.place.document or (await contest.journal.entry(contest.name)).document
    stored = await open_contest(contest.journal, document, contest.author, given.isolation)
    status = 0
    try:
        plan = contest_plan(document, stored.entrants, given.isolation)
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
        print_json(report.as_data())
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
    note(f"Paused. Continue it with: {contest.command('run')}")


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
