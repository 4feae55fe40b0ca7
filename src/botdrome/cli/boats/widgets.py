"""Widgets of the boats client: boards, messages, and the prompt at the bottom."""

import asyncio
from collections.abc import Sequence

from msgspec import Struct
from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.geometry import Size
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Static

from botdrome.cli.boats.headless import message_line
from botdrome.client.boats_game import LogMessage
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


Key = tuple[str, str | None]
"""Its name and, if it has one, its character."""
LEAST_MESSAGES, SHARE_OF_MESSAGES = 2, 6
"""Lines for messages: at least 2, or a sixth of the screen."""
LONGEST_TEXT = 1000
"""Letters of an answer."""


class Boards(Widget):
    """All boards of a game. Width and height of a board are set when they are known."""

    DEFAULT_CSS = "Boards { height: auto; width: 1fr; }"

    class Pressed(Message):
        """A click on a board."""

        def __init__(self, spot: Spot, other_button: bool) -> None:
            super().__init__()
            self.spot, self.other_button = spot, other_button

    def __init__(self) -> None:
        super().__init__()
        self._panels: Sequence[Panel] = ()
        self._columns = self._rows = 0

    def show(self, panels: Sequence[Panel], columns: int, rows: int) -> None:
        changed = (len(panels), columns, rows) != (len(self._panels), self._columns, self._rows)
        self._panels, self._columns, self._rows = panels, columns, rows
        self.refresh(layout=changed)

    def sheet(self, width: int) -> BoardSheet:
        return BoardSheet(len(self._panels), self._columns, self._rows, width)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return self.sheet(width).lines

    def render(self) -> Text:
        return self.sheet(self.size.width).draw(self._panels)

    def on_click(self, event: events.Click) -> None:
        spot = self.sheet(self.size.width).spot(event.x, event.y)
        if spot is not None:
            self.post_message(self.Pressed(spot, event.button != 1))


class Pane(VerticalScroll, can_focus=False):
    """A scrolling pane.

    It always reserves the column of its scroll bar, so that text wraps the same with and without
    it.
    """

    DEFAULT_CSS = "Pane { scrollbar-gutter: stable; scrollbar-size-vertical: 1; }"

    def move(self, key: str) -> None:
        steps = {
            "up": self.scroll_up, "down": self.scroll_down, "home": self.scroll_home,
            "end": self.scroll_end, "pageup": self.scroll_page_up,
            "pagedown": self.scroll_page_down,
        }  # fmt: skip
        steps[key](animate=False)


class Messages(Pane, can_focus=False):
    """The messages, newest last. It follows new messages unless the player has scrolled up."""

    def compose(self) -> ComposeResult:
        yield Static(id="said")

    def on_mount(self) -> None:
        self.anchor()

    def show(self, said: Sequence[LogMessage]) -> None:
        self.query_one("#said", Static).update(Text("\n".join(map(message_line, said))))


class Body(Vertical):
    """The part between title and prompt.

    Panes above the messages scroll and leave them some lines.
    """

    def on_resize(self, event: events.Resize) -> None:
        height = event.size.height
        *others, _ = self.query(Pane)
        for pane in others:
            pane.styles.max_height = max(
                1, height - max(LEAST_MESSAGES, height // SHARE_OF_MESSAGES)
            )


class Prompt(Static):
    """The line at the bottom: the keys, or a question. The game goes on while it asks.

    It never has the focus. The page passes every key to it, so keys typed ahead are not lost.
    """

    DEFAULT_CSS = "Prompt { height: auto; min-height: 1; max-height: 3; width: 1fr; }"

    def __init__(self) -> None:
        super().__init__()
        self._hint = Text()
        self._question = self._typed = self._choices = ""
        self._answer: asyncio.Future[str | None] | None = None
        self.busy = False
        """A dialog runs: keys wait for its next question."""
        self._ahead: list[Key] = []

    @property
    def asking(self) -> bool:
        return self._answer is not None and not self._answer.done()

    def rest(self) -> list[Key]:
        """End the dialog and return the keys that it did not use."""
        ahead, self._ahead, self.busy = self._ahead, [], False
        return ahead

    def hint(self, keys: str, more: str = "") -> None:
        """Set the text shown while no question is asked: in `Shoot sKip`, capital letters are
        keys.
        """
        self._hint = Text()
        for letter in keys:
            self._hint.append(letter, "bold cyan" if letter.isupper() else "")
        self._hint.append(more)
        self._draw()

    def _draw(self) -> None:
        if not self.asking:
            self.update(self._hint)
            return
        line = Text(f"{self._question} ", "bold")
        if not self._choices:
            width = self.app.size.width
            room = max(width // 2, width - len(line) - 1)
            line.append(self._typed[-room:], "not bold").append(" ", "reverse")
        self.update(line)

    async def ask(self, question: str, choices: str = "") -> str | None:
        """Ask for a line of text, or for one of these keys; None: the player pressed Escape."""
        answer: asyncio.Future[str | None] = asyncio.get_running_loop().create_future()
        self._answer, self._question, self._choices, self._typed = answer, question, choices, ""
        while self._ahead and self.asking:
            self._press(*self._ahead.pop(0))
        self._draw()
        try:
            return await answer
        finally:
            self._answer = None
            self._draw()

    def give(self, answer: str | None) -> None:
        if self._answer and self.asking:
            self._answer.set_result(answer)

    def press(self, key: str, character: str | None) -> bool:
        """Take a key and return whether a dialog uses it."""
        if self.asking:
            self._press(key, character)
        elif self.busy:
            self._ahead.append((key, character))
        return self.busy

    def _press(self, key: str, character: str | None) -> None:
        if key == "escape":
            self.give(None)
        elif self._choices:
            letter = (character or "").lower()
            if letter and letter in self._choices:
                self.give(letter)
        elif key == "enter":
            self.give(self._typed)
        else:
            self._edit(key, character or "")

    def _edit(self, key: str, text: str) -> None:
        if key == "backspace":
            self._typed = self._typed[:-1]
        elif key == "ctrl+u":
            self._typed = ""
        else:
            self._typed = (self._typed + "".join(filter(str.isprintable, text)))[:LONGEST_TEXT]
        self._draw()

    def paste(self, text: str) -> None:
        if self.asking and not self._choices:
            self._edit("", text)
