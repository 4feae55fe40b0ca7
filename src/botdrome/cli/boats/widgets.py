"""Widgets of the boat screens: boards that can be clicked, messages, and the line at the bottom that asks."""

import asyncio
from collections.abc import Sequence

from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.geometry import Size
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Static

from botdrome.cli.boats.account import message_line
from botdrome.cli.boats.sheet import Panel, Sheet, Spot
from botdrome.client.boats import Said

Key = tuple[str, str | None]
"""Its name and, if it has one, its character."""
LEAST_MESSAGES, SHARE_OF_MESSAGES = 2, 6
"""Lines that messages have, with the line above them: so many at least, and one of so many where that is more."""
LONGEST_TEXT = 1000
"""Letters of an answer."""


class Boards(Widget):
    """All boards of a game. Width and height of a board are set when they are known."""

    DEFAULT_CSS = "Boards { height: auto; width: 1fr; }"

    class Pressed(Message):
        """Somebody clicked on a board."""

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

    def sheet(self, width: int) -> Sheet:
        return Sheet(len(self._panels), self._columns, self._rows, width)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return self.sheet(width).lines

    def render(self) -> Text:
        return self.sheet(self.size.width).draw(self._panels)

    def on_click(self, event: events.Click) -> None:
        spot = self.sheet(self.size.width).spot(event.x, event.y)
        if spot is not None:
            self.post_message(self.Pressed(spot, event.button != 1))


class Pane(VerticalScroll, can_focus=False):
    """Something that scrolls. The place of its scroll bar is kept free: what wraps must not hang on whether it is there."""

    DEFAULT_CSS = "Pane { scrollbar-gutter: stable; scrollbar-size-vertical: 1; }"

    def move(self, key: str) -> None:
        steps = {
            "up": self.scroll_up, "down": self.scroll_down, "home": self.scroll_home, "end": self.scroll_end,
            "pageup": self.scroll_page_up, "pagedown": self.scroll_page_down,
        }  # fmt: skip
        steps[key](animate=False)


class Messages(Pane, can_focus=False):
    """What was said, the newest at the foot; it stays there unless somebody scrolled up."""

    def compose(self) -> ComposeResult:
        yield Static(id="said")

    def on_mount(self) -> None:
        self.anchor()

    def show(self, said: Sequence[Said]) -> None:
        self.query_one("#said", Static).update(Text("\n".join(map(message_line, said))))


class Body(Vertical):
    """What is between the head and the bottom of a page. Whatever is above the messages leaves them some lines, and scrolls."""

    def on_resize(self, event: events.Resize) -> None:
        height = event.size.height
        *others, _ = self.query(Pane)
        for pane in others:
            pane.styles.max_height = max(1, height - max(LEAST_MESSAGES, height // SHARE_OF_MESSAGES))


class Prompt(Static):
    """The line at the bottom: which keys there are, or a question. It never keeps the game waiting.

    It has no focus to win or lose: the page hands it every key, so that nothing typed ahead is lost.
    """

    DEFAULT_CSS = "Prompt { height: auto; min-height: 1; max-height: 3; width: 1fr; }"

    def __init__(self) -> None:
        super().__init__()
        self._hint = Text()
        self._question = self._typed = self._choices = ""
        self._answer: asyncio.Future[str | None] | None = None
        self.busy = False
        """There are questions to be asked: keys wait for the next one."""
        self._ahead: list[Key] = []

    @property
    def asking(self) -> bool:
        return self._answer is not None and not self._answer.done()

    def rest(self) -> list[Key]:
        """No more questions; the keys that nobody asked for."""
        ahead, self._ahead, self.busy = self._ahead, [], False
        return ahead

    def hint(self, text: Text) -> None:
        """What stands there while nothing is asked."""
        self._hint = text
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

    async def ask(self, question: str) -> str | None:
        """A line of text; None: escape was pressed."""
        return await self._wait(question, "")

    async def choose(self, question: str, keys: str) -> str | None:
        """One of these keys."""
        return await self._wait(question, keys)

    async def _wait(self, question: str, choices: str) -> str | None:
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
        if self._answer is not None and not self._answer.done():
            self._answer.set_result(answer)

    def press(self, key: str, character: str | None) -> bool:
        """A key; whether it is for a question, that of now or the next one."""
        if self.asking:
            self._press(key, character)
        elif self.busy:
            self._ahead.append((key, character))
        return self.busy

    def _press(self, key: str, character: str | None) -> None:
        if key == "escape":
            self.give(None)
        elif self._choices:
            self._choose((character or "").lower())
        elif key == "enter":
            self.give(self._typed)
        else:
            self._edit(key, character or "")

    def _choose(self, letter: str) -> None:
        if letter and letter in self._choices:
            self.give(letter)

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
