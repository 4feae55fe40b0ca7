"""Documents and archives of contests: `contest new`, `check`, `export`, `verify`; `rehearse`."""

import asyncio
import os
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Annotated

import msgspec
import typer
from msgspec import Struct
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from botdrome.bots.house import house_bots
from botdrome.cli.contest import Database, Name, Place, attempt, document_in, opened, place_of
from botdrome.cli.play import INTERRUPTED
from botdrome.cli.terminal import REFUSED, CommandError, Terminal, complain, format_called
from botdrome.client.program import CannotStart
from botdrome.client.rest import ServerProblem
from botdrome.contest.document import BadDocument, ContestDocument, OfflineEntrant, read_document
from botdrome.contest.progress import CONTEST_FORMATS, ContestProgress
from botdrome.games.reading import plural
from botdrome.kit.rehearsal import RehearsalPlan, RehearsalReport, rehearse
from botdrome.kit.synthetic_bots import FaultRates
from botdrome.match.terms import Terms
from botdrome.offline.contest_opening import offline_entrants
from botdrome.offline.seats import check_bot
from botdrome.store.contest_archive import ArchiveDifference, check_archive, write_archive

app = typer.Typer()


@app.command()
def new(
    game: Annotated[str, typer.Argument(help="The name of a game; `botdrome games` lists them.")],
    format_: Annotated[
        str, typer.Option("--format", help="The format of the contest.")
    ] = "round-robin",
    file: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", metavar="FILE", help="The file to write. \\[default: GAME-cup.toml]"
        ),
    ] = None,
) -> None:
    """Write a document with comments, which runs at once: its entrants are house bots."""
    raise typer.Exit(write_new(game, format_, file))


@app.command()
def check(file: Annotated[Path, typer.Argument(help="A document.")]) -> None:
    """Read a document, and say what the contest will be; or name the line that is wrong, with a
    correct example.
    """
    raise typer.Exit(check_file(file))


@app.command()
def export(
    place: Place,
    name: Name = "",
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", metavar="FILE", help="The archive to write. \\[default: NAME.zip]"
        ),
    ] = None,
    key: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Sign the archive with this SSH key; the signature is in FILE.sig."
        ),
    ] = None,
    db: Database = "",
) -> None:
    """Write an archive: document, entrants, match files, results, standings, ratings and log."""
    raise typer.Exit(export_contest(place, name, db, output, key))


@app.command()
def verify(
    file: Annotated[Path, typer.Argument(help="An archive that `export` wrote.")],
    key: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Also check the signature with this public key."),
    ] = None,
) -> None:
    """Simulate every match of an archive again, compute every pairing, table and rating, and name
    the first difference.

    Ends with status 0 if all is as the archive says, 1 if not.
    """
    raise typer.Exit(verify_archive(file, key))


FEWEST, MOST = 4, 64
"""House bots of a new document: as few as the format allows."""

TEMPLATE = """\
# A contest. Play it with:  botdrome contest run {file}
# Lines that begin with # are comments. `botdrome contest check {file}` reads the document.

name = "{name}"             # as pages and bots name it
title = "{title}"
game = "{game}"
format = "{format}"         # {formats}
# owner = "you"             # the author of your changes in the log
# players = {seats}                # seats at a table
# games = {seats}                  # matches of a meeting; by default one for each seat
# rounds = 5                # of a Swiss; by default enough to find a winner
# best_of = 3               # matches of a meeting in a knockout
seed = 1                    # the same seed, and bots that play alike, give the same contest

# [options]                 # of the game: `botdrome games {game}` lists them

[clock]
# limit = 1000              # milliseconds for a move; by default those of the game

[entry]
versions = false            # true: a bot may be replaced while the contest runs
late = false                # true: bots may be added after the start, where the format allows it

[penalties]
no_show = "forfeit"         # or "skip": the match does not count; or "wait": for you
# withdraw_after = 3        # no-shows and crashes after which a bot is withdrawn

# The bots: house:NAME, FILE.py[:NAME], FOLDER, MODULE:NAME, or a program: 'view:./bot',
# 'cmd:./bot'. Files are relative to this document. Earlier entrants are seeded higher.
"""
ENTRANT = '\n[[entrants]]\nbot = "{bot}"\nname = "{name}"\n'


def write_new(game: str, format_: str, file: Path | None) -> int:
    return attempt(game, lambda: _write(game, format_, file or Path(f"{game}-cup.toml")))


def _write(game: str, format_: str, file: Path) -> int:
    text = _new_document(game, format_, file)
    if file.exists():
        raise CommandError(f"{file} exists already; name another file with -o")
    file.write_text(text)
    Terminal().print(
        f"{file} is written. Play it with: botdrome contest run {file}", soft_wrap=True
    )
    return 0


def _new_document(game: str, format_: str, file: Path) -> str:
    format_called(game)
    if format_ not in CONTEST_FORMATS:
        raise CommandError(
            f"there is no format {format_!r}; there are {', '.join(CONTEST_FORMATS)}"
        )
    head = ContestDocument(name=file.stem, game=game, format_=format_)  # type: ignore[arg-type]
    text = TEMPLATE.format(
        file=file.name,
        name=head.name,
        title=head.name.replace("-", " ").capitalize(),
        game=game,
        format=format_,
        formats=", ".join(CONTEST_FORMATS),
        seats=head.seats,
    )
    text += "".join(
        ENTRANT.format(bot=entrant.bot, name=entrant.name) for entrant in _house_entrants(head)
    )
    read_document(text)
    return text


def _house_entrants(document: ContestDocument) -> list[OfflineEntrant]:
    """Return as many house bots as the format needs, best first."""
    bots, format_ = [*reversed(house_bots(document.game))], CONTEST_FORMATS[document.format_]
    count = next(
        (
            count
            for count in range(max(FEWEST, len(bots)), MOST)
            if not format_.refusal(document, count)
        ),
        0,
    )
    if not count:
        raise CommandError(f"{document.format_}: {format_.refusal(document, FEWEST)}")
    names = [bots[number % len(bots)] for number in range(count)]
    return [
        OfflineEntrant(
            bot=f"house:{name}",
            name=f"{name} {number // len(bots) + 1}" if number >= len(bots) else name,
        )
        for number, name in enumerate(names)
    ]


def check_file(file: Path) -> int:
    return attempt(str(file), lambda: _check(file))


def _check(file: Path) -> int:
    """Return 0 if the contest can run, 1 if it cannot yet."""
    document, terminal = document_in(file), Terminal()
    seats = (
        f"tables of {document.seats}, {plural(document.games_per_meeting, 'match', 'es')} a meeting"
    )
    terminal.print(f"{document.name}: {document.game}, {document.format_}, {seats}", soft_wrap=True)
    if document.format_ not in CONTEST_FORMATS:
        raise CommandError(
            f"there is no format {document.format_!r} yet; there are {', '.join(CONTEST_FORMATS)}"
        )
    if not document.entrants:
        terminal.print("It names no entrants: it is for a server, where bots enter it.")
        return 0
    os.chdir(file.resolve().parent)
    return _check_entrants(document, terminal)


def _check_entrants(document: ContestDocument, terminal: Terminal) -> int:
    entrants, problems = offline_entrants(document), 0
    for given, entrant in zip(document.entrants, entrants, strict=True):
        try:
            check_bot(given.bot, document.game)
            words = f"  {entrant.name}: {given.bot}, version {entrant.version or 'unknown'}"
        except CannotStart as problem:
            problems, words = problems + 1, f"  {entrant.name} cannot start: {problem}"
        terminal.print(words, soft_wrap=True)
    progress = ContestProgress(document, entrants, {})
    if progress.refusal:
        terminal.print(f"It cannot start: {progress.refusal}", soft_wrap=True)
        return 1
    expected = (
        f"about {plural(progress.expected, 'match', 'es')}" if progress.expected else "no end"
    )
    terminal.print(
        f"{plural(len(entrants), 'entrant')}, {expected}, {len(progress.open)} of them in round 1",
        soft_wrap=True,
    )
    return 1 if problems else 0


NAMESPACE = "botdrome-contest"
ORGANISER = "organiser"


def export_contest(words: str, name: str, db: str, output: Path | None, key: Path | None) -> int:
    return attempt(words, lambda: _export(words, name, db, output, key))


async def _export(words: str, name: str, db: str, output: Path | None, key: Path | None) -> int:
    async with opened(place_of(words, name, db)) as contest:
        file = output or Path(f"{contest.name}.zip")
        matches = await write_archive(contest.store, contest.name, file)
    Terminal().print(
        f"{file} has {plural(matches, 'match', 'es')}. Check it with: botdrome contest verify "
        f"{file}",
        soft_wrap=True,
    )
    if key is not None:
        Terminal().print(f"The signature is in {sign(file, key)}.", soft_wrap=True)
    return 0


def verify_archive(file: Path, key: Path | None) -> int:
    return attempt(str(file), lambda: _verify(file, key))


def _verify(file: Path, key: Path | None) -> int:
    terminal = Terminal()
    try:
        if key is not None:
            check_signature(file, key)
        with Progress(console=Terminal(stderr=True), transient=True) as bar:
            task = bar.add_task("matches", total=None)
            manifest, contest = check_archive(
                file, lambda done, total: bar.update(task, completed=done, total=total)
            )
    except ArchiveDifference as difference:
        complain(f"{file}: {difference}")
        return 1
    played = sum(bool(result.match) for result in contest.results.values())
    signed = f", signed with {key}" if key else ""
    counts = f"{plural(played, 'match', 'es')}, {plural(len(contest.entrants), 'entrant')}"
    terminal.print(f"{file}: {manifest.name} holds: {counts}{signed}", soft_wrap=True)
    return 0


def sign(file: Path, key: Path) -> Path:
    """Sign a file with an SSH key, and return the file of the signature."""
    signature = file.with_name(file.name + ".sig")
    signature.unlink(missing_ok=True)
    done = _ssh_keygen("sign", "-f", str(key), "-n", NAMESPACE, str(file))
    if done.returncode:
        raise CommandError(
            f"{key} cannot sign: {_last_line(done)}; create a key with: ssh-keygen -t ed25519 -f "
            "organiser"
        )
    return signature


def check_signature(file: Path, key: Path) -> None:
    """Raise ArchiveDifference unless the organiser with this public key signed the file."""
    signature = file.with_name(file.name + ".sig")
    if not signature.exists():
        raise ArchiveDifference(f"there is no signature {signature.name} beside it")
    public = key if key.suffix == ".pub" else key.with_name(key.name + ".pub")
    with TemporaryDirectory() as folder, file.open("rb") as data:
        allowed = Path(folder) / "allowed"
        allowed.write_text(f"{ORGANISER} {public.read_text()}")
        done = _ssh_keygen(
            "verify",
            "-f",
            str(allowed),
            "-I",
            ORGANISER,
            "-n",
            NAMESPACE,
            "-s",
            str(signature),
            stdin=data,
        )
    if done.returncode:
        raise ArchiveDifference(f"it was not signed with {public}: {_last_line(done)}")


def _ssh_keygen(
    action: str, *words: str, stdin: IO[bytes] | None = None
) -> "subprocess.CompletedProcess[str]":
    program = shutil.which("ssh-keygen")
    if program is None:
        raise CommandError("--key needs ssh-keygen; on Debian: apt-get install openssh-client")
    return subprocess.run(
        [program, "-Y", action, *words], stdin=stdin, capture_output=True, text=True, check=False
    )


def _last_line(done: "subprocess.CompletedProcess[str]") -> str:
    return (done.stderr.strip() or done.stdout.strip() or "no reason given").splitlines()[-1]


@app.command("rehearse")
def rehearse_command(
    documents: Annotated[list[Path], typer.Argument(help="Contest documents in TOML.")],
    bots: Annotated[int, typer.Option(min=2, help="Synthetic bots in each contest.")] = 20,
    slow: Annotated[
        str,
        typer.Option(metavar="SHARE", help="The share of matches in which a bot is too slow once."),
    ] = "0%",
    crash: Annotated[
        str, typer.Option(metavar="SHARE", help="The share of matches in which a bot crashes.")
    ] = "0%",
    drop: Annotated[
        str,
        typer.Option(
            metavar="SHARE", help="The share of matches in which a bot loses its connection."
        ),
    ] = "0%",
    kill_server: Annotated[
        int, typer.Option(min=0, help="How often the server is killed and started again.")
    ] = 0,
    bot: Annotated[
        list[str] | None,
        typer.Option(
            help="A bot of yours, as for `botdrome join`, that plays in the first contest, too."
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="The seed of the faults.")] = 1,
    minutes: Annotated[float, typer.Option(min=0.1, help="Stop after this time.")] = 60.0,
    json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
) -> None:
    """Run whole contests with synthetic bots over the real protocols, on a server of their own,
    before the day.

    Reports the time, the server's CPU time and memory, and what failed. Nothing is left behind.

    Ends with status 0 if every contest came to its end, 1 if one did not, 2 for a bad document or
    option.
    """
    given = RehearseOptions(
        bots, slow, crash, drop, kill_server, tuple(bot or ()), seed, minutes, json
    )
    raise typer.Exit(run(documents, given))


LONGEST_PAUSE = 10.0
"""Seconds of a slow move, where moves have no limit or a long one."""


class RehearseOptions(Struct, frozen=True):
    """The options of the command."""

    bots: int
    slow: str
    crash: str
    drop: str
    kills: int
    files: tuple[str, ...]
    seed: int
    minutes: float
    as_json: bool


def run(files: list[Path], given: RehearseOptions) -> int:
    try:
        plan = _plan(files, given)
    except CommandError as problem:
        complain(problem)
        return REFUSED
    try:
        report = _with_progress(plan)
    except ServerProblem as problem:
        complain(problem)
        return REFUSED
    except KeyboardInterrupt:
        return INTERRUPTED
    if given.as_json:
        sys.stdout.write(msgspec.json.encode(report).decode() + "\n")
    else:
        _show(report)
    return 0 if report.passed else 1


def _plan(files: list[Path], given: RehearseOptions) -> RehearsalPlan:
    documents = tuple(_document(file) for file in files)
    pause = min(_slow_enough(document.terms) for document in documents)
    rates = FaultRates(
        share("slow", given.slow), share("crash", given.crash), share("drop", given.drop), pause
    )
    return RehearsalPlan(
        documents, given.bots, rates, given.kills, given.seed, 60 * given.minutes, given.files
    )


def _document(file: Path) -> ContestDocument:
    try:
        return read_document(file.read_text())
    except OSError as error:
        raise CommandError(f"{file}: {error.strerror}") from None
    except (BadDocument, UnicodeDecodeError) as problem:
        raise CommandError(f"{file}: {problem}") from None


def _slow_enough(terms: Terms) -> float:
    limit = terms.pace.allowed(1)
    return LONGEST_PAUSE if limit is None else min(LONGEST_PAUSE, 1.2 * limit / 1000)


def share(option: str, text: str) -> float:
    """Read a share such as 5% or 0.05."""
    try:
        value = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise CommandError(f"--{option} is a share such as 5% or 0.05, not {text!r}")
    return value


def _with_progress(plan: RehearsalPlan) -> RehearsalReport:
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Terminal(stderr=True), transient=True) as bar:
        task = bar.add_task("rehearsal", total=None)
        return asyncio.run(
            rehearse(
                plan, lambda played, expected: bar.update(task, completed=played, total=expected)
            )
        )


def _show(report: RehearsalReport) -> None:
    terminal = Terminal()
    faults = ", ".join(f"{kind} {count}" for kind, count in sorted(report.faults.items())) or "none"
    used = f"{report.cpu_seconds:.1f} s of CPU time and {report.peak_megabytes:.0f} MB"
    terminal.print(f"{report.seconds:.0f} s; the server used {used}")
    terminal.print(f"faults of the bots: {faults}; kills of the server: {report.kills}")
    for one in report.contests:
        end = (
            "came to its end"
            if one.state == "over"
            else f"is {one.state}: it did not come to its end"
        )
        faults = f"{plural(one.no_shows, 'no-show')}, {plural(one.crashes, 'crash', 'es')}"
        counts = f"{one.played} of {plural(one.expected, 'result')}, {faults}"
        terminal.print(f"{one.name} {end}: {counts}", soft_wrap=True)
        if one.repeated:
            terminal.print(f"  matches that count twice: {', '.join(one.repeated)}", style="red")
