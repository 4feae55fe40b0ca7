"""Bumblebots in the terminal."""

from collections.abc import Sequence

from rich.text import Text

from botdrome.games.game import View

SIGNS = {
    0: ("·", "dim"),
    1: ("█", "grey37"),
    2: ("✿", "bold yellow"),
    5: ("+", "cyan"),
    6: ("x", "magenta"),
}
DRONES = (("A", "bold black on cyan"), ("B", "bold black on magenta"))
PLAYERS = ("bold cyan", "bold magenta")


def picture(view: View, names: Sequence[str]) -> Text:
    """Draw the public position; `names` are the players by seat.

    Each row of hexes is shifted by half a hex.
    """
    text = Text(f"tick {view['turnNumber']} of {view['ticks']}", no_wrap=True)
    for name, points, style in zip(names, view["score"], PLAYERS, strict=True):
        text.append(f"   {name} {points}", style)
    drones = _drones(view)
    rows = view["board"]
    for number, row in enumerate(rows):
        text.append("\n" + " " * abs(len(rows) // 2 - number))
        for column, cell in enumerate(row):
            if cell is not None:
                text.append(*drones.get((number, column), SIGNS[cell])).append(" ")
    return text


def _drones(view: View) -> dict[tuple[int, int], tuple[str, str]]:
    """Return the marks of the drones by place."""
    return {
        (drone["position"][0], drone["position"][1]): sign
        for swarm, sign in zip(view["drones"], DRONES, strict=True)
        for drone in swarm.values()
    }
