"""`botdrome check --wire`: plays with a bot on the wire, and reports what it cannot handle."""

import asyncio
import os
import socket
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from io import StringIO
from urllib.parse import urlsplit

import msgspec
from rich.text import Text

from botdrome.catalogue import CATALOGUE
from botdrome.cli.logs import configure_logs
from botdrome.cli.terminal import CommandError, complain, note, offered, print_json, say
from botdrome.client.join import Unwelcome
from botdrome.games.chance import Chance
from botdrome.games.reading import plural
from botdrome.kit.proxy import Proxy
from botdrome.kit.traffic import (
    BOT_NAME,
    PROTOCOL_NAMES,
    ProtocolName,
    WireCondition,
    conditions_of,
)
from botdrome.kit.wire_trials import BotAddress, TrialResult, TrialServer, WireTrials, trial_server
from botdrome.protocols import load_settings
from botdrome.server.network.steady_loop import SteadyLoop
from botdrome.server.operator.cube_runs import BadRun

GAMES: dict[ProtocolName, str] = {
    "duel": "gomoku",
    "boats": "battleship",
    "bomber": "bomberman",
    "battlecube": "battlecube",
}
NOT_CHECKED = 3
"""The exit status if the check itself fails; 0 and 1 are answers."""


class WireCheck(msgspec.Struct, frozen=True):
    """What the user wants to check."""

    command: Sequence[str]
    """The program of the bot, with its arguments."""
    protocol: ProtocolName
    game: str
    port: int
    url: str
    patience: float
    silence: float
    slowness: float


def check_wire(
    words: Sequence[str], protocol: str, trials: Sequence[str], as_json: bool, port: int, url: str,
    patience: float, silence: float, slowness: float,
) -> int:  # fmt: skip
    """Return 0 if the bot copes with all traffic, 1 if it does not, and 3 if that is unknown.

    The words are `[GAME] COMMAND`, the command with its arguments.
    """
    known = next((name for name in PROTOCOL_NAMES if name == protocol), None)
    if known is None:
        others = offered(protocol, PROTOCOL_NAMES)
        raise CommandError(f"there is no protocol {protocol!r}; {others}")
    first = words[:1] if words and words[0] in CATALOGUE else []
    game = _game(known, first[0] if first else "")
    plan = WireCheck(words[len(first) :], known, game, port, url, patience, silence, slowness)
    _check_address(plan)
    together = len(CATALOGUE[game].game.start(2, Chance(1)).to_move) > 1
    conditions = _chosen(conditions_of(known, together), trials)
    configure_logs(load_settings({}), StringIO())  # the server's log is not about the bot
    with asyncio.Runner(loop_factory=SteadyLoop) as runner:  # uvloop would join pieces
        try:
            return runner.run(_checked(plan, conditions, as_json))
        except BadRun as problem:  # the rest of its setup is the check's own
            raise CommandError(f"--url cannot be used: {problem}") from None
        except Unwelcome as problem:
            complain(f"the bot was not checked: its opponent cannot play: {problem}")
            return NOT_CHECKED


def _chosen(conditions: list[WireCondition], names: Sequence[str]) -> list[WireCondition]:
    known = [one.name for one in conditions]
    for name in names:
        if name not in known:
            raise CommandError(f"there is no trial {name!r} here; {offered(name, known)}")
    return [one for one in conditions if not names or one.name in names]


def _game(protocol: ProtocolName, game: str) -> str:
    only = GAMES.get(protocol, game)
    if not only:
        raise CommandError("the game is missing: botdrome check --wire GAME -- COMMAND")
    if game not in ("", only):
        raise CommandError(f"{protocol} has only the game {only}, not {game}")
    return only


def _check_address(plan: WireCheck) -> None:
    calls = plan.protocol == "battlecube"
    if plan.url and not calls:
        raise CommandError(
            "--url is only for battlecube; with other protocols the bot connects to the check"
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


async def _checked(plan: WireCheck, conditions: list[WireCondition], as_json: bool) -> int:
    tell, results = note if as_json else say, list[TrialResult]()
    async with (
        trial_server(plan.protocol, plan.game, plan.patience) as server,
        _trials(plan, server, tell) as trials,
    ):
        async for result in trials.run(conditions):
            results.append(result)
            if not as_json:
                _print(result)
    failed = [result for result in results if not result.passed]
    if as_json:
        print_json(
            {"protocol": plan.protocol, "game": plan.game, "ok": not failed, "trials": results}
        )
    else:
        count = plural(len(failed), "problem")
        say(*((count, "bold red") if failed else ("no problems", "bold green")))
    return 1 if failed else 0


@asynccontextmanager
async def _trials(
    plan: WireCheck, server: TrialServer, tell: Callable[[str, str], None]
) -> AsyncIterator[WireTrials]:
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
    tell(f"{plan.protocol}, {plan.game}", "bold")
    if not plan.command and not plan.url:
        for line in _address_lines(plan, address.words(BOT_NAME, await server.password())):
            tell(line, "")

    def prompt(trial: str) -> None:
        tell(f"  {trial:<18}waits until you start the bot", "")

    try:
        yield WireTrials(
            server, proxy, address, [*plan.command], plan.patience, plan.silence, prompt
        )
    finally:
        await proxy.close()


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def _address_lines(plan: WireCheck, words: dict[str, str]) -> Iterator[str]:
    optional = "" if plan.protocol == "battlebot" else " (or any other, or none)"
    yield f"  connect the bot to {words['url']}, again after each trial"
    yield f"  name: {words['name']}"
    yield f"  password: {words['password']}{optional}"


def _print(result: TrialResult) -> None:
    line = Text(f"  {result.trial:<18}")
    if result.passed:
        say(line.append("passed", "green").append(f", {result.answers} answers", "dim"))
    else:
        say(line.append(f"failed: it {result.diagnosis}", "red"))
        say(f"    {result.reason}")
