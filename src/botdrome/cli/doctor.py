"""`botdrome doctor`: plays with a bot on the wire, and reports the traffic with which it cannot cope."""

import asyncio
import socket
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from io import StringIO
from urllib.parse import urlsplit

import msgspec
from rich.text import Text

from botdrome.cli.logs import configure_logs
from botdrome.cli.play import INTERRUPTED
from botdrome.cli.terminal import REFUSED, CommandError, Terminal, complain, format_called
from botdrome.client.program import CannotStart
from botdrome.doctor.ailments import PROTOCOL_NAMES, ProtocolName, ailments_of
from botdrome.doctor.proxy import Proxy
from botdrome.doctor.server import DoctorServer, doctor_server
from botdrome.doctor.trial import Examination, TrialResult, addresses
from botdrome.games.chance import Chance
from botdrome.protocols import load_settings

GAMES: dict[ProtocolName, str] = {"duel": "gomoku", "boats": "battleship", "bomber": "bomberman", "battlecube": "battlecube"}


class DoctorPlan(msgspec.Struct, frozen=True):
    protocol: ProtocolName
    game: str
    command: Sequence[str]
    port: int
    url: str
    patience: float
    silence: float


def run_doctor(
    command: list[str], protocol: str, game: str, port: int, url: str, patience: float, silence: float, as_json: bool
) -> int:
    """Return 0 if the bot is healthy, and 1 if it is not."""
    try:
        plan = DoctorPlan(_protocol(protocol), _game(protocol, game), command, port, url, patience, silence)
        _check_address(plan)
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


def _check_address(plan: DoctorPlan) -> None:
    calls = plan.protocol == "battlecube"
    if plan.url and not calls:
        raise CommandError("--url is only for battlecube; with other protocols the bot connects to the doctor")
    if calls and bool(plan.url) == bool(plan.command):
        raise CommandError("battlecube needs either --url, or a command that starts the bot on {port}")
    try:
        parts = urlsplit(plan.url)
        valid = not plan.url or (parts.scheme == "http" and bool(parts.hostname) and parts.port != 0)
    except ValueError:
        valid = False
    if not valid:
        raise CommandError(f"--url is http://HOST:PORT/PATH, not {plan.url!r}")


async def _examined(plan: DoctorPlan, as_json: bool) -> int:
    console, results = Terminal(), list[TrialResult]()
    async with doctor_server(plan.protocol, plan.game) as server, _examination(plan, server, console, as_json) as examination:
        together = len(format_called(plan.game).game.start(2, Chance(1)).to_move) > 1
        async for result in examination.run(ailments_of(plan.protocol, together)):
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
async def _examination(plan: DoctorPlan, server: DoctorServer, console: Terminal, as_json: bool) -> AsyncIterator[Examination]:
    parts, calls = urlsplit(plan.url), plan.protocol == "battlecube"
    bot_port = (parts.port or 80) if plan.url else _free_port()
    proxy = Proxy(plan.protocol, (parts.hostname if plan.url else None) or "127.0.0.1", bot_port if calls else server.port)
    port = await proxy.listen(plan.port)
    words = addresses(plan.protocol, bot_port if calls else port, server.name, await server.password())
    if not as_json:
        _print_address(plan, words, console)
    command = [_filled(word, words) for word in plan.command]
    try:
        yield Examination(server, proxy, command, f"http://127.0.0.1:{port}{parts.path or '/'}", plan.patience, plan.silence)
    finally:
        await proxy.close()


def _filled(word: str, words: dict[str, str]) -> str:
    for key, value in words.items():
        word = word.replace(f"{{{key}}}", value)
    return word


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def _print_address(plan: DoctorPlan, words: dict[str, str], console: Terminal) -> None:
    console.print(Text(f"{plan.protocol}, {plan.game}", "bold"))
    if not plan.command and not plan.url:
        console.print(f"connect to {words['url']} as {words['name']}, again after each match")
        console.print(f"password: {words['password']}", soft_wrap=True)


def _print(result: TrialResult, console: Terminal) -> None:
    if result.passed:
        console.print(Text(f"  {result.ailment:<18}").append("passed", "green").append(f", {result.answers} answers", "dim"))
    else:
        console.print(Text(f"  {result.ailment:<18}").append(f"failed: it {result.diagnosis}", "red"))
        console.print(Text(f"    {result.reason}"), soft_wrap=True)
