"""A Battlecube game of an organiser: it can be changed, paused, resumed and stopped, and outlives its organiser for a while."""

import asyncio
import secrets
from functools import partial
from urllib.parse import urlsplit

from botdrome.games.battlecube import TOO_MANY
from botdrome.games.game import BadOption
from botdrome.match.events import Player
from botdrome.server.cube.bot import Calling, CubeBot
from botdrome.server.cube.connection import MUCH, Caller
from botdrome.server.cube.report import CubeReport
from botdrome.server.cube.settings import CubeSection
from botdrome.server.lobby.clients import ConnectedClient, ConnectedClients, End
from botdrome.server.settings import Settings
from botdrome.server.tables.subscriber import Subscriber
from botdrome.server.tables.table import Table
from botdrome.wire.cube.calls import CubeCalls
from botdrome.wire.cube.checks import Fault
from botdrome.wire.cube.requests import CubeSetup, NewGame
from botdrome.wire.match_header import MatchHeader

STANDSTILL = 24 * 3600 * 1000
"""Milliseconds between two ticks of a game that is paused: longer than any may be."""
READING = 60.0
"""Seconds for an organiser to read some of what waits for it; then it is hung up on."""


class CubeGame:
    def __init__(self, table: Table, wanted: NewGame, calling: Calling, settings: Settings, clients: ConnectedClients) -> None:
        self._table, self._wanted, self._settings = table, wanted, settings
        self._calling, self._pause = calling, wanted.setup.pause
        self._clients = clients
        self._unlist: list[End] = []
        self.key = secrets.token_urlsafe(16)
        """Whoever has it is the organiser."""
        self._urls = tuple(player.url for player in wanted.players)
        self.report = CubeReport(table, tuple(player.name for player in wanted.players), self._urls)
        self._calls = CubeCalls(self.report.scene, self._urls)
        self._bots: list[CubeBot] = []
        self._loop = asyncio.get_running_loop()
        self._paused: asyncio.TimerHandle | None = None
        self._held: asyncio.TimerHandle | None = None
        """While the organiser has much to read: the next tick waits for it."""
        self._orphaned: asyncio.TimerHandle | None = None
        table.subscribe(Subscriber(changed=self._look, over=self._over))

    @property
    def id(self) -> str:
        return self._table.entry.id

    def seat(self, player: Player) -> None:
        """A bot that is called."""
        explain, limit = self.report.events.words.__setitem__, self._settings.of(CubeSection).limit
        bot = CubeBot(self._table, player, self._urls[player], self._calling, limit, explain, self._speak)
        self._table.seat(player, bot)
        self._bots.append(bot)
        place = urlsplit(self._urls[player]).netloc.rpartition("@")[2]
        name, game = self._table.entry.players[player], self._table.entry.game
        expel = partial(self._table.expel, player, "disconnect")
        client = ConnectedClient("battlecube", name, game, place, bot.traffic, expel, lambda: self.id)
        self._unlist.append(self._clients.enter(client))

    def _speak(self, _: MatchHeader) -> CubeCalls:
        return self._calls

    def _look(self) -> None:
        if self._held is None and self.report.organiser is not None and self.report.organiser.unread > MUCH:
            self._hold(self.report.organiser)
        for bot in self._bots:
            bot.look()

    # What its organiser may do.

    def change(self, setup: CubeSetup) -> None:
        """In force from the next round on; Fault where it cannot be."""
        try:
            self._table.amend(setup.options, None if self._stands else setup.pause)
        except BadOption as problem:
            words = str(problem)
            raise Fault(TOO_MANY if words.startswith(TOO_MANY) else words) from None
        self._pause = setup.pause

    def pause(self) -> None:
        """No tick begins until it is resumed, or has stood for too long."""
        if self._paused is None and self.running:
            self._paused = self._loop.call_later(self._settings.of(CubeSection).pause_limit, self.resume)
            self._set_pace()
            self.report.tell([("GAME_PAUSED", {"id": self.id})])

    def resume(self) -> None:
        if self._paused is not None and self.running:
            self._paused.cancel()
            self._paused = None
            self.report.tell([("GAME_RESUMED", {"id": self.id})])
            self._set_pace()

    @property
    def _stands(self) -> bool:
        return self._paused is not None or self._held is not None

    def _set_pace(self) -> None:
        if self.running:
            self._table.amend({}, STANDSTILL if self._stands else self._pause)

    def stop(self, reason: str = "its organiser stopped it") -> None:
        self._table.abort(reason)

    # An organiser that reads slowly.

    def _hold(self, organiser: Caller) -> None:
        """No tick begins until it has read. The table is in the middle of telling, and is told afterwards."""
        organiser.when_read(self._release)
        self._held = self._loop.call_later(READING, self._check_reading, organiser, organiser.unread)
        self._loop.call_soon(self._set_pace)

    def _check_reading(self, organiser: Caller, before: int) -> None:
        left = organiser.unread
        if left < before:
            self._held = self._loop.call_later(READING, self._check_reading, organiser, left)
        else:
            organiser.disconnect()

    def _release(self) -> None:
        if self._held is not None:
            self._held.cancel()
            self._held = None
            self._set_pace()

    # Those who come and go.

    def belongs_to(self, caller: Caller) -> None:
        if self._orphaned is not None:
            self._orphaned.cancel()
            self._orphaned = None
        self.report.organiser = caller
        self._release()
        self.report.watch(caller)

    def orphan(self) -> None:
        """The organiser has left: it goes on for a while."""
        self.report.organiser = None
        self._release()
        if self.running:
            self._orphaned = self._loop.call_later(self._settings.of(CubeSection).keep, self.stop, "its organiser left")

    @property
    def running(self) -> bool:
        return self._table.match.result is None

    def _over(self, _: Table) -> None:
        for unlist in self._unlist:
            unlist()
        for timer in (self._paused, self._orphaned, self._held):
            if timer is not None:
                timer.cancel()
