"""Socket: the Bomberman API over a WebSocket. One message a frame, and every new state is pushed."""

from collections.abc import Mapping

from botdrome.server import metrics
from botdrome.server.bomber.counter import BAD, OK, declined, register, registers, serve
from botdrome.server.bomber.mailbox import Mailbox
from botdrome.server.bomber.room import Room
from botdrome.server.bomber.rooms import Rooms
from botdrome.server.network.connection import POLICY, Connection
from botdrome.server.network.rate_limit import Bucket
from botdrome.server.network.websocket import MakeSession
from botdrome.wire.bomber.request import BadRequest, read_form, read_message, read_switch, unquoted
from botdrome.wire.bomber.shape import DEFAULT, Shape, read_shape


def bomber_socket(rooms: Rooms, target: str) -> MakeSession:
    """Who receives a WebSocket that was opened at this target; its query says how states are spelled and who asks."""
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
        self, connection: Connection, room: Room, shape: Shape, query: Mapping[str, str], fault: BadRequest | None = None
    ) -> None:
        self._connection, self._room, self._shape = connection, room, shape
        self._with_state = read_switch(query.get("with_state"), "with_state")
        settings = room.desk.settings
        self._bucket = Bucket(settings.message.rate, settings.message.burst)
        self._asks = query.get("user_id")
        """Whose messages those are that name no user."""
        self._user_id = self._asks
        """Of the user that was spoken for last: a user_id ends with its game, the socket does not."""
        if fault is None:
            room.pushes[self._push] = None
            self._push()
        else:
            self._refuse(fault)

    def received(self, message: bytes) -> None:
        self._room.desk.floor.metronome.catch_up()
        if not self._bucket.take():
            metrics.REFUSED.labels("flood").inc()
            return self._refuse(BadRequest("TOO_MANY_REQUESTS", "too many messages"))
        try:
            fields = read_message(message)
            if registers(fields):
                return register(self._room, fields, self._connection.address, self._shape, self._reply, self._speak_for)
            user = self._room.user(fields.setdefault("user_id", self._asks))
            if user is not None:
                self._speak_for(user)
            return serve(self._room, fields, self._shape, self._with_state, self._reply)
        except BadRequest as fault:
            return self._reply(BAD, declined(self._shape, fault.word, fault.sentence, **self._room.moment()))

    def _speak_for(self, user: Mailbox) -> None:
        self._user_id = user.user_id

    def lost(self) -> None:
        self._room.pushes.pop(self._push, None)

    def _push(self) -> None:
        self._reply(OK, *self._room.told(self._shape, self._room.user(self._user_id)))

    def _reply(self, status: int, body: bytes, rest: bytes = b"") -> None:
        self._connection.send([body + rest])

    def _refuse(self, fault: BadRequest) -> None:
        self.lost()
        self._connection.send([declined(self._shape, fault.word, fault.sentence)])
        self._connection.close(POLICY, fault.word)
