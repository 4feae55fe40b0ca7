"""Battleship in the terminal: the boards side by side."""

from collections.abc import Sequence

from rich.text import Text

from botdrome.games.game import View

WIDTH = 80
MARGIN = 4
"""The width of the row numbers and the gap to the next board."""
STYLES = {"X": "bold red", "0": "blue", ".": "dim"}


def picture(view: View, names: Sequence[str]) -> Text:
    """Draw the public position, with the fleets once the game is over; `names` are the players by
    seat.
    """
    cell = 2 if len(names) * (2 * view["width"] + MARGIN) <= WIDTH else 1
    block = cell * view["width"] + MARGIN
    abreast = max(WIDTH // block, 1)
    text = Text(_headline(view, names)[:WIDTH])
    for first in range(0, len(names), abreast):
        seats = range(first, min(first + abreast, len(names)))
        text.append("\n")
        for seat in seats:
            text.append(
                _title(view, names[seat], seat, block),
                "bold yellow" if seat in view["toMove"] else "bold",
            )
        numbers = "".join(str(x % 10).ljust(cell) for x in range(view["width"]))
        text.append("\n" + f"   {numbers} " * len(seats), "dim")
        for y in range(view["height"]):
            text.append("\n")
            for seat in seats:
                _draw_row(text, y, (view["fleets"] or view["boards"])[seat][y], cell)
    return text


def _headline(view: View, names: Sequence[str]) -> str:
    head, last = f"round {view['round']}, goal {view['goal']}", view["last"]
    if last is None:
        return head
    if "skip" in last:
        return f"{head}: {names[last['shooter']]} skips"
    deed = "hits" if last["hit"] else "misses"
    return (
        f"{head}: {names[last['shooter']]} {deed} {names[last['target']]} at x {last['x']}, y "
        f"{last['y']}"
    )


def _title(view: View, name: str, seat: int, block: int) -> str:
    score = str(view["scores"][seat])
    return f"   {name[: block - 5 - len(score)]} {score}".ljust(block)


def _draw_row(text: Text, y: int, row: str, cell: int) -> None:
    text.append(f"{y:2} ", "dim")
    for mark in row:
        style = STYLES.get(mark) or ("bold red" if mark.islower() else "green")
        text.append(mark.replace(".", "·").replace("0", "o").ljust(cell), style)
    text.append(" ")
