"""Playing: the waiting room and the game itself."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual.widget import Widget

from botdrome.cli.boats.pages import Page, described, key_line
from botdrome.cli.boats.sheet import Panel
from botdrome.cli.boats.widgets import Boards, Messages, Pane
from botdrome.client.boats import Boats, Captain
from botdrome.client.boats_lines import Unsuited
from botdrome.client.boats_orders import say, shoot, skip, taunt
from botdrome.client.boats_pilot import own_rows
from botdrome.client.terminal_text import shown
from botdrome.games.gunnery import HIT

if TYPE_CHECKING:
    from botdrome.cli.boats.app import BoatsApp

KINDS = {"h": "hit", "m": "miss"}
WHO = "name, number"


class Company(Page):
    """Among players: messages and taunts."""

    KEYS: ClassVar = {"m": "speak", "t": "taunt", "c": "clear", "r": "redraw", "q": "quit"}

    def do_speak(self) -> None:
        self.dialog(self._speak)

    async def _speak(self) -> None:
        word = await self.prompt.ask(f"message to ({WHO}; Enter: all):")
        if word is None:
            return
        to = self.boats.captain_called(word) if word.strip() else None
        text = await self.prompt.ask(f"to {shown(to.name) if to else 'all'}:")
        if text:
            self.harbour.voyage.send(say(self.boats, to, text))
            self.renew()

    def do_taunt(self) -> None:
        self.dialog(self._taunt)

    async def _taunt(self) -> None:
        """Until it is done."""
        while (deed := await self.prompt.choose("taunts: Add, Clear, Done", "acd")) in ("a", "c"):
            kind = KINDS.get(await self.prompt.choose("for those who Hit or Miss you", "hm") or "")
            text = await self.prompt.ask(f"taunt for a {kind}:") if kind and deed == "a" else ""
            if kind and (text or deed == "c"):
                self.harbour.voyage.send(taunt(kind, text or ""))
                self.notice(f"taunt for a {kind} added" if text else f"taunts for a {kind} cleared")

    def do_clear(self) -> None:
        self.dialog(self._clear)

    async def _clear(self) -> None:
        key = await self.prompt.choose("clear messages: All, or of one Player", "ap")
        if key == "a":
            self.boats.forget()
        elif key == "p" and (word := await self.prompt.ask(f"of whom ({WHO}, server):")):
            self.boats.forget("server" if word.strip().lower() == "server" else self.boats.captain_called(word).name)
        self.renew()

    def do_redraw(self) -> None:
        self.harbour.redraw()

    def do_quit(self) -> None:
        self.dialog(self._quit)

    async def _quit(self) -> None:
        if await self.prompt.choose("leave the game? Yes, No", "yn") == "y":
            self.harbour.leave()


class Room(Company):
    """Waiting for the others."""

    def body(self) -> Iterator[Widget]:
        yield from super().body()
        yield Messages(id="log")

    def renew(self) -> None:
        boats = self.boats
        self.head(f"{boats.game.title}: waiting for the start")
        names = [
            f"  {number}. {shown(name)}{' (you)' if name == boats.me else ''}" for number, name in enumerate(boats.players, 1)
        ]
        self.text(described(boats.game, len(boats.players)) + "\n" + "\n".join(names) + "\n")
        self.query_one(Messages).show(boats.messages)
        self.prompt.hint(key_line("Message  Taunts  Clear  Redraw  Quit"))


def heads(boats: Boats, number: int, captain: Captain) -> tuple[Text, Text]:
    """Above a board: who it is and whose turn, then how they stand."""
    turn = captain.name == boats.to_move
    who = Text(f"{number:2} ").append("* " if turn else "", "bold red")
    who.append(shown(captain.name), "bold" if captain.name != boats.me else "bold cyan")
    who.append(" (you)" if captain.name == boats.me else "")
    if captain.status:
        return who, Text(f" ({shown(captain.status)})", "yellow")
    hit = 100 * captain.board.count(HIT) // boats.game.boats.squares
    skips = f", {captain.skips} skips" if captain.skips else ""
    return who, Text(f" ({captain.score}{skips}, {hit}%)")


class Sea(Company):
    """The game: all boards, messages and keys."""

    KEYS: ClassVar = Company.KEYS | {"s": "shoot", "k": "skip", "v": "view"}

    def __init__(self, harbour: "BoatsApp") -> None:
        super().__init__(harbour)
        self._own = False
        """The own board is shown with its boats."""

    def body(self) -> Iterator[Widget]:
        with Pane(id="sea"):
            yield Boards()
        yield Messages(id="log")

    def renew(self) -> None:
        boats, game = self.boats, self.boats.game
        panels = [
            Panel(heads(boats, number, captain), self._squares(captain))
            for number, captain in enumerate(boats.players.values(), 1)
        ]
        self.query_one(Boards).show(panels, game.width, game.height)
        self.query_one(Messages).show(boats.messages)
        turn = "your turn" if boats.my_turn else f"{boats.to_move}'s turn" if boats.to_move else ""
        self.head(f"{game.title}   goal {game.goal}   {turn}")
        mine = "Shoot  sKip  " if boats.my_turn else ""
        self.prompt.hint(key_line(f"{mine}Message  Taunts  View  Clear  Redraw  Quit") + Text("  Tab, Up/Down: scroll"))

    def _squares(self, captain: Captain) -> str:
        return "".join(own_rows(self.boats)) if self._own and captain.name == self.boats.me else captain.board

    def do_shoot(self) -> None:
        self.dialog(self._shoot)

    async def _shoot(self) -> None:
        boats = self.boats
        target = next((captain for captain in boats.players.values() if captain.name != boats.me), None)
        if len(boats.players) != 2:
            word = await self.prompt.ask(f"shoot at ({WHO}):")
            target = boats.captain_called(word) if word else None
        text = await self.prompt.ask(f"shoot {shown(target.name)} at (like e5):") if target else None
        if target and text:
            self.fire(target, *boats.square_called(text))

    def fire(self, target: Captain, x: int, y: int) -> None:
        """Or Unsuited. A player's board may have become another one since it was named."""
        self.harbour.voyage.send(shoot(self.boats, self.boats.players.get(target.name, target), x, y))

    def on_boards_pressed(self, event: Boards.Pressed) -> None:
        captains = list(self.boats.players.values())
        if event.spot.square is None or event.spot.board >= len(captains) or self.harbour.voyage.pilot:
            return
        self.prompt.give(None)
        try:
            self.fire(captains[event.spot.board], *event.spot.square)
            self.notice("")
        except Unsuited as problem:
            self.notice(str(problem))

    def do_skip(self) -> None:
        self.dialog(self._skip)

    async def _skip(self) -> None:
        reason = await self.prompt.ask("skip this turn; reason (Enter: none, Esc: do not skip):")
        if reason is not None:
            self.harbour.voyage.send(skip(self.boats, reason))

    def do_view(self) -> None:
        self._own = not self._own
        self.renew()
