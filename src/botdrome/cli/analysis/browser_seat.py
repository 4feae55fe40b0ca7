"""The seat of a person in the browser, at a match that another thread plays.

The page is the one on which people play: a client of the native protocol. It connects to a server
of its own, whose event loop runs here; the match runs in the main thread. They meet in two places:
a queue of the person's actions, and calls to the loop.
"""

import asyncio
from collections.abc import Callable
from queue import Empty, SimpleQueue
from threading import Event
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from botdrome.analysis.questions import refusal
from botdrome.cli.analysis.interrupts import Interrupts
from botdrome.games.game import Raw
from botdrome.match.events import Began, Ended, Played, Player, Refused, Returned
from botdrome.match.match import Match, News
from botdrome.match.terms import Milliseconds
from botdrome.runner.bot_process import BotFault
from botdrome.runner.scenes import MatchClosed, Scene, Show, Stage
from botdrome.server.battlebot.host import LOGGED_IN_AGAIN
from botdrome.server.network.connection import Connection
from botdrome.server.protocol import ServedProtocol, ServerParts
from botdrome.server.settings import Settings
from botdrome.wire.battlebot.conversation import BattlebotConversation, Login, Seek
from botdrome.wire.conversation import (
    AdmitGuest,
    Admitted,
    Authenticate,
    CannotPlay,
    Close,
    Dismissed,
    Outs,
    Reply,
    Resign,
    Seated,
    Submit,
)
from botdrome.wire.writers import MatchHeader, MatchWriters, Standing, standing


class Told(Struct):
    """What the page of a match was last told."""

    header: MatchHeader
    news: News
    standing: Standing
    met: bool = False
    """Whether a page has been told of this match."""


class BrowserSeat:
    def __init__(self, game: str, player: Player) -> None:
        self._game, self._player = game, player
        self.interrupts = Interrupts()
        self._actions: SimpleQueue[Submit | Resign] = SimpleQueue()
        self._wanted = Event()
        """Set when the person asks for another match."""
        self._loop: asyncio.AbstractEventLoop
        self._settings: Settings
        self._page: PlayPage | None = None
        self._told: Told | None = None
        """None: no match is running."""

    # The thread of the match.

    def ask(self, match: Match, player: Player) -> Raw:
        """Wait for a legal move. Raise BotFault if the person resigns."""
        while True:
            with self.interrupts.allowed():
                action = self._actions.get()
            if isinstance(action, Resign):
                raise BotFault("resigned", "")
            why = refusal(match.position, match.seat_of(player), action.raw)
            if not why:
                return action.raw
            news: News = [(Refused(player, why, action.raw, 0), match.position)]
            self._call(
                self._notify, news, standing(match, match.inputs[-1][0] if match.inputs else 0)
            )

    def see(self, header: MatchHeader, news: News, now: Standing) -> None:
        if any(isinstance(event, Played | Began) for event, _ in news):
            self._forget_actions()
        self._call(self._see, header, news, now)

    def after(self, scene: Scene) -> None:
        """A scene was shown.

        The end of a match is told after that, since the page then links to its replay.
        """
        if isinstance(scene, MatchClosed):
            self._end()

    def wait_for_rematch(self) -> None:
        with self.interrupts.allowed():
            self._wanted.wait()
        self._wanted.clear()

    def _forget_actions(self) -> None:
        """A move for a step that is over does not count."""
        try:
            while True:
                self._actions.get_nowait()
        except Empty:
            return

    def _call(self, act: Callable[..., None], *words: Any) -> None:
        self._loop.call_soon_threadsafe(act, *words)

    # The thread of the server.

    async def open(self, server: ServerParts) -> ServedProtocol:
        self._loop, self._settings = asyncio.get_running_loop(), server.settings
        return ServedProtocol(self, receive_socket=lambda _: self._connect)

    def _connect(self, connection: Connection) -> "PlayPage":
        return PlayPage(connection, self._settings, self)

    def come(self, page: "PlayPage", login: Login) -> None:
        """Give the seat to a page, in place of an earlier one."""
        told, wanted = self._told, login.match
        if login.format.name != self._game:
            return page.turn_away(
                f"this server only continues a match of {self._game}; `botdrome serve --house` has "
                "all games"
            )
        if wanted is not None and (told is None or wanted != told.header.match):
            return page.turn_away(f"you have no seat in a running match {wanted}")
        if self._page is not None:
            self._page.turn_away(LOGGED_IN_AGAIN)
        self._page = page
        if told is None:
            return self._wanted.set()
        return self._sit_down(page, told)

    def act(self, page: "PlayPage", action: Submit | Resign) -> None:
        if page is self._page:
            self._actions.put(action)

    def leave(self, page: "PlayPage") -> None:
        if page is self._page:
            self._page = None

    def _sit_down(self, page: "PlayPage", told: Told) -> None:
        back: News = [(Returned(self._player), told.news[-1][1])]
        page.sit_down(self._player, told.header)
        page.tell(back if told.met else told.news, told.standing)
        told.met = True

    def _see(self, header: MatchHeader, news: News, now: Standing) -> None:
        now = replace(now, time_left=None)
        if self._told is None or self._told.header != header:
            self._told = Told(header, news, now)
            if self._page is not None:
                self._sit_down(self._page, self._told)
            return
        self._told.news, self._told.standing = news, now
        if not isinstance(news[-1][0], Ended):
            self._notify(news, now)

    def _notify(self, news: News, now: Standing) -> None:
        if self._page is not None and self._told is not None and self._told.met:
            self._page.tell(news, replace(now, time_left=None))

    def _end(self) -> None:
        told, self._told = self._told, None
        if self._page is not None and told is not None:
            self._page.tell(told.news, told.standing)
            self._page.dismiss()


class PlayPage:
    """The connection of a page: the conversation of the native protocol, with one seat in place of
    a lobby.
    """

    def __init__(self, connection: Connection, settings: Settings, seat: BrowserSeat) -> None:
        self._connection, self._seat, self._loop = connection, seat, asyncio.get_running_loop()
        message = settings.message
        self._conversation = BattlebotConversation(
            settings.limits.login, message.rate, message.burst, self._loop.time()
        )

    # What the network does.

    def received(self, message: bytes) -> None:
        self._run(self._conversation.receive(message, self._loop.time()))

    def lost(self) -> None:
        self._seat.leave(self)

    # What the seat does.

    def sit_down(self, player: Player, header: MatchHeader) -> None:
        self._answer(Seated(player, MatchWriters(header)))

    def tell(self, news: News, now: Standing) -> None:
        self._connection.send(self._conversation.notify(news, now))

    def turn_away(self, words: str) -> None:
        self._answer(CannotPlay({"error": words}))

    def dismiss(self) -> None:
        self._answer(Dismissed(failed=False, stopping=True))

    def _answer(self, reply: Reply) -> None:
        self._run(self._conversation.answer(reply, self._loop.time()))

    def _run(self, outs: Outs) -> None:
        for out in outs:
            match out:
                case bytes():
                    self._connection.send([out])
                case AdmitGuest() | Authenticate():
                    self._answer(Admitted(out.name))
                case Seek():
                    self._seat.come(self, out.login)
                case Submit() | Resign():
                    self._seat.act(self, out)
                case Close():
                    self._seat.leave(self)
                    self._connection.close(out.code, out.reason)


class SeatStage(Stage):
    """Shows a match to spectators, and to the person that plays."""

    def __init__(self, header: MatchHeader, match: Match, show: Show, seat: BrowserSeat) -> None:
        super().__init__(header.match, match, header.players, show)
        self._header, self._seat = header, seat

    def see(self, now: Milliseconds, news: News) -> None:
        super().see(now, news)
        if news:
            self._seat.see(self._header, news, standing(self._match, now))
