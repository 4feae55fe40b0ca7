"""`botdrome rerun` and `blunders`: how a bot lost recorded matches, and whether it still would."""

import os
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Struct
from typer import Argument, Option

from botdrome.analysis.blunders import find_blunder
from botdrome.analysis.playouts import method_text
from botdrome.analysis.position_file import (
    Estimate,
    PositionFile,
    RatedMove,
    encoded,
    position_file,
)
from botdrome.cli.options import (
    BOT_HELP,
    ISOLATION,
    Json,
    MatchServer,
    PlayerOption,
)
from botdrome.cli.sources import (
    MatchSource,
    load_match,
    losers,
    match_files,
    player_called,
    player_of,
)
from botdrome.cli.terminal import (
    CommandError,
    command,
    note,
    print_columns,
    print_json,
    progress_bar,
    say,
)
from botdrome.client.program import CannotStart
from botdrome.games.reading import plural
from botdrome.kit.rerun import RerunReport, rerun
from botdrome.match.events import Player
from botdrome.match.questions import move_text
from botdrome.match.record import BadRecord, Record
from botdrome.offline.batches import in_processes
from botdrome.offline.isolation import Isolation
from botdrome.offline.seats import check_bot


@command(CannotStart, BadRecord, name="rerun")
def rerun_command(
    words: Annotated[
        list[str],
        Argument(
            metavar="[MATCH] BOT",
            help=f"A match file, and the bot: {BOT_HELP}.",
            show_default=False,
        ),
    ],
    folder: Annotated[
        Path | None,
        Option("--all", metavar="FOLDER", help="Rerun all matches of a folder that the bot lost."),
    ] = None,
    player: PlayerOption = "",
    every: Annotated[
        bool, Option("--all-steps", help="List all differences, not only the first.")
    ] = False,
    pytest: Annotated[
        Path | None,
        Option(metavar="FILE", help="Write the matches as tests for pytest, and exit."),
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
        say(f"{bot}: {same} of {len(matches)} lost matches as recorded", "bold")
        rows = ((one.source.stem, str(one.player), one.outcome) for one in matches)
        print_columns([("match", "player", "outcome"), *rows])
    else:
        _print_one(matches[0], bot, every)
    return 0 if all(match.report.same for match in matches) else 1


def _print_one(match: RerunMatch, bot: str, every: bool) -> None:
    report = match.report
    name = match.source.record.setup.names[match.player]
    say(f"{match.source.name}: {bot} as player {match.player}, {name}")
    for found in report.divergences:
        say(f"  {found}", "bold red")
    if report.crash and not report.divergences:
        say(f"  {match.outcome}", "bold red")
    same = report.asked - max(len(report.divergences), bool(report.crash))
    if report.same:
        say(f"  same: all {same} answers are as recorded", "green")
    elif every:
        say(f"  {same} of {report.asked} answers are as recorded")
    else:
        step = report.divergences[0].step if report.divergences else report.crashed_at
        say(
            f"  {same} answers before are the same. Continue from there: botdrome fork "
            f"{match.source.name} --step {step}"
        )


def _write_tests(
    file: Path, bot: str, isolation: Isolation, matches: Sequence[tuple[MatchSource, Player]]
) -> None:
    flags = ["--in-process"] * isolation.in_process + ["--sandbox"] * isolation.sandbox
    flags += ["--memory", str(isolation.limits.memory)] if isolation.limits.memory else []
    folder = os.path.relpath(Path.cwd(), file.resolve().parent)
    rows = "".join(f"    ({source.name!r}, {player}),\n" for source, player in matches)
    file.write_text(PYTEST.format(folder=folder, bot=bot, options=flags, matches=rows))
    note(f"{file}: {len(matches)} tests; run them with `pytest {file}`")


@command(BadRecord, name="blunders")
def blunders_command(
    matches: Annotated[
        list[str],
        Argument(metavar="MATCH|FOLDER...", help="Match files, or folders of them."),
    ],
    player: PlayerOption = "",
    playouts: Annotated[
        int,
        Option(min=4, help="Playouts for each promising move, where a game cannot be solved."),
    ] = 24,
    jobs: Annotated[int, Option("-j", "--jobs", min=1, help="Processes that search.")] = 1,
    save: Annotated[Path, Option(metavar="FOLDER", help="Where the puzzles are saved.")] = Path(
        "puzzles"
    ),
    server: MatchServer = "",
    json: Json = False,
) -> None:
    """Find the last step at which each lost match could still be saved, and write it as a puzzle.

    Noughts and crosses is solved. In the other games, house bots play each promising move to its
    end many times, and the shares of the points are given with 95 % intervals. `botdrome check
    --puzzles` and `botdrome fork` read puzzles. Ends with status 0, or 2 if the command is not
    valid.
    """
    lost = [match for name in matches for match in _lost_in(name, player, server)]
    save.mkdir(parents=True, exist_ok=True)
    with progress_bar() as bar:
        found = bar.track(_found(lost, playouts, jobs), len(lost), description="lost matches")
        reports = [_saved(report, save) for report in found]
    if json:
        print_json([_as_data(report) for report in reports])
    else:
        _print(reports)


class LostMatch(Struct, frozen=True):
    """A match, and a player that lost it."""

    match: str
    player: Player
    server: str = ""


class BlunderReport(Struct, frozen=True):
    """The last step at which a match could still be saved; `position` is None if no
    step was found.
    """

    match: str
    player: Player
    name: str
    method: str
    position: PositionFile | None = None
    clear: bool = False
    """Whether another move would have been better beyond doubt. Only then there is a puzzle."""
    cause: str = ""
    """Why the player was put out; empty: it lost by the rules."""
    file: str = ""

    @property
    def moves(self) -> tuple[RatedMove | None, tuple[RatedMove, ...]]:
        puzzle = self.position.puzzle if self.position else None
        return (puzzle.lost, puzzle.better) if puzzle else (None, ())


def _lost_in(name: str, player: str, server: str) -> Iterator[LostMatch]:
    """Yield the losers of a match, or of all matches in a folder; with `player`, only that one."""
    many = Path(name).is_dir()
    for match in [str(file) for file in match_files(Path(name))] if many else [name]:
        source = load_match(match, server)
        if source.record.result is None:
            raise CommandError(f"{match}: the match has no result")
        beaten = list(losers(source.record))
        if player:
            try:
                beaten = [
                    number
                    for number in beaten
                    if number == player_called(source.record.setup.names, player)
                ]
            except CommandError:
                if not many:
                    raise
                continue
        yield from (LostMatch(match, number, server) for number in beaten)


def _found(lost: Sequence[LostMatch], playouts: int, jobs: int) -> Iterable[BlunderReport]:
    if jobs > 1 and len(lost) > 1:
        return in_processes(partial(find_all, playouts=playouts), lost, jobs, most=1)
    return (find_one(match, playouts) for match in lost)


def find_all(lost: Sequence[LostMatch], playouts: int) -> list[BlunderReport]:
    """The work of one process."""
    return [find_one(match, playouts) for match in lost]


def find_one(lost: LostMatch, playouts: int) -> BlunderReport:
    source = load_match(lost.match, lost.server)
    record = source.record
    report = BlunderReport(
        lost.match, lost.player, record.setup.names[lost.player],
        method_text(source.game.name, playouts), cause=_cause(record, lost.player),
    )  # fmt: skip
    blunder = find_blunder(record, source.game, lost.player, playouts)
    if blunder is None:
        return report
    note = f"the last step at which {report.name} could still save {Path(lost.match).name}"
    position = position_file(blunder.question, record, note, blunder.puzzle)
    return msgspec.structs.replace(report, position=position, clear=blunder.clear)


def _cause(record: Record, player: Player) -> str:
    cause = record.result.causes[player] if record.result else "complete"
    return "" if cause == "complete" else cause


def _saved(report: BlunderReport, folder: Path) -> BlunderReport:
    """Write the puzzle of a match."""
    if report.position is None or not report.clear:
        return report
    stem = Path(report.match).name.removesuffix(".jsonl")
    file = folder / f"{stem}-player-{report.player}-step-{report.position.step}.json"
    file.write_bytes(encoded(report.position))
    return msgspec.structs.replace(report, file=str(file))


def _as_data(report: BlunderReport) -> dict[str, Any]:
    lost, better = report.moves
    return {
        "match": report.match,
        "player": report.player,
        "name": report.name,
        "step": report.position.step if report.position else None,
        "clear": report.clear,
        "cause": report.cause or None,
        "lost": lost,
        "better": better,
        "method": report.method,
        "file": report.file or None,
    }


def _print(reports: Sequence[BlunderReport]) -> None:
    for report in reports:
        out = f", out by {report.cause}" if report.cause else ""
        say(f"{report.match}: player {report.player}, {report.name}{out}", "bold")
        for line in _lines(report):
            say(f"  {line}")
    for method in dict.fromkeys(report.method for report in reports):
        say(f"Estimates: {method}. Intervals are 95 % Wilson intervals.", "dim")
    if not reports:
        say("no match was lost")


def _lines(report: BlunderReport) -> Iterator[str]:
    lost, better = report.moves
    if report.position is None:
        yield "no step was found at which another move would have held"
        return
    yield f"step {report.position.step} is the last one at which the match could be saved"
    yield (
        f"played  {move_text(lost.move)}: {estimate_text(lost.estimate)}"
        if lost
        else "played  no legal move"
    )
    for move in better:
        yield f"better  {move_text(move.move)}: {estimate_text(move.estimate)}"
    if report.clear:
        yield f"puzzle  {report.file}"
    else:
        yield "no other move was better beyond doubt: replies or chance lost it later"


def estimate_text(estimate: Estimate) -> str:
    if not estimate.playouts:
        return {0.0: "lost", 0.5: "a draw", 1.0: "won"}[estimate.share] + " (exact)"
    return f"{estimate.share:.0%} of the points [{estimate.low:.0%} .. {estimate.high:.0%}]"
