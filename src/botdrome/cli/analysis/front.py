"""The options of `botdrome rerun`, `fork`, `blunders` and `check`.

Nothing heavy is imported before they are read.
"""

from pathlib import Path
from typing import Annotated

import typer

from botdrome.cli.completion import game_names
from botdrome.cli.isolation import InProcess, IsolationFlags, Memory, Sandbox

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


def rerun(
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
    player: Chosen = "",
    every: Annotated[
        bool, typer.Option("--all-steps", help="List all differences, not only the first.")
    ] = False,
    pytest: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the matches as tests for pytest, and exit."),
    ] = None,
    in_process: InProcess = False,
    sandbox: Sandbox = False,
    memory: Memory = None,
    server: Server = "",
    json: Json = False,
) -> None:
    """Play a recorded match to a fresh copy of a bot, and report the first step at which it now
    moves differently.

    The bot plays the player that has its name, unless --player says otherwise. The recorded moves
    are played, whatever it answers. Ends with status 0 if all answers are as recorded, 1 if not,
    and 2 if the command is not valid.
    """
    from botdrome.cli.analysis.rerun import run_rerun

    isolation = IsolationFlags(in_process, sandbox, memory)
    raise typer.Exit(run_rerun(words, folder, player, every, pytest, isolation, server, json))


def fork(
    match: Annotated[
        str, typer.Argument(metavar="MATCH", help="A match file, a position file or a puzzle.")
    ],
    bots: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[BOT]...",
            help=f"One per player: {BOT_HELP}, `recorded` or `human`. \\[default: house bots]",
        ),
    ] = None,
    step: Annotated[
        int | None,
        typer.Option(
            min=0, help="The step, from 0. \\[default: that of a position file]", show_default=False
        ),
    ] = None,
    times: Annotated[
        int,
        typer.Option(
            "-n", "--times", min=1, help="Continuations, each with other seeds for the bots."
        ),
    ] = 1,
    save: Annotated[
        Path, typer.Option(metavar="FOLDER", help="Where the continued matches are saved.")
    ] = Path("forks"),
    in_process: InProcess = False,
    sandbox: Sandbox = False,
    memory: Memory = None,
    server: Server = "",
    json: Json = False,
) -> None:
    """Restore the position of a recorded match at a step, and continue the match with other
    players.

    `recorded` plays the recorded moves as long as they are legal, and then as a house bot. `human`
    asks you in the terminal.

    Compares the result with the recorded one. Ends with status 0, 1 if a bot could not be started
    or you stopped before the end, or 2 if the command is not valid.
    """
    from botdrome.cli.analysis.fork import run_fork

    isolation = IsolationFlags(in_process, sandbox, memory)
    raise typer.Exit(run_fork(match, bots or [], step, times, save, isolation, server, json))


def blunders(
    matches: Annotated[
        list[str],
        typer.Argument(metavar="MATCH|FOLDER...", help="Match files, or folders of them."),
    ],
    player: Chosen = "",
    playouts: Playouts = 24,
    jobs: Annotated[int, typer.Option("-j", "--jobs", min=1, help="Processes that search.")] = 1,
    save: Annotated[
        Path, typer.Option(metavar="FOLDER", help="Where the puzzles are saved.")
    ] = Path("puzzles"),
    server: Server = "",
    json: Json = False,
) -> None:
    """Find the last step at which each lost match could still be saved, and write it as a puzzle.

    Noughts and crosses is solved. In the other games, house bots play each promising move to its
    end many times, and the shares of the points are given with 95 % intervals. `botdrome check
    --puzzles` and `botdrome fork` read puzzles. Ends with status 0, or 2 if the command is not
    valid.
    """
    from botdrome.cli.analysis.blunders import run_blunders

    raise typer.Exit(run_blunders(matches, player, playouts, jobs, save, server, json))


def check(
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
    from botdrome.cli.analysis.check import run_check

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
