"""`botdrome register` and `botdrome bots`, and the tokens of bots on servers."""

import shlex
from collections.abc import Iterator, Sequence
from itertools import count
from typing import Any

from rich.text import Text

from botdrome.catalogue import CATALOGUE
from botdrome.cli.terminal import REFUSED, CommandError, Terminal, complain, format_called
from botdrome.client.kept_tokens import (
    KeptBot,
    Servers,
    UnusableTokens,
    changing_tokens,
    kept_bots,
    tokens_file,
)
from botdrome.client.rest import CONFLICT, RestServer, ServerProblem, segment

MOST_LISTED = 1000
ALIKE = "looks like it: "
"""The server's words before the name that a new one looks like."""
LONGEST_BASE = 58
"""Letters of a taken name that begin the suggested one."""


def token_for(server: RestServer, game: str, name: str, owner: str = "") -> tuple[str, bool]:
    """Return the kept token of a bot, or register the bot; and whether it is new."""
    with changing_tokens() as servers:
        bots = servers.setdefault(server.url, {})
        kept = bots.get(name)
        if kept is not None and server.has_bot(name):
            if kept.game != game:
                raise CommandError(
                    f"{name} is registered for {kept.game}; choose another name for {game} with "
                    "--name"
                )
            return kept.token, False
        bots[name] = KeptBot(game, server.register(game, name, owner))
        return bots[name].token, True


def name_problem(server: RestServer, name: str, problem: ServerProblem, option: str) -> str:
    """Return the words of a problem; if the name is taken, with one that is free, as the value of
    this option.
    """
    if problem.status != CONFLICT:
        return str(problem)
    alike = str(problem).partition(ALIKE)[2]
    others = (f"{(alike or name)[:LONGEST_BASE]}-{number}" for number in count(2))
    free = next(other for other in others if not server.has_bot(other))
    taken = f"the name {name} is taken on {server.url}" + (
        f": it looks like {alike}" if alike else ""
    )
    return f"{taken}; choose another one, for example: {option} {shlex.quote(free)}"


def run_register(name: str, game: str, server: str, owner: str) -> int:
    try:
        format_called(game)
        rest = RestServer(server)
    except (CommandError, ValueError) as problem:
        complain(problem)
        return REFUSED
    try:
        with changing_tokens() as servers:
            token = rest.register(game, name, owner)
            servers.setdefault(rest.url, {})[name] = KeptBot(game, token)
    except ServerProblem as problem:
        complain(name_problem(rest, name, problem, "register"))
        return 1
    except UnusableTokens as problem:
        complain(problem)
        return 1
    Terminal().print(token, soft_wrap=True)
    Terminal(stderr=True).print(
        Text(f"{name} is registered for {game}. Its token is kept in {tokens_file()}."),
        soft_wrap=True,
    )
    return 0


def list_bots(server: str | None, game: str | None) -> int:
    try:
        games = list(CATALOGUE) if game is None else [format_called(game).name]
        rest = None if server is None else RestServer(server)
    except (CommandError, ValueError) as problem:
        complain(problem)
        return REFUSED
    try:
        kept = kept_bots()
        rows = list(
            _own_rows(kept, games)
            if rest is None
            else _server_rows(rest, kept.get(rest.url, {}), games)
        )
    except (ServerProblem, UnusableTokens) as problem:
        complain(problem)
        return 1
    if len(rows) > 1:
        print_columns(rows)
    else:
        Terminal(stderr=True).print(
            "There are no such bots. `botdrome register NAME --game GAME` registers one.",
            soft_wrap=True,
        )
    return 0


def _own_rows(kept: Servers, games: Sequence[str]) -> Iterator[tuple[str, ...]]:
    yield "server", "game", "bot"
    for url, bots in sorted(kept.items()):
        yield from (
            (url, bot.game, name) for name, bot in sorted(bots.items()) if bot.game in games
        )


def _server_rows(
    rest: RestServer, own: dict[str, Any], games: Sequence[str]
) -> Iterator[tuple[str, ...]]:
    """The bots of each game, best first; a star marks the user's own."""
    yield "game", "rating", "95 %", "games", "", "bot"
    for game in games:
        for line in rest.get(f"games/{segment(game)}/leaderboard?limit={MOST_LISTED}")["bots"]:
            low, high = line["low"], line["high"]
            interval = "" if low is None or high is None else f"{low:.0f}-{high:.0f}"
            rating = (
                ""
                if line["rating"] is None
                else "provisional"
                if line["provisional"]
                else f"{line['rating']:.0f}"
            )
            name = (
                f"{line['name']} (group {line['group'] + 1}, not comparable)"
                if line["group"]
                else line["name"]
            )
            yield (
                game,
                rating,
                interval,
                str(line["games"]),
                "*" if line["name"] in own else "",
                name,
            )


def print_columns(rows: Sequence[tuple[str, ...]]) -> None:
    """Print rows in columns.

    The names of bots come last: they may be long, and are never broken.
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    console = Terminal()
    for number, row in enumerate(rows):
        cells = [cell.ljust(width) for cell, width in zip(row[:-1], widths, strict=False)]
        console.print(
            Text("  ".join([*cells, row[-1]]), style="" if number else "bold"), soft_wrap=True
        )
