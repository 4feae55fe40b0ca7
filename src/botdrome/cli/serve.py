"""`botdrome serve`: the server, and the screen that it shows when it starts."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import structlog
from rich.text import Text

from botdrome.app import House, serve
from botdrome.cli.logs import configure_logs
from botdrome.cli.problems import REFUSED, complain
from botdrome.cli.terminal import Terminal
from botdrome.protocols import load_settings
from botdrome.server.boats.rooms import BoatRooms
from botdrome.server.network.steady_loop import run
from botdrome.server.settings import BadSetting
from botdrome.store.opening import BadStoreUrl, StoreUnavailable
from botdrome.wire.battlebot.login import GAMES

log = structlog.get_logger()

DOORS = {"duel": "duel arena (TCP)", "xbs": "boat games (TCP)", "cube": "socket.io alone", "bomber": "Bomberman API"}
"""What listens beside the front door, if it does."""


def run_server(flags: dict[str, Any], words: Sequence[str], config: Path | None) -> int:
    try:
        notes: list[str] = []
        settings = load_settings(flags | _set(words), os.environ, config, notes.append)
        configure_logs(settings)
        for note in notes:
            log.warning(note)
        run(serve(settings, lambda house: show(house, Terminal(stderr=True))))
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


def _rooms_at(house: House, key: str) -> str:
    """Return the titles of boat games that share a port. The first is shown to clients that ask for none."""
    ports = [port for room in house.rooms if isinstance(room, BoatRooms) for port in room.all]
    titles = [room.plan.title for port in ports if port.name == key for room in port.rooms]
    return f" ({', '.join(titles)})" if len(titles) > 1 else ""


def show_operator_token(house: House, console: Terminal) -> None:
    """If it was made at this start: nobody can read it later."""
    if house.new_operator_token:
        console.print("\nThe operator's token, for the organiser pages. It is shown this once, so keep it:", soft_wrap=True)
        console.print(Text(f"  {house.new_operator_token}", "cyan"), soft_wrap=True)


def show(house: House, console: Terminal) -> None:
    """What listens where, and how to begin."""
    url, game = house.url, next(iter(GAMES))
    query = f'mutation {{ registerBot(gameType: {game}, name: \\"MyBot\\", owner: \\"me\\") {{ password }} }}'
    console.print(Text("Botdrome is open.", style="bold green"))
    for what, where in (
        ("watch and play", f"{url}/ in a browser"),
        ("bots (WebSocket)", url.replace("http", "ws", 1)),
        *(
            (DOORS.get(key, key), f"{house.host}:{port}{_rooms_at(house, key)}")
            for key, port in house.ports.items()
            if key != "http"
        ),
        ("GraphQL and GraphiQL", f"{url}/graphql"),
        ("REST", f"{url}/api/v1/docs"),
        ("Bomberman over HTTP", f"{url}/bomber/rest"),
        ("Battlecube (socket.io)", f"{url}/socket.io/"),
        ("watch in the terminal", f"botdrome watch MATCH --server {url}"),
        ("for organisers", f"{url}/organise"),
        ("stored in", house.settings.store_shown),
        ("house bots", "play those who find no opponent" if house.settings.house.fill else "on demand; --house for all"),
    ):
        console.print(Text(f"  {what:24}").append(where, "cyan"), soft_wrap=True)
    show_operator_token(house, console)
    console.print("\nRegister a bot and keep the password that comes back:")
    command = f"  curl {url}/graphql -H 'Content-Type: application/json' -d '{{\"query\": \"{query}\"}}'"
    console.print(command, soft_wrap=True)
    end = f"get {house.settings.drain:g} seconds to end" if house.settings.drain else "are aborted"
    console.print(f"\nCtrl-C stops: running matches {end}. A second one stops at once.")
