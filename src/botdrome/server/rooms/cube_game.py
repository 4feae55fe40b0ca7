"""A Battlecube game: its bots, the events for its watchers, and the actions of its organiser."""

import asyncio
import secrets
from collections.abc import Callable, Sequence
from functools import partial
from time import monotonic
from typing import Annotated, Protocol
from urllib.parse import urlsplit

from msgspec import Meta

from botdrome.games.battlecube import TOO_MANY
from botdrome.games.game import BadOption
from botdrome.match.events import Cause, Player
from botdrome.match.match import News
from botdrome.server.calling.bot_caller import BotCaller
from botdrome.server.calling.bot_connection import CallFailed, TooLate
from botdrome.server.lobby.clients import ConnectedClient, ConnectedClients, End
from botdrome.server.network.connection import Traffic
from botdrome.server.network.peer import PEER
from botdrome.server.settings import ProtocolSection, Settings
from botdrome.server.tables.table import Subscriber, Table
from botdrome.wire.cube import (
    CubeEvent,
    CubeSetup,
    CubeWriter,
    Fault,
    NewGame,
    Payload,
    UnreadableAnswer,
    error,
    read_answer,
)
from botdrome.wire.writers import MatchWriters


class CubeBot:
    """The player at a seat. It is called once for each step."""

    later = 0.0005
    """Seconds of work for one call: sending it and reading the answer."""

    def __init__(
        self,
        table: Table,
        player: Player,
        url: str,
        caller: BotCaller,
        limit: float,
        writer: CubeWriter,
    ) -> None:
        """`limit`: seconds for a whole call."""
        self._table, self._player, self._url = table, player, url
        self._caller, self._limit, self._writer = caller, limit, writer
        self.traffic = Traffic()
        self._loop = asyncio.get_running_loop()
        self._client = PEER.get()
        """The organiser, whose share of the server's time the calls use."""
        self._waited = self._network = 0.0
        """Seconds that the last call waited for the organiser's turn and for other calls, and was
        on the way.
        """
        self._waits = False
        """Whether the call waits for the organiser's turn."""
        self._held_since = 0.0
        self._body: list[bytes] | None = None
        """The body of the next call."""
        self._call: asyncio.Task[None] | None = None

    def take_seat(self, player: Player, writers: MatchWriters) -> None:
        writers.join(player, self._writer.for_match)

    def tell(self, messages: list[bytes]) -> None:
        self._body = messages

    def call_if_awaited(self) -> None:
        if self._body is not None and self._player in self._table.match.awaited:
            if not self._waits and not (self._client is not None and self._client.let_wait(self)):
                self.serve_held()
            elif not self._waits:
                self._waits, self._held_since = True, self._loop.time()

    def serve_held(self) -> bool:
        """The organiser's turn has come: call the bot."""
        self._waited = self._loop.time() - self._held_since if self._waits else 0.0
        body, self._body, self._waits = self._body, None, False
        if body is not None and self._player in self._table.match.awaited:
            self._call = self._loop.create_task(self._ask(*body))
        return False

    def network_time(self) -> float:
        return self._network

    def delay(self) -> float:
        return self._waited

    def dismiss(self, failed: bool) -> None:
        if self._call is not None:
            self._call.cancel()

    async def _ask(self, question: bytes, tail: bytes = b"") -> None:
        body = b""
        self.traffic.went(1)
        try:
            said = await self._caller.post(self._url, question, self._limit, tail=tail)
            body, self._network = said.body, said.network
            self._waited += said.waited
            self.traffic.came()
            answer = read_answer(body)
        except TooLate as failure:
            self._fail("timeout", str(failure), str(failure), body)
        except CallFailed as failure:
            self._fail("disconnect", "there is no answer", str(failure), body)
        except UnreadableAnswer as failure:
            self._fail("unreadable", str(failure), str(failure), body)
        else:
            began = monotonic()
            self._table.submit(self._player, answer, body)
            if self._client is not None:
                self._client.charge(monotonic() - began)

    def _fail(self, cause: Cause, public: str, words: str, body: bytes) -> None:
        """The organiser and the bot's author see the address in `words`, spectators do not."""
        self._writer.reasons[self._player] = words
        self._table.note(self._player, body, words)
        self._table.expel(self._player, cause, public)


class CubeSection(ProtocolSection, frozen=True):
    """Battlecube (socket.io)"""

    port: Annotated[
        int,
        Meta(
            description="socket.io alone, at the original's port; 0: off, -1: any free port",
            ge=-1,
            le=65535,
        ),
    ] = 9999
    limit: Annotated[
        float, Meta(description="seconds that a bot has for a whole answer", ge=0.001)
    ] = 5.0
    games: Annotated[
        int, Meta(description="games that one organiser may run, or watch, at once", ge=1)
    ] = 100
    keep: Annotated[
        float, Meta(description="seconds that a game goes on after its organiser has left", ge=0)
    ] = 300.0
    pause_limit: Annotated[
        float, Meta(description="seconds that a game may be paused before it is resumed", gt=0)
    ] = 3600.0
    ping_interval: Annotated[
        float, Meta(description="seconds between two heartbeats of socket.io", ge=0.05)
    ] = 25.0
    ping_timeout: Annotated[
        float, Meta(description="seconds that a heartbeat of socket.io may be late", ge=0.05)
    ] = 60.0
    longest_message: Annotated[
        int, Meta(description="bytes of one message, or of one POST, over socket.io", ge=256)
    ] = 100_000


MUCH_UNREAD = 1 << 20
"""Bytes, roughly.

A game pauses while its organiser has more than this to read; spectators miss ticks meanwhile.
"""


class Watcher(Protocol):
    @property
    def traffic(self) -> Traffic: ...

    @property
    def unread(self) -> int:
        """Bytes, roughly, that were not sent yet because the client reads too slowly."""

    def when_read(self, tell: Callable[[], None]) -> None:
        """Call `tell` once, when no more than MUCH_UNREAD is unread, unless the client leaves
        before.
        """

    def emit(self, events: Sequence[CubeEvent]) -> None:
        """Send events in order.

        Never waits, never raises. A client with far more than MUCH_UNREAD is dropped.
        """

    def disconnect(self) -> None:
        """Close the connection, after the events that were sent before."""


STANDSTILL = 24 * 3600 * 1000
"""Milliseconds between two ticks of a paused game: longer than any game may be paused."""
READING = 60.0
"""Seconds for an organiser to read some of its unread events; then it is disconnected."""


class WatchedGame:
    """The events of a Battlecube table. It may start at any position."""

    def __init__(self, table: Table, names: tuple[str, ...], urls: tuple[str, ...] = ()) -> None:
        """`names` are those that the organiser gave; only the organiser sees `urls`."""
        self.table, self.id = table, table.entry.id
        self.writer = CubeWriter(self.id, names, urls, table.match.position)
        self.organiser: Watcher | None = None
        self._watchers: dict[Watcher, None] = {}
        self._events: list[CubeEvent] = []
        table.subscribe(Subscriber(self._notify, self._changed, over=self._over))

    @property
    def description(self) -> Payload:
        return {"id": self.id, "players": list(self.writer.names)}

    @property
    def running(self) -> bool:
        return self.table.match.result is None

    def watch(self, watcher: Watcher) -> None:
        """Send all events from now on, beginning with the state of the current tick."""
        self._watchers[watcher] = None
        if self._in_tick():
            watcher.emit([CubeEvent("NEXT_TICK", self.writer.state(self.table.match.position))])

    def unwatch(self, watcher: Watcher) -> None:
        self._watchers.pop(watcher, None)

    def tell(self, events: list[CubeEvent]) -> None:
        """The game waits for its organiser to read.

        A spectator that reads slowly misses ticks: each has the whole state.
        """
        for watcher in tuple(self._watchers):
            if watcher is self.organiser or watcher.unread <= MUCH_UNREAD:
                watcher.emit(events)

    def _notify(self, news: News) -> None:
        """Unless the game is over, the table calls `_changed` next, so that both send their events
        in one write.
        """
        self._events += self.writer.events(news)
        if self.writer.final is not None:
            self._flush()

    def _changed(self) -> None:
        if self._in_tick():
            self._events += self.writer.next_tick()
        self._flush()

    def _flush(self) -> None:
        events, self._events = self._events, []
        if events:
            self.tell(events)

    def _in_tick(self) -> bool:
        match = self.table.match
        return self.table.open and match.result is None and not match.resting

    def _over(self, table: Table) -> None:
        final = self.writer.final
        for watcher in tuple(self._watchers):
            if final is None:
                watcher.emit([error(Fault("The result could not be stored", "GAME_LOST"))])
            else:
                watcher.emit([self.writer.game_ended(final, with_urls=watcher is self.organiser)])
        self._watchers.clear()


class CubeGame(WatchedGame):
    """A game with an organiser, which can change, pause, resume and stop it.

    It outlives its organiser for a while.
    """

    def __init__(
        self,
        table: Table,
        wanted: NewGame,
        caller: BotCaller,
        settings: Settings,
        clients: ConnectedClients,
    ) -> None:
        self._urls = tuple(player.url for player in wanted.players)
        super().__init__(table, tuple(player.name for player in wanted.players), self._urls)
        self._caller, self._settings, self._clients = caller, settings.of(CubeSection), clients
        self._pause = wanted.setup.pause
        self.key = secrets.token_urlsafe(16)
        """A client that has it may become the organiser."""
        self._bots: list[CubeBot] = []
        self._unlist: list[End] = []
        self._loop = asyncio.get_running_loop()
        self._paused: asyncio.TimerHandle | None = None
        self._held: asyncio.TimerHandle | None = None
        """Set while the organiser has much to read: the next tick waits for it."""
        self._orphaned: asyncio.TimerHandle | None = None

    def seat(self, player: Player) -> None:
        """Seat a bot that is called by its URL."""
        bot = CubeBot(
            self.table, player, self._urls[player], self._caller, self._settings.limit, self.writer
        )
        self.table.seat(player, bot)
        self._bots.append(bot)
        address = urlsplit(self._urls[player]).netloc.rpartition("@")[2]
        name, game = self.table.entry.players[player], self.table.entry.game
        expel = partial(self.table.expel, player, "disconnect")
        client = ConnectedClient(
            "battlecube", name, game, address, bot.traffic, expel, lambda: self.id
        )
        self._unlist.append(self._clients.enter(client))

    def _changed(self) -> None:
        super()._changed()
        if (
            self._held is None
            and self.organiser is not None
            and self.organiser.unread > MUCH_UNREAD
        ):
            self._hold(self.organiser)
        for bot in self._bots:
            bot.call_if_awaited()

    # Commands of the organiser.

    def change(self, setup: CubeSetup) -> None:
        """In force from the next round on. Raise Fault if the game does not allow it."""
        try:
            self.table.amend(setup.options, None if self._stands else setup.pause)
        except BadOption as problem:
            words = str(problem)
            raise Fault(TOO_MANY if words.startswith(TOO_MANY) else words) from None
        self._pause = setup.pause

    def pause(self) -> None:
        """No tick begins until the game is resumed, or the limit of a pause has passed."""
        if self._paused is None and self.running:
            self._paused = self._loop.call_later(self._settings.pause_limit, self.resume)
            self._set_pace()
            self.tell([CubeEvent("GAME_PAUSED", {"id": self.id})])

    def resume(self) -> None:
        if self._paused is not None and self.running:
            self._paused.cancel()
            self._paused = None
            self.tell([CubeEvent("GAME_RESUMED", {"id": self.id})])
            self._set_pace()

    @property
    def _stands(self) -> bool:
        return self._paused is not None or self._held is not None

    def _set_pace(self) -> None:
        if self.running:
            self.table.amend({}, STANDSTILL if self._stands else self._pause)

    def stop(self, reason: str = "its organiser stopped it") -> None:
        self.table.abort(reason)

    # An organiser that reads slowly.

    def _hold(self, organiser: Watcher) -> None:
        """The table is in the middle of a change, so its pace is set afterwards."""
        organiser.when_read(self._release)
        self._held = self._loop.call_later(
            READING, self._check_reading, organiser, organiser.unread
        )
        self._loop.call_soon(self._set_pace)

    def _check_reading(self, organiser: Watcher, before: int) -> None:
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

    # Organisers come and go.

    def belongs_to(self, organiser: Watcher) -> None:
        if self._orphaned is not None:
            self._orphaned.cancel()
            self._orphaned = None
        self.organiser = organiser
        self._release()
        self.watch(organiser)

    def orphan(self) -> None:
        """The organiser has left: the game goes on for a while."""
        self.organiser = None
        self._release()
        if self.running:
            self._orphaned = self._loop.call_later(
                self._settings.keep, self.stop, "its organiser left"
            )

    def _over(self, table: Table) -> None:
        super()._over(table)
        for unlist in self._unlist:
            unlist()
        for timer in (self._paused, self._orphaned, self._held):
            if timer is not None:
                timer.cancel()
