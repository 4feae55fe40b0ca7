"""BoardSheet: boards side by side, wrapped to the width of the terminal; finds the square at a
position.
"""

from collections.abc import Sequence

from msgspec import Struct
from rich.text import Text

from botdrome.client.terminal_text import shown
from botdrome.wire.boats.lines import COLUMNS

HEADS, ABOVE = 2, 3
"""Lines with the title of a board, and with its columns as well."""
MARGIN, GAP = 3, 2
"""Columns for the numbers of the rows, and between boards."""
STYLES = {".": "dim", "X": "bold red", "0": "blue"}


class Panel(Struct, frozen=True):
    """One board with the two lines above it."""

    heads: tuple[Text, Text]
    squares: str


class Spot(Struct, frozen=True):
    """A place on a sheet: a board and, if it is on one, a square of it."""

    board: int
    square: tuple[int, int] | None


class BoardSheet:
    def __init__(self, boards: int, columns: int, rows: int, width: int) -> None:
        """`width` is the terminal's; if a board does not fit, its squares have no gaps."""
        self._boards, self._columns, self._rows = boards, columns, rows
        self._cell = 2 if MARGIN + 2 * columns <= width else 1
        self._block = MARGIN + self._cell * columns
        self.per_line = max(1, (width + GAP) // (self._block + GAP))

    @property
    def lines(self) -> int:
        """How high it is."""
        stacks = -(-self._boards // self.per_line)
        return max(0, stacks * (ABOVE + self._rows + 1) - 1)

    def draw(self, panels: Sequence[Panel]) -> Text:
        stacks = [panels[at : at + self.per_line] for at in range(0, len(panels), self.per_line)]
        return Text("\n\n").join(self._stack(stack) for stack in stacks)

    def _stack(self, panels: Sequence[Panel]) -> Text:
        rows = [[self._head(panel.heads[at]) for panel in panels] for at in range(HEADS)]
        rows.append([self._letters() for _ in panels])
        rows += [[self._row(panel, y) for panel in panels] for y in range(self._rows)]
        gap = Text(" " * GAP)
        return Text("\n").join(gap.join(row) for row in rows)

    def _head(self, head: Text) -> Text:
        title = head.copy()
        title.truncate(self._block, pad=True)
        return title

    def _letters(self) -> Text:
        letters = "".join(letter.ljust(self._cell) for letter in COLUMNS[: self._columns])
        return Text(" " * MARGIN + letters, "dim", end="")

    def _row(self, panel: Panel, y: int) -> Text:
        row = Text(f"{y + 1:2} ", "dim", end="")
        for mark in panel.squares[y * self._columns : (y + 1) * self._columns]:
            style = STYLES.get(mark) or ("bold red" if mark.islower() else "green")
            row.append(shown(mark).ljust(self._cell), style)
        return row

    def spot(self, x: int, y: int) -> Spot | None:
        """Return the board and square at this column and line."""
        stack, line = divmod(y, ABOVE + self._rows + 1)
        beside, column = divmod(x, self._block + GAP)
        board = stack * self.per_line + beside
        if (
            x < 0
            or y < 0
            or beside >= self.per_line
            or board >= self._boards
            or column >= self._block
        ):
            return None
        square = (column - MARGIN) // self._cell, line - ABOVE
        on_it = 0 <= square[0] < self._columns and 0 <= square[1] < self._rows
        return Spot(board, square if on_it else None)
