"""`botdrome boats`: starts the client, with a screen or without."""

import asyncio
import logging
import secrets
import sys
from pathlib import Path
from typing import Annotated

import typer
from msgspec import Struct

from botdrome.bots.house import HOUSE, HouseBot
from botdrome.cli.boats.headless import HeadlessGame, farewell, result_lines
from botdrome.cli.logs import level_called
from botdrome.cli.terminal import REFUSED, CommandError, complain
from botdrome.client.boats_client import BoatsClient, BotPlayer, ClientOptions
from botdrome.client.boats_game import NotPossible, taunts_in
from botdrome.client.terminal_text import shown
from botdrome.games.chance import SEED_BITS, Chance

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

app = typer.Typer()


@app.command(context_settings={"help_option_names": ["--help"]})
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
    if list_bots:
        status = show_bots()
    elif test:
        status = run_test(bot, positions, width, height, watch, test_db, msa or 0, seed, jobs)
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
        status = play(Options(*given))
    raise typer.Exit(status)


BOTS = HOUSE["battleship"]
INTERRUPTED = 130


class Options(Struct, frozen=True):
    """The options of the command line."""

    host: str
    port: int
    user: str
    token: str
    room: str
    bot: str
    headless: bool
    static_board: str
    taunt_file: Path | None
    msa: int | None
    seed: int | None
    rejoin: bool
    log_level: str | None = None
    log_file: Path | None = None


def show_bots() -> int:
    for name, bot in BOTS.items():
        _write(f"{name:12} {(bot.__doc__ or '').partition(chr(10))[0]}")
    return 0


def run_test(
    bot: str,
    positions: int,
    width: int,
    height: int,
    watch: bool,
    folder: Path,
    msa: int,
    seed: int | None,
    jobs: int | None,
) -> int:
    from botdrome.cli.boats.trial import TrialOptions, run_trial

    if not bot:
        complain("--test wants --bot")
        return REFUSED
    return run_trial(
        TrialOptions(
            bot=bot,
            positions=positions,
            width=width,
            height=height,
            watch=watch,
            test_db=folder,
            msa=msa,
            seed=seed,
            jobs=jobs,
        )
    )


def play(options: Options) -> int:
    try:
        _open_log(options)
        client = client_for(options)
    except (CommandError, NotPossible) as problem:
        complain(problem)
        return REFUSED
    try:
        return 0 if (_without_screen if options.headless else _with_screen)(client) else 1
    except CommandError as problem:
        complain(problem)
        return 1
    except KeyboardInterrupt:
        return INTERRUPTED


def client_for(options: Options) -> BoatsClient:
    """Or CommandError, NotPossible."""
    if options.headless and not options.bot:
        raise CommandError("without a screen only a bot can play: --headless wants --bot NAME")
    chance = Chance(secrets.randbits(SEED_BITS) if options.seed is None else options.seed)
    name, bot_player = "", None
    if options.bot:
        name, bot = bot_called(options.bot)
        bot_player = BotPlayer(bot, chance.bits())
    client_options = ClientOptions(
        host=options.host,
        port=options.port,
        user=options.user,
        token=options.token,
        room=options.room,
        fleet=options.static_board,
        border=options.msa,
        rejoin=options.rejoin,
        taunts=taunts_in(_text_of(options.taunt_file)) if options.taunt_file else (),
    )
    client = BoatsClient(client_options, bot_player, chance)
    client.name = options.user or name
    return client


def bot_called(name: str) -> tuple[str, HouseBot]:
    """In any case, with or without `house:`; or CommandError."""
    word = name.lower().removeprefix("house:")
    for bot in BOTS:
        if bot.lower() == word:
            return bot, BOTS[bot]
    raise CommandError(f"there is no bot {name!r}; there are {', '.join(BOTS)}")


def _open_log(options: Options) -> None:
    """As the original does, but only on request."""
    if options.log_level is None and options.log_file is None:
        return
    file = options.log_file or Path("xbs-client.log")
    try:
        level = level_called(options.log_level or "info").upper()
        logging.basicConfig(
            filename=file, level=level, format="%(asctime)s %(levelname)s %(message)s", force=True
        )
    except ValueError as problem:
        raise CommandError(str(problem)) from None
    except OSError as problem:
        raise CommandError(f"{file}: {problem.strerror}") from None


def _text_of(file: Path) -> str:
    try:
        return file.read_text(errors="surrogateescape")
    except OSError as problem:
        raise CommandError(f"{file}: {problem.strerror}") from None


def _without_screen(client: BoatsClient) -> bool:
    return asyncio.run(HeadlessGame(client, _write).run())


def _with_screen(client: BoatsClient) -> bool:
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise CommandError(
            "a screen wants a terminal; --headless with --bot NAME plays without one"
        )
    from botdrome.cli.boats.app import BoatsApp

    app = BoatsApp(client)
    app.run()
    boats = client.boats
    if app.problem:
        raise CommandError(app.problem)
    if boats.results:
        for line in result_lines(boats):
            _write(line)
    elif boats.last_words:
        raise CommandError(farewell(boats))
    return boats.finished


def _write(line: str) -> None:
    sys.stdout.write(shown(line) + "\n")
    sys.stdout.flush()
