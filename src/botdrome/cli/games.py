"""`botdrome games`: the games, their options, and examples of views and moves."""

from typing import Annotated, Any

import msgspec
import typer
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from botdrome.bots.house import house_bots, house_view, seated
from botdrome.catalogue import CATALOGUE, CatalogueEntry
from botdrome.cli.options import game_names
from botdrome.cli.terminal import Terminal, game_called, reporting
from botdrome.games.game import Raw, View
from botdrome.games.options import options_of
from botdrome.match.match import Match

SEED = 1

app = typer.Typer()


@app.command()
@reporting()
def games(
    game: Annotated[
        str | None, typer.Argument(help="Only this game, in full.", autocompletion=game_names)
    ] = None,
) -> None:
    """List the games with their options, and examples of views and moves."""
    console = Terminal()
    for row in [game_called(game)] if game else CATALOGUE.values():
        for part in described(row):
            console.print(part, soft_wrap=isinstance(part, Text))
        console.print()


def described(row: CatalogueEntry) -> list[RenderableType]:
    players = row.game.players
    count = str(players[0]) if len(players) == 1 else f"{players[0]} to {players[-1]}"
    head = Text(row.name, style="bold cyan").append(f"   {count} players", style="not bold")
    house = Text(f"house bots: {', '.join(f'house:{bot}' for bot in house_bots(row.name))}")
    return [head, house, _options(row), *_examples(row)]


def _options(row: CatalogueEntry) -> RenderableType:
    options = options_of(row.game).values()
    if not options:
        return Text("options: none")
    table = Table(
        "option",
        "default",
        "meaning",
        box=None,
        pad_edge=False,
        padding=(0, 2, 0, 0),
        header_style="dim",
    )
    for option in options:
        table.add_row(*map(Text, (option.name, _json(option.default), option.description)))
    return table


def _examples(row: CatalogueEntry) -> list[RenderableType]:
    parts: list[RenderableType] = []
    for label, view, move in examples(row):
        parts += [
            Text(label, style="dim"),
            Text(f"view: {_json(view)}"),
            Text(f"move: {_json(move)}", style="green"),
        ]
    return parts


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
