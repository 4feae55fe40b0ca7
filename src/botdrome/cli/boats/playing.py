"""Pages of the waiting room and of the game."""

from collections.abc import Iterator
from typing import ClassVar

from rich.text import Text
from textual.widget import Widget

from botdrome.cli.boats.pages import Controller, Page, described, key_line
from botdrome.cli.boats.sheet import Panel
from botdrome.cli.boats.widgets import Boards, Messages, Pane
from botdrome.client.boats_board import NotPossible
from botdrome.client.boats_bot import own_rows
from botdrome.client.boats_game import TrackedGame, TrackedPlayer
from botdrome.client.boats_orders import say, shoot, skip, taunt
from botdrome.client.terminal_text import shown
from botdrome.games.battleship import HIT
from botdrome.games.reading import plural

KINDS = {"h": "hit", "m": "miss"}
WHO = "name, number"


class PlayersPage(Page):
    """Base of both pages: messages and taunts."""

    KEYS: ClassVar = {"m": "speak", "t": "taunt", "c": "clear", "r": "redraw", "q": "quit"}

    def do_speak(self) -> None:
        self.dialog(self._speak)

    async def _speak(self) -> None:
        word = await self.prompt.ask(f"message to ({WHO}; Enter: all):")
        if word is None:
            return
        to = self.boats.player_called(word) if word.strip() else None
        text = await self.prompt.ask(f"to {shown(to.name) if to else 'all'}:")
        if text:
            self.controller.client.send(say(self.boats, to, text))
            self.renew()

    def do_taunt(self) -> None:
        self.dialog(self._taunt)

    async def _taunt(self) -> None:
        """Ask until the player is done."""
        while (deed := await self.prompt.choose("taunts: Add, Clear, Done", "acd")) in ("a", "c"):
            kind = KINDS.get(await self.prompt.choose("for those who Hit or Miss you", "hm") or "")
            text = await self.prompt.ask(f"taunt for a {kind}:") if kind and deed == "a" else ""
            if kind and (text or deed == "c"):
                self.controller.client.send(taunt(kind, text or ""))
                self.notice(f"taunt for a {kind} added" if text else f"taunts for a {kind} cleared")

    def do_clear(self) -> None:
        self.dialog(self._clear)

    async def _clear(self) -> None:
        key = await self.prompt.choose("clear messages: All, or of one Player", "ap")
        if key == "a":
            self.boats.forget()
        elif key == "p" and (word := await self.prompt.ask(f"of whom ({WHO}, server):")):
            self.boats.forget(
                "server"
                if word.strip().lower() == "server"
                else self.boats.player_called(word).name
            )
        self.renew()

    def do_redraw(self) -> None:
        self.controller.redraw()

    def do_quit(self) -> None:
        self.dialog(self._quit)

    async def _quit(self) -> None:
        if await self.prompt.choose("leave the game? Yes, No", "yn") == "y":
            self.controller.leave()


class WaitingPage(PlayersPage):
    """Shown until the game starts."""

    def body(self) -> Iterator[Widget]:
        yield from super().body()
        yield Messages(id="log")

    def renew(self) -> None:
        boats = self.boats
        self.head(f"{boats.game.title}: waiting for the start")
        names = [
            f"  {number}. {shown(name)}{' (you)' if name == boats.me else ''}"
            for number, name in enumerate(boats.players, 1)
        ]
        self.text(described(boats.game, len(boats.players)) + "\n" + "\n".join(names) + "\n")
        self.query_one(Messages).show(boats.messages)
        self.prompt.hint(key_line("Message  Taunts  Clear  Redraw  Quit"))


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

    def __init__(self, controller: Controller) -> None:
        super().__init__(controller)
        self._own = False
        """Show the player's board with its boats."""

    def body(self) -> Iterator[Widget]:
        with Pane(id="sea"):
            yield Boards()
        yield Messages(id="log")

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
        self.prompt.hint(
            key_line(f"{mine}Message  Taunts  View  Clear  Redraw  Quit")
            + Text("  Tab, Up/Down: scroll")
        )

    def _squares(self, player: TrackedPlayer) -> str:
        return (
            "".join(own_rows(self.boats))
            if self._own and player.name == self.boats.me
            else player.board
        )

    def do_shoot(self) -> None:
        self.dialog(self._shoot)

    async def _shoot(self) -> None:
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

    def do_skip(self) -> None:
        self.dialog(self._skip)

    async def _skip(self) -> None:
        reason = await self.prompt.ask("skip this turn; reason (Enter: none, Esc: do not skip):")
        if reason is not None:
            self.controller.client.send(skip(self.boats, reason))

    def do_view(self) -> None:
        self._own = not self._own
        self.renew()
