"""`botdrome contest`: contests on this machine, and contests on a server."""

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
from msgspec import Struct
from rich.table import Table
from typer import Argument, Option

from botdrome.cli.contest_documents import contest_command, document_in
from botdrome.cli.options import PLAYING, Json, OperatorToken, PlayOptions
from botdrome.cli.sources import OPERATOR, OperatorServer
from botdrome.cli.standings import MOST_LIVE, LiveStandings, apart, elo_of, remarks_on
from botdrome.cli.terminal import (
    INTERRUPTED,
    CommandError,
    OptionsOf,
    complain,
    note,
    print_json,
    say,
    table_of,
    unbroken,
)
from botdrome.cli.verify import sign
from botdrome.client.rest import CONFLICT, ServerProblem, segment
from botdrome.contest.document import ContestDocument
from botdrome.contest.formats.format import Fixture, StandingsLine
from botdrome.contest.progress import ContestProgress, contest_blocks
from botdrome.contest.strength import Ratings, rate
from botdrome.games.reading import plural
from botdrome.offline.batches import Batches, PoolTrouble
from botdrome.offline.contest_run import ContestRun, annul, contest_plan, open_contest
from botdrome.offline.contest_run import withdraw as withdraw_bot
from botdrome.offline.tournament import PlayedMatch, TournamentPlan, matches_in_processes
from botdrome.store.contest_archive import write_archive
from botdrome.store.contest_journal import ContestJournal, ContestState, StoredContest
from botdrome.store.store import Store, open_store

Place = Annotated[
    str,
    Argument(
        metavar="CONTEST",
        help="A document such as cup.toml, a store such as cup.db, or with --server a name.",
    ),
]
Name = Annotated[
    str,
    Argument(metavar="[NAME]", help="The contest, if the store has several.", show_default=False),
]
ContestStore = Annotated[
    str,
    Option(
        "--db",
        metavar="FILE|URL",
        help="The store. \\[default: beside the document, cup.db]",
        show_default=False,
    ),
]
ContestServer = Annotated[
    str, Option("--server", metavar="URL", help="The contest is on this server.")
]
SQLITE = "sqlite:///"


def any_server(server: ContestServer = "", token: OperatorToken = "") -> OperatorServer | None:
    return OperatorServer(server, token) if server else None


ANYWHERE: Any = OptionsOf(any_server)
SHOWN_LINES = 10
"""Lines of the log that are shown unless all are wanted."""


@contest_command()
async def run(
    place: Place,
    name: Name = "",
    db: ContestStore = "",
    playing: PlayOptions = PLAYING,
    json: Json = False,
) -> int:
    """Play a contest on this machine, or continue it, also after a crash. Ctrl-C pauses it.

    Paths of bots are relative to the document. Ends with status 0 when the contest is over, 1 if it
    waits for you, 2 if the document is not valid, and 130 after Ctrl-C.
    """
    where = place_of(place, name, db)
    async with opened(where, new=where.document is not None) as contest:
        await contest.claim()
        return await _play(contest, playing, json)


@contest_command()
async def resume(
    place: Place,
    name: Name = "",
    db: ContestStore = "",
    playing: PlayOptions = PLAYING,
    json: Json = False,
    server: OperatorServer | None = ANYWHERE,
) -> int:
    """Continue a paused contest: in the process that waits, or here if there is none."""
    if server:
        return ContestThere(server, place).order("resume")
    async with opened(place_of(place, name, db)) as contest:
        if not await contest.store.claim():
            await contest.change_state("running")
            say("The contest goes on in the process that runs it.")
            return 0
        return await _play(contest, playing, json)


@contest_command()
async def repeat(
    place: Place,
    name: Name = "",
    bot: Annotated[
        list[str] | None, Option(metavar="BOT", help="Play all matches of this bot again.")
    ] = None,
    only: Annotated[
        str,
        Option(metavar="failed", help="`failed`: play matches with crashes and no-shows again."),
    ] = "",
    db: ContestStore = "",
    playing: PlayOptions = PLAYING,
    json: Json = False,
    server: OperatorServer | None = ANYWHERE,
) -> int:
    """Play some matches again. Their old results stay in the log.

    Later rounds that depend on them are also played again. On a server the contest must be paused,
    and they are played once you resume it.
    """
    if only not in ("", "failed") or not (bot or only):
        raise CommandError("say which matches: --bot BOT, or --only failed")
    if server:
        return ContestThere(server, place).order(
            "repeat", {"bots": bot or [], "failed": bool(only)}
        )
    async with opened(place_of(place, name, db)) as contest:
        await contest.claim()
        stored = await contest.journal.load(contest.name)
        progress = ContestProgress(stored.entry.document, stored.entrants, stored.results)
        numbers = numbers_of(progress, bot or [])
        if not await annul(contest.journal, progress, numbers, bool(only), contest.author):
            raise CommandError("there are no such matches to play again")
        return await _play(contest, playing, json)


@contest_command()
async def show(
    place: Place,
    name: Name = "",
    db: ContestStore = "",
    log: Annotated[bool, Option("--log", help="Show the whole log, not only its end.")] = False,
    json: Json = False,
    server: ContestServer = "",
) -> None:
    """Show the state of a contest, its standings with ratings and 95 % intervals, its rounds and
    its log; on a server also the bots that it waits for.
    """
    if server:
        ContestThere(OperatorServer(server, ""), place).show(json)
        return
    async with opened(place_of(place, name, db)) as contest:
        report = await contest.report()
    report.print(json)
    if not json:
        report.print_course(None if log else SHOWN_LINES)


@contest_command()
async def pause(
    place: Place,
    name: Name = "",
    db: ContestStore = "",
    server: OperatorServer | None = ANYWHERE,
) -> int:
    """Pause a contest that runs in another process or on a server, after the matches that are being
    played.
    """
    if server:
        return ContestThere(server, place).order("pause")
    async with opened(place_of(place, name, db)) as contest:
        await contest.change_state("paused")
        say(f"Paused. Continue it with: {contest.command('resume')}")
    return 0


@contest_command()
async def withdraw(
    place: Place,
    bot: Annotated[str, Argument(help="The name of the bot.")],
    name: Name = "",
    why: Annotated[str, Option(help="The reason, for the log.")] = "",
    db: ContestStore = "",
    server: OperatorServer | None = ANYWHERE,
) -> int:
    """Take a bot out of a contest. It forfeits its matches of this round, and plays no more."""
    if server:
        return ContestThere(server, place).order("withdraw", {"bot": bot, "reason": why})
    async with opened(place_of(place, name, db)) as contest:
        await contest.claim()
        progress = await contest.progress()
        (number,) = numbers_of(progress, [bot])
        if progress.entrants[number].left is not None:
            raise CommandError(f"{bot} has been withdrawn already")
        forfeits = await withdraw_bot(contest.journal, progress, number, contest.author, why)
        say(f"{bot} plays no more, and forfeits {plural(forfeits, 'match', 'es')}.")
    return 0


@contest_command()
async def archive(
    place: Place,
    name: Name = "",
    output: Annotated[
        Path | None,
        Option("-o", "--output", metavar="FILE", help="The file to write. \\[default: NAME.zip]"),
    ] = None,
    key: Annotated[
        Path | None,
        Option(
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


@contest_command()
def create(
    file: Annotated[Path, Argument(help="A document.")],
    server: OperatorServer = OPERATOR,
    open_: Annotated[bool, Option("--open", help="Let bots enter at once.")] = False,
) -> int:
    """Create a contest on a server from its document, as a draft; or change one that has not
    started.
    """
    contest = ContestThere(server, document_in(file).name)
    contest.create({"toml": file.read_text()})
    return contest.order("open") if open_ else contest.tell()


def _add_order(verb: str, line: str) -> None:
    @contest_command(name=verb, help=line)
    def order(
        name: Annotated[str, Argument(help="The name of the contest.")],
        server: OperatorServer = OPERATOR,
    ) -> int:
        return ContestThere(server, name).order(verb)


for verb, line in {
    "open": "Let bots enter a contest on a server.",
    "start": "Start a contest on a server with the bots that have entered.",
    "end": "End a contest on a server with the present standings.",
}.items():
    _add_order(verb, line)


# Contests on this machine.


class ContestPlace(Struct, frozen=True):
    """Where a contest is."""

    shown: str
    """As it was given, for messages."""
    url: str
    """The store."""
    name: str = ""
    """Empty: the only contest of the store."""
    document: ContestDocument | None = None

    @property
    def file(self) -> Path | None:
        """The store, if it is a file."""
        path = self.url.removeprefix(SQLITE)
        return None if path == self.url else Path(path)


class ContestHere:
    """A contest in a store of this machine."""

    def __init__(self, store: Store, name: str, place: ContestPlace) -> None:
        self.store, self.name, self.place, self.journal = store, name, place, ContestJournal(store)

    @property
    def author(self) -> str:
        """The owner in the document, or the user of this machine."""
        document = self.place.document
        return document.owner if document and document.owner else _user()

    async def progress(self) -> ContestProgress:
        stored = await self.journal.load_small(self.name)
        return ContestProgress(stored.entry.document, stored.entrants, stored.results)

    async def report(self) -> "ContestReport":
        return ContestReport(await self.journal.load_small(self.name))

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
    path, document = Path(words), None
    if path.suffix == ".toml":
        document = document_in(path)
        if name not in ("", document.name):
            raise CommandError(f"{words} is the document of {document.name!r}, not of {name!r}")
        name, db = document.name, db or str(path.with_suffix(".db"))
    store = db or words
    url = store if "://" in store else f"{SQLITE}{Path(store).resolve()}"
    return ContestPlace(words, url, name, document)


@asynccontextmanager
async def opened(place: ContestPlace, new: bool = False) -> AsyncIterator[ContestHere]:
    """Open the store of a contest; `new`: it may be created."""
    if place.file and not place.file.exists() and not new:
        raise CommandError(
            f"there is no store {place.file}; `botdrome contest run` with its document begins a "
            "contest"
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


class ContestReport:
    """A contest and what follows from its results."""

    def __init__(self, contest: StoredContest) -> None:
        self.entry, self.log = contest.entry, contest.log
        self.progress = ContestProgress(self.entry.document, contest.entrants, contest.results)
        blocks = contest_blocks(self.progress)
        self.ratings, self.repetition = rate(blocks.counted()), blocks.repetition()

    def print(self, as_json: bool) -> None:
        """Print the standings, or everything as JSON."""
        if as_json:
            return print_json(self.as_data())
        say(self.headline(), "bold")
        if self.entry.why:
            say(f"It waits for its organiser: {self.entry.why}", "yellow")
        say(unbroken(standings_table(self.progress, self.ratings)))
        for remark in remarks_on(self.ratings, self.repetition):
            say(remark)

    def print_course(self, lines: int | None) -> None:
        """Print the rounds, and the last lines of the log; None: the whole log."""
        for one in self._rounds():
            byes = f", byes: {', '.join(one['byes'])}" if one["byes"] else ""
            matches = plural(one["matches"], "match", "es")
            say(f"round {one['number']}: {one['played']} of {matches}{byes}")
        for line in self.log if lines is None else self.log[-lines:]:
            when = datetime.fromtimestamp(line.when / 1000).astimezone().isoformat(" ", "seconds")
            words = when, line.author, line.action, line.detail
            say(" ".join(filter(None, words)), "dim")

    def headline(self) -> str:
        document, state = self.entry.document, self.entry.state
        played, expected = len(self.progress.results), self.progress.expected
        about = f"{played} of {'' if self.progress.over else 'about '}" if expected else ""
        count = f"{about}{plural(expected or played, 'match', 'es')}"
        title = f"{document.title} ({document.name})" if document.title else document.name
        return f"{title}: {document.game}, {document.format_}, {state}, {count}"

    def as_data(self) -> dict[str, Any]:
        document = self.entry.document
        return {
            "name": document.name,
            "game": document.game,
            "format": document.format_,
            "state": self.entry.state,
            "why": self.entry.why,
            "matches": {"played": len(self.progress.results), "expected": self.progress.expected},
            "standings": [self._standing(standing) for standing in self.progress.standings()],
            "distinctGames": self.repetition.games,
            "notComparable": apart(self.ratings),
            "rounds": self._rounds(),
            "log": self.log,
        }

    def _rounds(self) -> list[dict[str, Any]]:
        progress = self.progress
        return [
            {
                "number": round_.number,
                "matches": len(round_.fixtures),
                "played": sum(fixture.key in progress.results for fixture in round_.fixtures),
                "byes": [progress.entrants[number].name for number in round_.byes],
            }
            for round_ in progress.rounds
        ]

    def _standing(self, standing: StandingsLine) -> dict[str, Any]:
        entrant = self.progress.entrants[standing.entrant]
        elo, margin = elo_of(self.ratings, entrant.name)
        counts: dict[str, Any] = msgspec.to_builtins(standing)
        return counts | {
            "bot": entrant.name,
            "version": entrant.version,
            "withdrawn": entrant.left is not None,
            "elo": None if elo is None else round(elo, 1),
            "margin": None if margin is None else round(margin, 1),
        }


def standings_table(
    progress: ContestProgress, ratings: Ratings | None = None, most: int | None = None
) -> Table:
    """Return the table of the standings, with the names of bots beside their numbers.

    Without ratings it is cheap enough to be drawn again and again.
    """
    rated = ["Elo", "95 %"] if ratings else []
    headings = ["", "score", "wins", "draws", "losses", "faults", *rated, "bot", "note"]
    standings = progress.standings()[:most]
    return table_of(headings, (_cells(progress, one, ratings) for one in standings))


def _cells(
    progress: ContestProgress, standing: StandingsLine, ratings: Ratings | None
) -> list[str]:
    entrant = progress.entrants[standing.entrant]
    counts = (standing.wins, standing.draws, standing.losses, standing.no_shows + standing.crashes)
    notes = [
        standing.note,
        f"byes: {standing.byes}" if standing.byes else "",
        "withdrawn" if entrant.left is not None else "",
    ]
    cells = [str(standing.place), f"{standing.score:g}", *map(str, counts)]
    if ratings is not None:
        elo, margin = elo_of(ratings, entrant.name)
        cells.append("-" if elo is None else f"{elo:+.0f}")
        cells.append("-" if margin is None else f"±{margin:.0f}")
    return [*cells, entrant.name, ", ".join(filter(None, notes))]


def numbers_of(progress: ContestProgress, bots: Sequence[str]) -> list[int]:
    """Raise CommandError if no entrant has such a name."""
    names = [entrant.name for entrant in progress.entrants]
    for bot in bots:
        if bot not in names:
            there = ", ".join(names)
            raise CommandError(f"there is no bot {bot!r} in this contest; there are {there}")
    return sorted({names.index(bot) for bot in bots})


async def _play(contest: ContestHere, playing: PlayOptions, as_json: bool) -> int:
    """Play a contest whose store this process has claimed, and print the standings."""
    file = contest.place.file
    if contest.place.document:
        os.chdir(Path(contest.place.shown).resolve().parent)
    elif file:
        os.chdir(file.parent)
    document = contest.place.document or (await contest.journal.entry(contest.name)).document
    stored = await open_contest(contest.journal, document, contest.author, playing.isolation)
    status = 0
    try:
        plan = contest_plan(document, stored.entrants, playing.isolation)
        with _matches(plan, playing, file) as matches, LiveStandings() as live:
            why = await ContestRun(
                contest.store, stored, matches, contest.author, partial(_drawn, live)
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
    (await contest.report()).print(as_json)
    return status


def _matches(
    plan: TournamentPlan, playing: PlayOptions, store: Path | None
) -> AbstractContextManager[Batches[Fixture, PlayedMatch]]:
    if not playing.dask:
        return matches_in_processes(plan, playing.jobs)
    from botdrome.offline.dask_pool import matches_on_dask

    files = [*store.parent.glob(f"{store.name}*")] if store else []
    return matches_on_dask(plan, playing.dask, files, complain)


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
    round_ = f"round {progress.rounds_played + bool(progress.open)}"
    live.update(
        f"{run.document.name}: {'paused' if run.paused else round_}",
        lambda: (len(progress.results), progress.expected or None),
        lambda: standings_table(progress, most=MOST_LIVE),
    )


# Contests on a server.

COLUMNS = {
    "place": "", "score": "score", "wins": "won", "draws": "drawn", "losses": "lost",
    "noShows": "absent", "crashes": "crashed", "rating": "rating", "bot": "bot", "note": "note",
}  # fmt: skip
PATHS = {"withdraw": "contest-withdrawals", "repeat": "contest-reruns"}
"""Where the server takes verbs with values; the others are actions of a contest."""


class ContestThere:
    """A contest on a server."""

    def __init__(self, server: OperatorServer, name: str) -> None:
        self._rest, self._path = server, segment(name)

    def create(self, body: dict[str, str]) -> None:
        try:
            self._rest.ask("operator/contests", body)
        except ServerProblem as problem:
            if problem.status != CONFLICT:
                raise
            self._rest.ask(f"operator/contests/{self._path}", body, "PUT")

    def order(self, verb: str, values: dict[str, Any] | None = None) -> int:
        path = f"operator/{PATHS.get(verb, 'contest-actions')}/{self._path}"
        self._rest.ask(path, values or {"action": verb})
        return self.tell()

    def tell(self) -> int:
        self._tell(self._contest())
        return 0

    def show(self, as_json: bool) -> None:
        contest = self._contest()
        if as_json:
            return print_json(contest)
        self._tell(contest)
        rows = ([_cell(line, key) for key in COLUMNS] for line in contest["standings"])
        say(unbroken(table_of([*COLUMNS.values()], rows)))

    def _contest(self) -> dict[str, Any]:
        found: dict[str, Any] = self._rest.get(f"contest-documents/{self._path}")
        return found

    def _tell(self, contest: dict[str, Any]) -> None:
        matches = f"{contest['played']} of about {plural(contest['expected'], 'match', 'es')}"
        counts = f"{plural(len(contest['entrants']), 'entrant')}, {matches}"
        say(f"{contest['name']}: {contest['game']}, {contest['state']}, {counts}")
        if contest["why"]:
            say(f"it waits for you: {contest['why']}")
        if contest["awaited"]:
            say(f"it waits for: {', '.join(contest['awaited'])}")
        say(f"page: {self._rest.url}/contests/{segment(contest['game'])}/{self._path}")


def _cell(line: dict[str, Any], column: str) -> str:
    value = line[column]
    if column == "rating" and value is not None:
        return f"{value:.0f}" + ("" if line["margin"] is None else f" ± {line['margin']:.0f}")
    return "" if value is None else f"{value:g}" if isinstance(value, float) else str(value)
