"""Gomoku in the terminal."""

from collections.abc import Sequence

from rich.text import Text

from botdrome.games.game import View
from botdrome.games.gomoku import FREE, MARKS

STYLES = {"X": "bold cyan", "O": "bold magenta", FREE: "dim"}


def picture(view: View, names: Sequence[str]) -> Text:
    """Draw the public position, with the last stone and the winning row marked; `names` are the
    players by seat.
    """
    text = Text()
    for seat, mark in enumerate(MARKS):
        text.append(f"{mark} {names[seat]}  ", STYLES[mark])
    columns = "".join(f"{column % 10} " for column in range(view["size"]))
    text.append(f"\n   {columns}", "dim")
    marked = {tuple(point) for point in (view["line"] or view["moves"][-1:])}
    for y, row in enumerate(view["board"]):
        text.append(f"\n{y:2} ", "dim")
        for x, mark in enumerate(row):
            text.append(
                mark.replace(FREE, "·"), STYLES[mark] + (" reverse" if (x, y) in marked else "")
            )
            text.append(" ")
    return text
