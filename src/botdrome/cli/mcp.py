"""`botdrome mcp`, and the games as a language model is told about them."""

from typing import Annotated, Any

import typer

from botdrome.bots.house import house_bots
from botdrome.catalogue import CatalogueEntry
from botdrome.cli.games import examples
from botdrome.cli.options import LOCAL, Server
from botdrome.cli.sources import server_at
from botdrome.cli.terminal import CommandFailed, reporting
from botdrome.games.options import options_of

app = typer.Typer()


@app.command()
@reporting()
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
    try:
        from botdrome.cli.mcp_server import run_mcp
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("mcp", "pydantic"):
            raise
        sdk = "`botdrome mcp` needs the MCP SDK: pip install 'botdrome[mcp]'"
        raise CommandFailed(sdk) from None
    run_mcp(server_at(server), name)


RULES = {
    "noughts-and-crosses": (
        "Three of your marks in a row, a column or a diagonal win. Seat 0 has X and starts. A move "
        "names your mark and a free"
        " space [row, column], both from 0 to 2."
    ),
    "bumblebots": (
        "Both players order their drones over a board of hexes, at the same time, tick by tick. A "
        "drone on a flower (2) claims"
        " it: one point, and the drone is used up. Walls (1) stop drones; a zone (5: seat 0, 6: "
        "seat 1) stops those of the other"
        " player. Directions, as [row, column] steps: UL [-1, -1], UR [-1, 0], R [0, 1], DR [1, "
        "1], DL [1, 0], L [0, -1]. A move"
        " gives each drone one direction; a drone without an order stays. Legal moves list single "
        "orders: combine them in one"
        " move. The most flowers win."
    ),
    "gomoku": (
        "Five or more of your stones (option win_length) side by side win: across, down or on a "
        "diagonal. Seat 0 has X and"
        " starts. A move is a free cell: x is the column, y the row, both from 0. A match has two "
        "boards, and the other player"
        " starts on the second."
    ),
    "battleship": (
        "Phase placement: place every boat once, as a straight run of its letter, on one text with "
        "all squares row by row (`.` is"
        " water); legal moves are only a few examples. Phase shooting: one shot at a square of "
        "another seat, x is the column, y"
        " the row, both from 0. On the boards X is a hit, 0 a miss. Every hit is a point; the most "
        "hits win."
    ),
    "battlecube": (
        "Survive in a cube of cells x, y, z. All players answer at once with a list of exactly "
        "`tasks` tasks: MOVE with a"
        " direction (+X, -X, +Y, -Y, +Z, -Z), BOMB with the x, y, z of a cell, or NOOP. You lose "
        "if you leave the cube, stand on"
        " a bomb or share a cell. Bombs stay for ever. The last survivor wins."
    ),
    "bomberman": (
        "All players act at once, round by round: MOVE_UP, MOVE_DOWN, MOVE_LEFT, MOVE_RIGHT, "
        "PLACE_BOMB or WAIT. Places are"
        " [row, column], row 0 at the top; `#` is a wall, `+` a crate, `.` free. A bomb burns its "
        "tile and some tiles in each of"
        " the four directions when its fuse ends; walls and crates stop the flames. Users on "
        "burning tiles die, also by their"
        " own bombs. The last survivor wins."
    ),
}


def summary(row: CatalogueEntry) -> dict[str, Any]:
    players = row.game.players
    house = [f"house:{bot}" for bot in house_bots(row.name)]
    return {
        "game": row.name,
        "players": [players[0], players[-1]],
        "rules": RULES.get(row.name, ""),
        "house_bots": house,
    }


def description(row: CatalogueEntry) -> dict[str, Any]:
    options = [
        {"name": option.name, "default": option.default, "meaning": option.description}
        for option in options_of(row.game).values()
    ]
    found = [{"when": label, "view": view, "move": move} for label, view, move in examples(row)]
    return summary(row) | {"options": options, "examples": found}
