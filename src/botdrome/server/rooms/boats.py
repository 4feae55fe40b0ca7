"""Boat games over lines: the rooms of a server, their ports, and the console of their host."""

import asyncio
import hmac
from collections.abc import Awaitable, Callable, Iterable
from functools import partial
from ipaddress import ip_address
from pathlib import Path
from typing import Any, cast

from botdrome.games.battleship import Battleship
from botdrome.server import metrics
from botdrome.server.failures import log_failure
from botdrome.server.lobby.desk import Desk
from botdrome.server.lobby.tokens import OPERATOR, NotOperator, TooMany
from botdrome.server.network.connection import Connection
from botdrome.server.network.listening import OpenPort, tolerated
from botdrome.server.network.tcp import tcp_factory
from botdrome.server.network.websocket import MakeSession
from botdrome.server.protocol import Ports, ServedProtocol, ServerParts
from botdrome.server.rooms.boat_room import (
    BoatGame,
    BoatRoom,
    JoinDenied,
    NameInUse,
    PlayerGroup,
    RoomPlayer,
)
from botdrome.server.rooms.boat_settings import BoatRoomSettings, BoatsSection
from botdrome.server.rooms.boat_statistics import BoatStatistics, tally_of
from botdrome.server.session import Session
from botdrome.server.settings import BadSetting
from botdrome.wire.boats.conversation import (
    GAME,
    BoatConversation,
    CheckBlacklist,
    Depart,
    EnterAsHost,
    GiveOrder,
    HostConversation,
    HostTold,
    Joined,
    JoinRefused,
    JoinRoom,
    Kicked,
    LookAtRoom,
    NameAllowed,
    ReturnToSeat,
    RoomChanged,
    RoomShown,
    Say,
)
from botdrome.wire.boats.lines import BLANKS, BOOTED, FULL, plain, player_called, text_of
from botdrome.wire.conversation import Admitted, Command, LoginRefused
from botdrome.wire.framing.streams import Lines

Order = dict[str, Any]

LISTED = 10
"""Most games that one answer lists."""


class BadOrder(Exception):
    """An order that cannot be executed, with the reason."""


def carry_out(order: Order, room: BoatRoom) -> str:
    """Execute an order and say what was done, or raise BadOrder."""
    act = ORDERS.get(_text(order, "do"))
    if act is None:
        raise BadOrder(f"an order is one of {', '.join(ORDERS)}")
    return act(order, room)


def _start(_: Order, room: BoatRoom) -> str:
    if refusal := room.desk.refusal:
        raise BadOrder(refusal)
    game = room.start()
    if game is None:
        joined = len(room.gathering.players) if room.gathering else 0
        raise BadOrder(
            f"{joined} have joined; a game is for {room.settings.min} to {room.settings.max}"
        )
    return f"started: {', '.join(text_of(name) for name in game.roster.names)}"


def _message(order: Order, room: BoatRoom) -> str:
    text = plain(_text(order, "text"))
    if not text:
        raise BadOrder("there is no text")
    if not order.get("to"):
        for group in _groups(order, room):
            group.announce(text)
        return "said to all in that game" if "game" in order else "said to all"
    group, player = _player_in(order, "to", room)
    group.announce(text, player)
    return f"said to {text_of(player.name)}"


def _boot(order: Order, room: BoatRoom) -> str:
    _, player = _player_in(order, "player", room)
    _disconnect(player)
    return f"{text_of(player.name)} is booted"


def _disconnect(player: RoomPlayer) -> None:
    if player.session is None:
        raise BadOrder(f"{text_of(player.name)} has no connection of this protocol to close")
    player.session.answer(Kicked(BOOTED, BOOTED))


def _ban_player(order: Order, room: BoatRoom) -> str:
    """Ban a player by its exact name, whether it is connected or not."""
    name = _text(order, "player").strip(BLANKS)
    if not name:
        raise BadOrder("there is no name")
    room.banned_names.add(name)
    for player in [
        player for group in room.groups for player in _named(name, group) if player.session
    ]:
        _disconnect(player)
    room.changed()
    return f"{name} is on the blacklist"


def _ban_address(order: Order, room: BoatRoom) -> str:
    words = _text(order, "address").strip()
    if not words:
        raise BadOrder("there is no address")
    try:
        address = str(ip_address(words))
    except ValueError:
        raise BadOrder(f"{words!r} is not an address like 192.0.2.7") from None
    room.banned_addresses.add(address)
    for player in [player for group in room.groups for player in group.from_address(address)]:
        _disconnect(player)
    room.changed()
    return f"{address} is on the blacklist"


def _clear(_: Order, room: BoatRoom) -> str:
    room.banned_names.clear()
    room.banned_addresses.clear()
    room.changed()
    return "the blacklist is empty"


def _skip(order: Order, room: BoatRoom) -> str:
    reason = plain(_text(order, "reason"))
    if not reason:
        raise BadOrder("a skip has a reason")
    name = _game(order, room).skip_turn(reason)
    if not name:
        raise BadOrder("it is nobody's turn")
    return f"the turn of {text_of(name)} is skipped"


def _abort(order: Order, room: BoatRoom) -> str:
    _game(order, room).abort()
    return "aborted"


def _quit(_: Order, room: BoatRoom) -> str:
    """Abort all games and close the room."""
    room.close()
    for game in list(room.games):
        game.abort()
    return "the room is closed"


ORDERS: dict[str, Callable[[Order, BoatRoom], str]] = {
    "start": _start, "message": _message, "boot": _boot, "blacklist player": _ban_player,
    "blacklist address": _ban_address, "clear": _clear, "skip": _skip, "abort": _abort,
    "quit": _quit,
}  # fmt: skip


def _text(order: Order, key: str) -> str:
    value = order.get(key, "")
    if not isinstance(value, str):
        raise BadOrder(f"{key} is text")
    return value


def _game(order: Order, room: BoatRoom) -> BoatGame:
    """Find a running game by its number, which may be left out if there is only one."""
    if not room.games:
        raise BadOrder("no game runs")
    if "game" not in order and len(room.games) == 1:
        return room.games[0]
    game = next((game for game in room.games if _is_number_of(game, order)), None)
    if game is None:
        raise BadOrder(f"which game? {_listed(room.games)}")
    return game


def _is_number_of(group: PlayerGroup, order: Order) -> bool:
    number = order.get("game")
    return type(number) is int and number == group.number


def _listed(groups: Iterable[PlayerGroup]) -> str:
    numbers = [f"#{number}" for number in sorted(group.number for group in groups)]
    return ", ".join(numbers[:LISTED]) + (
        f" and {len(numbers) - LISTED} more" if len(numbers) > LISTED else ""
    )


def _groups(order: Order, room: BoatRoom) -> list[PlayerGroup]:
    """Return the waiting or running game with that number, or all games."""
    groups = list(room.groups)
    if "game" not in order:
        return groups
    meant = [group for group in groups if _is_number_of(group, order)]
    if not meant:
        raise BadOrder(f"which game? {_listed(groups)}" if groups else "no game runs")
    return meant


def _player_in(order: Order, key: str, room: BoatRoom) -> tuple[PlayerGroup, RoomPlayer]:
    """Find a player by name, unique beginning of a name, or number. A whole name has priority; a
    word that fits players of several games is an error.
    """
    word = _text(order, key).strip(BLANKS)
    groups = _groups(order, room)
    found = [(group, player) for group in groups for player in _named(word, group)[:1]]
    if not found:
        found = [
            (group, player) for group in groups if (player := _called(word, group)) is not None
        ]
    if not found:
        raise BadOrder(f"there is no player {word!r}")
    if len(found) > 1:
        raise BadOrder(
            f"{word!r} could be in several games, name one: {_listed(group for group, _ in found)}"
        )
    return found[0]


def _named(name: str, group: PlayerGroup) -> list[RoomPlayer]:
    """Find players by their whole names as text: on lines a name need not be UTF-8."""
    return [player for player in group.players if text_of(player.name) == name]


def _called(word: str, group: PlayerGroup) -> RoomPlayer | None:
    found = player_called(
        word.encode(errors="replace"), [text_of(player.name).encode() for player in group.players]
    )
    return None if found is None else group.players[found]


# The host's view of its room.


def shown(room: BoatRoom) -> dict[str, Any]:
    settings = room.settings
    gathering = room.gathering
    return {
        "title": settings.title,
        "min": settings.min,
        "max": settings.max,
        "width": settings.width,
        "height": settings.height,
        "goal": room.offer.goal,
        "boats": list(room.offer.boats.names),
        "autoStart": settings.auto_start,
        "over": room.over,
        "gathering": None if gathering is None else _players_shown(gathering),
        "gathers": None if gathering is None else gathering.number,
        "games": [_game_shown(game) for game in room.games],
        "blacklist": {
            "players": sorted(room.banned_names),
            "addresses": sorted(room.banned_addresses),
        },
    }


def _players_shown(group: PlayerGroup) -> list[dict[str, Any]]:
    return [_player_shown(player) for player in group.players]


def _player_shown(player: RoomPlayer) -> dict[str, Any]:
    return {"name": text_of(player.name), "address": player.address}


def _game_shown(game: BoatGame) -> dict[str, Any]:
    tally, awaited = tally_of(cast(Battleship, game.table.shown)), game.table.match.awaited
    rows = []
    for at, player in enumerate(game.players):
        rows.append(
            _player_shown(player)
            | {
                "status": text_of(game.roster.statuses[at]),
                "toMove": game.roster.started and at in awaited,
                "score": tally.scores[at],
                "skips": tally.skips[at],
                "turns": tally.turns[at],
                "hits": tally.hits[at],
            }
        )
    return {
        "number": game.number,
        "match": game.table.entry.id,
        "squares": game.offer.boats.squares,
        "players": rows,
    }


class Visit:
    """Where a client is: the room that it looks at and, once it has joined, its game
    and its seat.
    """

    def __init__(self, room: BoatRoom) -> None:
        self.room = room
        self.group: PlayerGroup | None = None
        self.player: RoomPlayer | None = None


class BoatPort:
    """The first room is shown to every client, the others by their titles."""

    protocol = "boats"

    def __init__(
        self,
        desk: Desk,
        port: int,
        rooms: list[BoatRoom],
        name: str = "xbs",
        key: str = "boats.port",
    ) -> None:
        self._desk, self.port, self.rooms = desk, port, rooms
        self.name, self.key = name, key
        """The name of the port, and the setting that sets it."""
        self.server: OpenPort | None = None
        """None: it does not listen."""
        self.visits: dict[Session, Visit] = {}

    def connect(self, connection: Connection) -> Session:
        settings, now = self._desk.settings, asyncio.get_running_loop().time()
        limits = settings.limits.waiting, settings.message.rate, settings.message.burst
        return Session(connection, BoatConversation(*limits, now), self, self._desk)

    # Requests of clients.

    def act(self, session: Session, command: Command) -> None:
        visit = self.visits.get(session)
        if visit is None:
            visit = self.visits[session] = Visit(self.rooms[0])
            session.on_seat, session.release = (
                partial(self._seated, session),
                partial(self._leave, session),
            )
        match command:
            case LookAtRoom():
                self._show(session, visit, command)
            case CheckBlacklist():
                self._check(session, visit.room, command.name)
            case JoinRoom():
                self._join(session, visit, command)
            case ReturnToSeat():
                self._return(session, visit, command)
            case Say() if visit.group is not None and visit.player is not None:
                visit.group.say(visit.player, command.to, command.text)
            case Depart() if visit.group is not None and visit.player is not None:
                visit.group.depart(visit.player, command.reason)

    def _show(self, session: Session, visit: Visit, command: LookAtRoom) -> None:
        """Only a client that comes to another room needs a free seat there: one that waits may ask
        as often as it likes.
        """
        if visit.group is not None:
            return session.answer(RoomShown(visit.group.info(), visit.group.offer.width))
        other = next(
            (room for room in self.rooms if room.offer.title.encode() == command.title), visit.room
        )
        comes, visit.room = command.arriving or other is not visit.room, other
        address = session.connection.address
        if address in other.banned_addresses:
            return session.answer(Kicked(b""))
        line = other.greeting(address, asyncio.get_running_loop().time()) if comes else other.info()
        session.answer(RoomShown(line, other.settings.width))
        if comes and other.is_full:
            session.answer(Kicked(FULL))
        return None

    def _check(self, session: Session, room: BoatRoom, name: bytes) -> None:
        banned = (
            text_of(name) in room.banned_names
            or session.connection.address in room.banned_addresses
        )
        session.answer(Kicked(BOOTED) if banned else NameAllowed())

    def _join(self, session: Session, visit: Visit, command: JoinRoom) -> None:
        """A registered bot needs its token to return; the secret of a guest protects its seat."""
        secret = b"" if session.registered else command.secret
        player = RoomPlayer(command.name, session.name, command.board, secret)
        player.owner = session.owner
        guesses = self._desk.registry.guesses
        try:
            if secret:
                guesses.check(player.text)
            return self._sit(session, visit, player, visit.room.join(session, player))
        except TooMany as problem:
            session.answer(JoinRefused(plain(str(problem))))
        except JoinDenied as problem:
            session.answer(Kicked(str(problem).encode()))
        except NameInUse as problem:
            if secret:
                guesses.note(player.text, False)
            session.answer(JoinRefused(str(problem).encode()))
        return session.unlist()

    def _return(self, session: Session, visit: Visit, command: ReturnToSeat) -> None:
        name, secret = command.request.name, command.request.secret
        player = RoomPlayer(name, text_of(name), command.request.board, secret)
        game = visit.room.come_back(session, player)
        if game is None:
            return session.answer(JoinRefused(command.words))
        session.name, session.registered = player.text, False
        session.enlist(GAME)
        return self._sit(session, visit, player, game)

    def _sit(self, session: Session, visit: Visit, player: RoomPlayer, group: PlayerGroup) -> None:
        visit.group, visit.player = group, group.called(player.name)
        assert visit.player is not None
        session.answer(Joined(visit.player.taunts))
        visit.room.joined(group)

    # Events of tables and clients.

    def _seated(self, session: Session) -> None:
        """The game for which the client waited starts, or it has returned to one."""
        visit = self.visits[session]
        visit.group = next(
            (game for game in visit.room.games if game.table is session.table), visit.group
        )

    def _leave(self, session: Session) -> None:
        visit = self.visits.pop(session)
        if visit.group is not None and visit.player is not None:
            visit.group.left(visit.player)
            visit.room.changed()


MOST_ROOMS = 100


class BadRoom(Exception):
    """A room that cannot be opened or changed, with the reason."""


class BoatRooms:
    def __init__(self, desk: Desk, statistics: BoatStatistics) -> None:
        settings = desk.settings.of(BoatsSection)
        self._desk, self.statistics = desk, statistics
        self.listen: Callable[[BoatPort], Awaitable[None]] | None = None
        """Listens at a port, or raises BadSetting."""
        self.rooms = [
            BoatRoom(one, desk, statistics) for one in settings.rooms or (BoatRoomSettings(),)
        ]
        shared = [room for room in self.rooms if not room.settings.port]
        own = [self._own_port(room) for room in self.rooms if room.settings.port]
        desk.on_closing.append(self._stop)
        self.all: list[BoatPort] = (
            [BoatPort(desk, settings.port, shared)] if shared and settings.port else []
        ) + own

    @property
    def titles(self) -> list[str]:
        return [room.settings.title for room in self.rooms]

    def called(self, title: str) -> BoatRoom | None:
        """Return a room by its title; without a title, the first."""
        return next((room for room in self.rooms if title in ("", room.settings.title)), None)

    def port_of(self, room: BoatRoom) -> int | None:
        """Return the port at which players join it; None: it does not listen."""
        ports = (port.server for port in self.all if room in port.rooms)
        return next((server.number for server in ports if server is not None), None)

    def in_use(self) -> bool:
        """Whether a client or a host is here, or a room that was opened later."""
        return any(port.visits for port in self.all) or any(room.on_change for room in self.rooms)

    # Rooms that are opened while the server runs.

    async def open(self, settings: BoatRoomSettings) -> BoatRoom:
        """Open a room until its last game is over, or raise BadRoom."""
        if settings.title in self.titles:
            raise BadRoom(f"there is a room {settings.title!r} already")
        if len(self.rooms) >= MOST_ROOMS:
            raise BadRoom(f"there are {MOST_ROOMS} rooms already")
        room = BoatRoom(settings, self._desk, self.statistics)
        try:
            port = await self._port_for(room)
        except BadRoom:
            room.close()
            raise
        self.rooms.append(room)
        room.on_change.add(lambda: self._remove(room, port) if room.over else None)
        return room

    def _own_port(self, room: BoatRoom) -> BoatPort:
        return BoatPort(
            self._desk, room.settings.port, [room], f"xbs {room.settings.title}", "boats.rooms"
        )

    async def _port_for(self, room: BoatRoom) -> BoatPort:
        settings = room.settings
        if not settings.port:
            shared = next((port for port in self.all if port.key == "boats.port"), None)
            if shared is None:
                raise BadRoom(
                    "rooms share no port here: give the room a port of its own, or -1 for any free "
                    "one"
                )
            shared.rooms.append(room)
            return shared
        port = self._own_port(room)
        try:
            assert self.listen is not None
            await self.listen(port)
        except BadSetting as problem:
            raise BadRoom(str(problem)) from None
        self.all.append(port)
        return port

    def _remove(self, room: BoatRoom, port: BoatPort) -> None:
        if room not in self.rooms:
            return
        self.rooms.remove(room)
        if not room.settings.port:
            port.rooms.remove(room)
        else:
            self.all.remove(port)
            if port.server is not None:
                port.server.close()

    def _stop(self) -> None:
        for room in self.rooms:
            room.close()


class HostConsole:
    """The console of one host."""

    protocol = "boats host"
    _room: BoatRoom

    def __init__(self, server: ServerParts, rooms: BoatRooms) -> None:
        self._desk, self._keys, self._rooms = server.desk, server.keys, rooms

    def act(self, session: Session, command: Command) -> None:
        if isinstance(command, EnterAsHost):
            self._desk.tasks.start(self._log_in(session, command))
        elif isinstance(command, GiveOrder):
            session.answer(HostTold(executed(command.order, self._room)))

    async def _log_in(self, session: Session, command: EnterAsHost) -> None:
        try:
            await self._check(command.token)
        except (TooMany, NotOperator) as problem:
            return session.answer(LoginRefused(str(problem)))
        except Exception:
            log_failure("the token of a host could not be looked up")
            return session.answer(LoginRefused("the token cannot be looked up"))
        room = self._rooms.called(command.room) if isinstance(command.room, str) else None
        if room is None:
            return session.answer(
                LoginRefused(
                    f"there is no room of that title; there is {', '.join(self._rooms.titles)}"
                )
            )
        return None if session.closed else self._enter(session, room)

    async def _check(self, token: Any) -> None:
        """Accept the `host_token` or the operator's token, or raise TooMany or NotOperator."""
        given, known = (
            token if isinstance(token, str) else "",
            self._desk.settings.of(BoatsSection).host_token,
        )
        self._desk.registry.guesses.check(OPERATOR)
        if known and hmac.compare_digest(given.encode(), known.encode()):
            return
        try:
            await self._keys.check(given)
        except NotOperator:
            metrics.REFUSED.labels("host").inc()
            raise NotOperator("that is not the token of this server") from None

    def _enter(self, session: Session, room: BoatRoom) -> None:
        self._room, changed = room, partial(session.answer, RoomChanged())
        session.release = room.watch(changed)
        session.answer(Admitted(room.settings.title))


def executed(order: dict[str, Any] | None, room: BoatRoom) -> dict[str, Any]:
    """Execute an order and return the answer. None: return the room after a change."""
    if order is None or order.get("do") == "show":
        return {"room": shown(room)} | ({} if order is None else {"asked": True})
    try:
        return {"done": carry_out(order, room)}
    except BadOrder as problem:
        return {"error": str(problem)}


def connect_host(server: ServerParts, rooms: BoatRooms, connection: Connection) -> Session:
    settings, now = server.settings, asyncio.get_running_loop().time()
    conversation = HostConversation(settings.limits.login, settings.message.burst, now)
    return Session(connection, conversation, HostConsole(server, rooms), server.desk)


async def open_boats(server: ServerParts) -> ServedProtocol:
    desk, folder = server.desk, server.settings.of(BoatsSection).dir
    statistics = BoatStatistics(desk.store, Path(folder) if folder else None)
    rooms = BoatRooms(desk, statistics)

    async def listen(ports: Ports) -> None:
        async def listen_at(boats: BoatPort) -> None:
            factory = tcp_factory(Lines, boats.connect, server.connection_limits)
            boats.server = await ports.open(boats.name, boats.key, boats.port, factory, game=GAME)

        rooms.listen = listen_at
        for boats in rooms.all:
            with tolerated(boats.key == "boats.port" and boats.port == BoatsSection().port):
                await listen_at(boats)

    def receive_socket(target: str) -> MakeSession | None:
        return partial(connect_host, server, rooms) if target == "/boats/host" else None

    def titles_at(name: str) -> str:
        """Return the titles of rooms that share a port."""
        titles = [
            room.settings.title for port in rooms.all if port.name == name for room in port.rooms
        ]
        return ", ".join(titles) if len(titles) > 1 else ""

    load = partial(statistics.load, watch=not desk.others.alone)
    return ServedProtocol(
        rooms,
        statistics.close,
        receive_socket=receive_socket,
        sockets=("/boats/host",),
        listen=listen,
        describe_port=titles_at,
        open_rooms=load,
        leave_rooms=statistics.leave,
        settled=lambda: statistics.settled,
        in_use=rooms.in_use,
        game=GAME,
        targets=("/boats/", "/api/v1/operator/boats"),
    )
