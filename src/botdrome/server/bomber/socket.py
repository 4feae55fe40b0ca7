"""WebSockets of the Bomberman API."""

import asyncio
from functools import partial

from botdrome.match.events import Player
from botdrome.server.bomber.registration import register
from botdrome.server.bomber.room import BomberRoom
from botdrome.server.bomber.rooms import Rooms
from botdrome.server.network.connection import Connection
from botdrome.server.session import Session
from botdrome.server.tables.table import Table
from botdrome.wire.bomber.conversation import (
    BAD,
    Act,
    BomberConversation,
    BomberSocketConversation,
    FollowRoom,
    ReadState,
    RefuseMessage,
    Registered,
    RegisterUser,
    RequestRefused,
    RoomReply,
)
from botdrome.wire.bomber.request import BadRequest, read_form, read_switch, unquoted
from botdrome.wire.bomber.shape import read_shape
from botdrome.wire.conversation import Command


def connect_socket(rooms: Rooms, target: str, connection: Connection) -> Session:
    """The query of the target has the format of the states and the user_id."""
    path, _, query = target.encode("latin-1").partition(b"?")
    words = path.split(b"/")[2:]
    room, talk, user_id, fault = rooms.first, BomberConversation(), None, None
    try:
        found = rooms[unquoted(words[1])] if words[:1] == [b"rooms"] and len(words) > 1 else room
        if found is None:
            raise BadRequest("UNKNOWN_ROOM", "there is no such room; see /bomber/rooms")
        room, fields = found, read_form(query)
        user_id, shape = fields.get("user_id"), read_shape(fields)
        with_state = read_switch(fields.get("with_state"), "with_state")
        talk = BomberConversation(shape, with_state, room.plan.wrapped_responses, user_id=user_id)
    except BadRequest as problem:
        fault = problem
    limit, now = rooms.desk.settings.message, asyncio.get_running_loop().time()
    conversation = BomberSocketConversation(talk, limit.rate, limit.burst, now, fault)
    return Session(connection, conversation, SocketHost(room, user_id), rooms.desk)


class SocketHost:
    """Executes the commands of one client."""

    protocol = "bomberman"

    def __init__(self, room: BomberRoom, user_id: str | None) -> None:
        """`user_id`: each new state is pushed as this user sees it, or as the last one that the client spoke for."""
        self._room, self._user_id = room, user_id

    def act(self, session: Session, command: Command) -> None:
        room = self._room
        room.desk.tables.metronome.catch_up()
        match command:
            case Act() | ReadState():
                user = room.user(command.user_id)
                if user is not None:
                    self._user_id = user.user_id
                session.answer(room.act(command) if isinstance(command, Act) else room.shown_to(user))
            case RegisterUser():
                reply = partial(self._registered, session)
                room.desk.tasks.start(register(room, command, session.connection.address, reply))
            case RefuseMessage(word, sentence):
                session.answer(RequestRefused(BAD, word, sentence, room.moment()))
            case FollowRoom():
                push = partial(self._push, session)
                room.pushes[push] = None
                session.release = partial(room.pushes.pop, push)
                push()

    def _registered(self, session: Session, reply: RoomReply) -> None:
        if isinstance(reply, Registered):
            self._user_id = reply.user_id
        session.answer(reply)

    def _push(self, session: Session) -> None:
        session.answer(self._room.shown_to(self._room.user(self._user_id)))

    def seated(self, session: Session, table: Table, player: Player) -> None:
        """The seat is the user's, not the connection's."""
