"""The base class of all pages of the boats client, and the pages before and after a game."""

from collections.abc import Awaitable, Callable, Iterator
from typing import ClassVar, Protocol

from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Static

from botdrome.cli.boats.headless import farewell, result_lines, seat_is_gone
from botdrome.cli.boats.widgets import Body, Messages, Pane, Prompt
from botdrome.client.boats_board import FleetLayout, NotPossible
from botdrome.client.boats_client import BoatsClient
from botdrome.client.boats_game import TrackedGame
from botdrome.client.terminal_text import shown, shown_lines
from botdrome.games.reading import plural
from botdrome.wire.boats.lines import OfferedGame

SCROLLING = {
    "up": "up", "down": "down", "home": "home", "end": "end", "pageup": "pageup",
    "pagedown": "pagedown", "u": "up", "d": "down", "h": "home", "e": "end",
}  # fmt: skip

SCROLLED = {"sea": "the boards", "words": "the text", "log": "the messages"}


def key_line(text: str) -> Text:
    """Highlight the keys: in `Shoot sKip`, the capital letter of each word."""
    line = Text()
    for letter in text:
        line.append(letter, "bold cyan" if letter.isupper() else "")
    return line


class Controller(Protocol):
    """The part of the app that pages use. It keeps them from importing the app."""

    client: BoatsClient
    trouble: str
    """Why the last attempt to connect failed."""

    @property
    def layout(self) -> FleetLayout: ...
    def press(self, name: str, character: str | None) -> None: ...
    def accept(self) -> None: ...
    def lay_out(self) -> None: ...
    def take(self, fleet: str) -> None: ...
    async def join(self, name: str) -> None: ...
    def rejoin(self) -> None: ...
    def join_another(self) -> None: ...
    def redraw(self) -> None: ...
    def leave(self) -> None: ...


class Page(Screen[None]):
    """A title, a body, a notice and a prompt.

    KEYS maps a key to the name of its method `do_...`.
    """

    AUTO_FOCUS = ""
    KEYS: ClassVar[dict[str, str]] = {}

    def __init__(self, controller: Controller) -> None:
        super().__init__()
        self.controller = controller
        self._wheel = -1
        """Index of the pane that the keys scroll; at first the last one, with the messages."""

    @property
    def boats(self) -> TrackedGame:
        return self.controller.client.boats

    def compose(self) -> ComposeResult:
        yield Static(id="head")
        with Body(id="body"):
            yield from self.body()
        yield Static(id="notice")
        yield Prompt()

    def body(self) -> Iterator[Widget]:
        with Pane(id="words"):
            yield Static(id="text")

    def on_mount(self) -> None:
        self.renew()

    def renew(self) -> None:
        """Draw the page again."""

    @property
    def prompt(self) -> Prompt:
        return self.query_one(Prompt)

    def head(self, text: str) -> None:
        self.query_one("#head", Static).update(Text(shown(text), "reverse"))

    def text(self, text: Text | str) -> None:
        self.query_one("#text", Static).update(
            text if isinstance(text, Text) else Text(shown_lines(text))
        )

    def notice(self, text: str) -> None:
        self.query_one("#notice", Static).update(Text(shown(text), "yellow"))

    def on_key(self, event: events.Key) -> None:
        event.stop()
        self.controller.press(event.key, event.character)

    def press(self, name: str, character: str | None) -> None:
        if self.prompt.press(name, character):
            return
        key = character.lower() if character and character.isprintable() else name
        if key == "tab":
            self._change_pane()
        elif key in self.KEYS:
            self.notice("")
            getattr(self, f"do_{self.KEYS[key]}")()
        elif key in SCROLLING:
            self.turn_wheel(SCROLLING[key])
        else:
            self.other_key(key)

    def on_paste(self, event: events.Paste) -> None:
        self.prompt.paste(event.text)

    def other_key(self, key: str) -> None:
        """A key that is none of KEYS and does not scroll."""

    def _change_pane(self) -> None:
        panes = self.query(Pane)
        if len(panes) > 1:
            self._wheel = (self._wheel + 1) % len(panes)
            self.notice(f"the keys scroll {SCROLLED[str(panes[self._wheel].id)]}")

    def turn_wheel(self, key: str) -> None:
        self.query(Pane)[self._wheel].move(key)

    def dialog(self, questions: Callable[[], Awaitable[None]]) -> None:
        """Ask questions while the game goes on."""
        if not self.prompt.busy:
            self.prompt.busy = True
            self.run_worker(self._run_dialog(questions), group="dialog")

    async def _run_dialog(self, questions: Callable[[], Awaitable[None]]) -> None:
        try:
            await questions()
        except NotPossible as problem:
            self.notice(str(problem))
        for key in self.prompt.rest():
            self.controller.press(*key)

    def do_leave(self) -> None:
        self.controller.leave()


class ConnectingPage(Page):
    KEYS: ClassVar = {"q": "leave"}

    def renew(self) -> None:
        options = self.controller.client.options
        self.head("A game of boats")
        self.text(
            f"\nConnecting to {options.host}:{options.port} ...\n{shown(self.boats.last_words)}"
        )
        self.prompt.hint(key_line("Quit"))


def described(game: OfferedGame, joined: int) -> str:
    boats = "  ".join(game.boats.names)
    state = (
        "the game has started; its players may rejoin" if game.started else f"{joined} have joined"
    )
    return (
        f"\n  title    {shown(game.title)}\n  players  {game.least} to {game.most}, {state}\n"
        f"  board    {game.width} by {game.height}\n  boats    {boats}\n"
        f"  goal     {game.goal} points\n"
    )


class OfferPage(Page):
    """Shows the offered game and asks whether to join."""

    KEYS: ClassVar = {"y": "join", "n": "leave", "q": "leave", "enter": "join"}

    def renew(self) -> None:
        self.head("A game of boats")
        self.text(described(self.boats.game, self.boats.game.joined))
        question = "rejoin your game?" if self.boats.returning else "join?"
        self.prompt.hint(key_line(f"{question}  Yes  No"))

    def do_join(self) -> None:
        self.controller.accept()


class NamePage(Page):
    """Asks for the name until the server accepts it."""

    def renew(self) -> None:
        self.head("Who are you?")
        self.text(described(self.boats.game, self.boats.game.joined))
        if self.boats.refusal:
            self.notice(self.boats.refusal)
        self.dialog(self._ask)

    async def _ask(self) -> None:
        name = await self.prompt.ask("user name (Esc: leave):")
        if name is None:
            self.controller.leave()
        else:
            self.notice("")
            await self.controller.join(name)


class LostPage(Page):
    """The connection is lost: asks whether to rejoin."""

    KEYS: ClassVar = {"y": "rejoin", "n": "leave", "q": "leave", "enter": "rejoin"}

    def renew(self) -> None:
        self.head("The connection is lost")
        self.text(f"\n{farewell(self.boats)}\n{self.controller.trouble}")
        question = "look at the next game?" if seat_is_gone(self.boats) else "rejoin?"
        self.prompt.hint(key_line(f"{question}  Yes  No"))

    def do_rejoin(self) -> None:
        if seat_is_gone(self.boats):
            self.controller.join_another()
        else:
            self.controller.rejoin()


class ResultPage(Page):
    """Shows the results and the messages."""

    KEYS: ClassVar = {"q": "leave", "enter": "leave", "escape": "leave", "r": "redraw"}

    def body(self) -> Iterator[Widget]:
        yield from super().body()
        yield Messages(id="log")

    def renew(self) -> None:
        boats = self.boats
        self.head(f"{boats.game.title}: {boats.ending} after {plural(boats.rounds, 'round')}")
        self.text("\n" + "\n".join(result_lines(boats)) + "\n")
        self.query_one(Messages).show(boats.messages)
        self.prompt.hint(key_line("Quit  Redraw"))

    def do_redraw(self) -> None:
        self.controller.redraw()
