"""Noughts and crosses in the terminal."""

from collections.abc import Sequence

from rich.text import Text

from botdrome.games.game import View

STYLES = {"X": "bold cyan", "O": "bold magenta", "": "dim"}


def picture(view: View, names: Sequence[str]) -> Text:
    """Draw the public position; `names` are the players by seat."""
    text = Text()
    for seat, mark in enumerate(view["marks"]):
        text.append(f"{mark} {names[seat]}  ", STYLES[mark])
    for row in view["board"]:
        text.append("\n ")
        for mark in row:
            text.append(f"{mark or '·'} ", STYLES[mark])
    return text
