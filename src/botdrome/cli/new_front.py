"""The options of `botdrome new`. Nothing heavy is imported before they are read."""

from pathlib import Path
from typing import Annotated

import typer

from botdrome.cli.completion import game_names


def new(
    game: Annotated[
        str,
        typer.Argument(
            help="The name of a game; `botdrome games` lists them.", autocompletion=game_names
        ),
    ],
    folder: Annotated[
        Path, typer.Argument(help="The folder of the project; it must not exist yet.")
    ],
    lang: Annotated[
        str, typer.Option(help="python, javascript, typescript, java, go, rust or cpp.")
    ] = "python",
) -> None:
    """Create a bot: a project that plays at once, with its build and a test."""
    from botdrome.cli.new import make_project

    raise typer.Exit(make_project(game, lang, folder))
