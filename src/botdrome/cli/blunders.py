"""`botdrome blunders`: the last step at which a lost match could still be saved."""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer
from msgspec import Struct
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.text import Text

from botdrome.cli.options import Json, MatchServer, PlayerOption
from botdrome.cli.sources import load_match, losers, match_files, player_called
from botdrome.cli.terminal import CommandError, Terminal, print_json, reporting
from botdrome.kit.blunders import find_blunder
from botdrome.kit.playouts import method_text
from botdrome.kit.position_file import Estimate, PositionFile, RatedMove, encoded, position_file
from botdrome.match.events import Player
from botdrome.match.questions import move_text
from botdrome.match.record import BadRecord, Record
from botdrome.offline.batches import in_processes

app = typer.Typer()


@app.command("blunders")
@reporting(BadRecord)
def blunders_command(
    matches: Annotated[
        list[str],
        typer.Argument(metavar="MATCH|FOLDER...", help="Match files, or folders of them."),
    ],
    player: PlayerOption = "",
    playouts: Annotated[
        int,
        typer.Option(
            min=4, help="Playouts for each promising move, where a game cannot be solved."
        ),
    ] = 24,
    jobs: Annotated[int, typer.Option("-j", "--jobs", min=1, help="Processes that search.")] = 1,
    save: Annotated[
        Path, typer.Option(metavar="FOLDER", help="Where the puzzles are saved.")
    ] = Path("puzzles"),
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
    found = _followed(_found(lost, playouts, jobs), len(lost))
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


def _followed(reports: Iterable[BlunderReport], total: int) -> Iterator[BlunderReport]:
    columns: tuple[Any, ...] = (TextColumn("lost matches"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=Terminal(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=total)
        for report in reports:
            bar.advance(task)
            yield report


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
    console = Terminal(soft_wrap=True)
    for report in reports:
        out = f", out by {report.cause}" if report.cause else ""
        console.print(Text(f"{report.match}: player {report.player}, {report.name}{out}", "bold"))
        for line in _lines(report):
            console.print(Text(f"  {line}"))
    for method in dict.fromkeys(report.method for report in reports):
        console.print(Text(f"Estimates: {method}. Intervals are 95 % Wilson intervals.", "dim"))
    if not reports:
        console.print("no match was lost")


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
