"""`botdrome contest show`, `pause` and `withdraw`."""

import sys

import msgspec
from rich.text import Text

from botdrome.cli.contest.places import attempt, opened, place_of
from botdrome.cli.contest.report import (
    SHOWN_LINES,
    ContestReport,
    log_line,
    report_of,
    round_lines,
    standings_table,
)
from botdrome.cli.terminal import CommandError, Terminal
from botdrome.contest.progress import ContestProgress
from botdrome.games.reading import plural


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
