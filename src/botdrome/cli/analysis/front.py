"""The options of `botdrome rerun`, `fork`, `blunders` and `check`. Nothing heavy is imported before they are read."""

from pathlib import Path
from typing import Annotated

import typer

Server = Annotated[str, typer.Option(envvar="BOTDROME_SERVER", help="The URL of a server; then MATCH may be the id of a match.")]
Chosen = Annotated[str, typer.Option("--player", "--seat", metavar="NUMBER|NAME", help="The player, from 0, or its name.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Playouts = Annotated[int, typer.Option(min=4, help="Playouts for each promising move, where a game cannot be solved.")]

BOT_HELP = "house:NAME, FILE.py[:NAME], MODULE:NAME, or 'cmd:PROGRAM ARGS'"


def rerun(
    words: Annotated[
        list[str], typer.Argument(metavar="[MATCH] BOT", help=f"A match file, and the bot: {BOT_HELP}.", show_default=False)
    ],
    folder: Annotated[
        Path | None, typer.Option("--all", metavar="FOLDER", help="Rerun all matches of a folder that the bot lost.")
    ] = None,
    player: Chosen = "",
    every: Annotated[bool, typer.Option("--all-steps", help="List all differences, not only the first.")] = False,
    pytest: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the matches as tests for pytest, and exit.")] = None,
    server: Server = "",
    json: Json = False,
) -> None:
    """Play a recorded match to a fresh copy of a bot, and report the first step at which it now moves differently.

    The bot plays the player that has its name, unless --player says otherwise. The recorded moves are played, whatever it
    answers. Ends with status 0 if all answers are as recorded, 1 if not, and 2 if the command is not valid.
    """
    from botdrome.cli.analysis.rerun import run_rerun

    raise typer.Exit(run_rerun(words, folder, player, every, pytest, server, json))
