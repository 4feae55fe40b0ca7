"""Battlecube: its games and their bots, and the organisers that start, control and watch them."""

import asyncio
import secrets
from collections.abc import Callable, Collection, Sequence
from functools import partial
from time import monotonic
from typing import Annotated, Any, Protocol, cast
from urllib.parse import unquote, urlsplit

import structlog
from msgspec import Meta

from botdrome.bots.house import HouseBot
from botdrome.contest.lobby import Seeker
from botdrome.games.battlecube import TOO_MANY, Battlecube
from botdrome.games.game import BadOption
from botdrome.games.reading import plural
from botdrome.match.events import Cause, Player
from botdrome.match.match import News
from botdrome.server.calling.bot_caller import BotCaller
from botdrome.server.calling.bot_connection import BotAnswer, CallFailed, TooLate
from botdrome.server.calling.tunnels import SCHEME
from botdrome.server.failures import STORE_AWAY
from botdrome.server.lobby.clients import ConnectedClient, ConnectedClients, End, no_login
from botdrome.server.lobby.desk import Desk
from botdrome.server.lobby.house import GatheredPlayer, house_bot
from botdrome.server.lobby.registry import Admission, Denied
from botdrome.server.lobby.url_bots import BotUnavailable, CalledBot, Invitations
from botdrome.server.network.connection import Connection, Traffic
from botdrome.server.network.peer import current_peer
from botdrome.server.session import Session
from botdrome.server.settings import (
    AnyPort,
    NotNegative,
    Positive,
    PositiveFloat,
    ProtocolSection,
    Settings,
)
from botdrome.server.tables.table import Subscriber, Table
from botdrome.server.workers.jobs import CLIENT
from botdrome.store.entries import StoreUnavailable
from botdrome.wire.conversation import Command, TokenNeeded
from botdrome.wire.cube import (
    INVALID,
    ChangeGame,
    ControlGame,
    CubeEvent,
    CubePlayer,
    CubeSetup,
    CubeWriter,
    Fault,
    GameId,
    ListGames,
    NewGame,
    OrganiserConversation,
    Payload,
    ReclaimGame,
    StartGame,
    UnreadableAnswer,
    WatchGame,
    empty_game,
    error,
    read_answer,
)
from botdrome.wire.framing.socketio import (
    Handshake,
    SocketConnected,
    SocketDisconnected,
    SocketIoLimits,
)
from botdrome.wire.writers import MatchWriters


class CubeBot:
    """The player at a seat. It is called once for each step."""

    later = 0.0001
    """Seconds of work for one call, without what its answer brings about."""

    def __init__(self, game: "CubeGame", player: Player, url: str) -> None:
        self._player = player
        self._table, self._writer = game.table, game.writer
        self._loop = asyncio.get_running_loop()
        self._calls = game.caller.calls(url, game.settings.limit, self._answered)
        self.traffic = Traffic()
        self._client = current_peer()
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

    def take_seat(self, player: Player, writers: MatchWriters) -> None:
        writers.join(player, self._writer.for_match)

    def tell(self, messages: list[bytes]) -> None:
        self._body = messages

    def call_if_awaited(self, awaited: Collection[Player]) -> None:
        """Call the bot, or let the call wait for the organiser's turn.

        It is not called again in the same step, such as when a dead player leaves.
        """
        body = self._body
        if body is None or self._waits or self.traffic.asked or self._player not in awaited:
            return
        if self._client is not None and self._client.let_wait(self):
            self._waits, self._held_since = True, monotonic()
        else:
            self._waited = 0.0
            self._ask(body)

    def serve_held(self) -> bool:
        """The organiser's turn has come: call the bot."""
        self._waits, self._waited = False, monotonic() - self._held_since
        if self._body is not None and self._player in self._table.match.step.awaited:
            self._ask(self._body)
        self._body = None
        return False

    def network_time(self) -> float:
        return self._network

    def delay(self) -> float:
        return self._waited

    def dismiss(self, failed: bool) -> None:
        self._calls.cancel()

    def _ask(self, body: list[bytes]) -> None:
        self._body, traffic = None, self.traffic
        traffic.sent += 1  # went(), without the call
        traffic.asked = monotonic()
        self._calls.ask(*body)

    def _answered(self, said: BotAnswer | CallFailed) -> None:
        if isinstance(said, CallFailed):
            if isinstance(said, TooLate):
                return self._fail("timeout", str(said), str(said), b"")
            return self._fail("disconnect", "there is no answer", str(said), b"")
        began, at, self._network = monotonic(), self._loop.time(), said.network
        traffic = self.traffic
        self._waited += said.waited
        traffic.answers += 1  # came(), without the call
        traffic.waited, traffic.asked = traffic.waited + began - traffic.asked, 0.0
        try:
            answer = read_answer(said.body)
        except UnreadableAnswer as failure:
            return self._fail("unreadable", str(failure), str(failure), said.body)
        self._table.submit(self._player, answer, said.body, None, at)
        if self._client is not None:
            self._client.charge(monotonic() - began)
        return None

    def _fail(self, cause: Cause, public: str, words: str, body: bytes) -> None:
        """The organiser and the bot's author see the address in `words`, spectators do not."""
        self._writer.reasons[self._player] = words
        self._table.note(self._player, body, words)
        self._table.expel(self._player, cause, public)


class CubeSection(ProtocolSection, frozen=True):
    """Battlecube (socket.io)"""

    port: AnyPort = 9999
    """socket.io alone, at the original's port; 0: off, -1: any free port"""
    limit: Annotated[float, Meta(ge=0.001)] = 5.0
    """seconds that a bot has for a whole answer"""
    games: Positive = 100
    """games that one organiser may run, or watch, at once"""
    keep: NotNegative = 300.0
    """seconds that a game goes on after its organiser has left"""
    pause_limit: PositiveFloat = 3600.0
    """seconds that a game may be paused before it is resumed"""
    ping_interval: Annotated[float, Meta(ge=0.05)] = 25.0
    """seconds between two heartbeats of socket.io"""
    ping_timeout: Annotated[float, Meta(ge=0.05)] = 60.0
    """seconds that a heartbeat of socket.io may be late"""
    longest_message: Annotated[int, Meta(ge=256)] = 100_000
    """bytes of one message, or of one POST, over socket.io"""


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

    def emit(self, events: Sequence[CubeEvent]) -> int:
        """Send events in order, and return `unread`.

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
        self._unread = 0
        """Bytes that the organiser had to read after the last events."""
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
        if self.table.open and self.running and not self.table.match.resting:
            watcher.emit([self.writer.tick(self.table.match.position)])

    def unwatch(self, watcher: Watcher) -> None:
        self._watchers.pop(watcher, None)

    def tell(self, events: list[CubeEvent]) -> None:
        """Send events, after those of the last news.

        The game waits for its organiser to read. A spectator that reads slowly misses ticks: each
        has the whole state.
        """
        events, self._events = self._events + events, []
        for watcher in tuple(self._watchers) if events else ():
            if watcher is self.organiser:
                self._unread = watcher.emit(events)
            elif watcher.unread <= MUCH_UNREAD:
                watcher.emit(events)

    def _notify(self, news: News) -> None:
        """Unless the game is over, the table calls `_changed` next, so that the events of both
        leave in one write.
        """
        self._events += self.writer.events(news)
        if self.writer.final is not None:
            self.tell([])

    def _changed(self) -> None:
        self.tell([] if self.table.match.resting else self.writer.next_tick())

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
        self.caller, self.settings, self._clients = caller, settings.of(CubeSection), clients
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
        bot = CubeBot(self, player, self._urls[player])
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
        match = self.table.match
        self.tell([] if match.resting else self.writer.next_tick())
        if self._unread > MUCH_UNREAD:
            self._hold()
        if awaited := match.step.awaited:
            for bot in self._bots:
                bot.call_if_awaited(awaited)

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
            self._paused = self._loop.call_later(self.settings.pause_limit, self.resume)
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

    def _hold(self) -> None:
        """The table is in the middle of a change, so its pace is set afterwards."""
        organiser = self.organiser
        if self._held is not None or organiser is None or organiser.unread <= MUCH_UNREAD:
            return
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
                self.settings.keep, self.stop, "its organiser left"
            )

    def _over(self, table: Table) -> None:
        super()._over(table)
        for unlist in self._unlist:
            unlist()
        for timer in (self._paused, self._orphaned, self._held):
            if timer is not None:
                timer.cancel()


HOUSE, NAMED = "house:", "bot:"
Invited = dict[str, CalledBot]
"""Registered bots with a URL, by their names. They are called as in any other match."""
Meant = HouseBot | Seeker | CalledBot | None
"""The house bot, waiting bot or invited bot that is meant; None: one that is called by URL."""


def _own_name(url: str) -> str | None:
    """The only name that the player at this URL may have; None: any free name."""
    if url.startswith(SCHEME):
        return unquote(url.removeprefix(SCHEME))
    return url.removeprefix(NAMED) if url.startswith(NAMED) else None


def _sentence(words: str) -> str:
    return words[0].upper() + words[1:]


def _options(wanted: NewGame) -> dict[str, Any]:
    starts = wanted.setup.starts
    return wanted.setup.options | ({"starts": [list(cell) for _, cell in starts]} if starts else {})


def send_home(invited: Invited) -> None:
    for bot in invited.values():
        bot.turn_away({})


log = structlog.get_logger()

ORGANISERS = 10
"""All organisers at one address, with those that have left their games, may have as many games as
this number of them.
"""


class Organiser:
    """A client while it is connected."""

    def __init__(self, watcher: Watcher) -> None:
        self.watcher, self.source = watcher, CLIENT.get().source
        self.starting = 0
        """Games that are being set up."""
        self.games: dict[GameId, CubeGame] = {}
        """Its own games that run."""
        self.watched: set[GameId] = set()
        self.unlist = no_login
        self.present = True

    def tell(self, name: str, payload: Payload) -> None:
        if self.present:
            self.watcher.emit([CubeEvent(name, payload)])

    def complain(self, problem: Fault) -> None:
        if self.present:
            self.watcher.emit([error(problem)])


class Organisers:
    protocol, game = "battlecube organiser", Battlecube.name

    def __init__(self, desk: Desk, caller: BotCaller) -> None:
        self.desk, self._caller, self._invitations = desk, caller, Invitations(desk, caller)
        self._organisers: dict[Watcher, Organiser] = {}
        self._owned: dict[GameId, tuple[Organiser, CubeGame]] = {}
        """The games that run, with their organisers, also those that have left."""
        self._watched: dict[GameId, WatchedGame] = {}
        self._loop = asyncio.get_running_loop()

    def in_use(self) -> bool:
        """Whether an organiser is here, or the operator as one."""
        return bool(self._organisers)

    # Clients on socket.io.

    def receive(
        self, connection: Connection, handshake: Handshake, limits: SocketIoLimits
    ) -> Session:
        session = Session(
            connection, OrganiserConversation(handshake, limits, self._loop.time()), self, self.desk
        )
        session.release = partial(self.leave, cast(Watcher, connection))
        return session

    def act(self, session: Session, command: Command) -> None:
        watcher = cast(Watcher, session.connection)
        if isinstance(command, SocketConnected):
            self.join(watcher, command.sid)
        elif isinstance(command, SocketDisconnected):
            self.leave(watcher)
        else:
            watcher.traffic.came()
            self.execute(watcher, command)

    # Any client.

    def join(self, watcher: Watcher, name: str) -> None:
        organiser = self._organisers[watcher] = Organiser(watcher)
        client = ConnectedClient(
            self.protocol,
            name,
            self.game,
            organiser.source,
            watcher.traffic,
            lambda _: watcher.disconnect(),
        )
        organiser.unlist = self.desk.registry.clients.enter(client)

    def leave(self, watcher: Watcher) -> None:
        organiser = self._organisers.pop(watcher, None)
        if organiser is None:
            return
        organiser.present = False
        organiser.unlist()
        for game_id in organiser.watched & self._watched.keys():
            self._watched[game_id].unwatch(watcher)
        for game in tuple(organiser.games.values()):
            game.orphan()

    def execute(self, watcher: Watcher, command: Command) -> None:
        """An error is reported to this organiser and affects no other."""
        organiser = self._organisers[watcher]
        try:
            self._execute(organiser, command)
        except Fault as problem:
            organiser.complain(problem)
        except Exception:
            log.exception("a command of an organiser failed")

    def _execute(self, organiser: Organiser, command: Command) -> None:
        match command:
            case StartGame(wanted):
                self._start(organiser, wanted)
            case ChangeGame(game_id, setup):
                for game in self._own(organiser, game_id):
                    game.change(setup)
            case ControlGame(action, game_id):
                for game in self._own(organiser, game_id):
                    {"stop": game.stop, "pause": game.pause, "resume": game.resume}[action]()
            case ReclaimGame(game_id, key):
                self._reclaim(organiser, game_id, key)
            case WatchGame(game_id, watching):
                (self._watch if watching else self._unwatch)(organiser, game_id)
            case ListGames():
                self._list(organiser)

    # A new game.

    def _start(self, organiser: Organiser, wanted: NewGame) -> None:
        if refusal := self.desk.registry.bans.address_refusal():
            raise Fault(_sentence(refusal))
        self._check_limits(organiser)
        if not wanted.players:
            return self._play_empty_game(organiser, wanted.setup)
        organiser.starting += 1
        return self.desk.tasks.start(self._set_up(organiser, wanted))

    def _check_limits(self, organiser: Organiser) -> None:
        most = self.desk.settings.of(CubeSection).games
        if len(organiser.games) + organiser.starting >= most:
            raise Fault(f"You have {plural(most, 'game')} already")
        here = sum(owner.source == organiser.source for owner, _ in self._owned.values())
        if here >= most * ORGANISERS:
            raise Fault(f"Organisers at your address have {plural(here, 'game')} already")

    async def _set_up(self, organiser: Organiser, wanted: NewGame) -> None:
        try:
            game = await self._game(organiser, wanted)
            if game is not None:
                game.table.subscribe(Subscriber(over=self._disown))
                organiser.tell("GAME_STARTED", {"id": game.id, "key": game.key})
                self._assign(organiser, game)
        except Fault as problem:
            organiser.complain(problem)
        except StoreUnavailable:
            organiser.complain(Fault(_sentence(STORE_AWAY), "UNAVAILABLE"))
        except Exception:
            log.exception("a game could not be set up")
            organiser.complain(Fault("The game could not be set up", "INTERNAL_ERROR"))
        finally:
            organiser.starting -= 1

    async def _game(self, organiser: Organiser, wanted: NewGame) -> CubeGame | None:
        """None if the organiser has left meanwhile."""
        players = [await self._admitted(player) for player in wanted.players]
        invited = await self._invited(wanted)
        game = None
        try:
            if refusal := self.desk.refusal:
                code = INVALID if self.desk.closing else "UNAVAILABLE"
                raise Fault(_sentence(refusal), code)
            if organiser.present:
                game = self._seated(wanted, players, invited)
        finally:
            if game is None:
                send_home(invited)
        return game

    async def _admitted(self, player: CubePlayer) -> Admission:
        """Admit a player under its name on this server, or raise Fault.

        A token is needed only for a bot that is called through its tunnel, since the original has
        no tokens.
        """
        url, own = player.url, _own_name(player.url)
        if own is not None and player.name != own:
            raise Fault(f"{url} plays under its own name, {own}")
        if url.startswith(NAMED) or (url.startswith(HOUSE) and player.name == url):
            return Admission(player.name)
        needed: TokenNeeded = "always" if url.startswith(SCHEME) else "never"
        try:
            return await self.desk.registry.admit(player.name, player.token, self.game, needed)
        except Denied as problem:
            raise Fault(str(problem)) from None

    async def _invited(self, wanted: NewGame) -> Invited:
        """The bots that were asked to play, and must be seated or sent home; Fault if one does not
        come.
        """
        named = [player.name for player in wanted.players if player.url.startswith(NAMED)]
        names = [name for name in named if self.desk.waiting_named(self.game, name) is None]
        asked = [self._invited_bot(name) for name in names]
        came = dict(zip(names, await asyncio.gather(*asked, return_exceptions=True), strict=True))
        invited = {name: bot for name, bot in came.items() if isinstance(bot, CalledBot)}
        for problem in came.values():
            if isinstance(problem, BaseException):
                send_home(invited)
                raise problem
        return invited

    async def _invited_bot(self, name: str) -> CalledBot:
        callee = await self._invitations.find(name, self.game)
        if callee is None:
            raise Fault(f"The bot {name} does not wait here for a game")
        try:
            return await self._invitations.invite(callee)
        except BotUnavailable as problem:
            raise Fault(f"The bot {problem}") from None

    def _seated(self, wanted: NewGame, players: list[Admission], invited: Invited) -> CubeGame:
        """The game, about to begin. After a Fault nothing has changed."""
        desk, setup = self.desk, wanted.setup
        found = [self._found(player, invited) for player in wanted.players]
        gathered = [self._gathered(*each) for each in zip(players, found, strict=True)]
        table = desk.set_table(
            setup.game,
            setup.terms(int(desk.settings.of(CubeSection).limit * 1000)),
            gathered,
            _options(wanted),
            versions=tuple(player.version for player in wanted.players),
            resumes=False,
        )
        game = CubeGame(table, wanted, self._caller, desk.settings, desk.registry.clients)
        for number, player in enumerate(gathered):
            if player.client is None and player.house is None:
                game.seat(number)
        desk.tables.start_table(table, [player.client for player in gathered], 0.0)
        return game

    def _found(self, player: CubePlayer, invited: Invited) -> Meant:
        if player.url.startswith(HOUSE):
            bot = house_bot(self.game, player.url)
            if bot is None:
                raise Fault(f"There is no bot {player.url}")
            return bot[1]
        if not player.url.startswith(NAMED) or player.name in invited:
            return invited.get(player.name)
        seeker = self.desk.waiting_named(self.game, player.name)
        if seeker is None:
            raise Fault(f"The bot {player.name} has just left")
        return seeker

    def _gathered(self, player: Admission, found: Meant) -> GatheredPlayer:
        if isinstance(found, Seeker | CalledBot):
            client = self.desk.recruit(found) if isinstance(found, Seeker) else found
            return GatheredPlayer(player.name, client.owner, client)
        return GatheredPlayer(player.name, player.owner, house=found)

    def _assign(self, organiser: Organiser, game: CubeGame) -> None:
        organiser.games[game.id] = game
        self._owned[game.id] = organiser, game
        game.belongs_to(organiser.watcher)
        self._note_watched(organiser, game)

    def _disown(self, table: Table) -> None:
        organiser, game = self._owned.pop(table.entry.id)
        organiser.games.pop(game.id, None)

    def _play_empty_game(self, organiser: Organiser, setup: CubeSetup) -> None:
        """Without players there is no match, but the original plays a game."""
        *now, end = empty_game(secrets.token_hex(8), setup.game)
        organiser.watcher.emit(now)
        self._loop.call_later(setup.speed / 1000, organiser.tell, end.name, end.payload)

    # Games that run.

    def _reclaim(self, organiser: Organiser, game_id: GameId, key: str) -> None:
        """An organiser lost its connection, perhaps before the server noticed, and continues on
        another one.
        """
        if game_id not in self._owned:
            raise _unknown(game_id)
        before, game = self._owned[game_id]
        if not secrets.compare_digest(key.encode(), game.key.encode()):
            raise _not_yours(game_id)
        if before is not organiser:
            self._check_limits(organiser)
            before.games.pop(game_id, None)
            before.tell("GAME_TAKEN_OVER", {"id": game_id})
        organiser.tell("GAME_RECLAIMED", game.description)
        if before is not organiser:
            self._assign(organiser, game)

    def _own(self, organiser: Organiser, game_id: GameId | None) -> tuple[CubeGame, ...]:
        """The game of that id; None: all games of the organiser."""
        if game_id is None:
            return tuple(organiser.games.values())
        if game_id not in organiser.games:
            raise _unknown(game_id) if self.desk.tables[game_id] is None else _not_yours(game_id)
        return (organiser.games[game_id],)

    # Watching.

    def _watch(self, organiser: Organiser, game_id: GameId) -> None:
        table = self.desk.tables[game_id]
        if table is None or table.entry.game != self.game or table.match.result is not None:
            raise _unknown(game_id)
        organiser.watched &= self._watched.keys()
        most = self.desk.settings.of(CubeSection).games
        if len(organiser.watched) >= most:
            raise Fault(f"You watch {plural(most, 'game')} already")
        game = self._watched.get(game_id) or WatchedGame(table, table.entry.players)
        organiser.tell("GAME_WATCHED", game.description)
        game.watch(organiser.watcher)
        self._note_watched(organiser, game)

    def _note_watched(self, organiser: Organiser, game: WatchedGame) -> None:
        organiser.watched.add(game.id)
        if game.id not in self._watched:
            self._watched[game.id] = game
            game.table.subscribe(Subscriber(over=self._forget))

    def _forget(self, table: Table) -> None:
        self._watched.pop(table.entry.id, None)

    def _unwatch(self, organiser: Organiser, game_id: GameId) -> None:
        if game_id not in organiser.watched & self._watched.keys():
            raise _unknown(game_id)
        organiser.watched.discard(game_id)
        self._watched[game_id].unwatch(organiser.watcher)

    def _list(self, organiser: Organiser) -> None:
        """Players have the names that their organiser gave, if there is one."""
        games = []
        for one in self.desk.tables.live(self.game):
            known, yours = self._watched.get(one.id), one.id in organiser.games
            players = list(one.players if known is None else known.writer.names)
            games.append(
                {"id": one.id, "players": players, "currentTick": one.steps, "yours": yours}
            )
        organiser.tell("GAMES", {"games": games})


def _unknown(game_id: GameId) -> Fault:
    return Fault(f"There is no game {game_id}", "UNKNOWN_GAME")


def _not_yours(game_id: GameId) -> Fault:
    return Fault(f"The game {game_id} is not yours", "NOT_YOUR_GAME")
