"""Documents of contests: `botdrome contest new`, `check` and `rehearse`."""

import asyncio
import os
from functools import partial
from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from botdrome.bots.house import house_bots
from botdrome.cli.options import Game
from botdrome.cli.terminal import (
    REFUSED,
    CommandError,
    command,
    game_called,
    offered,
    print_json,
    progress_bar,
    say,
)
from botdrome.client.program import CannotStart
from botdrome.client.rest import ServerProblem
from botdrome.contest.document import (
    EXAMPLE,
    BadDocument,
    ContestDocument,
    OfflineEntrant,
    read_document,
)
from botdrome.contest.progress import CONTEST_FORMATS, ContestProgress
from botdrome.games.reading import plural
from botdrome.kit.rehearsal import RehearsalPlan, RehearsalReport, rehearse
from botdrome.kit.synthetic_bots import FaultRates
from botdrome.match.terms import Terms
from botdrome.offline.contest_run import offline_entrants
from botdrome.offline.seats import check_bot
from botdrome.store.contest_journal import ContestRefusal, UnknownContest
from botdrome.store.entries import BadStoreUrl, StoreUnavailable

LONGEST_PAUSE = 10.0
"""Seconds of a slow move, where moves have no limit or a long one."""
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

contest_command = partial(
    command,
    ContestRefusal,
    UnknownContest,
    CannotStart,
    BadStoreUrl,
    StoreUnavailable,
    ServerProblem,
    invalid=(BadDocument,),
)


@contest_command()
def new(
    game: Game,
    format_: Annotated[str, Option("--format", help="The format of the contest.")] = "round-robin",
    output: Annotated[
        Path | None,
        Option(
            "-o", "--output", metavar="FILE", help="The file to write. \\[default: GAME-cup.toml]"
        ),
    ] = None,
) -> None:
    """Write a document with comments, which runs at once: its entrants are house bots."""
    file = output or Path(f"{game}-cup.toml")
    text = _new_document(game, format_, file)
    if file.exists():
        raise CommandError(f"{file} exists already; name another file with -o")
    file.write_text(text)
    say(f"{file} is written. Play it with: botdrome contest run {file}")


@contest_command()
def check(file: Annotated[Path, Argument(help="A document.")]) -> int:
    """Read a document, and say what the contest will be; or name the line that is wrong, with a
    correct example.
    """
    document = document_in(file)
    meetings = plural(document.games_per_meeting, "match", "es")
    seats = f"tables of {document.seats}, {meetings} a meeting"
    say(f"{document.name}: {document.game}, {document.format_}, {seats}")
    if document.format_ not in CONTEST_FORMATS:
        others = offered(document.format_, CONTEST_FORMATS)
        raise CommandError(f"there is no format {document.format_!r} yet; {others}")
    if not document.entrants:
        say("It names no entrants: it is for a server, where bots enter it.")
        return 0
    os.chdir(file.resolve().parent)
    return _check_entrants(document)


@command(ServerProblem, failed=REFUSED, name="rehearse")
def rehearse_command(
    documents: Annotated[list[Path], Argument(help="Contest documents in TOML.")],
    bots: Annotated[int, Option(min=2, help="Synthetic bots in each contest.")] = 20,
    slow: Annotated[
        str,
        Option(metavar="SHARE", help="The share of matches in which a bot is too slow once."),
    ] = "0%",
    crash: Annotated[
        str, Option(metavar="SHARE", help="The share of matches in which a bot crashes.")
    ] = "0%",
    drop: Annotated[
        str,
        Option(metavar="SHARE", help="The share of matches in which a bot loses its connection."),
    ] = "0%",
    kill_server: Annotated[
        int, Option(min=0, help="How often the server is killed and started again.")
    ] = 0,
    bot: Annotated[
        list[str] | None,
        Option(
            help="A bot of yours, as for `botdrome join`, that plays in the first contest, too."
        ),
    ] = None,
    seed: Annotated[int, Option(help="The seed of the faults.")] = 1,
    minutes: Annotated[float, Option(min=0.1, help="Stop after this time.")] = 60.0,
    json: Annotated[bool, Option("--json", help="Print the report as JSON.")] = False,
) -> int:
    """Run whole contests with synthetic bots over the real protocols, on a server of their own,
    before the day.

    Reports the time, the server's CPU time and memory, and what failed. Nothing is left behind.

    Ends with status 0 if every contest came to its end, 1 if one did not, 2 for a bad document or
    option.
    """
    read = tuple(map(document_in, documents))
    pause = min(_slow_enough(document.terms) for document in read)
    rates = FaultRates(share("slow", slow), share("crash", crash), share("drop", drop), pause)
    plan = RehearsalPlan(read, bots, rates, kill_server, seed, 60 * minutes, tuple(bot or ()))
    with progress_bar() as bar:
        task = bar.add_task("rehearsal", total=None)
        report = asyncio.run(
            rehearse(
                plan, lambda played, expected: bar.update(task, completed=played, total=expected)
            )
        )
    if json:
        print_json(report)
    else:
        _show(report)
    return 0 if report.passed else 1


def document_in(file: Path) -> ContestDocument:
    """Read a document. Raise CommandError with an example if it is not valid."""
    try:
        return read_document(file.read_text())
    except BadDocument as bad:
        raise CommandError(f"{file}: {bad}\nThis document is correct:\n\n{EXAMPLE}") from None
    except UnicodeDecodeError as problem:
        raise CommandError(f"{file}: this is no text: {problem}") from None


def _new_document(game: str, format_: str, file: Path) -> str:
    game_called(game)
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
    bots = [*reversed(house_bots(document.game))]
    refusal = CONTEST_FORMATS[document.format_](document, (), {}).refusal
    count = next((count for count in range(max(FEWEST, len(bots)), MOST) if not refusal(count)), 0)
    if not count:
        raise CommandError(f"{document.format_}: {refusal(FEWEST)}")
    names = [bots[number % len(bots)] for number in range(count)]
    return [
        OfflineEntrant(
            bot=f"house:{name}",
            name=f"{name} {number // len(bots) + 1}" if number >= len(bots) else name,
        )
        for number, name in enumerate(names)
    ]


def _check_entrants(document: ContestDocument) -> int:
    """Return 0 if the contest can run, 1 if it cannot yet."""
    entrants, problems = offline_entrants(document), 0
    for given, entrant in zip(document.entrants, entrants, strict=True):
        try:
            check_bot(given.bot, document.game)
            words = f"  {entrant.name}: {given.bot}, version {entrant.version or 'unknown'}"
        except CannotStart as problem:
            problems, words = problems + 1, f"  {entrant.name} cannot start: {problem}"
        say(words)
    progress = ContestProgress(document, entrants, {})
    if progress.refusal:
        say(f"It cannot start: {progress.refusal}")
        return 1
    expected = (
        f"about {plural(progress.expected, 'match', 'es')}" if progress.expected else "no end"
    )
    first = f"{len(progress.open)} of them in round 1"
    say(f"{plural(len(entrants), 'entrant')}, {expected}, {first}")
    return 1 if problems else 0


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


def _show(report: RehearsalReport) -> None:
    faults = ", ".join(f"{kind} {count}" for kind, count in sorted(report.faults.items())) or "none"
    used = f"{report.cpu_seconds:.1f} s of CPU time and {report.peak_megabytes:.0f} MB"
    say(f"{report.seconds:.0f} s; the server used {used}")
    say(f"faults of the bots: {faults}; kills of the server: {report.kills}")
    for one in report.contests:
        end = (
            "came to its end"
            if one.state == "over"
            else f"is {one.state}: it did not come to its end"
        )
        faults = f"{plural(one.no_shows, 'no-show')}, {plural(one.crashes, 'crash', 'es')}"
        counts = f"{one.played} of {plural(one.expected, 'result')}, {faults}"
        say(f"{one.name} {end}: {counts}")
        if one.repeated:
            say(f"  matches that count twice: {', '.join(one.repeated)}", style="red")
