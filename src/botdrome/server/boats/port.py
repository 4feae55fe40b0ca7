"""BoatPort: the boat rooms at one TCP port, and the clients that connect there."""

import asyncio
from functools import partial

from botdrome.server.boats.players import NameInUse, PlayerGroup, RoomPlayer
from botdrome.server.boats.room import BoatRoom, CannotJoin
from botdrome.server.lobby.desk import Desk
from botdrome.server.lobby.guesses import TooMany
from botdrome.server.network.connection import Connection
from botdrome.server.network.connection_limits import ConnectionLimits
from botdrome.server.network.listening import MakeProtocol, OpenPort
from botdrome.server.network.tcp import tcp_factory
from botdrome.server.session import Session
from botdrome.wire.boats.conversation import (
    GAME,
    BoatConversation,
    CheckBlacklist,
    Depart,
    Joined,
    JoinRefused,
    JoinRoom,
    Kicked,
    LookAtRoom,
    NameAllowed,
    ReturnToSeat,
    RoomShown,
    Say,
)
from botdrome.wire.boats.lines import BOOTED, FULL, plain, text_of
from botdrome.wire.conversation import Command
from botdrome.wire.framing.streams import Lines


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

    @property
    def listens_on(self) -> int | None:
        return None if self.server is None else self.server.number

    def protocol_factory(self, connection_limits: ConnectionLimits) -> MakeProtocol:
        return tcp_factory(Lines, self._connect, connection_limits)

    def _connect(self, connection: Connection) -> Session:
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
        session.answer(RoomShown(line, other.plan.width))
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
        except CannotJoin as problem:
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
