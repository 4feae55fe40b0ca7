"""`botdrome watch`, `why`, `connect` and `mcp`: commands that use a server."""

import asyncio
import json
import shlex
import signal
from collections.abc import Sequence
from contextlib import suppress
from itertools import product
from pathlib import Path
from typing import Annotated, Any

import msgspec
from rich.live import Live
from rich.text import Text
from typer import Argument, Option
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake

from botdrome.catalogue import restored
from botdrome.cli.options import LOCAL, Server
from botdrome.cli.pictures import Frame, drawn, frame_after
from botdrome.cli.sources import players_text, server_at
from botdrome.cli.terminal import (
    CommandError,
    CommandFailed,
    Terminal,
    command,
    note,
    on_signal,
    say,
)
from botdrome.client.kept_tokens import UnusableTokens, kept_bots
from botdrome.client.rest import RestServer, ServerProblem, connection_problem, segment, socket_url
from botdrome.client.terminal_text import shown
from botdrome.client.tunnel import TunnelClient, Unwanted
from botdrome.match.events import AnyEvent, Event
from botdrome.match.headline import replayed_headlines
from botdrome.match.record import BadRecord


@command()
async def watch(
    match: Annotated[str, Argument(help="The id of a match.")], server: Server = LOCAL
) -> None:
    """Watch a match on a server: live, or from the start if it has ended."""
    screen = Screen()
    try:
        url = socket_url(server, f"/watch/{segment(match)}")
    except ValueError as problem:
        raise CommandError(problem) from None
    try:
        async with connect(url, max_size=None) as socket:
            with Live(console=Terminal(), auto_refresh=False, vertical_overflow="visible") as live:
                async for text in socket:
                    message = json.loads(text)
                    if "error" in message:
                        raise CommandFailed(message["error"])
                    if screen.game or "game" in message:
                        frame = screen.see(message)
                        live.update(drawn(screen.game or "match", frame), refresh=True)
    except (OSError, InvalidHandshake, ConnectionClosed) as problem:
        raise CommandFailed(f"{url}: {connection_problem(problem)}") from None


@command(ServerProblem, UnusableTokens)
def why(
    match: Annotated[str, Argument(help="The id of a match on a server, or a match file.")],
    token: Annotated[
        str,
        Option(envvar="BOTDROME_TOKEN", help="The bot's token. \\[default: the kept one]"),
    ] = "",
    seat: Annotated[
        int | None, Option(help="The seat, from 0. \\[default: the seat of the token's bot]")
    ] = None,
    server: Server = LOCAL,
) -> None:
    """Say what decided a match.

    On a server, also show the bot's messages, the server's verdicts, and the times.

    Ends with status 0, 1 if the match cannot be read, or 2 for a wrong command.
    """
    flight: list[dict[str, Any]] = []
    if Path(match).is_file() or match.endswith(".jsonl"):
        story = _story_of_file(match, seat)
    else:
        rest = server_at(server)
        players = rest.get(f"matches/{segment(match)}")["players"]
        seats = range(len(players)) if seat is None else [seat]
        number, flight = _flight(rest, match, _tokens(rest, token, players), seats)
        story = _story_on_server(rest, match, players[number], number)
    for at, line in enumerate(story):
        say(shown(line), "" if at else "bold")
    for entry in flight:
        say(_entry(entry))


@command(Unwanted, name="connect")
async def connect_command(
    name: Annotated[str, Argument(help="The name of a registered bot.")],
    token: Annotated[str, Option(envvar="BOTDROME_TOKEN", help="The password of the bot.")],
    server: Server = LOCAL,
    local: Annotated[
        str, Option(help="The URL of the bot, as seen from this machine.")
    ] = "http://127.0.0.1:8080",
) -> None:
    """Let a server call a bot behind a firewall: connect to the server, and forward its calls to
    the bot.
    """
    try:
        tunnel = TunnelClient(server, local, name, token, note)
    except ValueError as problem:
        raise CommandError(problem) from None
    task = asyncio.current_task()
    assert task is not None
    on_signal(signal.SIGTERM, task.cancel)
    with suppress(asyncio.CancelledError):
        await tunnel.run()


@command()
def mcp(
    server: Server = LOCAL,
    name: Annotated[
        str, Option(help="The model's name on the server; the name of a game follows it.")
    ] = "model",
) -> None:
    """Let a language model play on a server: an MCP server on standard input and output, for
    programs such as chat clients.

    Its tools are games, join, observe, legal_moves, act and leave. Needs the extra `mcp`: pip
    install 'botdrome\\[mcp]'.
    """
    try:
        from botdrome.cli.mcp_server import run_mcp
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("mcp", "pydantic"):
            raise
        sdk = "`botdrome mcp` needs the MCP SDK: pip install 'botdrome[mcp]'"
        raise CommandFailed(sdk) from None
    run_mcp(server_at(server), name)


class Screen:
    """The current frame of a watched match."""

    def __init__(self) -> None:
        self.game = ""
        self._players: tuple[str, ...] = ()
        self._frame = Frame(0, 0, {}, (), [])

    def see(self, message: dict[str, Any]) -> Frame:
        if message.get("snapshot"):
            self.game, self._players = message["game"], tuple(message["players"])
            self._frame = Frame(0, message["t"], message["view"], tuple(message["bots"]), [])
            return self._frame
        event: Event = msgspec.convert(message["event"], AnyEvent, str_keys=True)
        self._frame = frame_after(self._frame, event, message["t"], message["view"], self._players)
        return self._frame


def _story_of_file(file: str, seat: int | None) -> list[str]:
    try:
        return _story(Path(file).read_bytes(), seat, shlex.quote(file))
    except (BadRecord, OSError) as problem:
        raise CommandFailed(f"{file}: {problem}") from None


def _story_on_server(rest: RestServer, match: str, name: str, player: int) -> list[str]:
    """Return the story of a match that is over; a match that the server did not end by itself may
    have no file.
    """
    try:
        return _story(rest.match_file(match), player, f"{match} --server {rest.url}")
    except (ServerProblem, BadRecord) as problem:
        return [f"{name} has no replay: {problem}"]


def _story(file: bytes, player: int | None, match: str) -> list[str]:
    """Return the headline of a player, or of all, what decided the match, and the command that
    looks for blunders.
    """
    record, game = restored(file)
    words, names = replayed_headlines(record, game), record.setup.names
    if player is not None and not 0 <= player < len(names):
        raise CommandError(f"{players_text(names)}; there is no player {player}")
    players = range(len(names)) if player is None else [player]
    story = [f"{names[player]} {words.of(player)}" for player in players]
    if verdict := words.verdict(names):
        story.append(f"What decided it: {verdict}.")
    if words.losers.intersection(players):
        story.append(f"The last step at which it could still be saved: botdrome blunders {match}")
    return story


def _tokens(rest: RestServer, token: str, players: list[str]) -> list[str]:
    """Return the tokens to try: the given one, or the kept ones of the players."""
    kept = {} if token else kept_bots().get(rest.url, {})
    tokens = [token] if token else [kept[name].token for name in players if name in kept]
    if not tokens:
        raise CommandFailed(
            "no token of these players is kept here: give the token of your bot with --token"
        )
    return tokens


def _flight(
    rest: RestServer, match: str, tokens: list[str], seats: Sequence[int]
) -> tuple[int, list[dict[str, Any]]]:
    """Return the first of these seats that a token opens, and its flight record."""
    for token, seat in product(tokens, seats):
        try:
            return seat, rest.lines(f"matches/{segment(match)}/seats/{seat}/log", token)
        except ServerProblem as problem:
            if problem.status != 403 or len(seats) == 1:
                raise
    raise CommandFailed("this token belongs to none of the seats of that match")


def _entry(line: dict[str, Any]) -> Text:
    if "cause" in line:
        why = f" ({line['reason']})" if "reason" in line else ""
        return Text(shown(f"the end: {line['cause']}{why}"), "bold")
    if "lost" in line:
        return Text(f"({line['lost']} earlier entries were not kept)", "dim")
    text = Text(f"{line['t'] / 1000:9.3f} s  ")
    if line["dir"] == "out":
        return text.append(shown(f"told    {line['message']}"), "dim")
    verdict = line.get("verdict", "")
    text.append(shown(f"sent    {line['message']}  "))
    parts = [f"{line[name]} ms {name}" for name in ("network", "arena") if line.get(name)]
    used = f"{line.get('used', 0)} ms" + (
        f" ({', '.join(parts)}: {line['charged']} ms charged)" if parts else ""
    )
    return text.append(
        f"{shown(verdict)}, after {used}", "green" if verdict == "accepted" else "bold red"
    )
