"""Battlecube in the terminal: the cube cut into slices, front to back."""

from collections.abc import Sequence
from typing import Any

from rich.text import Text

from botdrome.games.game import View

COLOURS = ("red", "yellow", "cyan", "magenta", "green", "blue", "bright_red", "bright_yellow")
MARKS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789#@"
"""A mark for each of 64 seats."""
WIDTH = 80
LARGEST = 12
"""The longest edge that is drawn. For larger cubes only the list of players is shown."""


def picture(view: View, names: Sequence[str]) -> Text:
    """Draw the public position; `names` are the players by seat."""
    text = Text(f"tick {view['tick']} of {view['ticks']}  ", "bold")
    text.append(f"edge {view['edge']}, bombs {len(view['bombs'])}", "dim")
    for at, entry in enumerate(_roster(view, names)):
        text.append("\n" if at % 3 == 0 else " ").append_text(entry)
    if view["edge"] <= LARGEST:
        _draw_slices(view, text)
    return text


def _roster(view: View, names: Sequence[str]) -> list[Text]:
    where = {player["seat"]: "{x},{y},{z}".format(**player) for player in view["players"]}
    fate = {loss["seat"]: f"lost {loss['tick']}" for loss in view["lost"]}
    return [
        Text(
            f"{MARKS[seat]} {name[:14]:14} {(where | fate)[seat]:9}",
            _style(seat) if seat in where else "dim strike",
        )
        for seat, name in enumerate(names)
    ]


def _style(seat: int) -> str:
    return f"bold {COLOURS[seat % len(COLOURS)]}"


def _draw_slices(view: View, text: Text) -> None:
    edge, things = view["edge"], _things(view)
    abreast = WIDTH // (2 * edge + 2)
    for first in range(0, edge, abreast):
        slices = range(first, min(first + abreast, edge))
        text.append("\n" + "".join(f"z {z}".ljust(2 * edge + 2) for z in slices), "dim")
        for y in range(edge):
            text.append("\n")
            for z in slices:
                for x in range(edge):
                    text.append(*things.get((x, y, z), ("· ", "dim")))
                text.append("  ")


def _things(view: View) -> dict[tuple[int, ...], tuple[str, str]]:
    """Return the marks and styles by place."""
    things: dict[Any, tuple[str, str]] = {
        tuple(bomb): ("* ", "bold white") for bomb in view["bombs"]
    }
    for player in view["players"]:
        seat = player["seat"]
        things[player["x"], player["y"], player["z"]] = (f"{MARKS[seat]} ", _style(seat))
    return things
