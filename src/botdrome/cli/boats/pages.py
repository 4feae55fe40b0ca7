"""Pages: what all boat screens have in common, and those before and after the game itself."""

from collections.abc import Awaitable, Callable, Iterator
from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Static

from botdrome.cli.boats.account import farewell, result_lines, seat_is_gone
from botdrome.cli.boats.widgets import Body, Messages, Pane, Prompt
from botdrome.client.boats import Boats
from botdrome.client.boats_lines import Summary, Unsuited
from botdrome.client.terminal_text import shown, shown_lines

if TYPE_CHECKING:
    from botdrome.cli.boats.app import BoatsApp

SCROLLING = {
    "up": "up", "down": "down", "home": "home", "end": "end", "pageup": "pageup", "pagedown": "pagedown",
    "u": "up", "d": "down", "h": "home", "e": "end",
}  # fmt: skip

SCROLLED = {"sea": "the boards", "words": "the text", "log": "the messages"}


def key_line(text: str) -> Text:
    """`Shoot sKip`: the capital letter of a word is its key."""
    line = Text()
    for letter in text:
        line.append(letter, "bold cyan" if letter.isupper() else "")
    return line


class Page(Screen[None]):
    """A head, a body, a line for notices and a line that asks. KEYS names the method `do_...` of a key."""

    AUTO_FOCUS = ""
    KEYS: ClassVar[dict[str, str]] = {}

    def __init__(self, harbour: "BoatsApp") -> None:
        super().__init__()
        self.harbour = harbour
        self._wheel = -1
        """The pane that the keys scroll: the last one, where the messages are, unless somebody changed it."""

    @property
    def boats(self) -> Boats:
        return self.harbour.voyage.boats

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
        """Something was heard."""

    @property
    def prompt(self) -> Prompt:
        return self.query_one(Prompt)

    def head(self, text: str) -> None:
        self.query_one("#head", Static).update(Text(shown(text), "reverse"))

    def text(self, text: Text | str) -> None:
        self.query_one("#text", Static).update(text if isinstance(text, Text) else Text(shown_lines(text)))

    def notice(self, text: str) -> None:
        self.query_one("#notice", Static).update(Text(shown(text), "yellow"))

    def on_key(self, event: events.Key) -> None:
        event.stop()
        self.harbour.press(event.key, event.character)

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
        """Ask, while the game goes on."""
        if not self.prompt.busy:
            self.prompt.busy = True
            self.run_worker(self._heeding(questions), group="dialog")

    async def _heeding(self, questions: Callable[[], Awaitable[None]]) -> None:
        try:
            await questions()
        except Unsuited as problem:
            self.notice(str(problem))
        for key in self.prompt.rest():
            self.harbour.press(*key)

    def do_leave(self) -> None:
        self.harbour.leave()


class Knocking(Page):
    KEYS: ClassVar = {"q": "leave"}

    def renew(self) -> None:
        charter = self.harbour.voyage.charter
        self.head("Boats")
        self.text(f"\nConnecting to {charter.host}:{charter.port} ...\n{shown(self.boats.last_words)}")
        self.prompt.hint(key_line("Quit"))


def described(game: Summary, joined: int) -> str:
    boats = "  ".join(game.boats.names)
    state = "the game has started, and who was in it may come back" if game.started else f"{joined} have joined"
    return (
        f"\n  title    {shown(game.title)}\n  players  {game.least} to {game.most}, {state}\n"
        f"  board    {game.width} by {game.height}\n  boats    {boats}\n  goal     {game.goal} points\n"
    )


class Invitation(Page):
    """The game that the server offers: join or not."""

    KEYS: ClassVar = {"y": "join", "n": "leave", "q": "leave", "enter": "join"}

    def renew(self) -> None:
        self.head("A game of boats")
        self.text(described(self.boats.game, self.boats.game.joined))
        question = "come back to your game?" if self.boats.returning else "join?"
        self.prompt.hint(key_line(f"{question}  Yes  No"))

    def do_join(self) -> None:
        self.harbour.accept()


class Naming(Page):
    """Asks for the name until the server takes it."""

    def renew(self) -> None:
        self.head("Who are you?")
        self.text(described(self.boats.game, self.boats.game.joined))
        if self.boats.refusal:
            self.notice(self.boats.refusal)
        self.dialog(self._ask)

    async def _ask(self) -> None:
        name = await self.prompt.ask("user name (Esc: leave):")
        if name is None:
            self.harbour.leave()
        else:
            self.notice("")
            await self.harbour.join(name)


class Lost(Page):
    """No connection: come back or not."""

    KEYS: ClassVar = {"y": "rejoin", "n": "leave", "q": "leave", "enter": "rejoin"}

    def renew(self) -> None:
        self.head("Boats")
        self.text(f"\n{farewell(self.boats)}\n{self.harbour.trouble}")
        question = "look at the next game?" if seat_is_gone(self.boats) else "rejoin?"
        self.prompt.hint(key_line(f"{question}  Yes  No"))

    def do_rejoin(self) -> None:
        if seat_is_gone(self.boats):
            self.harbour.join_another()
        else:
            self.harbour.rejoin()


class Result(Page):
    """The table at the end, and what was said."""

    KEYS: ClassVar = {"q": "leave", "enter": "leave", "escape": "leave", "r": "redraw"}

    def body(self) -> Iterator[Widget]:
        yield from super().body()
        yield Messages(id="log")

    def renew(self) -> None:
        boats = self.boats
        self.head(f"{boats.game.title}: {boats.ending} after {boats.rounds} rounds")
        self.text("\n" + "\n".join(result_lines(boats)) + "\n")
        self.query_one(Messages).show(boats.messages)
        self.prompt.hint(key_line("Quit  Redraw"))

    def do_redraw(self) -> None:
        self.harbour.redraw()
