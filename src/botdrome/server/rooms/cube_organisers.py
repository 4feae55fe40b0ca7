"""Organisers: the clients that start, control and watch Battlecube games."""

import asyncio
import secrets
from functools import partial
from typing import Any, cast
from urllib.parse import unquote

import structlog

from botdrome.bots.house import HouseBot
from botdrome.contest.lobby import Seeker
from botdrome.games.battlecube import Battlecube
from botdrome.games.reading import plural
from botdrome.server.calling.bot_caller import BotCaller
from botdrome.server.calling.tunnels import SCHEME
from botdrome.server.failures import STORE_AWAY
from botdrome.server.lobby.clients import ConnectedClient, no_login
from botdrome.server.lobby.desk import Desk
from botdrome.server.lobby.house import GatheredPlayer, house_bot
from botdrome.server.lobby.registry import Admission, Denied
from botdrome.server.lobby.url_bots import BotUnavailable, CalledBot, Invitations
from botdrome.server.network.connection import Connection
from botdrome.server.rooms.cube_game import CubeGame, CubeSection, WatchedGame, Watcher
from botdrome.server.session import Session
from botdrome.server.tables.audience import LiveTable
from botdrome.server.tables.table import Subscriber, Table
from botdrome.server.workers.limits import CLIENT_SOURCE
from botdrome.store.entries import StoreUnavailable
from botdrome.wire.conversation import Command, TokenNeeded
from botdrome.wire.cube import (
    INVALID,
    ChangeGame,
    ControlGame,
    CubeEvent,
    CubePlayer,
    CubeSetup,
    Fault,
    GameId,
    ListGames,
    NewGame,
    OrganiserConversation,
    Payload,
    ReclaimGame,
    StartGame,
    WatchGame,
    empty_game,
    error,
)
from botdrome.wire.framing.socketio import (
    Handshake,
    SocketConnected,
    SocketDisconnected,
    SocketIoLimits,
)

HOUSE, NAMED = "house:", "bot:"
Invited = dict[str, CalledBot]
"""Registered bots with a URL, by their names. They are called as in any other match."""


async def admitted(desk: Desk, wanted: NewGame) -> tuple[Admission, ...]:
    """The players under their names on this server; Fault if one may not play under its name."""
    return tuple([await _admitted(desk, player) for player in wanted.players])


async def _admitted(desk: Desk, player: CubePlayer) -> Admission:
    """A token is needed only for a bot that is called through its tunnel, since the original has no
    tokens.
    """
    url, own = player.url, _own_name(player.url)
    if own is not None and player.name != own:
        raise Fault(f"{url} plays under its own name, {own}")
    if url.startswith(NAMED) or (url.startswith(HOUSE) and player.name == url):
        return Admission(player.name)
    needed: TokenNeeded = "always" if url.startswith(SCHEME) else "never"
    try:
        return await desk.registry.admit(player.name, player.token, Battlecube.name, needed)
    except Denied as problem:
        raise Fault(str(problem)) from None


async def invited(desk: Desk, wanted: NewGame, invitations: Invitations) -> Invited:
    """The bots that were asked to play, and must be seated or sent home; Fault if one does not
    come.
    """
    named = [player.name for player in wanted.players if player.url.startswith(NAMED)]
    names = [name for name in named if desk.waiting_named(Battlecube.name, name) is None]
    asked = [_invited_bot(name, invitations) for name in names]
    came = dict(zip(names, await asyncio.gather(*asked, return_exceptions=True), strict=True))
    invited = {name: bot for name, bot in came.items() if isinstance(bot, CalledBot)}
    for problem in came.values():
        if isinstance(problem, BaseException):
            send_home(invited)
            raise problem
    return invited


async def _invited_bot(name: str, invitations: Invitations) -> CalledBot:
    callee = await invitations.find(name, Battlecube.name)
    if callee is None:
        raise Fault(f"The bot {name} does not wait here for a game")
    try:
        return await invitations.invite(callee)
    except BotUnavailable as problem:
        raise Fault(f"The bot {problem}") from None


def send_home(invited: Invited) -> None:
    for bot in invited.values():
        bot.turn_away({})


def _own_name(url: str) -> str | None:
    """The only name that the player at this URL may have; None: any free name."""
    if url.startswith(SCHEME):
        return unquote(url.removeprefix(SCHEME))
    return url.removeprefix(NAMED) if url.startswith(NAMED) else None


def seated(
    desk: Desk, wanted: NewGame, players: tuple[Admission, ...], caller: BotCaller, invited: Invited
) -> CubeGame:
    """The game, about to begin. After a Fault nothing has changed."""
    found = [_found(desk, player, invited) for player in wanted.players]
    gathered = [_gathered(desk, *each) for each in zip(players, found, strict=True)]
    setup, limit = wanted.setup, int(desk.settings.of(CubeSection).limit * 1000)
    versions = tuple(player.version for player in wanted.players)
    table = desk.set_table(
        setup.game,
        setup.terms(limit),
        gathered,
        _options(wanted),
        versions=versions,
        resumes=False,
    )
    game = CubeGame(table, wanted, caller, desk.settings, desk.registry.clients)
    for number, player in enumerate(gathered):
        if player.client is None and player.house is None:
            game.seat(number)
    desk.tables.start_table(table, [player.client for player in gathered], 0.0)
    return game


def _options(wanted: NewGame) -> dict[str, Any]:
    starts = wanted.setup.starts
    return wanted.setup.options | ({"starts": [list(cell) for _, cell in starts]} if starts else {})


def _found(
    desk: Desk, player: CubePlayer, invited: Invited
) -> HouseBot | Seeker | CalledBot | None:
    """The house bot, waiting bot or invited bot that is meant; None: one that is called by URL."""
    if player.url.startswith(HOUSE):
        bot = house_bot(Battlecube.name, player.url)
        if bot is None:
            raise Fault(f"There is no bot {player.url}")
        return bot[1]
    if not player.url.startswith(NAMED) or player.name in invited:
        return invited.get(player.name)
    seeker = desk.waiting_named(Battlecube.name, player.name)
    if seeker is None:
        raise Fault(f"The bot {player.name} has just left")
    return seeker


def _gathered(
    desk: Desk, player: Admission, found: HouseBot | Seeker | CalledBot | None
) -> GatheredPlayer:
    if isinstance(found, Seeker | CalledBot):
        client = desk.recruit(found) if isinstance(found, Seeker) else found
        return GatheredPlayer(player.name, client.owner, client)
    return GatheredPlayer(player.name, player.owner, house=found)


log = structlog.get_logger()

ORGANISERS = 10
"""All organisers at one address, with those that have left their games, may have as many games as
this number of them.
"""


class Organiser:
    """A client while it is connected."""

    def __init__(self, watcher: Watcher) -> None:
        self.watcher, self.source = watcher, CLIENT_SOURCE.get()
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
            Battlecube.name,
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
            raise Fault(refusal[0].upper() + refusal[1:])
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
            organiser.complain(Fault(STORE_AWAY[0].upper() + STORE_AWAY[1:], "UNAVAILABLE"))
        except Exception:
            log.exception("a game could not be set up")
            organiser.complain(Fault("The game could not be set up", "INTERNAL_ERROR"))
        finally:
            organiser.starting -= 1

    async def _game(self, organiser: Organiser, wanted: NewGame) -> CubeGame | None:
        """None if the organiser has left meanwhile."""
        players = await admitted(self.desk, wanted)
        guests = await invited(self.desk, wanted, self._invitations)
        game = None
        try:
            if refusal := self.desk.refusal:
                raise Fault(
                    refusal[0].upper() + refusal[1:],
                    INVALID if self.desk.closing else "UNAVAILABLE",
                )
            if organiser.present:
                game = seated(self.desk, wanted, players, self._caller, guests)
        finally:
            if game is None:
                send_home(guests)
        return game

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
        if table is None or table.entry.game != Battlecube.name or table.match.result is not None:
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
        games = [
            {
                "id": one.id,
                "players": self._players(one),
                "currentTick": one.steps,
                "yours": one.id in organiser.games,
            }
            for one in self.desk.tables.live(Battlecube.name)
        ]
        organiser.tell("GAMES", {"games": games})

    def _players(self, one: LiveTable) -> list[str]:
        """By the names that their organiser gave, if there is one."""
        return list(self._watched[one.id].writer.names if one.id in self._watched else one.players)


def _unknown(game_id: GameId) -> Fault:
    return Fault(f"There is no game {game_id}", "UNKNOWN_GAME")


def _not_yours(game_id: GameId) -> Fault:
    return Fault(f"The game {game_id} is not yours", "NOT_YOUR_GAME")
