"""The pages of the boats client: their base, and those before, in and after a game."""

from collections.abc import Awaitable, Callable
from inspect import iscoroutinefunction
from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.geometry import Size
from textual.screen import Screen
from textual.widgets import Static

from botdrome.cli.boats.headless import farewell, result_lines, seat_is_gone
from botdrome.cli.boats.widgets import (
    ABOVE,
    Boards,
    BoardSheet,
    Body,
    Messages,
    Pane,
    Panel,
    Prompt,
)
from botdrome.client.boats_client import own_rows
from botdrome.client.boats_game import (
    NotPossible,
    RandomFleets,
    TrackedGame,
    TrackedPlayer,
    say,
    shoot,
    skip,
    taunt,
)
from botdrome.client.terminal_text import shown, shown_lines
from botdrome.games.battleship import HIT
from botdrome.games.reading import plural
from botdrome.wire.boats.lines import OfferedGame

if TYPE_CHECKING:
    from botdrome.cli.boats.app import BoatsApp

SCROLLING = {
    "up": "up", "down": "down", "home": "home", "end": "end", "pageup": "pageup",
    "pagedown": "pagedown", "u": "up", "d": "down", "h": "home", "e": "end",
}  # fmt: skip

SCROLLED = {"sea": "the boards", "words": "the text", "log": "the messages"}


class Page(Screen[None]):
    """A title, a body, a notice and a prompt.

    KEYS maps a key to the name of its method `do_...`, which may ask questions.
    """

    AUTO_FOCUS = ""
    KEYS: ClassVar[dict[str, str]] = {}
    HAS_BOARDS = HAS_MESSAGES = False

    def __init__(self, controller: "BoatsApp") -> None:
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
            with Pane(id="sea" if self.HAS_BOARDS else "words"):
                yield Boards() if self.HAS_BOARDS else Static(id="text")
            if self.HAS_MESSAGES:
                yield Messages(id="log")
        yield Static(id="notice")
        yield Prompt()

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
            do = getattr(self, f"do_{self.KEYS[key]}")
            if iscoroutinefunction(do):
                self.dialog(do)
            else:
                do()
        elif key in SCROLLING:
            self.query(Pane)[self._wheel].move(SCROLLING[key])
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

    def do_redraw(self) -> None:
        self.controller.redraw()


class ConnectingPage(Page):
    KEYS: ClassVar = {"q": "leave"}

    def renew(self) -> None:
        options = self.controller.client.options
        self.head("A game of boats")
        self.text(
            f"\nConnecting to {options.host}:{options.port} ...\n{shown(self.boats.last_words)}"
        )
        self.prompt.hint("Quit")


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
        self.prompt.hint(f"{question}  Yes  No")

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
        self.prompt.hint(f"{question}  Yes  No")

    def do_rejoin(self) -> None:
        if seat_is_gone(self.boats):
            self.controller.join_another()
        else:
            self.controller.rejoin()


class ResultPage(Page):
    """Shows the results and the messages."""

    KEYS: ClassVar = {"q": "leave", "enter": "leave", "escape": "leave", "r": "redraw"}
    HAS_MESSAGES = True

    def renew(self) -> None:
        boats = self.boats
        self.head(f"{boats.game.title}: {boats.ending} after {plural(boats.rounds, 'round')}")
        self.text("\n" + "\n".join(result_lines(boats)) + "\n")
        self.query_one(Messages).show(boats.messages)
        self.prompt.hint("Quit  Redraw")


MOST_BOARDS = 9
OTHER_LINES, SCROLL_BAR = 3, 1
"""Lines of the screen for title, notice and keys; columns for the scroll bar."""


class PlacingPage(Page):
    KEYS: ClassVar = {"r": "draw", "q": "leave"}
    HAS_BOARDS = True

    def __init__(self, controller: "BoatsApp") -> None:
        super().__init__(controller)
        game = self.boats.game
        self._draft = RandomFleets(game, controller.client.options.border or 0)
        self._drawn: list[str] = []
        self._shown = 1

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
        self.prompt.hint(f"1 lay out your own  {numbers} take that board  Redraw  Quit")

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
    HAS_BOARDS = True

    def __init__(self, controller: "BoatsApp") -> None:
        super().__init__(controller)
        self._layout = controller.layout
        self._south = False

    def renew(self) -> None:
        game, boat = self.boats.game, self._layout.next_boat
        panel = Panel((Text("   your own", "bold"), Text()), self._layout.squares)
        self.query_one(Boards).show([panel], game.width, game.height)
        way = "south" if self._south else "east"
        self.head(
            f"{game.title}: " + (f"next {boat}, to the {way}" if boat else "all boats are placed")
        )
        self.prompt.hint(
            "South  East  Undo  Done  Quit", "  Esc back; click: put, other button: turn"
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


KINDS = {"h": "hit", "m": "miss"}
WHO = "name, number"


class PlayersPage(Page):
    """Base of both pages: messages and taunts."""

    KEYS: ClassVar = {"m": "speak", "t": "taunt", "c": "clear", "r": "redraw", "q": "quit"}

    async def do_speak(self) -> None:
        word = await self.prompt.ask(f"message to ({WHO}; Enter: all):")
        if word is None:
            return
        to = self.boats.player_called(word) if word.strip() else None
        text = await self.prompt.ask(f"to {shown(to.name) if to else 'all'}:")
        if text:
            self.controller.client.send(say(self.boats, to, text))
            self.renew()

    async def do_taunt(self) -> None:
        """Ask until the player is done."""
        while (deed := await self.prompt.ask("taunts: Add, Clear, Done", "acd")) in ("a", "c"):
            kind = KINDS.get(await self.prompt.ask("for those who Hit or Miss you", "hm") or "")
            text = await self.prompt.ask(f"taunt for a {kind}:") if kind and deed == "a" else ""
            if kind and (text or deed == "c"):
                self.controller.client.send(taunt(kind, text or ""))
                self.notice(f"taunt for a {kind} added" if text else f"taunts for a {kind} cleared")

    async def do_clear(self) -> None:
        key = await self.prompt.ask("clear messages: All, or of one Player", "ap")
        if key == "a":
            self.boats.forget()
        elif key == "p" and (word := await self.prompt.ask(f"of whom ({WHO}, server):")):
            self.boats.forget(
                "server"
                if word.strip().lower() == "server"
                else self.boats.player_called(word).name
            )
        self.renew()

    async def do_quit(self) -> None:
        if await self.prompt.ask("leave the game? Yes, No", "yn") == "y":
            self.controller.leave()


class WaitingPage(PlayersPage):
    """Shown until the game starts."""

    HAS_MESSAGES = True

    def renew(self) -> None:
        boats = self.boats
        self.head(f"{boats.game.title}: waiting for the start")
        names = [
            f"  {number}. {shown(name)}{' (you)' if name == boats.me else ''}"
            for number, name in enumerate(boats.players, 1)
        ]
        self.text(described(boats.game, len(boats.players)) + "\n" + "\n".join(names) + "\n")
        self.query_one(Messages).show(boats.messages)
        self.prompt.hint("Message  Taunts  Clear  Redraw  Quit")


def heads(boats: TrackedGame, number: int, player: TrackedPlayer) -> tuple[Text, Text]:
    """Return the two lines above a board: name and turn, then score or status."""
    turn = player.name == boats.to_move
    who = Text(f"{number:2} ").append("* " if turn else "", "bold red")
    who.append(shown(player.name), "bold" if player.name != boats.me else "bold cyan")
    who.append(" (you)" if player.name == boats.me else "")
    if player.status:
        return who, Text(f" ({shown(player.status)})", "yellow")
    hit = 100 * player.board.count(HIT) // boats.game.boats.squares
    skips = f", {plural(player.skips, 'skip')}" if player.skips else ""
    return who, Text(f" ({player.score}{skips}, {hit}%)")


class GamePage(PlayersPage):
    """All boards, the messages and the keys."""

    KEYS: ClassVar = PlayersPage.KEYS | {"s": "shoot", "k": "skip", "v": "view"}
    HAS_BOARDS = HAS_MESSAGES = True

    def __init__(self, controller: "BoatsApp") -> None:
        super().__init__(controller)
        self._own = False
        """Show the player's board with its boats."""

    def renew(self) -> None:
        boats, game = self.boats, self.boats.game
        panels = [
            Panel(heads(boats, number, player), self._squares(player))
            for number, player in enumerate(boats.players.values(), 1)
        ]
        self.query_one(Boards).show(panels, game.width, game.height)
        self.query_one(Messages).show(boats.messages)
        turn = "your turn" if boats.my_turn else f"{boats.to_move}'s turn" if boats.to_move else ""
        self.head(f"{game.title}   goal {game.goal}   {turn}")
        mine = "Shoot  sKip  " if boats.my_turn else ""
        keys = f"{mine}Message  Taunts  View  Clear  Redraw  Quit"
        self.prompt.hint(keys, "  Tab, Up/Down: scroll")

    def _squares(self, player: TrackedPlayer) -> str:
        return (
            "".join(own_rows(self.boats))
            if self._own and player.name == self.boats.me
            else player.board
        )

    async def do_shoot(self) -> None:
        boats = self.boats
        target = next(
            (player for player in boats.players.values() if player.name != boats.me), None
        )
        if len(boats.players) != 2:
            word = await self.prompt.ask(f"shoot at ({WHO}):")
            target = boats.player_called(word) if word else None
        text = (
            await self.prompt.ask(f"shoot {shown(target.name)} at (like e5):") if target else None
        )
        if target and text:
            self.fire(target, *boats.square_called(text))

    def fire(self, target: TrackedPlayer, x: int, y: int) -> None:
        """Shoot, or raise NotPossible.

        The target may have a new board since the player named it.
        """
        self.controller.client.send(
            shoot(self.boats, self.boats.players.get(target.name, target), x, y)
        )

    def on_boards_pressed(self, event: Boards.Pressed) -> None:
        players = list(self.boats.players.values())
        if (
            event.spot.square is None
            or event.spot.board >= len(players)
            or self.controller.client.bot_player
        ):
            return
        self.prompt.give(None)
        try:
            self.fire(players[event.spot.board], *event.spot.square)
            self.notice("")
        except NotPossible as problem:
            self.notice(str(problem))

    async def do_skip(self) -> None:
        reason = await self.prompt.ask("skip this turn; reason (Enter: none, Esc: do not skip):")
        if reason is not None:
            self.controller.client.send(skip(self.boats, reason))

    def do_view(self) -> None:
        self._own = not self._own
        self.renew()
