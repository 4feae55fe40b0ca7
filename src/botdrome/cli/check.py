"""`botdrome check`: positions, whole matches and puzzles, and a report of what went wrong."""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, get_args

import msgspec
import typer
from msgspec import Struct
from msgspec.structs import replace
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.table import Table
from rich.text import Text

from botdrome.cli.options import InProcess, IsolationFlags, Memory, Sandbox, game_names
from botdrome.cli.play import INTERRUPTED
from botdrome.cli.sources import MatchSource, load_match
from botdrome.cli.standings import duration_text
from botdrome.cli.terminal import (
    REFUSED,
    CommandError,
    Terminal,
    complain,
    format_called,
    read_options,
)
from botdrome.client.program import CannotStart
from botdrome.games.chance import Chance
from botdrome.games.game import BadOption
from botdrome.games.options import with_options
from botdrome.games.reading import plural
from botdrome.kit.check import FEWEST_SAMPLES, Checker, CheckPlan, CheckReport, Kind
from botdrome.kit.position_file import BadPosition, PositionFile, encoded, last_question
from botdrome.kit.rerun import seconds_for
from botdrome.match.questions import answer_text
from botdrome.match.record import BadRecord
from botdrome.offline.isolation import Isolation
from botdrome.offline.seats import check_bot

Server = Annotated[
    str,
    typer.Option(
        envvar="BOTDROME_SERVER", help="The URL of a server; then MATCH may be the id of a match."
    ),
]
Chosen = Annotated[
    str,
    typer.Option(
        "--player", "--seat", metavar="NUMBER|NAME", help="The player, from 0, or its name."
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Playouts = Annotated[
    int,
    typer.Option(min=4, help="Playouts for each promising move, where a game cannot be solved."),
]

BOT_HELP = "house:NAME, FILE.py[:NAME], MODULE:NAME, or 'cmd:PROGRAM ARGS'"

app = typer.Typer()


@app.command("check")
def check_command(
    bot: Annotated[str, typer.Argument(metavar="BOT", help=f"{BOT_HELP}.")],
    game: Annotated[
        str,
        typer.Option(
            help="The game. \\[default: that of the puzzles]",
            show_default=False,
            autocompletion=game_names,
        ),
    ] = "",
    positions: Annotated[
        int, typer.Option(min=0, help="Positions from matches of house bots.")
    ] = 300,
    matches: Annotated[int, typer.Option(min=0, help="Whole matches against house bots.")] = 10,
    seed: Annotated[int, typer.Option(help="The first seed of these matches.")] = 1,
    option: Annotated[
        list[str] | None, typer.Option("-o", "--option", help="NAME=VALUE, an option of the game.")
    ] = None,
    puzzles: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Puzzles that the bot must solve, as `botdrome blunders` writes them.",
        ),
    ] = None,
    position: Annotated[
        str, typer.Option(metavar="FILE", help="Ask only in the position of this file.")
    ] = "",
    save: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Where positions are saved. \\[default: check-GAME]",
            show_default=False,
        ),
    ] = None,
    in_process: InProcess = False,
    sandbox: Sandbox = False,
    memory: Memory = None,
    json: Json = False,
) -> None:
    """Check a bot before a contest: illegal moves, crashes, speed, nondeterminism and memory
    growth.

    The positions of problems and the slowest one are saved as files. Ends with status 0 if there
    are no problems, 1 if there are, and 2 if the command is not valid.
    """
    isolation = IsolationFlags(in_process, sandbox, memory)
    raise typer.Exit(
        run_check(
            bot,
            game,
            positions,
            matches,
            seed,
            option or [],
            puzzles,
            position,
            save,
            isolation,
            json,
        )
    )


MOST_FILES = 5
"""Position files of each kind of problem; `--json` lists all problems."""
WORDS: dict[Kind, str] = {
    "illegal move": "illegal moves",
    "crash": "crashes",
    "timeout": "timeouts",
    "too slow": "too slow",
    "nondeterminism": "nondeterminism",
    "memory growth": "too much memory",
    "puzzle": "unsolved",
}


class SavedFinding(Struct, frozen=True):
    """A problem, and the file with its position."""

    kind: Kind
    text: str
    file: str | None


def run_check(
    bot: str, game: str, positions: int, matches: int, seed: int, options: list[str],
    puzzles: Path | None, position: str, save: Path | None, flags: IsolationFlags, as_json: bool,
) -> int:  # fmt: skip
    """Return 0 if there are no problems, and 1 if there are."""
    try:
        isolation = flags.isolation()
        sources = [load_match(str(file)) for file in _puzzle_files(puzzles)] if puzzles else []
        if position:
            return _one_position(bot, load_match(position), isolation)
        plan = replace(
            _plan(bot, game, positions, matches, seed, options, sources), isolation=isolation
        )
        check_bot(bot, plan.game, isolation)
        return _checked(plan, sources, save or Path(f"check-{plan.game}"), as_json)
    except (CommandError, BadOption, BadPosition, BadRecord) as problem:
        complain(problem)
        return REFUSED
    except (CannotStart, OSError) as problem:
        complain(problem)
        return 1
    except KeyboardInterrupt:
        return INTERRUPTED


def _puzzle_files(folder: Path) -> list[Path]:
    files = sorted(folder.glob("*.json"))
    if not files:
        raise CommandError(f"there are no puzzles (*.json) in {folder}")
    return files


def _plan(
    bot: str,
    game: str,
    positions: int,
    matches: int,
    seed: int,
    options: list[str],
    puzzles: Sequence[MatchSource],
) -> CheckPlan:
    games = {source.game.name for source in puzzles}
    if not game and len(games) != 1:
        raise CommandError("--game is missing: the game that the bot plays")
    row = format_called(game or games.pop())
    given = read_options(options)
    with_options(row.game, given).start(max(2, row.game.players[0]), Chance(seed))
    return CheckPlan(bot, row.name, given, positions, matches, seed)


def _one_position(bot: str, source: MatchSource, isolation: Isolation) -> int:
    """Ask the bot in the position of a file."""
    if source.position is None:
        raise CommandError(f"{source.name} is a match file; `botdrome rerun` plays it to a bot")
    check_bot(bot, source.game.name, isolation)
    checker = Checker(CheckPlan(bot, source.game.name, {}, 0, 0, 1, isolation))
    question = last_question(source.position, source.game)
    answer = checker.puzzle(source.stem, source.position, source.game)
    console, report = Terminal(soft_wrap=True), checker.report
    if source.position.note:
        console.print(Text(source.position.note, "dim"))
    words = f"step {question.step}, player {question.player}: {answer_text(question, answer)}"
    took = f", after {duration_text(answer.seconds)}" if answer.seconds else ""
    solved = ", solved" if report.solved else ", not solved" if report.puzzles else ""
    console.print(Text(f"{words}{took}{solved}", "red" if report.findings else "green"))
    return 1 if report.findings else 0


def _checked(plan: CheckPlan, puzzles: Sequence[MatchSource], folder: Path, as_json: bool) -> int:
    checker = Checker(plan)
    columns: tuple[Any, ...] = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=Terminal(stderr=True), transient=True) as bar:
        for words, total, work in (
            ("positions", plan.positions, checker.positions()),
            ("matches", plan.matches, checker.matches()),
            ("puzzles", len(puzzles), _solve(checker, puzzles)),
        ):
            task = bar.add_task(words, total=total)
            for done in work if total else ():
                bar.advance(task, done)
    report = checker.report
    findings, slowest = _saved(report, folder)
    if as_json:
        sys.stdout.write(
            msgspec.json.encode(_as_data(plan, report, findings, slowest)).decode() + "\n"
        )
    else:
        _print(plan, report, findings, slowest)
    return 1 if findings else 0


def _solve(checker: Checker, puzzles: Sequence[MatchSource]) -> Iterator[int]:
    for source in puzzles:
        if source.position is None or source.game.name != checker.plan.game:
            raise CommandError(f"{source.name} is no position file of {checker.plan.game}")
        checker.puzzle(source.stem, source.position, source.game)
        yield 1


def _saved(report: CheckReport, folder: Path) -> tuple[list[SavedFinding], str | None]:
    """Write the positions of the first problems of each kind, and the slowest one."""
    findings, written = [], dict[str, int]()
    for finding in report.findings:
        number = written[finding.kind] = written.get(finding.kind, 0) + 1
        wanted = finding.position is not None and number <= MOST_FILES and finding.kind != "puzzle"
        file = (
            _written(finding.position, folder / f"{finding.kind.replace(' ', '-')}-{number}.json")
            if wanted
            else None
        )
        findings.append(SavedFinding(finding.kind, finding.text, file))
    return findings, _written(report.slowest, folder / "slowest.json")


def _written(position: PositionFile | None, file: Path) -> str | None:
    if position is None:
        return None
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(encoded(position))
    return str(file)


def _as_data(
    plan: CheckPlan, report: CheckReport, findings: Sequence[SavedFinding], slowest: str | None
) -> dict[str, Any]:
    wins, draws, losses = report.matches
    return {
        "bot": plan.entrant,
        "game": plan.game,
        "ok": not findings,
        "positions": report.positions,
        "repeated": report.repeated,
        "seconds": report.times,
        "slowest": slowest,
        "startSeconds": max(report.starts, default=None),
        "memoryGrowth": report.growth,
        "matches": {"wins": wins, "draws": draws, "losses": losses},
        "puzzles": {"solved": report.solved, "of": report.puzzles},
        "problems": findings,
    }


def _print(
    plan: CheckPlan, report: CheckReport, findings: Sequence[SavedFinding], slowest: str | None
) -> None:
    console = Terminal()
    counts = f"{plural(report.positions, 'position')}, {plural(sum(report.matches), 'match', 'es')}"
    console.print(Text(f"{plan.entrant}, {plan.game}: {counts}", "bold"))
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for kind in get_args(Kind):
        found = [finding for finding in findings if finding.kind == kind]
        if found or kind in ("illegal move", "crash", "timeout", "nondeterminism"):
            table.add_row(
                f"  {WORDS[kind]}",
                Text("\n".join(_lines(found)), "red") if found else _none(kind, report),
            )
    for words, text in _figures(plan, report, slowest):
        table.add_row(f"  {words}", text)
    console.print(table)
    count = f"{len(findings)} problem" + "s" * (len(findings) != 1)
    console.print(Text(count, "bold red") if findings else Text("no problems", "bold green"))


def _none(kind: Kind, report: CheckReport) -> Text:
    return Text(
        f"none in {report.repeated} repeated answers" if kind == "nondeterminism" else "none",
        "green",
    )


def _lines(findings: Sequence[SavedFinding]) -> Iterator[str]:
    yield str(len(findings))
    for finding in findings[:MOST_FILES]:
        yield finding.text
        if finding.file:
            yield f"  {finding.file}"
    if len(findings) > MOST_FILES:
        yield f"... and {len(findings) - MOST_FILES} more; --json lists them all"


def _figures(
    plan: CheckPlan, report: CheckReport, slowest: str | None
) -> Iterator[tuple[str, str]]:
    if times := report.times:
        p50, p99, longest = map(duration_text, (times.p50, times.p99, times.slowest))
        limit = seconds_for(format_called(plan.game).terms)
        yield "time", f"p50 {p50}, p99 {p99}, slowest {longest} (limit {limit:g} s)\n  {slowest}"
    if report.starts:
        yield "start", f"first answer after at most {duration_text(max(report.starts))}"
    if report.positions:
        yield "memory growth", _growth_text(report, plan)
    wins, draws, losses = report.matches
    if plan.matches:
        yield "matches", f"{wins} won, {draws} drawn, {losses} lost against house bots"
    if report.puzzles:
        yield "puzzles", f"{report.solved} of {report.puzzles} solved"


def _growth_text(report: CheckReport, plan: CheckPlan) -> str:
    if report.growth is not None:
        return f"{report.growth / 1e6:.1f} MB"
    if not report.memory:
        apart = not plan.isolation.in_process and not plan.entrant.startswith("house:")
        why = "gave no answer" if apart else "plays in the process of this command"
        return f"not judged: the bot {why}"
    return f"not judged: no process gave {FEWEST_SAMPLES} answers; try more --positions"
