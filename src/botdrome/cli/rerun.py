"""`botdrome rerun`: a recorded match, played to a fresh copy of a bot."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from msgspec import Struct
from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from botdrome.cli.options import (
    BOT_HELP,
    ISOLATION,
    Json,
    MatchServer,
    PlayerOption,
)
from botdrome.cli.sources import MatchSource, load_match, losers, match_files, player_of
from botdrome.cli.terminal import CommandError, Terminal, note, print_json, reporting
from botdrome.client.program import CannotStart
from botdrome.games.reading import plural
from botdrome.kit.rerun import RerunReport, rerun
from botdrome.match.events import Player
from botdrome.match.record import BadRecord
from botdrome.offline.isolation import Isolation
from botdrome.offline.seats import check_bot

app = typer.Typer()


@app.command("rerun")
@reporting(CannotStart, BadRecord)
def rerun_command(
    words: Annotated[
        list[str],
        typer.Argument(
            metavar="[MATCH] BOT",
            help=f"A match file, and the bot: {BOT_HELP}.",
            show_default=False,
        ),
    ],
    folder: Annotated[
        Path | None,
        typer.Option(
            "--all", metavar="FOLDER", help="Rerun all matches of a folder that the bot lost."
        ),
    ] = None,
    player: PlayerOption = "",
    every: Annotated[
        bool, typer.Option("--all-steps", help="List all differences, not only the first.")
    ] = False,
    pytest: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the matches as tests for pytest, and exit."),
    ] = None,
    isolation: Isolation = ISOLATION,
    server: MatchServer = "",
    json: Json = False,
) -> int:
    """Play a recorded match to a fresh copy of a bot, and report the first step at which it now
    moves differently.

    The bot plays the player that has its name, unless --player says otherwise. The recorded moves
    are played, whatever it answers. Ends with status 0 if all answers are as recorded, 1 if not,
    and 2 if the command is not valid.
    """
    sources, bot = _sources(words, folder, server)
    wanted = _chosen(sources, bot, player, lost_only=folder is not None)
    check_bot(bot, wanted[0][0].game.name, isolation)
    if pytest is not None:
        _write_tests(pytest, bot, isolation, wanted)
        return 0
    matches = [_rerun(source, number, bot, every, isolation) for source, number in wanted]
    return _show(matches, bot, every, json, folder is not None)


PYTEST = '''"""Lost matches as tests, written by `botdrome rerun --pytest`."""

import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent / {folder!r}
BOT = {bot!r}
OPTIONS = {options!r}
MATCHES = [
{matches}]


@pytest.mark.parametrize(("match", "player"), MATCHES)
def test_the_bot_plays_as_recorded(match: str, player: int) -> None:
    words = ["rerun", match, BOT, "--player", str(player), *OPTIONS]
    command = [sys.executable, "-m", "botdrome", *words]
    result = subprocess.run(command, cwd=FOLDER, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr
'''


class RerunMatch(Struct):
    source: MatchSource
    player: Player
    report: RerunReport

    @property
    def outcome(self) -> str:
        report = self.report
        if report.crash and not report.divergences:
            return f"crashed at step {report.crashed_at}: {report.crash}"
        if report.divergences:
            return f"diverged at {report.divergences[0]}"
        return "same"

    def as_data(self) -> dict[str, Any]:
        return {
            "match": self.source.name,
            "player": self.player,
            "name": self.source.record.setup.names[self.player],
            "same": self.report.same,
            "asked": self.report.asked,
            "divergences": self.report.divergences,
            "crash": self.report.crash or None,
        }


def _sources(
    words: Sequence[str], folder: Path | None, server: str
) -> tuple[list[MatchSource], str]:
    if folder is not None:
        if len(words) != 1:
            raise CommandError("with --all FOLDER, name only the bot")
        return [load_match(str(file)) for file in match_files(folder)], words[0]
    if len(words) != 2:
        raise CommandError("name a match and a bot, such as `botdrome rerun match.jsonl my_bot.py`")
    return [load_match(words[0], server)], words[1]


def _chosen(
    sources: Sequence[MatchSource], bot: str, player: str, lost_only: bool
) -> list[tuple[MatchSource, Player]]:
    """Return the matches with the player whose moves are compared.

    In a folder, only lost ones count.
    """
    if not lost_only:
        return [(source, _player(source, bot, player)) for source in sources]
    chosen = []
    for source in sources:
        try:
            number = player_of(source.record.setup.names, bot, player)
        except CommandError:
            continue
        if number in losers(source.record):
            chosen.append((source, number))
    if not chosen:
        raise CommandError(
            f"{plural(len(sources), 'match', 'es')} found, and none was lost by {player or bot}"
        )
    return chosen


def _player(source: MatchSource, bot: str, player: str) -> Player:
    if source.position is not None and not player:
        return source.position.player
    return player_of(source.record.setup.names, bot, player)


def _rerun(
    source: MatchSource, player: Player, bot: str, every: bool, isolation: Isolation
) -> RerunMatch:
    try:
        return RerunMatch(
            source, player, rerun(source.record, source.game, player, bot, every, isolation)
        )
    except BadRecord as problem:
        raise CommandError(f"{source.name}: {problem}") from None


def _show(matches: Sequence[RerunMatch], bot: str, every: bool, as_json: bool, many: bool) -> int:
    if as_json:
        print_json([match.as_data() for match in matches])
    elif many:
        same = sum(match.report.same for match in matches)
        console = Terminal()
        console.print(
            Text(f"{bot}: {same} of {len(matches)} lost matches as recorded", "bold"),
            soft_wrap=True,
        )
        console.print(_table(matches))
    else:
        _print_one(matches[0], bot, every)
    return 0 if all(match.report.same for match in matches) else 1


def _print_one(match: RerunMatch, bot: str, every: bool) -> None:
    console, report = Terminal(soft_wrap=True), match.report
    name = match.source.record.setup.names[match.player]
    console.print(Text(f"{match.source.name}: {bot} as player {match.player}, {name}"))
    for found in report.divergences:
        console.print(Text(f"  {found}", "bold red"))
    if report.crash and not report.divergences:
        console.print(Text(f"  {match.outcome}", "bold red"))
    same = report.asked - max(len(report.divergences), bool(report.crash))
    if report.same:
        console.print(Text(f"  same: all {same} answers are as recorded", "green"))
    elif every:
        console.print(Text(f"  {same} of {report.asked} answers are as recorded"))
    else:
        step = report.divergences[0].step if report.divergences else report.crashed_at
        console.print(
            Text(
                f"  {same} answers before are the same. Continue from there: botdrome fork "
                f"{match.source.name} --step {step}"
            )
        )


def _table(matches: Sequence[RerunMatch]) -> Table:
    table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("match", overflow="fold")
    table.add_column("player", justify="right")
    table.add_column("outcome", overflow="fold")
    for match in matches:
        style = "green" if match.report.same else "red"
        table.add_row(match.source.stem, str(match.player), Text(match.outcome, style))
    return table


def _write_tests(
    file: Path, bot: str, isolation: Isolation, matches: Sequence[tuple[MatchSource, Player]]
) -> None:
    flags = ["--in-process"] * isolation.in_process + ["--sandbox"] * isolation.sandbox
    flags += ["--memory", str(isolation.limits.memory)] if isolation.limits.memory else []
    folder = os.path.relpath(Path.cwd(), file.resolve().parent)
    rows = "".join(f"    ({source.name!r}, {player}),\n" for source, player in matches)
    file.write_text(PYTEST.format(folder=folder, bot=bot, options=flags, matches=rows))
    note(f"{file}: {len(matches)} tests; run them with `pytest {file}`")
