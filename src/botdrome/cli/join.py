"""`botdrome join` and `challenge`: a bot plays on a server."""

import asyncio
import shlex
import signal
import sys
from contextlib import redirect_stdout, suppress
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from botdrome.cli.join_display import Results
from botdrome.cli.play import INTERRUPTED, table_size
from botdrome.cli.server_bots import name_problem, token_for
from botdrome.cli.terminal import (
    REFUSED,
    CommandError,
    Terminal,
    complain,
    format_called,
    read_options,
)
from botdrome.client.join import Join, JoinWish, Unwelcome
from botdrome.client.kept_tokens import UnusableTokens, kept_bots
from botdrome.client.program import CannotStart
from botdrome.client.rest import RestServer, ServerProblem, segment
from botdrome.games.game import BadOption
from botdrome.games.options import with_options
from botdrome.runner.bot import parts_of
from botdrome.runner.bot_version import bot_version
from botdrome.runner.names import PROGRAM
from botdrome.runner.remote_player import remote_player
from botdrome.runner.seats import check_bot, is_python

LONGEST_NAME = 64
USUAL_FILES = ("bot", "main")
"""Names of files that many projects have, without the ending."""
BUILD_FOLDERS = ("dist", "out", "build", "bin", "src", "target", "release", "debug")


class JoinCommand(Struct, frozen=True):
    """The words of the command; empty texts were not given."""

    bot: str
    server: str
    game: str
    name: str
    token: str
    contest: str | None
    opponent: str | None
    games: int | None
    players: int | None
    options: list[str]
    contest_password: str = ""
    version: str | None = None
    """None: the checksum of its file."""


def run_join(command: JoinCommand) -> int:
    try:
        rest = RestServer(command.server)
        wish = _wish(command, rest)
        check_bot(command.bot, wish.game)
        if not wish.token:
            wish = _with_token(wish, rest)
        if command.contest_password:
            _enter_contest(wish, command.contest_password, rest)
        _check_opponent(wish, rest)
    except (BadOption, CommandError, ValueError) as problem:
        complain(problem)
        return REFUSED
    except (CannotStart, ServerProblem, UnusableTokens) as problem:
        complain(problem)
        return 1
    return _play(command, wish, rest)


def _wish(command: JoinCommand, rest: RestServer) -> JoinWish:
    """Return what the bot wants to play, without a token unless the command gives one."""
    name = command.name or bot_name(command.bot)
    kept = kept_bots().get(rest.url, {}).get(name)
    game = command.game or (kept.game if kept else "")
    if not game:
        if is_python(command.bot):
            check_bot(command.bot, game)  # a wrong file is told first
        raise CommandError(
            f"{name} is not registered here yet: name its game with --game; `botdrome games` lists "
            "them"
        )
    row, options = format_called(game), read_options(command.options)
    if command.players is not None:
        table_size(row, command.players, command.players)
    with_options(row.game, options)
    version = bot_version(command.bot) if command.version is None else command.version
    wanted = (command.contest, command.opponent, command.players, options)
    return JoinWish(game, name, command.token, *wanted, version=version)


def _with_token(wish: JoinWish, rest: RestServer) -> JoinWish:
    try:
        token, new = token_for(rest, wish.game, wish.name)
    except ServerProblem as problem:
        raise ServerProblem(name_problem(rest, wish.name, problem, "--name")) from None
    if new:
        Terminal(stderr=True).print(
            f"{wish.name} is registered on {rest.url} for {wish.game}", soft_wrap=True
        )
    return replace(wish, token=token)


def _enter_contest(wish: JoinWish, password: str, rest: RestServer) -> None:
    if wish.contest is None:
        raise CommandError("--contest-password needs --contest, the contest that has it")
    rest.get(
        f"contests/{segment(wish.game)}/{segment(wish.contest)}",
        wish.token,
        {"bot": wish.name, "password": password},
    )


def _check_opponent(wish: JoinWish, rest: RestServer) -> None:
    """Say that a challenge may wait for long."""
    if wish.opponent and not wish.opponent.startswith("house:"):
        unknown = (
            ""
            if rest.has_bot(wish.opponent)
            else f"no bot is registered as {wish.opponent} on {rest.url}; "
        )
        words = f"{unknown}the challenge waits until {wish.opponent} is there; Ctrl-C ends the wait"
        Terminal(stderr=True).print(words, soft_wrap=True)


def bot_name(entrant: str) -> str:
    """Return a name for a bot that its user has not named: that of its file, or of its project if
    the file has a usual name.
    """
    kind, _, rest = entrant.partition(":")
    if kind == "house":
        return f"my {rest}"
    if PROGRAM.match(entrant):
        files = [word for word in shlex.split(rest) if not word.startswith("-")]
        return _file_name(files[-1])[:LONGEST_NAME] if files else entrant
    prefix, place, function = parts_of(entrant)
    return (prefix + ":".join(filter(None, (_file_name(place), function))))[:LONGEST_NAME]


def _file_name(file: str) -> str:
    """Return the name of a file, or of the folder of its project."""
    path = Path(file)
    if path.stem.lower() not in USUAL_FILES:
        return path.name
    folders = [
        folder.name
        for folder in path.absolute().parents
        if folder.name.lower() not in BUILD_FOLDERS
    ]
    return folders[0] or path.name


def _play(command: JoinCommand, wish: JoinWish, rest: RestServer) -> int:
    results = Results(rest, wish.name)
    row = format_called(wish.game)
    join = Join(
        rest.url,
        wish,
        lambda: remote_player(command.bot, row, wish.name, wish.options),
        results,
        command.games,
    )
    try:
        with redirect_stdout(sys.stderr):  # what a bot prints is no result
            stopped = asyncio.run(_until_stopped(join, results))
    except (CannotStart, Unwelcome) as problem:
        complain(problem)
        return 1
    finally:
        results.show_summary()
    return INTERRUPTED if stopped else 0


async def _until_stopped(join: Join, results: Results) -> bool:
    """Run until the end, and return whether the user stopped it.

    The first Ctrl-C lets a match end, a second one does not.
    """
    loop, task = asyncio.get_running_loop(), asyncio.ensure_future(join.run())
    stopped = False

    def stop(at_once: bool) -> None:
        nonlocal stopped
        if at_once or stopped or not join.playing:
            task.cancel()
        else:
            join.stop_after_match()
            results.say("stopping after this match; press Ctrl-C again to leave it now")
        stopped = True

    with suppress(
        NotImplementedError, RuntimeError, ValueError
    ):  # tests run commands in threads, which get no signals
        loop.add_signal_handler(signal.SIGINT, stop, False)
        loop.add_signal_handler(signal.SIGTERM, stop, True)
    with suppress(asyncio.CancelledError):
        await task
    return stopped
