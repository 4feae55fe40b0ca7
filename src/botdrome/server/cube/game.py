"""A Battlecube game of an organiser: it can be changed, paused, resumed and stopped, and outlives its organiser for a while."""

import asyncio
import secrets

from botdrome.games.battlecube import TOO_MANY
from botdrome.games.game import BadOption
from botdrome.match.events import Player
from botdrome.server.cube.bot import Calling, CubeBot
from botdrome.server.cube.report import CubeReport
from botdrome.server.organiser import Caller
from botdrome.server.settings import Settings
from botdrome.server.table import Table
from botdrome.store.store import MatchEntry
from botdrome.wire.cube import CubeSetup, NewGame
from botdrome.wire.cube_calls import CubeCalls
from botdrome.wire.cube_checks import Fault

STANDSTILL = 24 * 3600 * 1000
"""Milliseconds between two ticks of a game that is paused: longer than any may be."""


class CubeGame:
    def __init__(self, table: Table, wanted: NewGame, calling: Calling, settings: Settings) -> None:
        self._table, self._wanted, self._settings = table, wanted, settings
        self._calling, self._pause = calling, wanted.setup.pause
        self.key = secrets.token_urlsafe(16)
        """Whoever has it is the organiser."""
        self._urls = tuple(player.url for player in wanted.players)
        self.report = CubeReport(table, tuple(player.name for player in wanted.players), self._urls)
        self._calls = CubeCalls(self.report.scene, self._urls)
        self._bots: list[CubeBot] = []
        self._loop = asyncio.get_running_loop()
        self._paused: asyncio.TimerHandle | None = None
        self._orphaned: asyncio.TimerHandle | None = None
        table.watchers.append(self._look)
        table.on_over.append(self._over)

    @property
    def id(self) -> str:
        return self._table.entry.id

    def seat(self, player: Player) -> None:
        """A bot that is called."""
        explain, limit = self.report.events.words.__setitem__, self._settings.cube_limit
        bot = CubeBot(self._table, player, self._urls[player], self._calling, limit, explain)
        self._table.seat(player, bot, self._speak)
        self._bots.append(bot)

    def _speak(self, _: MatchEntry) -> CubeCalls:
        return self._calls

    def _look(self) -> None:
        for bot in self._bots:
            bot.look()

    # What its organiser may do.

    def change(self, setup: CubeSetup) -> None:
        """In force from the next round on; Fault where it cannot be."""
        try:
            self._table.amend(setup.options, None if self._paused else setup.pause)
        except BadOption as problem:
            words = str(problem)
            raise Fault(TOO_MANY if words.startswith(TOO_MANY) else words) from None
        self._pause = setup.pause

    def pause(self) -> None:
        """No tick begins until it is resumed, or has stood for too long."""
        if self._paused is None and self.running:
            self._paused = self._loop.call_later(self._settings.cube_pause_limit, self.resume)
            self._table.amend({}, STANDSTILL)
            self.report.tell([("GAME_PAUSED", {"id": self.id})])

    def resume(self) -> None:
        if self._paused is not None and self.running:
            self._paused.cancel()
            self._paused = None
            self.report.tell([("GAME_RESUMED", {"id": self.id})])
            self._table.amend({}, self._pause)

    def stop(self, reason: str = "its organiser stopped it") -> None:
        self._table.abort(reason)

    # Those who come and go.

    def belongs_to(self, caller: Caller) -> None:
        if self._orphaned is not None:
            self._orphaned.cancel()
            self._orphaned = None
        self.report.organiser = caller
        self.report.watch(caller)

    def orphan(self) -> None:
        """The organiser has left: it goes on for a while."""
        self.report.organiser = None
        if self.running:
            self._orphaned = self._loop.call_later(self._settings.cube_keep, self.stop, "its organiser left")

    @property
    def running(self) -> bool:
        return self._table.match.result is None

    def _over(self, _: Table) -> None:
        for timer in (self._paused, self._orphaned):
            if timer is not None:
                timer.cancel()
