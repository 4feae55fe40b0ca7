"""`botdrome demo`: a game of each kind in the terminal, then a small tournament."""

import shutil
import sys
import time
from typing import Annotated

import typer
from rich.console import Group
from rich.live import Live
from rich.text import Text

from botdrome.bots.house import house_bots, seated
from botdrome.bots.simulate import simulate
from botdrome.catalogue import CATALOGUE, CatalogueEntry
from botdrome.cli.options import LOCAL
from botdrome.cli.pictures import drawn, frames
from botdrome.cli.play import played
from botdrome.cli.terminal import Terminal, say
from botdrome.match.match import Match
from botdrome.match.record import match_file, read
from botdrome.offline.tournament import TournamentPlan

SEED = 7
MOST_FRAMES = 40
AT_A_TABLE = 4

app = typer.Typer()


@app.command()
def demo(
    pause: Annotated[float, typer.Option(min=0, help="Seconds between two positions.")] = 0.15,
) -> None:
    """Show one match of each game, then a small tournament."""
    console = Terminal()
    for row in CATALOGUE.values():
        _show(row, console, pause)
    say("\nA tournament: noughts and crosses, the perfect bot against a random one", "bold")
    bots = ("house:perfect", "house:random")
    status = played(TournamentPlan("noughts-and-crosses", bots, bots, 2, 500, SEED))
    say("\nIn the browser you can watch, replay and play all of this:", "bold")
    say(f"  {_command()} serve --house\n  then open {LOCAL}/", "cyan")
    raise typer.Exit(status)


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
    bots = [seated(house[name], SEED * 10 + player) for player, name in enumerate(names)]
    match = simulate(Match(row.game, players, row.terms, SEED), bots)
    record = read(match_file(match, [f"{name} {player + 1}" for player, name in enumerate(names)]))
    reel = frames(record, row.game)
    shown = reel[:: max(1, len(reel) // MOST_FRAMES)]
    with Live(console=console, auto_refresh=False) as live:
        for frame in [*shown, reel[-1]]:
            live.update(Group(Text(""), drawn(row.name, frame)), refresh=True)
            if console.is_terminal:
                time.sleep(pause)
