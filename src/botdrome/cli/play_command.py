"""The signature of `botdrome play`, apart from its code, so that `--help` is fast."""

from pathlib import Path
from typing import Annotated

import typer

from botdrome.cli.completion import game_names
from botdrome.cli.isolation import InProcess, IsolationFlags, Memory, Sandbox

Bots = Annotated[
    list[str],
    typer.Argument(
        help="house:NAME, FILE.py[:NAME], FOLDER, MODULE:NAME, replay:FILE.jsonl[:PLAYER], "
        "or a program: 'view:...', 'cmd:...', 'pbrain:...'."
    ),
]

Limit = Annotated[
    int | None,
    typer.Option(min=1, metavar="MS", help="The time limit of a move. \\[default: the game's]"),
]
Dask = Annotated[
    str,
    typer.Option(
        metavar="ADDRESS",
        help="Play on a Dask cluster instead: its scheduler, such as tcp://10.0.0.5:8786.",
    ),
]
Openings = Annotated[
    str,
    typer.Option(
        metavar="FILE|random|none",
        help="Openings for gomoku, as in Gomocup, or random ones in games without chance. Each is "
        "played once per seating.",
    ),
]
TimeControl = Annotated[
    str,
    typer.Option(
        metavar="CONTROL",
        help="A chess clock in seconds, such as 40/60+0.6, or a bank, such as 5/move+60.",
    ),
]


def play(
    game: Annotated[
        str,
        typer.Argument(
            help="The name of a game; `botdrome games` lists them.", autocompletion=game_names
        ),
    ],
    bots: Bots,
    matches: Annotated[
        int | None,
        typer.Option(
            "-n",
            "--matches",
            min=1,
            help="Matches for every group of bots at one table. \\[default: 10]",
        ),
    ] = None,
    jobs: Annotated[int, typer.Option("-j", "--jobs", min=1, help="Processes that play.")] = 1,
    dask: Dask = "",
    seed: Annotated[
        int, typer.Option(help="The first seed. Each seed is played once per seating.")
    ] = 1,
    players: Annotated[
        int | None,
        typer.Option(min=1, help="Seats at a table. \\[default: all bots, up to the game's limit]"),
    ] = None,
    option: Annotated[
        list[str] | None, typer.Option("-o", "--option", help="NAME=VALUE, an option of the game.")
    ] = None,
    openings: Openings = "none",
    limit: Limit = None,
    clock: TimeControl = "",
    save: Annotated[
        Path | None,
        typer.Option(help="Save a match file of every match in this folder, and the bots' logs."),
    ] = None,
    in_process: InProcess = False,
    sandbox: Sandbox = False,
    memory: Memory = None,
    json: Annotated[
        bool, typer.Option("--json", help="Print all matches and the standings as JSON.")
    ] = False,
    show: Annotated[
        bool, typer.Option("--open", help="Show the matches live in the browser.")
    ] = False,
) -> None:
    """Play bots against each other on this machine, and show the standings with ratings and their
    95 % intervals.

    Each bot runs in a process of its own; house bots do not. A bot that fails loses, and the
    matches go on. Ends with status 0 if the matches were played, 1 if a bot could not be started or
    a match could not be played, 2 if the command is not valid, and 130 after Ctrl-C.
    """
    from botdrome.cli.play import PlayOptions, run

    given = PlayOptions(
        matches=matches, jobs=jobs, dask=dask, seed=seed, players=players, options=option or [],
        openings=openings, limit=limit, clock=clock, save=save,
        isolation=IsolationFlags(in_process, sandbox, memory), as_json=json, show=show,
    )  # fmt: skip
    raise typer.Exit(run(game, bots, given))
