"""`botdrome watch`, `why` and `connect`: commands that use a remote server."""

import asyncio
import json
import signal
import urllib.error
import urllib.parse
import urllib.request
from contextlib import suppress
from typing import Any

import msgspec
from rich.live import Live
from rich.text import Text
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake

from botdrome.cli.frames import Frame, drawn, told
from botdrome.cli.terminal import REFUSED, Terminal, complain
from botdrome.client.connect import Tunnel, Unwanted
from botdrome.client.terminal_text import shown
from botdrome.match.events import AnyEvent, Began, Event, Played


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
        frame = self._frame
        step = event.step + 1 if isinstance(event, Played) else frame.step
        bots = tuple(self._players[player] for player in event.order) if isinstance(event, Began) else frame.bots
        said = list(told(event, self._players))
        self._frame = Frame(step, message["t"], message["view"], bots, said if isinstance(event, Played) else frame.told + said)
        return self._frame


def watch(match: str, server: str) -> int:
    return asyncio.run(_watch(match, server))


async def _watch(match: str, server: str) -> int:
    url = f"{server.rstrip('/').replace('http', 'ws', 1)}/watch/{urllib.parse.quote(match, safe='')}"
    screen, console = Screen(), Terminal()
    try:
        async with connect(url, max_size=None) as socket:
            with Live(console=console, auto_refresh=False, vertical_overflow="visible") as live:
                async for text in socket:
                    message = json.loads(text)
                    if "error" in message:
                        complain(message["error"])
                        return 1
                    live.update(drawn(screen.game or "match", screen.see(message)) if screen.game or "game" in message else "")
                    live.refresh()
    except (OSError, InvalidHandshake, ConnectionClosed) as problem:
        complain(f"{url}: {problem}")
        return 1
    return 0


def why(match: str, token: str, seat: int | None, server: str) -> int:
    """Print the flight record of the seat to which the token belongs."""
    base = f"{server.rstrip('/')}/api/v1/matches/{urllib.parse.quote(match, safe='')}"
    try:
        seats = range(len(_get(base, None)["players"])) if seat is None else [seat]
        for number in seats:
            try:
                lines = _get(f"{base}/seats/{number}/log", token)
            except urllib.error.HTTPError as problem:
                if problem.code != 403 or seat is not None:
                    raise
                continue
            _print_flight(lines if isinstance(lines, list) else [lines])
            return 0
    except urllib.error.HTTPError as problem:
        complain(json.loads(problem.read() or b"{}").get("error", str(problem)))
        return 1
    except OSError as problem:
        complain(f"{server}: {problem}")
        return 1
    complain("this token belongs to none of the seats of that match")
    return 1


def _get(url: str, token: str | None) -> Any:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    with urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=30) as answer:
        body = answer.read()
        if "ndjson" in (answer.headers.get("Content-Type") or ""):
            return [json.loads(line) for line in body.splitlines()]
        return json.loads(body)


def _print_flight(lines: list[dict[str, Any]]) -> None:
    console = Terminal()
    for line in lines:
        if "cause" in line:
            why = f" ({line['reason']})" if "reason" in line else ""
            console.print(Text(shown(f"the end: {line['cause']}{why}"), style="bold"))
        elif "lost" in line:
            console.print(Text(f"({line['lost']} earlier entries were not kept)", style="dim"))
        else:
            console.print(_entry(line), soft_wrap=True)


def _entry(line: dict[str, Any]) -> Text:
    text = Text(f"{line['t'] / 1000:9.3f} s  ")
    if line["dir"] == "out":
        return text.append(shown(f"told    {line['message']}"), "dim")
    verdict = line.get("verdict", "")
    text.append(shown(f"sent    {line['message']}  "))
    return text.append(f"{shown(verdict)}, after {line.get('used', 0)} ms", "green" if verdict == "accepted" else "bold red")


def run_tunnel(name: str, token: str, server: str, local: str) -> int:
    console = Terminal(stderr=True)
    try:
        tunnel = Tunnel(server, local, name, token, lambda words: console.print(words, soft_wrap=True))
    except ValueError as problem:
        complain(problem)
        return REFUSED
    try:
        asyncio.run(_until_stopped(tunnel))
    except Unwanted as problem:
        complain(problem)
        return 1
    except (KeyboardInterrupt, asyncio.CancelledError):
        pass
    return 0


async def _until_stopped(tunnel: Tunnel) -> None:
    task = asyncio.current_task()
    assert task is not None
    with suppress(NotImplementedError):
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    await tunnel.run()
