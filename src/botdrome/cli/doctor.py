"""`botdrome doctor`: plays with a bot on the wire, and reports traffic that it cannot handle."""

import asyncio
import os
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from io import StringIO
from typing import Annotated
from urllib.parse import urlsplit

import msgspec
import typer
from rich.text import Text

from botdrome.cli.logs import configure_logs
from botdrome.cli.options import game_names
from botdrome.cli.play import INTERRUPTED
from botdrome.cli.terminal import REFUSED, CommandError, Terminal, complain, format_called
from botdrome.client.program import CannotStart
from botdrome.games.chance import Chance
from botdrome.kit.doctor import BotAddress, DoctorServer, Examination, TrialResult, doctor_server
from botdrome.kit.proxy import Proxy
from botdrome.kit.traffic import PATIENT, PROTOCOL_NAMES, Ailment, ProtocolName, ailments_of
from botdrome.protocols import load_settings

app = typer.Typer()


@app.command()
def doctor(
    command: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[-- COMMAND]",
            help="Starts the bot, with {url}, {host}, {port}, {name} and {password}.",
            show_default=False,
        ),
    ] = None,
    protocol: Annotated[
        str, typer.Option(help="battlebot, duel, boats, bomber or battlecube.")
    ] = "battlebot",
    game: Annotated[
        str,
        typer.Option(
            help="The game, for battlebot. The other protocols have one game each.",
            autocompletion=game_names,
        ),
    ] = "",
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="The port for the bot; 0: any free port.")
    ] = 0,
    url: Annotated[str, typer.Option(help="The URL of a running bot, for battlecube.")] = "",
    trial: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME", help="Only this trial; may be given several times.", show_default="all"
        ),
    ] = None,
    patience: Annotated[
        float, typer.Option(min=1, help="Seconds without an answer before the bot has failed.")
    ] = 15.0,
    silence: Annotated[float, typer.Option(min=0, help="Seconds of the long wait.")] = 6.0,
    slowness: Annotated[
        float, typer.Option(min=0, max=4, help="Seconds that a message of slow HTTP takes.")
    ] = 0.7,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Check a bot on the wire: short matches with traffic that is legal but unusual.

    Messages come in pieces, byte by byte or joined, with unknown keys, another order of keys, long
    names and emoji; there are long waits, a lost connection, repeated questions and slow HTTP. Ends
    with status 0 if the bot copes with all of it, 1 if not, and 2 if the command is not valid.
    """
    options = DoctorOptions(
        command or [], protocol, game, trial or [], port, url, patience, silence, slowness
    )
    raise typer.Exit(run_doctor(options, json))


GAMES: dict[ProtocolName, str] = {
    "duel": "gomoku",
    "boats": "battleship",
    "bomber": "bomberman",
    "battlecube": "battlecube",
}


class DoctorPlan(msgspec.Struct, frozen=True):
    """What the user wants the doctor to do."""

    protocol: ProtocolName
    game: str
    ailments: list[Ailment]
    command: list[str]
    port: int
    url: str
    patience: float
    silence: float
    slowness: float


class DoctorOptions(msgspec.Struct, frozen=True):
    """The words of the command line."""

    command: list[str]
    protocol: str
    game: str
    trials: list[str]
    port: int
    url: str
    patience: float
    silence: float
    slowness: float


def run_doctor(options: DoctorOptions, as_json: bool) -> int:
    """Return 0 if the bot is healthy, and 1 if it is not."""
    try:
        plan = _plan(options)
        configure_logs(load_settings({}), StringIO())  # the server's log is not about the bot
        return asyncio.run(_examined(plan, as_json))
    except CommandError as problem:
        complain(problem)
        return REFUSED
    except (CannotStart, OSError) as problem:
        complain(problem)
        return 1
    except KeyboardInterrupt:
        return INTERRUPTED


def _plan(options: DoctorOptions) -> DoctorPlan:
    protocol = _protocol(options.protocol)
    game = _game(protocol, options.game)
    _check_address(protocol, options)
    together = len(format_called(game).game.start(2, Chance(1)).to_move) > 1
    ailments = _chosen(ailments_of(protocol, together), options.trials)
    rest = options.port, options.url, options.patience, options.silence, options.slowness
    return DoctorPlan(protocol, game, ailments, options.command, *rest)


def _chosen(ailments: list[Ailment], names: list[str]) -> list[Ailment]:
    known = [one.name for one in ailments]
    for name in names:
        if name not in known:
            raise CommandError(f"there is no trial {name!r} here; there are {', '.join(known)}")
    return [one for one in ailments if not names or one.name in names]


def _protocol(name: str) -> ProtocolName:
    for known in PROTOCOL_NAMES:
        if name == known:
            return known
    raise CommandError(f"there is no protocol {name!r}; there are {', '.join(PROTOCOL_NAMES)}")


def _game(protocol: str, game: str) -> str:
    only = {str(name): one for name, one in GAMES.items()}.get(protocol)
    if only is None and not game:
        raise CommandError("--game is missing: the game that the bot plays")
    if only is not None and game not in ("", only):
        raise CommandError(f"{protocol} has only the game {only}, not {game}")
    return format_called(only or game).name


def _check_address(protocol: ProtocolName, plan: DoctorOptions) -> None:
    calls = protocol == "battlecube"
    if plan.url and not calls:
        raise CommandError(
            "--url is only for battlecube; with other protocols the bot connects to the doctor"
        )
    if calls and bool(plan.url) == bool(plan.command):
        raise CommandError(
            "battlecube needs either --url, or a command that starts the bot on {port}"
        )
    if calls and plan.port:
        raise CommandError(
            "--port is not for battlecube: the port of the bot is in --url, or takes the place of "
            "{port}"
        )
    try:
        parts = urlsplit(plan.url)
        valid = not plan.url or (
            parts.scheme == "http" and bool(parts.hostname) and parts.port != 0
        )
    except ValueError:
        valid = False
    if not valid:
        raise CommandError(f"--url is http://HOST:PORT/PATH, not {plan.url!r}")


async def _examined(plan: DoctorPlan, as_json: bool) -> int:
    console, results = Terminal(stderr=as_json), list[TrialResult]()
    async with (
        doctor_server(plan.protocol, plan.game) as server,
        _examination(plan, server, console) as examination,
    ):
        async for result in examination.run(plan.ailments):
            results.append(result)
            if not as_json:
                _print(result, console)
    failed = [result for result in results if not result.passed]
    if as_json:
        data = {"protocol": plan.protocol, "game": plan.game, "ok": not failed, "trials": results}
        sys.stdout.write(msgspec.json.encode(data).decode() + "\n")
    else:
        words = f"{len(failed)} problem" + "s" * (len(failed) != 1)
        console.print(Text(words, "bold red") if failed else Text("no problems", "bold green"))
    return 1 if failed else 0


@asynccontextmanager
async def _examination(
    plan: DoctorPlan, server: DoctorServer, console: Terminal
) -> AsyncIterator[Examination]:
    parts, calls = urlsplit(plan.url), plan.protocol == "battlecube"
    bot_port = (parts.port or 80) if plan.url else _free_port()
    host = (parts.hostname if plan.url else None) or "127.0.0.1"
    proxy = Proxy(
        plan.protocol,
        host,
        bot_port if calls else server.port,
        plan.slowness,
        by_hand=not plan.command,
    )
    try:
        port = await proxy.listen(plan.port)
    except OSError as problem:
        raise CommandError(
            f"port {plan.port} cannot be used: {os.strerror(problem.errno or 0)}"
        ) from None
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    address = BotAddress(
        plan.protocol, bot_port if calls else port, f"http://127.0.0.1:{port}{path}"
    )
    console.print(Text(f"{plan.protocol}, {plan.game}", "bold"))
    if not plan.command and not plan.url:
        _print_address(plan.protocol, address.words(PATIENT, await server.password()), console)

    def prompt(trial: str) -> None:
        console.print(f"  {trial:<18}waits until you start the bot")

    try:
        yield Examination(server, proxy, address, plan.command, plan.patience, plan.silence, prompt)
    finally:
        await proxy.close()


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def _print_address(protocol: ProtocolName, words: dict[str, str], console: Terminal) -> None:
    optional = "" if protocol == "battlebot" else " (or any other, or none)"
    lines = (
        f"  connect the bot to {words['url']}, again after each trial",
        f"  name: {words['name']}",
    )
    for line in (*lines, f"  password: {words['password']}{optional}"):
        console.print(line, soft_wrap=True)


def _print(result: TrialResult, console: Terminal) -> None:
    if result.passed:
        console.print(
            Text(f"  {result.ailment:<18}")
            .append("passed", "green")
            .append(f", {result.answers} answers", "dim")
        )
    else:
        console.print(
            Text(f"  {result.ailment:<18}").append(f"failed: it {result.diagnosis}", "red")
        )
        console.print(Text(f"    {result.reason}"), soft_wrap=True)
