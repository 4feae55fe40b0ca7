"""The entry points of the Bomberman API: an HTTP service and a WebSocket."""

import asyncio
from collections.abc import Callable
from functools import partial

from botdrome.server.bomber.registration import register
from botdrome.server.bomber.room import PROTOCOL, BomberRoom
from botdrome.server.bomber.rooms import Rooms
from botdrome.server.bomber.routes import Routes, is_ours, refuse
from botdrome.server.lobby.desk import Desk
from botdrome.server.network.connection import Connection
from botdrome.server.network.http import HttpLimits, HttpResponse
from botdrome.server.network.http_request import HttpRequest
from botdrome.server.network.origins import Origins
from botdrome.server.network.websocket import MakeSession
from botdrome.server.protocol import ServedProtocol, ServerParts
from botdrome.server.session import Session
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
from botdrome.wire.bomber.request import BadRequest, read_form, read_shape, read_switch, unquoted
from botdrome.wire.conversation import Command

LONGEST_BODY = 64 << 10


class BomberApi:
    """The Bomberman API. It is open to pages of any origin, since some bots are web pages."""

    player = True

    def __init__(self, desk: Desk, origins: Origins) -> None:
        self.rooms, self._origins = Rooms(desk), origins
        self.limits = HttpLimits(rate=desk.settings.message.rate, burst=desk.settings.message.burst)
        self.handle = Routes(self.rooms).handle
        self.serves, self.refuse = is_ours, refuse

    def longest_body(self, target: bytes) -> int:
        return LONGEST_BODY

    def streams(self, target: bytes) -> bool:
        return False

    def refusal(self, request: HttpRequest) -> HttpResponse | None:
        if not request.whole:
            return refuse(
                413, "BODY_TOO_LONG", f"the body of a request has at most {LONGEST_BODY} bytes"
            )
        words = self._origins.host_refusal(request.headers.get(b"host"))
        return refuse(421, "UNKNOWN_HOST", words) if words else None

    def receive_socket(self, target: str) -> MakeSession | None:
        return (
            partial(connect_socket, self.rooms, target)
            if is_ours(target.encode("latin-1"))
            else None
        )

    async def close(self) -> None:
        await self.rooms.close()


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

    protocol = PROTOCOL

    def __init__(self, room: BomberRoom, user_id: str | None) -> None:
        """`user_id`: each new state is pushed as this user sees it, or as the last one that the
        client spoke for.
        """
        self._room, self._user_id = room, user_id
        self._followed: BomberRoom | None = None
        self._pusher: Callable[[], None] | None = None
        """Sends the present state."""

    def act(self, session: Session, command: Command) -> None:
        room = self._room
        room.desk.tables.metronome.catch_up()
        match command:
            case Act() | ReadState():
                room = room.room_of(command.user_id)
                user = room.user(command.user_id)
                if user is not None:
                    self._user_id = user.user_id
                session.answer(
                    room.act(command) if isinstance(command, Act) else room.shown_to(user)
                )
            case RegisterUser():
                reply = partial(self._registered, session)
                room.desk.tasks.start(register(room, command, session.connection.address, reply))
            case RefuseMessage(word, sentence):
                session.answer(RequestRefused(BAD, word, sentence, room.moment()))
            case FollowRoom():
                self._pusher = partial(self._push, session)
                session.release = self._unfollow
                self._follow(room)
                self._pusher()

    def _registered(self, session: Session, reply: RoomReply) -> None:
        if isinstance(reply, Registered):
            self._user_id = reply.user_id
            self._follow(self._room.room_of(reply.user_id))
        session.answer(reply)

    def _follow(self, room: BomberRoom) -> None:
        """Push the states of this room from now on."""
        self._unfollow()
        if self._pusher is not None:
            room.pushes[self._pusher] = None
            self._followed = room

    def _unfollow(self) -> None:
        if self._followed is not None and self._pusher is not None:
            self._followed.pushes.pop(self._pusher, None)

    def _push(self, session: Session) -> None:
        room = self._room.room_of(self._user_id)
        session.answer(room.shown_to(room.user(self._user_id)))


async def open_bomber(server: ServerParts) -> ServedProtocol:
    api = BomberApi(server.desk, server.origins)
    return ServedProtocol(
        api,
        api.close,
        receive_socket=api.receive_socket,
        direct=api,
        game=api.rooms.first.game.name,
        targets=("/bomber/",),
        in_use=api.rooms.in_use,
    )
