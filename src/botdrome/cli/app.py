"""The command `botdrome`. Heavy things are imported inside the commands, so that `--help` answers at once."""

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(
    name="botdrome",
    help="One arena for game-playing bots.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

Game = Annotated[str, typer.Argument(help="The game, as `botdrome games` calls it.")]


@app.command()
def games(
    game: Annotated[str | None, typer.Argument(help="Only this game, in full.")] = None,
) -> None:
    """List the games with their options, and what a bot sees and sends by example."""
    from botdrome.cli.games import show_games

    raise typer.Exit(show_games(game))


@app.command()
def play(
    game: Game,
    bots: Annotated[list[str], typer.Argument(help="house:NAME, FILE.py[:FUNCTION], MODULE:FUNCTION, or 'cmd:PROGRAM ARGS'.")],
    matches: Annotated[int, typer.Option("-n", "--matches", min=1, help="Matches for every choice of bots at one table.")] = 10,
    jobs: Annotated[int, typer.Option("-j", "--jobs", min=1, help="Processes to play in.")] = 1,
    seed: Annotated[int, typer.Option(help="The first seed; each serves once for every way to sit.")] = 1,
    players: Annotated[
        int | None, typer.Option(min=1, help="Seats at a table. [default: all bots, if the game has room]")
    ] = None,
    option: Annotated[list[str] | None, typer.Option("-o", "--option", help="NAME=VALUE, an option of the game.")] = None,
    save: Annotated[Path | None, typer.Option(help="Keep a match file of every match in this folder.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print every match and the table as JSON.")] = False,
) -> None:
    """Play bots against each other on this machine, and show who is better and how sure that is.

    Ends with status 0, or 1 if a bot could not be started.
    """
    from botdrome.cli.play import run

    raise typer.Exit(run(game, bots, matches, jobs, seed, players, option or [], save, json))


@app.command()
def replay(
    file: Annotated[Path, typer.Argument(help="A match file.")],
    turn: Annotated[int | None, typer.Option(help="Print the position after this many inputs, and end.")] = None,
    speed: Annotated[float, typer.Option(min=0.1, help="Positions a second while it plays.")] = 2.0,
) -> None:
    """Show a match again: step, go back, jump, or let it play."""
    from botdrome.cli.replay import show_match

    raise typer.Exit(show_match(file, turn, speed))


@app.command()
def verify(files: Annotated[list[Path], typer.Argument(help="Match files.")]) -> None:
    """Play match files again, and name the file and the line where one first differs."""
    from botdrome.cli.verify import verify_files

    raise typer.Exit(verify_files(files))


@app.command()
def serve(
    host: Annotated[str | None, typer.Option(help="The address to listen on. [default: 127.0.0.1]")] = None,
    port: Annotated[int | None, typer.Option(help="HTTP and WebSocket; 0: any free one. [default: 3000]")] = None,
    db: Annotated[
        str | None, typer.Option(metavar="URL", help="sqlite:///FILE or postgresql://... [default: a file of yours]")
    ] = None,
    config: Annotated[Path | None, typer.Option(help="A TOML file with settings.")] = None,
    house: Annotated[bool | None, typer.Option("--house", help="House bots play those who find no opponent.")] = None,
    duel_port: Annotated[int | None, typer.Option(help="Duel arena's TCP protocol; 0: off.")] = None,
    xbs_port: Annotated[int | None, typer.Option(help="Xterm Boat Sinker's TCP protocol; 0: off.")] = None,
    cube_port: Annotated[int | None, typer.Option(help="Battlecube's socket.io; 0: off.")] = None,
    bomber_port: Annotated[int | None, typer.Option(help="The Bomberman API; 0: off.")] = None,
    setting: Annotated[list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Any other setting.")] = None,
) -> None:
    """Run the server: bots come in over WebSockets, people over GraphQL, REST and the page.

    Settings come from flags, then from the environment (BOTDROME_PORT=...), then from the file. SIGTERM drains, a second one ends at once.
    """
    from botdrome.cli.serve import run_server

    ports = {"duel_port": duel_port, "xbs_port": xbs_port, "cube_port": cube_port, "bomber_port": bomber_port}
    raise typer.Exit(run_server({"host": host, "port": port, "db": db, "house": house} | ports, setting or [], config))


@app.command()
def demo(
    pause: Annotated[float, typer.Option(min=0, help="Seconds between two pictures.")] = 0.15,
) -> None:
    """Show a game of each kind, then a small tournament."""
    from botdrome.cli.demo import show_demo

    raise typer.Exit(show_demo(pause))


def main() -> None:
    app()
