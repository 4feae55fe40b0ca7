"""The options of `botdrome boats`. Nothing heavy is imported before they are read."""

from pathlib import Path
from typing import Annotated

import typer

Host = Annotated[str, typer.Option("-h", "--host", help="Address of the server.")]
Port = Annotated[
    int, typer.Option("-p", "--port", min=1, max=65535, help="Its port for boat games.")
]
User = Annotated[
    str,
    typer.Option(
        "-u", "--user", help="Your name. Without it you are asked, and a bot takes its own."
    ),
]
Token = Annotated[
    str,
    typer.Option(
        envvar="BOTDROME_TOKEN", help="The token of a registered bot, or to protect your seat."
    ),
]
Room = Annotated[
    str, typer.Option(metavar="TITLE", help="The game to join, at a server with several.")
]
Bot = Annotated[
    str, typer.Option("-b", "--bot", help="A house bot plays for you; with --test any bot.")
]
ListBots = Annotated[bool, typer.Option("--list-bots", help="List the house bots, and end.")]
Headless = Annotated[bool, typer.Option("--headless", help="The bot plays without a screen.")]
StaticBoard = Annotated[
    str, typer.Option("-s", "--static-board", metavar="BOARD", help="Your board, row by row.")
]
TauntFile = Annotated[
    Path | None, typer.Option("-t", "--taunt-file", help="Lines hit=TEXT and miss=TEXT.")
]
Msa = Annotated[
    int | None,
    typer.Option(
        min=0, max=100, help="Percent of their border that boats of random boards have free."
    ),
]
Seed = Annotated[int | None, typer.Option(help="Seed for random boards and the bot.")]
Rejoin = Annotated[
    bool, typer.Option("--rejoin", help="Return to a game that has started, with the same --user.")
]
LogLevel = Annotated[
    str | None,
    typer.Option("-l", "--log-level", help="debug, info, warn or error. \\[default: info]"),
]
LogFile = Annotated[
    Path | None,
    typer.Option(
        "-f", "--log-file", help="Append a log here. \\[default with -l: xbs-client.log, else none]"
    ),
]
PANEL = "With --test"
Test = Annotated[
    bool,
    typer.Option(
        "--test", help="Let the bot sink random boards, and count its shots.", rich_help_panel=PANEL
    ),
]
Positions = Annotated[int, typer.Option(help="Number of boards.", rich_help_panel=PANEL)]
Width = Annotated[int, typer.Option(help="Their columns.", rich_help_panel=PANEL)]
Height = Annotated[int, typer.Option(help="Their rows.", rich_help_panel=PANEL)]
Watch = Annotated[
    bool, typer.Option("--watch", help="Show every shot, and wait.", rich_help_panel=PANEL)
]
TestDb = Annotated[
    Path, typer.Option(metavar="FOLDER", help="Folder for the figures.", rich_help_panel=PANEL)
]
Jobs = Annotated[
    int | None,
    typer.Option(
        "-j",
        "--jobs",
        help="Processes; without it as many as there are cores, for house bots.",
        rich_help_panel=PANEL,
    ),
]


def boats(
    host: Host = "127.0.0.1",
    port: Port = 7948,
    user: User = "",
    token: Token = "",
    room: Room = "",
    bot: Bot = "",
    list_bots: ListBots = False,
    headless: Headless = False,
    static_board: StaticBoard = "",
    taunt_file: TauntFile = None,
    msa: Msa = None,
    seed: Seed = None,
    rejoin: Rejoin = False,
    log_level: LogLevel = None,
    log_file: LogFile = None,
    test: Test = False,
    positions: Positions = 10_000,
    width: Width = 10,
    height: Height = 10,
    watch: Watch = False,
    test_db: TestDb = Path("testDB"),
    jobs: Jobs = None,
) -> None:
    """Play a boat game on a server that speaks Xterm Boat Sinker's protocol, in the terminal.

    The exit status is 0 only after a regular end of the game or a test.
    """
    from botdrome.cli.boats import command

    if list_bots:
        status = command.list_bots()
    elif test:
        status = command.test(bot, positions, width, height, watch, test_db, msa or 0, seed, jobs)
    else:
        given = (
            host,
            port,
            user,
            token,
            room,
            bot,
            headless,
            static_board,
            taunt_file,
            msa,
            seed,
            rejoin,
            log_level,
            log_file,
        )
        status = command.play(command.Options(*given))
    raise typer.Exit(status)
