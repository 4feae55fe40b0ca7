"""`botdrome boats`: starts the client, with a screen or without."""

import asyncio
import logging
import secrets
import sys
from pathlib import Path

from msgspec import Struct

from botdrome.bots.house import HOUSE, HouseBot
from botdrome.cli.boats.headless import HeadlessGame, farewell, result_lines
from botdrome.cli.logs import level_called
from botdrome.cli.terminal import REFUSED, CommandError, complain
from botdrome.client.boats_board import NotPossible
from botdrome.client.boats_bot import BotPlayer
from botdrome.client.boats_client import BoatsClient, ClientOptions
from botdrome.client.boats_orders import taunts_in
from botdrome.client.terminal_text import shown
from botdrome.games.chance import SEED_BITS, Chance

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


def list_bots() -> int:
    for name, bot in BOTS.items():
        _write(f"{name:12} {(bot.__doc__ or '').partition(chr(10))[0]}")
    return 0


def test(
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
