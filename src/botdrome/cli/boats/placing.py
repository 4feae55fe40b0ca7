"""Pages on which a player chooses a random board or lays out a board by hand."""

from collections.abc import Iterator
from typing import ClassVar

from rich.text import Text
from textual import events
from textual.geometry import Size
from textual.widget import Widget

from botdrome.cli.boats.pages import Controller, Page, key_line
from botdrome.cli.boats.sheet import ABOVE, BoardSheet, Panel
from botdrome.cli.boats.widgets import Boards, Pane
from botdrome.client.boats_board import NotPossible, RandomFleets

MOST_BOARDS = 9
OTHER_LINES, SCROLL_BAR = 3, 1
"""Lines of the screen for title, notice and keys; columns for the scroll bar."""


class PlacingPage(Page):
    KEYS: ClassVar = {"r": "draw", "q": "leave"}

    def __init__(self, controller: Controller) -> None:
        super().__init__(controller)
        game = self.boats.game
        self._draft = RandomFleets(game, controller.client.options.border or 0)
        self._drawn: list[str] = []
        self._shown = 1

    def body(self) -> Iterator[Widget]:
        with Pane(id="sea"):
            yield Boards()

    def on_mount(self) -> None:
        super().on_mount()
        self._shown = self._room(self.app.size)
        self.do_draw()

    def on_resize(self, event: events.Resize) -> None:
        self._shown = self._room(event.size)
        self._show()

    def _room(self, size: Size) -> int:
        """Return how many boards fit on the screen."""
        game = self.boats.game
        per_line = BoardSheet(
            MOST_BOARDS, game.width, game.height, size.width - SCROLL_BAR
        ).per_line
        stacks = (size.height - OTHER_LINES + 1) // (ABOVE + game.height + 1)
        return min(MOST_BOARDS, max(2, per_line * stacks))

    def do_draw(self) -> None:
        try:
            self._drawn = [
                self._draft.draw(self.controller.client.chance) for _ in range(MOST_BOARDS - 1)
            ]
        except NotPossible as problem:
            self.notice(str(problem))
        self._show()

    def _show(self) -> None:
        game = self.boats.game
        boards = [self.controller.layout.squares, *self._drawn][: self._shown]
        names = ["your own", *(["random"] * len(self._drawn))]
        panels = [
            Panel((Text(f"   {number} {name}", "bold"), Text()), squares)
            for number, (name, squares) in enumerate(zip(names, boards, strict=False), 1)
        ]
        self.query_one(Boards).show(panels, game.width, game.height)
        self.head(f"{game.title}: choose your board")
        numbers = f"2-{len(panels)}" if len(panels) > 2 else "2"
        self.prompt.hint(key_line(f"1 lay out your own  {numbers} take that board  Redraw  Quit"))

    def other_key(self, key: str) -> None:
        if key in "123456789":
            self._take(int(key))

    def on_boards_pressed(self, event: Boards.Pressed) -> None:
        self._take(event.spot.board + 1)

    def _take(self, number: int) -> None:
        if number == 1:
            self.controller.lay_out()
        elif number <= min(self._shown, len(self._drawn) + 1):
            self.controller.take(self._drawn[number - 2])


class LayoutPage(Page):
    """For each boat the player chooses a direction and the first square."""

    KEYS: ClassVar = {
        "s": "south",
        "e": "east",
        "u": "undo",
        "d": "finish",
        "q": "leave",
        "escape": "back",
    }

    def __init__(self, controller: Controller) -> None:
        super().__init__(controller)
        self._layout = controller.layout
        self._south = False

    def body(self) -> Iterator[Widget]:
        with Pane(id="sea"):
            yield Boards()

    def renew(self) -> None:
        game, boat = self.boats.game, self._layout.next_boat
        panel = Panel((Text("   your own", "bold"), Text()), self._layout.squares)
        self.query_one(Boards).show([panel], game.width, game.height)
        way = "south" if self._south else "east"
        self.head(
            f"{game.title}: " + (f"next {boat}, to the {way}" if boat else "all boats are placed")
        )
        self.prompt.hint(
            key_line("South  East  Undo  Done  Quit")
            + Text("  Esc back; click: put, other button: turn")
        )

    def do_south(self) -> None:
        self._turn(True)

    def do_east(self) -> None:
        self._turn(False)

    def _turn(self, south: bool) -> None:
        self._south = south
        self.renew()
        if self._layout.next_boat:
            self.dialog(self._ask)

    async def _ask(self) -> None:
        way = "south" if self._south else "east"
        text = await self.prompt.ask(f"{self._layout.next_boat} to the {way} from (like e5):")
        if text:
            self._put(*self.boats.square_called(text))

    def _put(self, x: int, y: int) -> None:
        try:
            self._layout.put(x, y, self._south)
        except NotPossible as problem:
            self.notice(str(problem))
        self.renew()

    def on_boards_pressed(self, event: Boards.Pressed) -> None:
        self.notice("")
        self.prompt.give(None)
        if event.other_button:
            self._south = not self._south
            self.renew()
        elif event.spot.square:
            self._put(*event.spot.square)

    def do_undo(self) -> None:
        self._layout.undo()
        self.renew()

    def do_finish(self) -> None:
        if self._layout.next_boat:
            self.notice(f"{self._layout.next_boat} is not placed yet")
        else:
            self.controller.take(self._layout.squares)

    def do_back(self) -> None:
        self.controller.accept()
