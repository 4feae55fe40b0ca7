"""Hosted bots: `botdrome push` and the versions of a bot, `botdrome runner`, and the operator's
commands.
"""

import asyncio
import os
import re
import shutil
import signal
import stat
import sys
from collections.abc import Coroutine, Iterator
from pathlib import Path
from time import sleep
from typing import Annotated, Any

from platformdirs import user_cache_path
from typer import Argument, Option

from botdrome.cli.join import bot_name, token_for
from botdrome.cli.logs import configure_logs
from botdrome.cli.options import (
    LOCAL,
    Json,
    Memory,
    Server,
    Token,
    isolation_of,
)
from botdrome.cli.sources import OPERATOR, OperatorServer, server_at
from botdrome.cli.terminal import (
    CommandError,
    command,
    note,
    on_signal,
    print_columns,
    print_json,
    say,
)
from botdrome.client.kept_tokens import UnusableTokens, kept_bots
from botdrome.client.program import CannotStart, check_sandbox
from botdrome.client.rest import RestServer, ServerProblem, segment
from botdrome.client.sandbox import SANDBOXED, BotFiles
from botdrome.client.terminal_text import shown
from botdrome.games.reading import plural
from botdrome.offline.bot import PROJECT
from botdrome.offline.isolation import PYTHON
from botdrome.offline.project import project_at
from botdrome.server.settings import Settings
from botdrome.wire.upload import CLASS_NAME, BadUpload, PackedFile, UploadLimits, listed, packed

UNSENT = ("__pycache__", "node_modules", "target")
"""Folders that `push` leaves out, beside hidden files: a build makes them anew."""
POLL = 1.0
"""Seconds between two looks at the state of a check."""
Bot = Annotated[str, Argument(help="The name of the bot.")]
Number = Annotated[int, Argument(help="The number of the version.")]
RunnerName = Annotated[str, Argument(help="The name of the runner.")]


@command(CannotStart, ServerProblem, UnusableTokens, BadUpload)
def push(
    bot: Annotated[
        Path, Argument(metavar="[FOLDER|FILE]", help="The project, or a file in Python.")
    ] = Path(),
    name: Annotated[
        str, Option(help="The bot's name on the server. \\[default: as for join]")
    ] = "",
    server: Server = LOCAL,
    token: Token = "",
    version: Annotated[
        str, Option(help="The name of the version. \\[default: the checksum of the files]")
    ] = "",
) -> int:
    """Upload a bot to a server that hosts it, and follow its check.

    A project is a folder with a bot.toml, as `botdrome new` writes it; a file is a bot in Python.
    A new bot is registered first, and its token is kept.

    Ends with status 0 if the version is accepted, 1 if it is rejected or refused, 2 for a wrong
    command, or 130 after Ctrl-C; the check goes on then.
    """
    rest, name, files = server_at(server), name or bot_name(str(bot)), _files_of(bot)
    token = token or token_for(rest, _game_of(rest, name, bot), name)[0]
    archive = packed(files)
    path = f"uploads/{segment(name)}"
    limits = rest.get(path, token)["limits"]
    for file, size in listed(archive, UploadLimits(**limits)).items():
        say(f"  {size:>9,}  {shown(file)}")
    query = f"?version={segment(version)}" if version else ""
    added = rest.get(path + query, token, archive)
    number = added["number"]
    note(
        f"{name}, version {number} ({shown(added['version'])}): {plural(len(files), 'file')}, "
        f"{len(archive):,} bytes packed"
    )
    return _followed(rest, path, token, number)


def _files_of(bot: Path) -> dict[str, PackedFile]:
    if bot.is_file():
        if bot.suffix != ".py":
            raise CommandError(f"{bot} is no bot in Python: push a folder with a {PROJECT}")
        return {"bot.py": PackedFile(bot.read_bytes())}
    if not bot.is_dir():
        raise CommandError(f"there is no folder or file {str(bot)!r}")
    if not any((bot / one).is_file() for one in (PROJECT, "bot.py")):
        raise CommandError(f"there is no {PROJECT} and no bot.py in {bot}")
    return dict(_packed_files(bot, bot))


def _packed_files(folder: Path, top: Path) -> Iterator[tuple[str, PackedFile]]:
    for path in sorted(folder.iterdir()):
        mode = path.lstat().st_mode
        if path.name.startswith(".") or (path.name in UNSENT and stat.S_ISDIR(mode)):
            continue
        if stat.S_ISDIR(mode):
            yield from _packed_files(path, top)
        elif stat.S_ISREG(mode):
            file = PackedFile(path.read_bytes(), bool(mode & 0o111))
            yield str(path.relative_to(top)), file
        else:
            raise CommandError(f"{path} is a link or a special file, which cannot be uploaded")


def _game_of(rest: RestServer, name: str, bot: Path) -> str:
    project, kept = project_at(str(bot)), kept_bots().get(rest.url, {}).get(name)
    game = kept.game if kept else project.game if project else ""
    if not game:
        raise CommandError(
            f"{name} is not registered here yet: `botdrome bots register GAME {name}` does that, "
            f"or name the game in {PROJECT}"
        )
    return game


def _followed(rest: RestServer, path: str, token: str, number: int) -> int:
    """Wait for the end of the check, and print its report."""
    told = ""
    while True:
        one = next(
            (one for one in rest.get(path, token)["uploads"] if one["number"] == number), None
        )
        if one is None:
            raise ServerProblem("the version was deleted")
        if one["state"] != "waiting":
            break
        state = f"checked by {one['runner']}" if one["runner"] else "waiting for a runner"
        if state != told:
            note(state, "dim")
            told = state
        sleep(POLL)
    accepted = one["state"] == "accepted"
    say(f"{one['state']}: {shown_report(one['report'])}", "green" if accepted else "red")
    return 0 if accepted else 1


def shown_report(report: str) -> str:
    """Return lines of a bot or a compiler as they can be printed."""
    return "\n".join(map(shown, report.splitlines()))


# The versions of a bot.


@command(ServerProblem, UnusableTokens)
def versions(bot: Bot, server: Server = LOCAL, token: Token = "", json: Json = False) -> None:
    """List the uploaded versions of a bot, the newest first."""
    found = _uploads(bot, server, token)
    if json:
        print_json(found)
    else:
        _print_versions(found)


@command(ServerProblem, UnusableTokens)
def use(bot: Bot, number: Number, server: Server = LOCAL, token: Token = "") -> None:
    """Let another accepted version of a hosted bot play, after the current match."""
    _print_versions(_uploads(bot, server, token, {"active": number}))


@command(ServerProblem, UnusableTokens)
def pause(bot: Bot, server: Server = LOCAL, token: Token = "") -> None:
    """Let a hosted bot play no more, after its current match. Then it may log in by itself."""
    _print_versions(_uploads(bot, server, token, {"paused": True}))


@command(ServerProblem, UnusableTokens)
def resume(bot: Bot, server: Server = LOCAL, token: Token = "") -> None:
    """Let a paused bot play again."""
    _print_versions(_uploads(bot, server, token, {"paused": False}))


@command(ServerProblem, UnusableTokens)
def delete(bot: Bot, number: Number, server: Server = LOCAL, token: Token = "") -> None:
    """Delete an uploaded version of a bot with its archive."""
    _print_versions(_uploads(bot, server, token, {"number": number}, "DELETE"))


@command(ServerProblem, UnusableTokens)
def logs(bot: Bot, server: Server = LOCAL, token: Token = "", json: Json = False) -> None:
    """Print what a hosted bot wrote to standard error in its last matches, the oldest first."""
    rest = server_at(server)
    found = rest.get(f"upload-logs/{segment(bot)}", _token(rest, bot, token))
    if json:
        return print_json(found)
    for one in reversed(found["logs"]):
        say(f"{one['written']}  {one['match']}  {shown(one['version'])}", "bold")
        if one["fault"]:
            say(f"failed: {shown_report(one['fault'])}", "red")
        if one["log"]:
            say(shown_report(one["log"]))
    return None


def _uploads(bot: str, server: str, token: str, change: Any = None, method: str = "PUT") -> Any:
    """Return the versions of a bot, after a change if there is one."""
    rest = server_at(server)
    token = _token(rest, bot, token)
    return rest.get(f"uploads/{segment(bot)}", token, change, method if change else None)


def _token(rest: RestServer, bot: str, token: str) -> str:
    kept = kept_bots().get(rest.url, {}).get(bot)
    if not token and kept is None:
        raise CommandError(f"the token of {bot} is not kept here: --token, or BOTDROME_TOKEN")
    return token or (kept.token if kept else "")


def _print_versions(found: Any) -> None:
    rows = [
        (
            str(one["number"]),
            shown(one["version"]),
            one["uploaded"],
            f"{one['size']:,}",
            one["state"],
            _activity(one),
            shown(one["report"].partition("\n")[0]),
        )
        for one in found["uploads"]
    ]
    if rows:
        print_columns([("", "version", "uploaded", "bytes", "state", "", "report"), *rows])
    else:
        note(f"no version of {found['bot']} is uploaded; `botdrome push` uploads one")


def _activity(one: Any) -> str:
    if not one["active"]:
        return f"on {one['runner']}" if one["runner"] else ""
    if one["paused"]:
        return f"paused: {shown(one['paused'].partition(chr(10))[0])}"
    class_ = f", class {one['runnerClass']}" if one["runnerClass"] else ""
    return f"plays on {one['runner']}{class_}" if one["runner"] else "plays when a runner is free"


# Runners.


@command(CannotStart, ServerProblem)
def runner(
    token: Annotated[
        Path, Option(help="The file with the runner's token, from `botdrome admin add-runner`.")
    ],
    server: Server = LOCAL,
    bots: Annotated[int, Option(min=1, max=1000, help="Bots that may wait or play.")] = 50,
    class_: Annotated[
        str,
        Option(
            "--class",
            metavar="NAME",
            help="The class of this machine, which contests may demand. \\[default: its speed]",
        ),
    ] = "",
    memory: Memory = None,
    cache: Annotated[
        Path | None,
        Option(metavar="FOLDER", help="Where builds are kept. \\[default: in your cache folder]"),
    ] = None,
    beside: Annotated[bool, Option("--beside", hidden=True)] = False,
) -> None:
    """Check and play the uploaded bots of a server, each in the sandbox.

    Refuses to start where bots cannot be isolated. Ctrl-C or SIGTERM gives all bots back.
    """
    # Beside a server, the token comes on standard input, and the runner ends with its parent.
    from botdrome.kit.runner import Runner, this_machine  # imports all games

    folder = (cache or user_cache_path("botdrome") / "builds").resolve()
    secret = (sys.stdin.read() if beside else token.read_text()).strip()
    sees = BotFiles(PYTHON)
    if sees.show(folder) or (token.is_file() and sees.show(token)):
        raise CommandError(f"bots could read {token} or {folder}; choose another place")
    check_sandbox()
    configure_logs(Settings())
    isolation = isolation_of(sandbox=True, memory=memory or SANDBOXED.memory)
    if not re.fullmatch(CLASS_NAME, class_):
        raise CommandError(
            f"--class has at most 64 letters, digits and any of . _ + -, unlike {class_!r}"
        )
    machine = this_machine(isolation, class_)
    working = Runner(server_at(server), secret, folder, isolation, bots, machine)
    note(f"runner: {machine.about}; speed {machine.speed}, class {machine.runner_class}")
    try:
        asyncio.run(_until_stopped(working.run(), os.getppid() if beside else 0))
    finally:
        if beside and cache:  # made for this runner by a server that may have been killed
            shutil.rmtree(cache, ignore_errors=True)


async def _until_stopped(work: Coroutine[Any, Any, None], parent: int) -> None:
    """Work until a signal comes, or a given parent process ends."""
    task = asyncio.ensure_future(work)
    for number in (signal.SIGINT, signal.SIGTERM):
        on_signal(number, task.cancel)
    while not task.done():
        await asyncio.wait([task], timeout=POLL if parent else None)
        if parent and os.getppid() != parent:
            task.cancel()
    if not task.cancelled():
        task.result()


@command(ServerProblem)
def add_runner(name: RunnerName, server: OperatorServer = OPERATOR) -> None:
    """Add a runner, or give it a new token; print the token, which is shown once."""
    say(server.ask("operator/runners", {"name": name})["token"])


@command(ServerProblem)
def remove_runner(name: RunnerName, server: OperatorServer = OPERATOR) -> None:
    """Remove a runner: its token ends, and its bots move to other runners."""
    server.ask("operator/runners", {"name": name}, "DELETE")


@command(ServerProblem)
def runners(server: OperatorServer = OPERATOR, json: Json = False) -> None:
    """List the runners of hosted bots."""
    found = server.ask("operator/runners")
    if json:
        return print_json(found)
    rows = [
        (
            one["name"],
            str(one["bots"]),
            one["added"],
            one["runnerClass"],
            f"{one['speed']:.2f}" if one["speed"] else "",
            shown(one["paused"] or one["about"]),
        )
        for one in found["runners"]
    ]
    return print_columns([("runner", "bots", "added", "class", "speed", "machine"), *rows])


@command(ServerProblem)
def invite(
    bot: Bot,
    end: Annotated[bool, Option("--end", help="End the invitation.")] = False,
    server: OperatorServer = OPERATOR,
) -> None:
    """Let a bot be uploaded to a server whose setting `hosting.uploads` is `invited`."""
    server.ask("operator/invitations", {"bot": bot, "invited": not end}, "PUT")
