"""`botdrome host`: a console for a room of boat games, on a running server or on a new one."""

import asyncio
import json
import os
import secrets
import sys
import threading
from contextlib import nullcontext
from pathlib import Path
from typing import Any, TextIO

from rich.text import Text
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake

from botdrome.app import RunningServer, open_server
from botdrome.cli.host_words import HELP, BadCommand, headline, order_in, pictured
from botdrome.cli.logs import configure_logs, level_called
from botdrome.cli.serve import show_operator_token
from botdrome.cli.terminal import REFUSED, Terminal, complain
from botdrome.client.server_url import connection_problem
from botdrome.client.terminal_text import shown
from botdrome.protocols import load_settings, protocol_sections
from botdrome.server.network.listening import stop_signal
from botdrome.server.network.steady_loop import run
from botdrome.server.rooms.boat_settings import BadPlan, BoatsSection, make_plan, plan_values
from botdrome.server.settings import BadSetting, Settings
from botdrome.store.opening import BadStoreUrl, StoreUnavailable
from botdrome.wire.boats.lines import text_of

GONE = 1


def run_host(
    server: str | None,
    token: str,
    room: str,
    values: dict[str, Any],
    config: Path | None,
    flags: dict[str, Any],
    log_file: Path | None = None,
) -> int:
    """`values` are the settings of the room and `flags` those of the server, if a new one is
    started.
    """
    try:
        if flags.get("log.level") is not None:
            flags["log.level"] = level_called(flags["log.level"])
        if server is not None:
            return asyncio.run(HostClient(server, token, room, Terminal()).sit())
        settings = own_settings(values, config, flags)
        with nullcontext() if log_file is None else log_file.open("a") as log:
            return run(_own_server(settings, log))
    except OSError as problem:
        complain(f"{problem.filename}: {problem.strerror}" if problem.filename else problem)
        return REFUSED
    except (ValueError, BadPlan, BadSetting, BadStoreUrl, StoreUnavailable) as problem:
        complain(problem)
        return REFUSED


def own_settings(values: dict[str, Any], config: Path | None, flags: dict[str, Any]) -> Settings:
    """Combine a configuration file of the original with the options."""
    given = {key: value for key, value in values.items() if value is not None}
    usual = {"title": "Botdrome", "max": 9, "auto_start": False, "repeat": False}
    plan = make_plan(usual | (_read(config) if config else {}) | given)
    own = {"boats.host_token": secrets.token_hex(16), "boats.rooms": (plan,)}
    settings = load_settings(
        {f"{name}.port": 0 for name in protocol_sections()} | flags | own, os.environ
    )
    if not settings.of(BoatsSection).port:
        raise BadSetting("port: a game needs one")
    return settings


def _read(file: Path) -> dict[str, Any]:
    try:
        return plan_values(text_of(file.read_bytes()))
    except (OSError, BadPlan) as problem:
        raise BadPlan(f"{file}: {problem}") from None


async def _own_server(settings: Settings, log: TextIO | None) -> int:
    configure_logs(settings, log)
    async with stop_signal() as wanted:
        server = await open_server(settings)
        try:
            console = Terminal()
            _say_where(server, console)
            token = settings.of(BoatsSection).host_token
            bridge = HostClient(
                server.url.replace("0.0.0.0", "127.0.0.1"), token, "", console, stays=True
            )
            sitting = asyncio.ensure_future(bridge.sit())
            stopping = asyncio.ensure_future(wanted.wait())
            await asyncio.wait([sitting, stopping], return_when=asyncio.FIRST_COMPLETED)
            stopping.cancel()
            return sitting.result() if sitting.done() else 0
        finally:
            await server.close()


def _say_where(server: RunningServer, console: Terminal) -> None:
    where = f"{server.settings.host}:{server.ports['xbs']}"
    show_operator_token(server, console)
    console.print(
        f"players join at {where}, spectators at {server.url}; `help` lists what can be done here"
    )


class HostClient:
    """Sends typed commands to the server, and prints its answers."""

    def __init__(
        self, server: str, token: str, room: str, console: Terminal, stays: bool = False
    ) -> None:
        self._url = f"{server.rstrip('/').replace('http', 'ws', 1)}/boats/host"
        self._hello = {"token": token, "room": room}
        self._console, self._stays = console, stays
        self._room: dict[str, Any] = {}
        self._headline = ""
        self._status = 0

    async def sit(self) -> int:
        try:
            async with connect(self._url, max_size=None) as socket:
                await socket.send(json.dumps(self._hello))
                typing = asyncio.ensure_future(self._type(socket))
                try:
                    await self._listen(socket)
                finally:
                    typing.cancel()
        except ConnectionClosed:
            pass
        except (OSError, InvalidHandshake, TimeoutError) as problem:
            complain(f"{self._url}: {connection_problem(problem)}")
            return GONE
        return self._status

    async def _listen(self, socket: ClientConnection) -> None:
        async for text in socket:
            message = json.loads(text)
            if "error" in message:
                self._console.print(Text(shown(message["error"]), style="red"), soft_wrap=True)
                self._status = 0 if self._room else GONE
            elif "done" in message:
                self._console.print(Text(shown(message["done"]), style="green"), soft_wrap=True)
            elif "room" in message:
                self._see(message["room"], message.get("asked", False))
                if message["room"]["over"]:
                    await socket.close()

    def _see(self, room: dict[str, Any], asked: bool) -> None:
        self._room = room
        for part in pictured(room) if asked else ():
            self._console.print(part)
        line = headline(room)
        if line != self._headline:
            self._headline = line
            self._console.print(Text(shown(line)), soft_wrap=True)

    async def _type(self, socket: ClientConnection) -> None:
        """Read commands until the input ends. A new server then keeps running."""
        typed = _typed_lines()
        while (line := await typed.get()) is not None:
            if not line.strip():
                continue
            try:
                order = order_in(line)
            except BadCommand as problem:
                self._console.print(Text(str(problem), style="red"))
                continue
            if order["do"] == "leave" and not self._stays:
                break
            if order["do"] != "quit" or await self._is_sure(typed):
                await self._act(order, socket)
        if not self._stays:
            await asyncio.sleep(0)
            await socket.close()

    async def _is_sure(self, typed: "asyncio.Queue[str | None]") -> bool:
        """Ask for confirmation, as the original does, if the input is a terminal."""
        if not sys.stdin.isatty():
            return True
        self._console.print("abort all games and close the room? [y/N]")
        answer = await typed.get() or ""
        return answer.strip().lower() in ("y", "yes")

    async def _act(self, order: dict[str, Any], socket: ClientConnection) -> None:
        match order["do"]:
            case "help":
                self._console.print(HELP)
            case "leave":
                self._console.print(
                    Text("this console is the server's own: `quit` ends both", style="red")
                )
            case _:
                await socket.send(json.dumps(order))


def _typed_lines() -> "asyncio.Queue[str | None]":
    """Queue the lines of standard input, then None.

    A daemon thread reads them, so that it cannot delay the exit.
    """
    queue: asyncio.Queue[str | None] = asyncio.Queue()
    loop = asyncio.get_running_loop()

    def put(line: str | None) -> None:
        if not loop.is_closed():
            loop.call_soon_threadsafe(queue.put_nowait, line)

    def read() -> None:
        for line in sys.stdin:
            put(line)
        put(None)

    threading.Thread(target=read, daemon=True).start()
    return queue
