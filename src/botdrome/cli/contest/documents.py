"""`botdrome contest new` and `check`: documents of contests."""

import os
from pathlib import Path

from botdrome.bots.house import house_bots
from botdrome.cli.contest.places import attempt, document_in
from botdrome.cli.terminal import CommandError, Terminal, format_called
from botdrome.client.program import CannotStart
from botdrome.contest.document import ContestDocument, OfflineEntrant, read_document
from botdrome.contest.progress import CONTEST_FORMATS, ContestProgress
from botdrome.games.reading import plural
from botdrome.runner.contest_opening import offline_entrants
from botdrome.runner.seats import check_bot

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
