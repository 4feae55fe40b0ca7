"""The options of the commands for contests on a server.

Nothing heavy is imported before they are read.
"""

from pathlib import Path
from typing import Annotated

import typer

from botdrome.cli.contest.front import Json
from botdrome.cli.join_front import LOCAL, Server

server = typer.Typer(no_args_is_help=True, help="Run contests on a server, as its operator.")

Token = Annotated[
    str,
    typer.Option(
        envvar="BOTDROME_OPERATOR_TOKEN",
        help="The operator's token; `botdrome operator-token` makes a new one.",
    ),
]
Name = Annotated[str, typer.Argument(help="The name of the contest.")]


@server.command()
def create(
    file: Annotated[Path, typer.Argument(help="A document.")],
    server: Server = LOCAL,
    token: Token = "",
    open_: Annotated[bool, typer.Option("--open", help="Let bots enter at once.")] = False,
) -> None:
    """Create a contest from its document, as a draft; or change one that has not started."""
    from botdrome.cli.contest.on_server import create_contest

    raise typer.Exit(create_contest(server, token, file, open_))


@server.command()
def show(name: Name, server: Server = LOCAL, json: Json = False) -> None:
    """Show the state of a contest, its standings, and the bots that it waits for."""
    from botdrome.cli.contest.on_server import show_contest

    raise typer.Exit(show_contest(server, name, json))


@server.command("open")
def open_contest(name: Name, server: Server = LOCAL, token: Token = "") -> None:
    """Let bots enter."""
    _act(server, token, name, "open")


@server.command()
def start(name: Name, server: Server = LOCAL, token: Token = "") -> None:
    """Start a contest with the bots that have entered."""
    _act(server, token, name, "start")


@server.command()
def pause(name: Name, server: Server = LOCAL, token: Token = "") -> None:
    """Start no more matches. Running matches are played to their end."""
    _act(server, token, name, "pause")


@server.command()
def resume(name: Name, server: Server = LOCAL, token: Token = "") -> None:
    """Go on with a paused contest."""
    _act(server, token, name, "resume")


@server.command()
def end(name: Name, server: Server = LOCAL, token: Token = "") -> None:
    """End a contest with the present standings."""
    _act(server, token, name, "end")


@server.command()
def rerun(
    name: Name,
    bot: Annotated[
        list[str] | None, typer.Option(metavar="BOT", help="Play all matches of this bot again.")
    ] = None,
    only: Annotated[
        str,
        typer.Option(
            metavar="failed", help="`failed`: play matches with crashes and no-shows again."
        ),
    ] = "",
    server: Server = LOCAL,
    token: Token = "",
) -> None:
    """Let matches of a paused contest be played again, once you resume it.

    Their old results stay in the log.
    """
    from botdrome.cli.contest.on_server import rerun_contest

    raise typer.Exit(rerun_contest(server, token, name, bot or [], only))


@server.command()
def withdraw(
    name: Name,
    bot: Annotated[str, typer.Argument(help="The name of the bot.")],
    server: Server = LOCAL,
    token: Token = "",
    why: Annotated[str, typer.Option(help="The reason, for the log.")] = "",
) -> None:
    """Take a bot out of a contest. It forfeits its open matches."""
    from botdrome.cli.contest.on_server import withdraw_bot

    raise typer.Exit(withdraw_bot(server, token, name, bot, why))


def _act(server: str, token: str, name: str, action: str) -> None:
    from botdrome.cli.contest.on_server import act

    raise typer.Exit(act(server, token, name, action))
