"""The options of `botdrome contest`. Nothing heavy is imported before they are read."""

from pathlib import Path
from typing import Annotated

import typer

from botdrome.cli.isolation import InProcess, IsolationFlags, Memory, Sandbox
from botdrome.cli.play_command import Dask

contest = typer.Typer(
    no_args_is_help=True, help="Run contests on this machine, and prove their results."
)

Place = Annotated[
    str,
    typer.Argument(
        metavar="CONTEST", help="A document such as cup.toml, or the store of a contest: cup.db."
    ),
]
Name = Annotated[
    str,
    typer.Argument(
        metavar="[NAME]", help="The contest, if the store has several.", show_default=False
    ),
]
Database = Annotated[
    str,
    typer.Option(
        "--db",
        metavar="FILE|URL",
        help="The store. \\[default: beside the document, cup.db]",
        show_default=False,
    ),
]
Jobs = Annotated[int, typer.Option("-j", "--jobs", min=1, help="Processes that play.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@contest.command()
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
    from botdrome.cli.contest.documents import write_new

    raise typer.Exit(write_new(game, format_, file))


@contest.command()
def check(file: Annotated[Path, typer.Argument(help="A document.")]) -> None:
    """Read a document, and say what the contest will be; or name the line that is wrong, with a
    correct example.
    """
    from botdrome.cli.contest.documents import check_file

    raise typer.Exit(check_file(file))


@contest.command()
def run(
    place: Place,
    name: Name = "",
    jobs: Jobs = 1,
    dask: Dask = "",
    db: Database = "",
    in_process: InProcess = False,
    sandbox: Sandbox = False,
    memory: Memory = None,
    json: Json = False,
) -> None:
    """Play a contest on this machine, or continue it, also after a crash. Ctrl-C pauses it.

    Paths of bots are relative to the document. Ends with status 0 when the contest is over, 1 if it
    waits for you, 2 if the document is not valid, and 130 after Ctrl-C.
    """
    from botdrome.cli.contest.run import RunOptions, run_contest

    raise typer.Exit(
        run_contest(
            place,
            name,
            db,
            RunOptions(jobs, dask, IsolationFlags(in_process, sandbox, memory), json),
        )
    )


@contest.command()
def resume(
    place: Place,
    name: Name = "",
    jobs: Jobs = 1,
    dask: Dask = "",
    db: Database = "",
    in_process: InProcess = False,
    sandbox: Sandbox = False,
    memory: Memory = None,
    json: Json = False,
) -> None:
    """Continue a paused contest: in the process that waits, or here if there is none."""
    from botdrome.cli.contest.run import RunOptions, resume_contest

    raise typer.Exit(
        resume_contest(
            place,
            name,
            db,
            RunOptions(jobs, dask, IsolationFlags(in_process, sandbox, memory), json),
        )
    )


@contest.command()
def rerun(
    place: Place,
    name: Name = "",
    bot: Annotated[
        list[str] | None, typer.Option(metavar="BOT", help="Play all matches of this bot again.")
    ] = None,
    only: Annotated[
        str,
        typer.Option(
            metavar="failed", help="`failed`: play matches with crashes and no-shows again."
        ),
    ] = "",
    jobs: Jobs = 1,
    dask: Dask = "",
    db: Database = "",
    in_process: InProcess = False,
    sandbox: Sandbox = False,
    memory: Memory = None,
    json: Json = False,
) -> None:
    """Play some matches again.

    Their old results stay in the log. Later rounds that depend on them are also played again.
    """
    from botdrome.cli.contest.run import RunOptions, rerun_contest

    given = RunOptions(jobs, dask, IsolationFlags(in_process, sandbox, memory), json)
    raise typer.Exit(rerun_contest(place, name, db, given, bot or [], only))


@contest.command()
def show(
    place: Place,
    name: Name = "",
    db: Database = "",
    log: Annotated[
        bool, typer.Option("--log", help="Show the whole log, not only its end.")
    ] = False,
    json: Json = False,
) -> None:
    """Show the state of a contest, its standings with ratings and 95 % intervals, its rounds and
    its log.
    """
    from botdrome.cli.contest.changes import show_contest

    raise typer.Exit(show_contest(place, name, db, log, json))


@contest.command()
def pause(place: Place, name: Name = "", db: Database = "") -> None:
    """Pause a contest that runs in another process, after the matches that are being played."""
    from botdrome.cli.contest.changes import pause_contest

    raise typer.Exit(pause_contest(place, name, db))


@contest.command()
def withdraw(
    place: Place,
    bot: Annotated[str, typer.Option(metavar="BOT", help="The name of the bot.")],
    name: Name = "",
    why: Annotated[str, typer.Option(help="The reason, for the log.")] = "",
    db: Database = "",
) -> None:
    """Take a bot out of a contest. It forfeits its matches of this round, and plays no more."""
    from botdrome.cli.contest.changes import withdraw_bot

    raise typer.Exit(withdraw_bot(place, name, db, bot, why))


@contest.command()
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
    from botdrome.cli.contest.proofs import export_contest

    raise typer.Exit(export_contest(place, name, db, output, key))


@contest.command()
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
    from botdrome.cli.contest.proofs import verify_archive

    raise typer.Exit(verify_archive(file, key))
