"""The command `botdrome`. Commands import their modules when they run, so that `--help` is fast."""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from botdrome.cli.analysis.front import blunders, check, fork, rerun
from botdrome.cli.boats.front import LogLevel, boats
from botdrome.cli.completion import game_names
from botdrome.cli.contest.front import contest
from botdrome.cli.contest.server_front import server as contest_server
from botdrome.cli.doctor_front import doctor
from botdrome.cli.duel_command import DuelCommand, duel
from botdrome.cli.join_front import bots, challenge, join, register
from botdrome.cli.mcp_front import mcp
from botdrome.cli.new_front import new
from botdrome.cli.nodes_front import nodes
from botdrome.cli.play_command import play
from botdrome.cli.rehearse_front import rehearse

app = typer.Typer(
    name="botdrome",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

NO_WINDOWS = (
    "botdrome does not run on Windows itself. Run it in WSL, the Windows Subsystem for "
    "Linux: `wsl --install`."
)


def print_version(wanted: bool) -> None:
    if wanted:
        from botdrome import __version__

        sys.stdout.write(f"botdrome {__version__}\n")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=print_version, is_eager=True, help="Print the version, and exit."
        ),
    ] = False,
) -> None:
    """One arena for game-playing bots."""


@app.command()
def games(
    game: Annotated[
        str | None, typer.Argument(help="Only this game, in full.", autocompletion=game_names)
    ] = None,
) -> None:
    """List the games with their options, and examples of views and moves."""
    from botdrome.cli.games import show_games

    raise typer.Exit(show_games(game))


app.command()(play)
app.command(cls=DuelCommand)(duel)
app.command()(new)
app.add_typer(contest, name="contest")
contest.add_typer(contest_server, name="server")
app.add_typer(nodes, name="nodes")
app.command()(rehearse)


@app.command()
def replay(
    file: Annotated[Path, typer.Argument(help="A match file.")],
    turn: Annotated[
        int | None, typer.Option(help="Print the position after this step, and exit.")
    ] = None,
    speed: Annotated[
        float, typer.Option(min=0.1, help="Positions per second during playback.")
    ] = 2.0,
    html: Annotated[
        Path | None,
        typer.Option(
            metavar="PAGE",
            help="Write one HTML file that shows the match in any browser, and exit.",
        ),
    ] = None,
) -> None:
    """Replay a match file in the terminal, step by step or as a film; or write it as an
    HTML page.
    """
    from botdrome.cli.replay import show_match

    raise typer.Exit(show_match(file, turn, speed, html))


@app.command()
def verify(files: Annotated[list[Path], typer.Argument(help="Match files.")]) -> None:
    """Replay match files, and report the first line of each that differs."""
    from botdrome.cli.replay import verify_files

    raise typer.Exit(verify_files(files))


class ServeCommand(TyperCommand):
    """Adds an option for each setting, which only `botdrome serve` needs to load."""

    def get_params(self, ctx: typer.Context) -> list[typer.CallbackParam]:  # type: ignore[override]
        from botdrome.cli.serve import setting_options

        return [*super().get_params(ctx), *setting_options()]

    def invoke(self, ctx: typer.Context) -> Any:  # type: ignore[override]
        own = {parameter.name for parameter in self.params}
        ctx.obj = {name: ctx.params.pop(name) for name in ctx.params.keys() - own}
        return super().invoke(ctx)


@app.command(cls=ServeCommand)
def serve(
    ctx: typer.Context,
    config: Annotated[Path | None, typer.Option(help="A TOML file with settings.")] = None,
    house: Annotated[
        bool | None, typer.Option("--house", help="Short for --house-fill true.")
    ] = None,
    allow_bots: Annotated[
        list[str] | None,
        typer.Option(
            metavar="CIDR|HOST", help="Short for --calls-allow; may be given several times."
        ),
    ] = None,
    setting: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="SECTION.KEY=VALUE", help="Any setting, as in the file."),
    ] = None,
) -> None:
    """Run the server: bots connect over WebSockets, TCP and HTTP, people use GraphQL, REST and the
    pages.

    Flags override the environment (BOTDROME_DUEL_PORT=...), and that overrides the file.
    SIGTERM stops the server when its matches have ended; a second one stops it at once.
    """
    from botdrome.cli.serve import run_server

    allowed = {"calls.allow": ",".join(allow_bots) if allow_bots else None}
    raise typer.Exit(run_server(ctx.obj | {"house.fill": house} | allowed, setting or [], config))


Server = Annotated[str, typer.Option(envvar="BOTDROME_SERVER", help="The URL of the server.")]
Database = Annotated[
    str, typer.Option("--db", metavar="URL", envvar="BOTDROME_DB", help="As for `botdrome serve`.")
]


@app.command()
def host(
    server: Annotated[
        str | None, typer.Option(help="The URL of a running server. \\[default: start a new one]")
    ] = None,
    token: Annotated[
        str,
        typer.Option(
            envvar=["BOTDROME_BOATS_HOST_TOKEN", "BOTDROME_HOST_TOKEN"],
            help="The `boats.host_token` of that server.",
        ),
    ] = "",
    room: Annotated[
        str, typer.Option(help="The title of a room on that server. \\[default: its first room]")
    ] = "",
    title: Annotated[
        str | None, typer.Option("-t", "--title", help="The title of the game.")
    ] = None,
    auto_start: Annotated[
        bool | None,
        typer.Option("-a", "--auto-start", help="Start the game when the table is full."),
    ] = None,
    repeat: Annotated[
        bool | None, typer.Option("-r", "--repeat", help="Start a new game after each game.")
    ] = None,
    least: Annotated[
        int | None, typer.Option("--min", help="The minimum number of players. \\[default: 2]")
    ] = None,
    most: Annotated[
        int | None, typer.Option("--max", help="The maximum number of players. \\[default: 9]")
    ] = None,
    width: Annotated[
        int | None, typer.Option(help="Columns of the boards. \\[default: 10]")
    ] = None,
    height: Annotated[int | None, typer.Option(help="Rows of the boards. \\[default: 10]")] = None,
    config: Annotated[
        Path | None,
        typer.Option("-c", "--config", help="A configuration file of Xterm Boat Sinker."),
    ] = None,
    db_dir: Annotated[
        Path,
        typer.Option(
            "-d",
            "--db-dir",
            envvar="BOTDROME_BOATS_DIR",
            help="A folder for the statistics as ini files.",
        ),
    ] = Path("db"),
    bind_address: Annotated[
        str, typer.Option("-b", "--bind-address", help="The address to listen on.")
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option("-p", "--port", help="The port for players; -1: any free port.")
    ] = 7948,
    http_port: Annotated[
        int, typer.Option(help="The HTTP port, for spectators; 0: any free port.")
    ] = 0,
    tables: Annotated[
        int | None,
        typer.Option(min=0, help="Games at once with --repeat; 0: any number. \\[default: 0]"),
    ] = None,
    turn_limit: Annotated[
        float | None, typer.Option(min=0, help="Seconds for a turn; 0: no limit. \\[default: 60]")
    ] = None,
    db: Annotated[
        str | None, typer.Option("--db", metavar="URL", help="As for `botdrome serve`.")
    ] = None,
    log_level: LogLevel = None,
    log_file: Annotated[
        Path | None,
        typer.Option(
            "-f", "--log-file", help="Append logs to this file. \\[default: standard error]"
        ),
    ] = None,
) -> None:
    """Host boat games: start and abort games, send messages, boot and skip players.

    Type `help` for the commands.
    """
    from botdrome.cli.host import run_host

    rules = {"title": title, "min": least, "max": most, "width": width, "height": height}
    manner = {
        "auto_start": auto_start,
        "repeat": repeat,
        "tables": tables,
        "turn_limit": turn_limit,
    }
    flags = {
        "host": bind_address,
        "port": http_port,
        "boats.port": port,
        "db": db,
        "boats.dir": str(db_dir),
    }
    raise typer.Exit(
        run_host(
            server, token, room, rules | manner, config, flags | {"log.level": log_level}, log_file
        )
    )


@app.command()
def stats(
    name: Annotated[
        str | None, typer.Argument(help="Show only the games of this title, in full.")
    ] = None,
    player: Annotated[bool, typer.Option("--player", help="NAME is the name of a player.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    db_dir: Annotated[
        Path | None,
        typer.Option("-d", "--db-dir", help="Also write the original's ini files here."),
    ] = None,
    db: Database = "",
) -> None:
    """Show the statistics of boat games, with the keys of the original."""
    from botdrome.cli.stats import show_stats

    raise typer.Exit(show_stats(name, player, db, json, db_dir))


@app.command()
def watch(
    match: Annotated[str, typer.Argument(help="The id of a match.")],
    server: Server = "http://127.0.0.1:3000",
) -> None:
    """Watch a match on a server: live, or from the start if it has ended."""
    from botdrome.cli.remote import watch as watch_match

    raise typer.Exit(watch_match(match, server))


@app.command()
def why(
    match: Annotated[str, typer.Argument(help="The id of a match on a server, or a match file.")],
    token: Annotated[
        str,
        typer.Option(envvar="BOTDROME_TOKEN", help="The bot's token. \\[default: the kept one]"),
    ] = "",
    seat: Annotated[
        int | None, typer.Option(help="The seat, from 0. \\[default: the seat of the token's bot]")
    ] = None,
    server: Server = "http://127.0.0.1:3000",
) -> None:
    """Say what decided a match.

    On a server, also show the bot's messages, the server's verdicts, and the times.

    Ends with status 0, 1 if the match cannot be read, or 2 for a wrong command.
    """
    from botdrome.cli.remote import why as explain

    raise typer.Exit(explain(match, token, seat, server))


@app.command()
def connect(
    name: Annotated[str, typer.Argument(help="The name of a registered bot.")],
    token: Annotated[str, typer.Option(envvar="BOTDROME_TOKEN", help="The password of the bot.")],
    to: Annotated[
        str, typer.Option("--to", envvar="BOTDROME_SERVER", help="The URL of the server.")
    ] = "http://127.0.0.1:3000",
    local: Annotated[
        str, typer.Option(help="The URL of the bot, as seen from this machine.")
    ] = "http://127.0.0.1:8080",
) -> None:
    """Let a server call a bot behind a firewall: connect to the server, and forward its calls to
    the bot.
    """
    from botdrome.cli.remote import run_tunnel

    raise typer.Exit(run_tunnel(name, token, to, local))


@app.command()
def export(
    file: Annotated[
        Path | None, typer.Argument(help="The target file. \\[default: standard output]")
    ] = None,
    form: Annotated[
        str,
        typer.Option(
            "--format",
            help="store: all data, for `import`; jsonl or parquet: a row per match and player.",
        ),
    ] = "store",
    db: Database = "",
) -> None:
    """Export all data of a server as JSON lines, or the results as a table."""
    if form == "store":
        from botdrome.cli.store_commands import export as export_all

        raise typer.Exit(export_all(db, file))
    from botdrome.cli.seat_rows import export_rows

    raise typer.Exit(export_rows(db, file, form))


@app.command("import")
def take_in(
    files: Annotated[
        list[Path],
        typer.Argument(
            help="Files written by `export`, or by mongoexport from a Battlebot database."
        ),
    ],
    db: Database = "",
) -> None:
    """Import files of `export`, or the bots and games of a Battlebot server.

    Existing entries stay unchanged.
    """
    from botdrome.cli.store_commands import take_in as take_all_in

    raise typer.Exit(take_all_in(db, files))


@app.command()
def backup(
    file: Annotated[Path, typer.Argument(help="The file to write.")], db: Database = ""
) -> None:
    """Copy the SQLite file of a server; the server may be running."""
    from botdrome.cli.store_commands import backup as copy

    raise typer.Exit(copy(db, file))


@app.command("operator-token")
def operator_token(db: Database = "") -> None:
    """Create a new operator token, and print it. The old token and its sessions end at once."""
    from botdrome.cli.store_commands import operator_token as make_token

    raise typer.Exit(make_token(db))


app.command()(rerun)
app.command()(fork)
app.command()(blunders)
app.command()(check)
app.command()(doctor)
app.command(context_settings={"help_option_names": ["--help"]})(boats)
app.command()(join)
app.command()(challenge)
app.command()(register)
app.command()(bots)
app.command()(mcp)


@app.command()
def demo(
    pause: Annotated[float, typer.Option(min=0, help="Seconds between two positions.")] = 0.15,
) -> None:
    """Show one match of each game, then a small tournament."""
    from botdrome.cli.demo import show_demo

    raise typer.Exit(show_demo(pause))


def main() -> None:
    if sys.platform == "win32":
        sys.exit(NO_WINDOWS)
    app(prog_name="botdrome")
