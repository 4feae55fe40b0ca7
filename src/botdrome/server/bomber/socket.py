"""Socket: the Bomberman API over a WebSocket. One message a frame, and every new state is pushed."""

from botdrome.server import metrics
from botdrome.server.bomber.counter import BAD, OK, Reply, declined, registers, serve
from botdrome.server.bomber.mailbox import Mailbox
from botdrome.server.bomber.room import Room
from botdrome.server.bomber.rooms import Rooms
from botdrome.server.bucket import Bucket
from botdrome.server.connection import POLICY, Connection
from botdrome.server.websocket import MakeSession
from botdrome.wire.bomber_request import BadRequest, read_form, read_message, read_switch, unquoted
from botdrome.wire.bomber_shape import DEFAULT, Shape, read_shape


def bomber_socket(rooms: Rooms, target: str) -> MakeSession:
    """Who receives a WebSocket that was opened at this target; its query says how states are spelled."""
    path, _, query = target.encode("latin-1").partition(b"?")
    words = path.split(b"/")[2:]

    def receive(connection: Connection) -> BomberSession:
        try:
            room = rooms[unquoted(words[1])] if words[:1] == [b"rooms"] and len(words) > 1 else rooms.first
            if room is None:
                raise BadRequest("UNKNOWN_ROOM", "there is no such room; see /bomber/rooms")
            fields = read_form(query)
            return BomberSession(connection, room, read_shape(fields), read_switch(fields.get("with_state"), "with_state"))
        except BadRequest as fault:
            return BomberSession(connection, rooms.first, DEFAULT, False, fault)

    return receive


class BomberSession:
    def __init__(
        self, connection: Connection, room: Room, shape: Shape, with_state: bool, fault: BadRequest | None = None
    ) -> None:
        self._connection, self._room, self._shape, self._with_state = connection, room, shape, with_state
        settings = room.desk.settings
        self._bucket = Bucket(settings.message_rate, settings.message_burst)
        self._user: Mailbox | None = None
        """The last one that was spoken for."""
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
                return serve(self._room, fields, self._shape, False, self._registered(str(fields["user_name"])))
            self._user = self._room.user(fields.get("user_id")) or self._user
            return serve(self._room, fields, self._shape, self._with_state, self._reply)
        except BadRequest as fault:
            return self._reply(BAD, declined(self._shape, fault.word, fault.sentence))

    def _registered(self, name: str) -> Reply:
        """Remembers who it is that has registered here."""

        def reply(status: int, body: bytes, rest: bytes = b"") -> None:
            if status == OK:
                self._user = self._room.named(name)
            self._reply(status, body, rest)

        return reply

    def lost(self) -> None:
        self._room.pushes.pop(self._push, None)

    def _push(self) -> None:
        self._reply(OK, *self._room.told(self._shape, self._user))

    def _reply(self, status: int, body: bytes, rest: bytes = b"") -> None:
        self._connection.send([body + rest])

    def _refuse(self, fault: BadRequest) -> None:
        self.lost()
        self._connection.send([declined(self._shape, fault.word, fault.sentence)])
        self._connection.close(POLICY, fault.word)
