"""The options of `botdrome mcp`. Nothing heavy is imported before they are read."""

from typing import Annotated

import typer

from botdrome.cli.join_front import LOCAL, Server


def mcp(
    server: Server = LOCAL,
    name: Annotated[
        str, typer.Option(help="The model's name on the server; the name of a game follows it.")
    ] = "model",
) -> None:
    """Let a language model play on a server: an MCP server on standard input and output, for
    programs such as chat clients.

    Its tools are games, join, observe, legal_moves, act and leave. Needs the extra `mcp`: pip
    install 'botdrome\\[mcp]'.
    """
    from botdrome.cli.terminal import complain

    try:
        from botdrome.cli.mcp_server import run_mcp
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("mcp", "pydantic"):
            raise
        complain("`botdrome mcp` needs the MCP SDK: pip install 'botdrome[mcp]'")
        raise typer.Exit(1) from None
    raise typer.Exit(run_mcp(server, name))
