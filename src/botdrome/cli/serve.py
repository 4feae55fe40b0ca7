"""`botdrome serve`: runs the server, and shows the start-up screen."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import structlog
from rich.text import Text

from botdrome.app import House, serve
from botdrome.cli.logs import configure_logs
from botdrome.cli.problems import REFUSED, complain
from botdrome.cli.terminal import Terminal
from botdrome.protocols import load_settings
from botdrome.server.network.steady_loop import run
from botdrome.server.settings import BadSetting
from botdrome.store.opening import BadStoreUrl, StoreUnavailable
from botdrome.wire.battlebot.login import GAMES

log = structlog.get_logger()


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


def show_operator_token(house: House, console: Terminal) -> None:
    """Print the token if it was made at this start; it cannot be read later."""
    if house.new_operator_token:
        console.print("\nThe operator's token, for the organiser pages. Keep it: it is shown only now.", soft_wrap=True)
        console.print(Text(f"  {house.new_operator_token}", "cyan"), soft_wrap=True)


def show(house: House, console: Terminal) -> None:
    """Print what listens where, and how to begin."""
    console.print(Text("Botdrome is open.", style="bold green"))
    for what, where in _addresses(house):
        console.print(Text(f"  {what:24}").append(where, "cyan"), soft_wrap=True)
    show_operator_token(house, console)
    url, game = house.url, next(iter(GAMES))
    query = f'mutation {{ registerBot(gameType: {game}, name: \\"MyBot\\", owner: \\"me\\") {{ password }} }}'
    console.print("\nRegister a bot, and keep the password in the answer:")
    command = f"  curl {url}/graphql -H 'Content-Type: application/json' -d '{{\"query\": \"{query}\"}}'"
    console.print(command, soft_wrap=True)
    end = f"get {house.settings.drain:g} seconds to end" if house.settings.drain else "are aborted"
    console.print(f"\nCtrl-C stops the server: running matches {end}. A second Ctrl-C stops it at once.", soft_wrap=True)


def _addresses(house: House) -> Iterator[tuple[str, str]]:
    url = house.url
    yield "watch and play", f"{url}/ in a browser"
    yield "bots (WebSocket)", url.replace("http", "ws", 1)
    names = {row.port_name or row.name: (row.port_title, served) for row, served in house.served}
    for name, port in house.ports.items():
        if name != "http":
            title, served = names.get(name, (name, None))
            more = served.describe_port(name) if served else ""
            yield title, f"{house.host}:{port} ({more})" if more else f"{house.host}:{port}"
    yield "GraphQL and GraphiQL", f"{url}/graphql"
    yield "REST", f"{url}/api/v1/docs"
    yield from ((row.http_title, f"{url}{row.http_path}") for row, _ in house.served if row.http_title)
    yield "watch in the terminal", f"botdrome watch MATCH --server {url}"
    yield "for organisers", f"{url}/organise"
    yield "stored in", house.settings.store_shown
    filling = "play against bots that find no opponent" if house.settings.house.fill else "on demand; --house: for all"
    yield "house bots", filling
