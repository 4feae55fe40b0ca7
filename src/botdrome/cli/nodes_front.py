"""The options of `botdrome nodes`. Nothing heavy is imported before they are read."""

from typing import Annotated

import typer

from botdrome.cli.contest.front import Json
from botdrome.cli.contest.server_front import Token
from botdrome.cli.join_front import LOCAL, Server

nodes = typer.Typer(help="List the nodes of a cluster, or drain one before you stop it.")

Name = Annotated[str, typer.Argument(help="The name of the node.")]


@nodes.callback(invoke_without_command=True)
def listed(context: typer.Context, server: Server = LOCAL, json: Json = False) -> None:
    from botdrome.cli.nodes import list_nodes

    if context.invoked_subcommand is None:
        raise typer.Exit(list_nodes(server, json))


@nodes.command()
def drain(name: Name, server: Server = LOCAL, token: Token = "") -> None:
    """Move the matches of a node to others, and have it take no new ones, before you stop it."""
    from botdrome.cli.nodes import change_node

    raise typer.Exit(change_node(server, token, name, True))


@nodes.command()
def undrain(name: Name, server: Server = LOCAL, token: Token = "") -> None:
    """Have a drained node take matches again."""
    from botdrome.cli.nodes import change_node

    raise typer.Exit(change_node(server, token, name, False))
