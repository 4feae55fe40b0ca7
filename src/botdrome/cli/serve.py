"""`botdrome serve`: the server, and the screen that it shows when it starts."""

import asyncio
import logging
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, TextIO, cast

import structlog
from rich.console import Console
from rich.text import Text

from botdrome.app import House, serve
from botdrome.cli.problems import REFUSED, complain
from botdrome.server.settings import BadSetting, Settings, load_settings
from botdrome.store.opening import BadStoreUrl, StoreUnavailable
from botdrome.wire.login import GAMES

DOORS = {"duel": "duel arena (TCP)", "xbs": "boat games (TCP)", "cube": "socket.io alone", "bomber": "Bomberman API"}
"""What listens beside the front door, if it does."""


def run_server(flags: dict[str, Any], words: Sequence[str], config: Path | None) -> int:
    try:
        settings = load_settings(flags | _set(words), os.environ, config)
        configure_logs(settings)
        _loop_run(serve(settings, lambda house: show(house, Console(stderr=True))))
    except (BadSetting, BadStoreUrl, StoreUnavailable) as problem:
        complain(problem)
        return REFUSED
    return 0


def _set(words: Sequence[str]) -> dict[str, str]:
    pairs = [word.partition("=") for word in words]
    for key, sign, _ in pairs:
        if not sign:
            raise BadSetting(f"a setting is KEY=VALUE, not {key!r}")
    return {key: value for key, _, value in pairs}


def _loop_run(work: Any) -> None:
    try:
        import uvloop
    except ImportError:
        asyncio.run(work)
    else:
        uvloop.run(work)


class Unfailing:
    """Standard error may be closed while the server runs: no conversation is to break off for the sake of a line in a log."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> None:
        with suppress(OSError, ValueError):
            self._stream.write(text)

    def flush(self) -> None:
        with suppress(OSError, ValueError):
            self._stream.flush()


def configure_logs(settings: Settings) -> None:
    """Everything goes to standard error: one event a line, as text or as JSON."""
    level = logging.getLevelName(settings.log_level.upper())
    logging.basicConfig(level=logging.WARNING, stream=sys.stderr)
    as_text = structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty())
    last: Any = structlog.processors.JSONRenderer() if settings.log_format == "json" else as_text
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso"),
            structlog.processors.format_exc_info,
            last,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.WriteLoggerFactory(cast(TextIO, Unfailing(sys.stderr))),
    )


def show(house: House, console: Console) -> None:
    """What listens where, and how to begin."""
    url, game = house.url, next(iter(GAMES))
    query = f'mutation {{ registerBot(gameType: {game}, name: \\"MyBot\\", owner: \\"me\\") {{ password }} }}'
    console.print(Text("Botdrome is open.", style="bold green"))
    for what, where in (
        ("bots (WebSocket)", url.replace("http", "ws", 1)),
        *((DOORS.get(key, key), f"{house.host}:{port}") for key, port in house.ports.items() if key != "http"),
        ("GraphQL and GraphiQL", f"{url}/graphql"),
        ("REST", f"{url}/api/v1/docs"),
        ("Bomberman over HTTP", f"{url}/bomber/rest"),
        ("Battlecube (socket.io)", f"{url}/socket.io/"),
        ("watch a match", f"{url}/watch/MATCH"),
        ("stored in", house.settings.store_shown),
        ("house bots", "play those who find no opponent" if house.settings.house else "on demand; --house for all"),
    ):
        console.print(Text(f"  {what:24}").append(where, "cyan"), soft_wrap=True)
    console.print("\nRegister a bot and keep the password that comes back:", highlight=False)
    command = f"  curl {url}/graphql -H 'Content-Type: application/json' -d '{{\"query\": \"{query}\"}}'"
    console.print(command, highlight=False, markup=False, soft_wrap=True)
    console.print("\nCtrl-C stops: running matches are played to their end.", highlight=False)
