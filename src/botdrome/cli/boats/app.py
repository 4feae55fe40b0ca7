"""BoatsApp: the boats client on a screen.

It chooses the page that is shown and keeps the connection.
"""

import os
import select
import sys
from typing import ClassVar

from textual.app import App
from textual.binding import Binding, BindingType

from botdrome.cli.boats.headless import reason
from botdrome.cli.boats.pages import (
    ConnectingPage,
    GamePage,
    LayoutPage,
    LostPage,
    NamePage,
    OfferPage,
    Page,
    PlacingPage,
    ResultPage,
    WaitingPage,
)
from botdrome.cli.boats.widgets import Key
from botdrome.client.boats_client import BoatsClient, Reconnection
from botdrome.client.boats_game import FleetLayout, LogMessage, NotPossible, Phase, given_fleet

TERMINAL_CHECK = 2.0
"""Seconds between checks that the terminal still exists."""
PAGES = {
    Phase.CONNECTING: ConnectingPage,
    Phase.WAITING: WaitingPage,
    Phase.PLAYING: GamePage,
    Phase.OVER: ResultPage,
}


class BoatsApp(App[None]):
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+c", "leave", priority=True),
        Binding("ctrl+q", "leave", priority=True),
    ]
    CSS = """
    #head { height: 1; width: 1fr; }
    #notice { height: 1; }
    #body { height: 1fr; }
    #sea, #words { height: auto; }
    PlacingPage #sea, LayoutPage #sea { height: 1fr; }
    NamePage #words, OfferPage #words, ConnectingPage #words, LostPage #words { height: 1fr; }
    #log { height: 1fr; min-height: 2; border-top: ascii ansi_blue; }
    """

    def __init__(self, client: BoatsClient, reconnection: Reconnection | None = None) -> None:
        super().__init__(ansi_color=True)
        self.animation_level = "none"
        self.client = client
        self.problem = ""
        """Why the program ends without a game."""
        self.trouble = ""
        """Why the last attempt to connect failed."""
        self._layout: FleetLayout | None = None
        self._way_back = reconnection or Reconnection(client)
        self._step: type[Page] = OfferPage
        """The page shown until the player joins."""
        self._ahead: list[Key] | None = None
        """Keys typed while the next page is being opened; None: no page is."""
        self._due = False
        self._leaving = False

    async def on_mount(self) -> None:
        self.client.tell, self.client.lost = self._tell, self._on_lost
        await self.push_screen(ConnectingPage(self))
        if not self.is_headless:
            self.set_interval(TERMINAL_CHECK, _end_without_terminal)
        self.run_worker(self._connect(), group="connection")

    async def _connect(self) -> None:
        try:
            await self.client.connect()
        except OSError as problem:
            self._give_up(
                f"{self.client.options.host}:{self.client.options.port}: {reason(problem)}"
            )

    def _give_up(self, words: str) -> None:
        self.problem = words
        self.leave()

    # Events of the client.

    def _tell(self, said: list[LogMessage]) -> None:
        """Draw once for many lines."""
        if not self._due and not self._leaving:
            self._due = True
            self.call_later(self._heard)

    async def _heard(self) -> None:
        self._due = False
        boats, client = self.client.boats, self.client
        if client.problem:
            self._give_up(client.problem)
            return
        if (
            boats.phase is Phase.OVER and client.bot_player
        ):  # leave at once, so that the bot can play its next game
            self.leave()
            return
        if boats.phase in (Phase.WAITING, Phase.PLAYING):
            self._way_back.reset()
        if boats.phase is Phase.OFFERED and boats.refusal:
            self._step = NamePage
        if boats.phase is Phase.OFFERED:
            await self._open(self._step)
        elif boats.phase in PAGES:
            await self._open(PAGES[boats.phase])

    async def _open(self, page: type[Page]) -> None:
        if type(self.screen) is page:
            self.screen.renew()
        else:
            await self.switch_screen(page(self))

    def _on_lost(self) -> None:
        if not self._leaving:
            self.call_later(self._lost)

    async def _lost(self) -> None:
        client, boats = self.client, self.client.boats
        if client.connected or boats.phase is Phase.OVER:
            return
        if boats.phase is Phase.OFFERED and not boats.last_words:
            return
        if client.bot_player and client.has_joined and not boats.last_words:
            self.rejoin()
            return
        if client.bot_player and not client.has_joined:
            self._give_up(boats.last_words or "the server has closed the connection")
            return
        await self._open(LostPage)

    # Requests of the pages.

    def accept(self) -> None:
        """Join with the given board, choose one, or rejoin."""
        boats, options = self.client.boats, self.client.options
        if boats.game.started or boats.returning:
            self._with_name()
        elif options.fleet:
            try:
                self.take(given_fleet(options.fleet, boats.game))
            except NotPossible as problem:
                self._give_up(f"the board that was given: {problem}")
        else:
            self._go(PlacingPage)

    def lay_out(self) -> None:
        self._go(LayoutPage)

    @property
    def layout(self) -> FleetLayout:
        """The player's unfinished board.

        It is kept until a game with another board size or other boats is offered.
        """
        game = self.client.boats.game
        if self._layout is None or not self._layout.suits(game):
            self._layout = FleetLayout(game)
        return self._layout

    def take(self, fleet: str) -> None:
        self.client.boats.fleet = fleet
        self._with_name()

    def _with_name(self) -> None:
        if self.client.name:
            self.run_worker(self.join(self.client.name), group="connection")
        else:
            self._go(NamePage)

    def _go(self, page: type[Page]) -> None:
        self._step = page
        self._ahead = []
        self.call_later(self._turn_to, page)

    async def _turn_to(self, page: type[Page]) -> None:
        await self._open(page)
        ahead, self._ahead = self._ahead or [], None
        for key in ahead:
            self.press(*key)

    def press(self, name: str, character: str | None) -> None:
        """Pass a key to the page, or to the next page if one is being opened."""
        if self._ahead is not None:
            self._ahead.append((name, character))
        elif isinstance(self.screen, Page):
            self.screen.press(name, character)

    async def join(self, name: str) -> None:
        try:
            await self.client.join(name)
        except NotPossible as problem:
            self.client.boats.refusal = str(problem)
            self._go(NamePage)
        except OSError as problem:
            self._give_up(f"the server is gone: {reason(problem)}")

    def rejoin(self) -> None:
        self.run_worker(self._come_back(), group="connection", exclusive=True)

    def join_another(self) -> None:
        """Give up the lost seat and look at the game that the server offers now."""
        self.client.forget_seat()
        self._step = OfferPage
        self.run_worker(self._connect(), group="connection", exclusive=True)

    async def _come_back(self) -> None:
        """Reconnect. After a failure a person is asked again; a bot retries."""
        if self.client.bot_player:
            if not await self._way_back.retry():
                self._give_up("the connection to the server is lost")
            return
        try:
            await self.client.rejoin()
        except OSError as problem:
            self.trouble = reason(problem)
            await self._open(LostPage)

    def redraw(self) -> None:
        self.refresh(repaint=True, layout=True)
        self.screen.refresh(layout=True)

    def leave(self) -> None:
        self._leaving = True
        self.client.leave()
        self.exit()

    def action_leave(self) -> None:
        self.leave()


def _end_without_terminal() -> None:
    """Exit when the terminal window was closed."""
    look = select.poll()
    look.register(sys.__stdin__ or 0, select.POLLIN)
    if any(seen & (select.POLLHUP | select.POLLERR) for _, seen in look.poll(0)):
        os._exit(1)
