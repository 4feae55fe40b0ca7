"""`botdrome check`: positions, whole matches and puzzles, and a report of what went wrong."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, get_args

from msgspec import Struct
from rich.table import Table
from rich.text import Text
from typer import Argument, Option

from botdrome.analysis.position_file import BadPosition, PositionFile, encoded, last_question
from botdrome.cli.options import (
    BOT_HELP,
    ISOLATION,
    GameOptions,
    Json,
    game_and_bot,
    game_names,
)
from botdrome.cli.sources import MatchSource, load_match
from botdrome.cli.standings import duration_text
from botdrome.cli.terminal import (
    CommandError,
    command,
    game_called,
    print_json,
    progress_bar,
    read_options,
    say,
)
from botdrome.client.program import CannotStart
from botdrome.games.chance import Chance
from botdrome.games.options import with_options
from botdrome.games.reading import plural
from botdrome.kit.check import FEWEST_SAMPLES, Checker, CheckPlan, CheckReport, Kind
from botdrome.kit.rerun import seconds_for
from botdrome.match.questions import answer_text
from botdrome.match.record import BadRecord
from botdrome.offline.isolation import Isolation
from botdrome.offline.project import project_options
from botdrome.offline.seats import check_bot

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


WIRE = "With --wire"


@command(CannotStart, invalid=(BadPosition, BadRecord), name="check")
def check_command(
    words: Annotated[
        list[str] | None,
        Argument(
            metavar="[GAME] BOT",
            help=f"The game, unless puzzles or a position say it, and the bot: {BOT_HELP}. With "
            "--wire: the game, and after -- the command that starts the bot, with {url}, {host}, "
            "{port}, {name} and {password}.",
            show_default=False,
            autocompletion=game_names,
        ),
    ] = None,
    positions: Annotated[int, Option(min=0, help="Positions from matches of house bots.")] = 300,
    matches: Annotated[int, Option(min=0, help="Whole matches against house bots.")] = 10,
    seed: Annotated[int, Option(help="The first seed of these matches.")] = 1,
    option: GameOptions = None,
    puzzles: Annotated[
        Path | None,
        Option(
            metavar="FOLDER",
            help="Puzzles that the bot must solve, as `botdrome blunders` writes them.",
        ),
    ] = None,
    position: Annotated[
        str, Option(metavar="FILE", help="Ask only in the position of this file.")
    ] = "",
    save: Annotated[
        Path | None,
        Option(
            metavar="FOLDER",
            help="Where positions are saved. \\[default: check-GAME]",
            show_default=False,
        ),
    ] = None,
    isolation: Isolation = ISOLATION,
    json: Json = False,
    wire: Annotated[
        bool,
        Option("--wire", help="Check the bot on the wire instead.", rich_help_panel=WIRE),
    ] = False,
    protocol: Annotated[
        str,
        Option(
            help="battlebot, duel, boats, bomber or battlecube. Only battlebot needs GAME.",
            rich_help_panel=WIRE,
        ),
    ] = "battlebot",
    port: Annotated[
        int,
        Option(
            min=0, max=65535, help="The port for the bot; 0: any free port.", rich_help_panel=WIRE
        ),
    ] = 0,
    url: Annotated[
        str, Option(help="The URL of a running bot, for battlecube.", rich_help_panel=WIRE)
    ] = "",
    trial: Annotated[
        list[str] | None,
        Option(
            metavar="NAME",
            help="Only this trial; may be given several times.",
            show_default="all",
            rich_help_panel=WIRE,
        ),
    ] = None,
    patience: Annotated[
        float,
        Option(min=1, help="Seconds without an answer before it has failed.", rich_help_panel=WIRE),
    ] = 15.0,
    silence: Annotated[
        float, Option(min=0, help="Seconds of the long wait.", rich_help_panel=WIRE)
    ] = 6.0,
    slowness: Annotated[
        float,
        Option(
            min=0, max=4, help="Seconds that a message of slow HTTP takes.", rich_help_panel=WIRE
        ),
    ] = 0.7,
) -> int:
    """Check a bot before a contest: illegal moves, crashes, speed, nondeterminism and memory
    growth; or, with --wire, its client of a protocol.

    The positions of problems and the slowest one are saved as files.

    With --wire the bot plays short matches with traffic that is legal but unusual: messages in
    pieces, byte by byte or joined, unknown keys, another order of keys, long names and emoji, long
    waits, a lost connection, repeated questions and slow HTTP.

    Ends with status 0 if there are no problems, 1 if there are, 2 if the command is not valid, and
    3 if the opponent of a check with --wire cannot play, so that the bot was not checked.
    """
    if wire:
        from botdrome.cli.wire_check import check_wire  # imports a whole server

        return check_wire(
            words or [], protocol, trial or [], json, port, url, patience, silence, slowness
        )
    game, bot = game_and_bot(words or [])
    sources = [load_match(str(file)) for file in _puzzle_files(puzzles)] if puzzles else []
    if position:
        return _one_position(bot, load_match(position), isolation)
    row = game_called(_game(game, {source.game.name for source in sources}))
    options = read_options(option) or project_options(bot)
    with_options(row.game, options).start(max(2, row.game.players[0]), Chance(seed))
    plan = CheckPlan(bot, row.name, options, positions, matches, seed, isolation)
    check_bot(bot, plan.game, isolation)
    return _checked(plan, sources, save or Path(f"check-{plan.game}"), json)


def _puzzle_files(folder: Path) -> list[Path]:
    files = sorted(folder.glob("*.json"))
    if not files:
        raise CommandError(f"there are no puzzles (*.json) in {folder}")
    return files


def _game(given: str, of_puzzles: set[str]) -> str:
    if not given and len(of_puzzles) != 1:
        raise CommandError("the game is missing: botdrome check GAME BOT")
    return given or of_puzzles.pop()


def _one_position(bot: str, source: MatchSource, isolation: Isolation) -> int:
    """Ask the bot in the position of a file."""
    if source.position is None:
        raise CommandError(f"{source.name} is a match file; `botdrome rerun` plays it to a bot")
    check_bot(bot, source.game.name, isolation)
    checker = Checker(CheckPlan(bot, source.game.name, {}, 0, 0, 1, isolation))
    question = last_question(source.position, source.game)
    answer = checker.puzzle(source.stem, source.position, source.game)
    report = checker.report
    if source.position.note:
        say(source.position.note, "dim")
    words = f"step {question.step}, player {question.player}: {answer_text(question, answer)}"
    took = f", after {duration_text(answer.seconds)}" if answer.seconds else ""
    solved = ", solved" if report.solved else ", not solved" if report.puzzles else ""
    say(f"{words}{took}{solved}", "red" if report.findings else "green")
    return 1 if report.findings else 0


def _checked(plan: CheckPlan, puzzles: Sequence[MatchSource], folder: Path, as_json: bool) -> int:
    checker = Checker(plan)
    with progress_bar() as bar:
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
        print_json(_as_data(plan, report, findings, slowest))
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
    counts = f"{plural(report.positions, 'position')}, {plural(sum(report.matches), 'match', 'es')}"
    say(f"{plan.entrant}, {plan.game}: {counts}", "bold")
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
    say(table)
    count = plural(len(findings), "problem")
    say(*((count, "bold red") if findings else ("no problems", "bold green")))


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
        limit = seconds_for(game_called(plan.game).terms)
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
