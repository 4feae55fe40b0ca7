"""`botdrome games` and `demo`: the games, their options, views and moves, and a match of each."""

import shutil
import sys
import time
from typing import Annotated, Any

import msgspec
from rich.console import Group
from rich.live import Live
from rich.table import Table
from rich.text import Text
from typer import Argument, Option

from botdrome.bots.house import house_bots, house_view, seated
from botdrome.bots.simulate import simulate
from botdrome.catalogue import CATALOGUE, CatalogueEntry
from botdrome.cli.options import LOCAL, game_names
from botdrome.cli.pictures import drawn, frames
from botdrome.cli.play import played
from botdrome.cli.terminal import Terminal, command, game_called, say
from botdrome.games.game import Raw, View
from botdrome.games.options import options_of
from botdrome.match.match import Match
from botdrome.match.record import match_file, read
from botdrome.offline.tournament import TournamentPlan

SEED = 1


@command()
def games(
    game: Annotated[
        str | None, Argument(help="Only this game, in full.", autocompletion=game_names)
    ] = None,
) -> None:
    """List the games with their options, and examples of views and moves."""
    for row in [game_called(game)] if game else CATALOGUE.values():
        _describe(row)


def _describe(row: CatalogueEntry) -> None:
    players = row.game.players
    count = str(players[0]) if len(players) == 1 else f"{players[0]} to {players[-1]}"
    say(Text(row.name, "bold cyan").append(f"   {count} players", "not bold"))
    say(f"house bots: {', '.join(f'house:{bot}' for bot in house_bots(row.name))}")
    options = options_of(row.game).values()
    if options:
        headings = "option", "default", "meaning"
        table = Table(*headings, box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
        for option in options:
            table.add_row(option.name, _json(option.default), option.description)
        say(table)
    else:
        say("options: none")
    for label, view, move in examples(row):
        say(label, "dim")
        say(f"view: {_json(view)}")
        say(f"move: {_json(move)}", "green")
    say("")


def examples(row: CatalogueEntry) -> list[tuple[str, View, Raw]]:
    """Return examples of a view and a move, at the start and a few moves later."""
    match = Match(row.game, row.game.players[0] if row.game.players[0] > 1 else 2, row.terms, SEED)
    bots = [
        seated(house_bots(row.name)["random"], SEED + player) for player in range(match.players)
    ]
    match.start()
    found = [("at the start", *_asked(match, bots))]
    for _ in range(6):
        for player in tuple(match.awaited):
            match.submit(player, bots[player](house_view(match.position, match.seat_of(player))), 0)
        if match.deadline is not None and not match.awaited:
            match.wake(match.deadline)
    return [*found, ("a few moves later", *_asked(match, bots))] if match.awaited else found


def _asked(match: Match, bots: list[Any]) -> tuple[View, Raw]:
    player = match.awaited[0]
    return match.view(player), bots[player](house_view(match.position, match.seat_of(player)))


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()


DEMO_SEED = 7
MOST_FRAMES = 40
AT_A_TABLE = 4


@command()
def demo(
    pause: Annotated[float, Option(min=0, help="Seconds between two positions.")] = 0.15,
) -> int:
    """Show one match of each game, then a small tournament."""
    console = Terminal()
    for row in CATALOGUE.values():
        _show(row, console, pause)
    say("\nA tournament: noughts and crosses, the perfect bot against a random one", "bold")
    bots = ("house:perfect", "house:random")
    status = played(TournamentPlan("noughts-and-crosses", bots, bots, 2, 500, DEMO_SEED))
    say("\nIn the browser you can watch, replay and play all of this:", "bold")
    say(f"  {_command()} serve --house\n  then open {LOCAL}/", "cyan")
    return status


def _command() -> str:
    """Return the command of this program, which `make demo` has outside the PATH."""
    return "botdrome" if shutil.which("botdrome") else sys.argv[0]


def _show(row: CatalogueEntry, console: Terminal, pause: float) -> None:
    """Show a match of house bots, the best against the weakest, in at most MOST_FRAMES
    positions.
    """
    players = min(AT_A_TABLE, row.game.players[-1])
    house = house_bots(row.name)
    names = [list(house)[-1 if player % 2 == 0 else 0] for player in range(players)]
    bots = [seated(house[name], DEMO_SEED * 10 + player) for player, name in enumerate(names)]
    match = simulate(Match(row.game, players, row.terms, DEMO_SEED), bots)
    record = read(match_file(match, [f"{name} {player + 1}" for player, name in enumerate(names)]))
    reel = frames(record, row.game)
    shown = reel[:: max(1, len(reel) // MOST_FRAMES)]
    with Live(console=console, auto_refresh=False) as live:
        for frame in [*shown, reel[-1]]:
            live.update(Group(Text(""), drawn(row.name, frame)), refresh=True)
            if console.is_terminal:
                time.sleep(pause)
