"""The boat client on a screen: which page is shown, and what becomes of the connection."""

import os
import select
import sys
from typing import ClassVar

from textual.app import App
from textual.binding import Binding, BindingType

from botdrome.cli.boats.account import reason
from botdrome.cli.boats.pages import Invitation, Knocking, Lost, Naming, Page, Result
from botdrome.cli.boats.placing import LayingOut, Placing
from botdrome.cli.boats.playing import Room, Sea
from botdrome.cli.boats.widgets import Key
from botdrome.client.boats import Phase, Said
from botdrome.client.boats_fleet import Layout, given_fleet
from botdrome.client.boats_lines import Unsuited
from botdrome.client.boats_voyage import Voyage, WayBack

GLANCE = 2.0
"""Seconds between two looks whether the terminal is still there."""
PAGES = {Phase.KNOCKING: Knocking, Phase.WAITING: Room, Phase.PLAYING: Sea, Phase.OVER: Result}


class BoatsApp(App[None]):
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+c", "leave", priority=True), Binding("ctrl+q", "leave", priority=True)]
    CSS = """
    #head { height: 1; width: 1fr; }
    #notice { height: 1; }
    #body { height: 1fr; }
    #sea, #words { height: auto; }
    Placing #sea, LayingOut #sea { height: 1fr; }
    Naming #words, Invitation #words, Knocking #words, Lost #words { height: 1fr; }
    #log { height: 1fr; min-height: 2; border-top: ascii ansi_blue; }
    """

    def __init__(self, voyage: Voyage, way_back: WayBack | None = None) -> None:
        super().__init__(ansi_color=True)
        self.animation_level = "none"
        self.voyage = voyage
        self.problem = ""
        """Why the program ends without a game."""
        self.trouble = ""
        """Why the last attempt to connect failed."""
        self._layout: Layout | None = None
        self._way_back = way_back or WayBack(voyage)
        self._step: type[Page] = Invitation
        """Between the invitation and the joining."""
        self._ahead: list[Key] | None = None
        """Keys that were typed while the next page is on its way; None: none is."""
        self._due = False
        self._leaving = False

    async def on_mount(self) -> None:
        self.voyage.tell, self.voyage.lost = self._tell, self._on_lost
        await self.push_screen(Knocking(self))
        if not self.is_headless:
            self.set_interval(GLANCE, _end_without_terminal)
        self.run_worker(self._connect(), group="connection")

    async def _connect(self) -> None:
        try:
            await self.voyage.connect()
        except OSError as problem:
            self._give_up(f"{self.voyage.charter.host}:{self.voyage.charter.port}: {reason(problem)}")

    def _give_up(self, words: str) -> None:
        self.problem = words
        self.leave()

    # What the voyage tells.

    def _tell(self, said: list[Said]) -> None:
        """However much is heard, it is drawn once."""
        if not self._due and not self._leaving:
            self._due = True
            self.call_later(self._heard)

    async def _heard(self) -> None:
        self._due = False
        boats, voyage = self.voyage.boats, self.voyage
        if voyage.problem:
            self._give_up(voyage.problem)
            return
        if boats.phase is Phase.OVER and voyage.pilot:  # nobody has to look: the next game may wait
            self.leave()
            return
        if boats.phase in (Phase.WAITING, Phase.PLAYING):
            self._way_back.renew()
        if boats.phase is Phase.INVITED and boats.refusal:
            self._step = Naming
        if boats.phase is Phase.INVITED:
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
        voyage, boats = self.voyage, self.voyage.boats
        if voyage.connected or boats.phase is Phase.OVER:
            return
        if boats.phase is Phase.INVITED and not boats.last_words:
            return
        if voyage.pilot and voyage.has_joined and not boats.last_words:
            self.rejoin()
            return
        if voyage.pilot and not voyage.has_joined:
            self._give_up(boats.last_words or "the server has closed the connection")
            return
        await self._open(Lost)

    # What the pages ask for.

    def accept(self) -> None:
        """Join: with the board that was given, or one that is to be chosen; or come back."""
        boats, charter = self.voyage.boats, self.voyage.charter
        if boats.game.started or boats.returning:
            self._with_name()
        elif charter.fleet:
            try:
                self.take(given_fleet(charter.fleet, boats.game))
            except Unsuited as problem:
                self._give_up(f"the board that was given: {problem}")
        else:
            self._go(Placing)

    def lay_out(self) -> None:
        self._go(LayingOut)

    @property
    def layout(self) -> Layout:
        """The own board as far as it is laid out: it stays while somebody looks at others, but not for another game."""
        game = self.voyage.boats.game
        if self._layout is None or not self._layout.suits(game):
            self._layout = Layout(game)
        return self._layout

    def take(self, fleet: str) -> None:
        self.voyage.boats.fleet = fleet
        self._with_name()

    def _with_name(self) -> None:
        if self.voyage.name:
            self.run_worker(self.join(self.voyage.name), group="connection")
        else:
            self._go(Naming)

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
        """A key is for the page that is to come, if one is: who types ahead is not to lose anything."""
        if self._ahead is not None:
            self._ahead.append((name, character))
        elif isinstance(self.screen, Page):
            self.screen.press(name, character)

    async def join(self, name: str) -> None:
        try:
            await self.voyage.join(name)
        except Unsuited as problem:
            self.voyage.boats.refusal = str(problem)
            self._go(Naming)
        except OSError as problem:
            self._give_up(f"the server is gone: {reason(problem)}")

    def rejoin(self) -> None:
        self.run_worker(self._come_back(), group="connection", exclusive=True)

    def join_another(self) -> None:
        """The game that the server offers now, there being no way back."""
        self.voyage.forget_seat()
        self._step = Invitation
        self.run_worker(self._connect(), group="connection", exclusive=True)

    async def _come_back(self) -> None:
        """A person is asked again after every failure; a bot tries as long as it makes sense."""
        if self.voyage.pilot:
            if not await self._way_back.take():
                self._give_up("the connection to the server is lost")
            return
        try:
            await self.voyage.rejoin()
        except OSError as problem:
            self.trouble = reason(problem)
            await self._open(Lost)

    def redraw(self) -> None:
        self.refresh(repaint=True, layout=True)
        self.screen.refresh(layout=True)

    def leave(self) -> None:
        self._leaving = True
        self.voyage.leave()
        self.exit()

    def action_leave(self) -> None:
        self.leave()


def _end_without_terminal() -> None:
    """A window that was closed sends no key any more, and takes no farewell."""
    look = select.poll()
    look.register(sys.__stdin__ or 0, select.POLLIN)
    if any(seen & (select.POLLHUP | select.POLLERR) for _, seen in look.poll(0)):
        os._exit(1)
