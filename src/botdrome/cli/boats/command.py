"""`botdrome boats play`: starts the client, with a screen or without."""

import asyncio
import logging
import secrets
import sys
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

from typer import Option

from botdrome.bots.house import HOUSE, HouseBot
from botdrome.cli.boats.headless import HeadlessGame, farewell, result_lines
from botdrome.cli.logs import level_called
from botdrome.cli.sources import server_at
from botdrome.cli.terminal import CommandError, CommandFailed, command, offered, say
from botdrome.client.boats_client import BoatsClient, BotPlayer, ClientOptions
from botdrome.client.boats_game import NotPossible, taunts_in
from botdrome.client.rest import ServerProblem
from botdrome.games.chance import SEED_BITS, Chance

LogLevel = Annotated[
    str | None,
    Option("-l", "--log-level", help="debug, info, warn or error. \\[default: info]"),
]
BOTS = HOUSE["battleship"]


@command(ServerProblem, invalid=(NotPossible,), context_settings={"help_option_names": ["--help"]})
def play(
    server: Annotated[
        str,
        Option(help="The URL of a Botdrome server, which says its port for boat games."),
    ] = "",
    host: Annotated[str, Option("-h", "--host", help="Address of the server.")] = "127.0.0.1",
    port: Annotated[
        int, Option("-p", "--port", min=1, max=65535, help="Its port for boat games.")
    ] = 7948,
    user: Annotated[
        str,
        Option(
            "-u", "--user", help="Your name. Without it you are asked, and a bot takes its own."
        ),
    ] = "",
    token: Annotated[
        str,
        Option(
            envvar="BOTDROME_TOKEN", help="The token of a registered bot, or to protect your seat."
        ),
    ] = "",
    room: Annotated[
        str, Option(metavar="TITLE", help="The game to join, at a server with several.")
    ] = "",
    bot: Annotated[str, Option("-b", "--bot", help="A house bot plays for you.")] = "",
    list_bots: Annotated[bool, Option("--list-bots", help="List the house bots, and end.")] = False,
    headless: Annotated[bool, Option("--headless", help="The bot plays without a screen.")] = False,
    static_board: Annotated[
        str, Option("-s", "--static-board", metavar="BOARD", help="Your board, row by row.")
    ] = "",
    taunt_file: Annotated[
        Path | None, Option("-t", "--taunt-file", help="Lines hit=TEXT and miss=TEXT.")
    ] = None,
    msa: Annotated[
        int | None,
        Option(
            min=0, max=100, help="Percent of their border that boats of random boards have free."
        ),
    ] = None,
    seed: Annotated[int | None, Option(help="Seed for random boards and the bot.")] = None,
    rejoin: Annotated[
        bool,
        Option("--rejoin", help="Return to a game that has started, with the same --user."),
    ] = False,
    log_level: LogLevel = None,
    log_file: Annotated[
        Path | None,
        Option(
            "-f",
            "--log-file",
            help="Append a log here. \\[default with -l: xbs-client.log, else none]",
        ),
    ] = None,
) -> int:
    """Play a boat game on a server that speaks Xterm Boat Sinker's protocol, in the terminal.

    The exit status is 0 only after a regular end of the game.
    """
    if list_bots:
        for name, house_bot in BOTS.items():
            say(f"{name:12} {(house_bot.__doc__ or '').partition(chr(10))[0]}")
        return 0
    if log_level or log_file:
        logging.basicConfig(
            filename=log_file or "xbs-client.log",
            level=level_called(log_level or "info").upper(),
            format="%(asctime)s %(levelname)s %(message)s",
            force=True,
        )
    if server:
        host, port = _boats_address(server)
    taunts = taunt_file.read_text(errors="surrogateescape") if taunt_file else ""
    options = ClientOptions(
        host=host, port=port, user=user, token=token, room=room, fleet=static_board, border=msa,
        rejoin=rejoin, taunts=taunts_in(taunts),
    )  # fmt: skip
    client = client_for(options, bot, headless, seed)
    if headless:
        return 0 if asyncio.run(HeadlessGame(client, say).run()) else 1
    return 0 if _with_screen(client) else 1


def _boats_address(url: str) -> tuple[str, int]:
    server = server_at(url)
    port = server.get("server")["ports"].get("xbs")
    if not port:
        raise CommandFailed(f"{server.url} has no port for boat games")
    return urlsplit(server.url).hostname or "", port


def client_for(
    options: ClientOptions, bot: str = "", headless: bool = False, seed: int | None = None
) -> BoatsClient:
    if headless and not bot:
        raise CommandError("without a screen only a bot can play: --headless wants --bot NAME")
    chance = Chance(secrets.randbits(SEED_BITS) if seed is None else seed)
    name, bot_player = "", None
    if bot:
        name, house_bot = bot_called(bot)
        bot_player = BotPlayer(house_bot, chance.bits())
    client = BoatsClient(options, bot_player, chance)
    client.name = options.user or name
    return client


def bot_called(name: str) -> tuple[str, HouseBot]:
    """In any case, with or without `house:`; or CommandError."""
    word = name.lower().removeprefix("house:")
    for bot in BOTS:
        if bot.lower() == word:
            return bot, BOTS[bot]
    raise CommandError(f"there is no bot {name!r}; {offered(name, BOTS)}")


def _with_screen(client: BoatsClient) -> bool:
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise CommandFailed(
            "a screen wants a terminal; --headless with --bot NAME plays without one"
        )
    from botdrome.cli.boats.app import BoatsApp

    app = BoatsApp(client)
    app.run()
    boats = client.boats
    if app.problem:
        raise CommandFailed(app.problem)
    if boats.results:
        for line in result_lines(boats):
            say(line)
    elif boats.last_words:
        raise CommandFailed(farewell(boats))
    return boats.finished
