"""The Bomberman API over a WebSocket: one message per frame, and the server pushes every new state."""

from collections.abc import Mapping

from botdrome.server import metrics
from botdrome.server.bomber.registration import register
from botdrome.server.bomber.room import BomberRoom
from botdrome.server.bomber.rooms import Rooms
from botdrome.server.network.connection import POLICY, Connection
from botdrome.server.network.rate_limit import Bucket
from botdrome.server.network.websocket import MakeSession
from botdrome.wire.bomber.conversation import Act, BomberConversation, RegisterUser, RoomReply, declined
from botdrome.wire.bomber.request import BadRequest, read_form, read_message, read_switch, unquoted
from botdrome.wire.bomber.shape import DEFAULT, Shape, read_shape


def bomber_socket(rooms: Rooms, target: str) -> MakeSession:
    """Return the session factory for this target. Its query has the format of the states and the user_id."""
    path, _, query = target.encode("latin-1").partition(b"?")
    words = path.split(b"/")[2:]

    def receive(connection: Connection) -> BomberSession:
        try:
            room = rooms[unquoted(words[1])] if words[:1] == [b"rooms"] and len(words) > 1 else rooms.first
            if room is None:
                raise BadRequest("UNKNOWN_ROOM", "there is no such room; see /bomber/rooms")
            fields = read_form(query)
            return BomberSession(connection, room, read_shape(fields), fields)
        except BadRequest as fault:
            return BomberSession(connection, rooms.first, DEFAULT, {}, fault)

    return receive


class BomberSession:
    def __init__(
        self, connection: Connection, room: BomberRoom, shape: Shape, query: Mapping[str, str], fault: BadRequest | None = None
    ) -> None:
        self._connection, self._room, self._shape = connection, room, shape
        with_state = read_switch(query.get("with_state"), "with_state")
        wrapped = room.plan.wrapped_responses
        self._conversation = BomberConversation(shape, with_state, wrapped, user_id=query.get("user_id"))
        limit = room.desk.settings.message
        self._bucket = Bucket(limit.rate, limit.burst)
        if fault is None:
            room.pushes[self._push] = None
            self._push()
        else:
            self._refuse(fault)

    def received(self, message: bytes) -> None:
        room = self._room
        room.desk.tables.metronome.catch_up()
        if not self._bucket.take():
            metrics.REFUSED.labels("flood").inc()
            return self._refuse(BadRequest("TOO_MANY_REQUESTS", "too many messages"))
        try:
            command = self._conversation.receive(read_message(message))
        except BadRequest as fault:
            return self._connection.send([declined(self._shape, fault.word, fault.sentence, **room.moment())])
        if isinstance(command, RegisterUser):
            return room.desk.tasks.start(register(room, command, self._connection.address, self._reply))
        user = room.user(command.user_id)
        if user is not None:
            self._conversation.speaks_for = user.user_id
        return self._reply(room.act(command) if isinstance(command, Act) else room.shown_to(user))

    def lost(self) -> None:
        self._room.pushes.pop(self._push, None)

    def _push(self) -> None:
        self._reply(self._room.shown_to(self._room.user(self._conversation.speaks_for)))

    def _reply(self, reply: RoomReply) -> None:
        _, body, rest = self._conversation.answer(reply)
        self._connection.send([body + rest])

    def _refuse(self, fault: BadRequest) -> None:
        self.lost()
        self._connection.send([declined(self._shape, fault.word, fault.sentence)])
        self._connection.close(POLICY, fault.word)
