"""The Bomberman API: its rooms, its HTTP routes and its WebSocket."""

import asyncio
from collections.abc import Callable, Mapping
from functools import lru_cache, partial

from msgspec import Struct

from botdrome.server.lobby.desk import Desk
from botdrome.server.network.connection import Connection
from botdrome.server.network.http import (
    Exchange,
    HttpLimits,
    HttpResponse,
    ResponseHeaders,
    response_head,
)
from botdrome.server.network.http_request import HttpRequest
from botdrome.server.network.origins import Origins
from botdrome.server.network.websocket import MakeSession
from botdrome.server.protocol import ServedProtocol, ServerParts
from botdrome.server.rooms.bomber_room import (
    PROTOCOL,
    BomberRoom,
    BomberRooms,
    BomberSection,
    Moment,
    Wait,
)
from botdrome.server.session import Session
from botdrome.wire.bomber.conversation import (
    BAD,
    NOT_FOUND,
    OK,
    Act,
    BomberConversation,
    BomberSocketConversation,
    FollowRoom,
    ReadState,
    RefuseMessage,
    RegisterUser,
    RequestRefused,
    RoomCommand,
    RoomReply,
    UserRegistered,
    declined,
    wants_state,
)
from botdrome.wire.bomber.request import (
    DEFAULT,
    JSON,
    PYTHON,
    BadRequest,
    Message,
    Shape,
    read_form,
    read_message,
    read_shape,
    read_switch,
    unquoted,
)
from botdrome.wire.bomber.rules import ROUTES, rules, rules_page
from botdrome.wire.conversation import Command

OPEN: ResponseHeaders = (
    ("Access-Control-Allow-Origin", "*"),
    ("Access-Control-Allow-Methods", "GET, HEAD, POST, OPTIONS"),
    ("Access-Control-Allow-Headers", "Content-Type, X-User-Id, X-Requested-With"),
    ("Cache-Control", "no-store"),
    ("Cross-Origin-Resource-Policy", "cross-origin"),
    (
        "Content-Security-Policy",
        "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
    ),
)
PREFLIGHT: ResponseHeaders = (*OPEN, ("Access-Control-Max-Age", "86400"))
"""Without caching, a browser sends a preflight request before every action, and rounds are short.
"""
READ, WRITE, BOTH = ("GET", "HEAD"), ("POST",), ("GET", "HEAD", "POST")
SPECIAL = {b"accept", b"x-user-id"}
"""Headers that change how a request is read."""
LONGEST_KEPT = 200
"""Maximum bytes of a cached path, query or body."""


def is_ours(target: bytes) -> bool:
    return target.startswith((b"/bomber/", b"/bomber?")) or target == b"/bomber"


def refuse(status: int, word: str, sentence: str) -> HttpResponse:
    return HttpResponse(status, declined(DEFAULT, word, sentence), headers=OPEN)


class NotServed(Exception):
    """No route matches the path or the method."""

    def __init__(
        self, status: int, word: str, sentence: str, headers: ResponseHeaders = ()
    ) -> None:
        super().__init__(word)
        self.status, self.word, self.sentence, self.headers = status, word, sentence, headers


KnownCommands = dict[bytes, Act | ReadState]
"""Commands by the bodies that they came in. A cache, since bots send the same bodies repeatedly."""
MOST_COMMANDS = 4096


def keep_command(known: KnownCommands, body: bytes, command: RoomCommand) -> None:
    """Keep a command that may come again in the same body: one for no certain state."""
    if len(body) > LONGEST_KEPT or isinstance(command, RegisterUser):
        return
    if (command.number if isinstance(command, Act) else command.after) is None:
        if len(known) >= MOST_COMMANDS:
            known.clear()
        known[body] = command


class RoomRequest(Struct, eq=False):
    """A request for a room."""

    exchange: Exchange
    room: BomberRoom
    query: Mapping[str, str] = {}
    shape: Shape = DEFAULT
    fields: Message = {}
    """The fields of the query and the body. The body takes precedence."""
    known: KnownCommands | None = None
    """Where the command is kept, if only the body determines it."""

    def read(self, query: bytes) -> None:
        request = self.exchange.request
        headers, fields = request.headers, self.fields
        if query or b"accept" in headers:
            self.query, self.shape = _read_query(query, headers.get(b"accept", b""))
            fields.update(self.query)
        if self.exchange.body and request.method == "POST":
            fields.update(read_message(self.exchange.body))
        if b"x-user-id" in headers:
            fields.setdefault("user_id", headers[b"x-user-id"].decode("latin-1"))

    def converse(self) -> None:
        """Answer a message of the protocol, now or when the room has decided."""
        usual = self.exchange.request.plain and self.shape is DEFAULT and not self.query
        talk = self.room.talk if usual else self._special_talk()
        command = talk.receive(self.fields)
        if self.known is not None:
            keep_command(self.known, self.exchange.body, command)
        self.execute(talk, command)

    def execute(self, talk: BomberConversation, command: RoomCommand) -> None:
        room = self.room
        if isinstance(command, RegisterUser):
            return room.register(command, self.exchange.address, partial(self._reply, talk))
        if room.rooms.contest_rooms:
            room = self.room = room.room_of(command.user_id)
        if isinstance(command, Act):
            return self._reply(talk, room.act(command, self.exchange.read))
        if command.after is None or not room.comes_after(command.after):
            return self._reply(talk, room.shown_to(room.user(command.user_id)))
        return self._wait(talk, command, command.after)

    def _special_talk(self) -> BomberConversation:
        with_state, request = False, self.exchange.request
        if self.query:
            registers = self.fields.get("action") is None and "user_name" in self.fields
            with_state = not registers and read_switch(self.query.get("with_state"), "with_state")
        return BomberConversation(
            self.shape,
            with_state,
            self.room.settings.wrapped_responses,
            may_wait=request.method != "HEAD",
        )

    def _wait(self, talk: BomberConversation, command: ReadState, after: int) -> None:
        """Answer when there is a later state."""
        room, exchange = self.room, self.exchange
        most = room.desk.settings.of(BomberSection).waits
        if room.waits.from_address(exchange.address) >= most:
            return self.refuse(429, "TOO_MANY_WAIT", f"{most} of your address wait already")
        wait = Wait(
            after,
            exchange.address,
            lambda: self._reply(talk, room.shown_to(room.user(command.user_id))),
        )
        exchange.on_lost = lambda: room.waits.remove(wait)
        return room.waits.add(wait)

    def _reply(self, talk: BomberConversation, reply: RoomReply) -> None:
        exchange = self.exchange
        status, body, rest = talk.answer(reply)
        if status == OK and exchange.keep and exchange.request.plain and not self.shape.python:
            send_usual(exchange, body, rest)
        else:
            kind = PYTHON if self.shape.python else JSON
            exchange.answer(HttpResponse(status, body, kind, OPEN, rest))

    def show(self, value: object) -> None:
        self.exchange.answer(
            HttpResponse(OK, self.shape.spelled(value), self.shape.content_type, OPEN)
        )

    def refuse(
        self,
        status: int,
        word: str,
        sentence: str,
        headers: ResponseHeaders = (),
        moment: Moment | None = None,
    ) -> None:
        body = declined(self.shape, word, sentence, **(moment or {}))
        self.exchange.answer(HttpResponse(status, body, self.shape.content_type, OPEN + headers))


@lru_cache(maxsize=4096)
def usual_head(length: int) -> bytes:
    """Return the head of most answers."""
    return b"%bContent-Length: %d\r\n\r\n" % (response_head(OK, JSON, OPEN), length)


def send_usual(exchange: Exchange, body: bytes, rest: bytes) -> None:
    """Send an answer in JSON to a plain request whose connection stays open."""
    exchange.send(b"".join((usual_head(len(body) + len(rest)), body, rest)))


def show_state(room: BomberRoom, user_id: str, exchange: Exchange) -> None:
    """Answer the most frequent request: the state in its usual shape."""
    if room.rooms.contest_rooms:
        room = room.room_of(user_id)
    body, rest = room.told(user_id, exchange.read)
    send_usual(exchange, body, rest)


def _read_query(query: bytes, accept: bytes) -> tuple[Mapping[str, str], Shape]:
    """Return the fields of a query, and the response format that it or the Accept
    header asks for.
    """
    return (_known if len(query) + len(accept) <= LONGEST_KEPT else _known.__wrapped__)(
        query, accept
    )


@lru_cache(maxsize=1024)
def _known(query: bytes, accept: bytes) -> tuple[Mapping[str, str], Shape]:
    fields = read_form(query)
    return fields, read_shape(fields, accept.decode("latin-1"))


Verb = Callable[[RoomRequest, str], None]
Route = tuple[BomberRoom, tuple[str, ...], Verb, str]
"""The room, the methods that are allowed, the verb, and the rest of the path after it."""
Answerer = Callable[[Exchange], None]


def is_usual(exchange: Exchange) -> bool:
    """Whether only the path and the body say what a request asks for."""
    request = exchange.request
    if exchange.body and request.method != "POST":
        return False
    return request.plain and SPECIAL.isdisjoint(request.headers)


class Routes:
    def __init__(self, rooms: BomberRooms) -> None:
        self._rooms = rooms
        self._caught_up = rooms.desk.tables.tick_timers.caught_up
        self._verbs: dict[bytes, tuple[tuple[str, ...], Verb]] = {
            b"state": (BOTH, self._state),
            b"action": (WRITE, self._action),
            b"register": (WRITE, self._register),
            b"rules": (READ, self._rules),
            b"": (BOTH, self._any),
        }
        self._known: KnownCommands = {}
        self._find = lru_cache(maxsize=8192)(self._search)
        """A cache, since bots request the same paths repeatedly."""

    def handle(self, exchange: Exchange) -> None:
        now = self._caught_up(exchange.read)
        if now is not exchange.read:  # nearly never, and setting it costs more
            exchange.read = now
        answer: Answerer | None = exchange.head.note
        if answer is None:
            return self._handle(exchange)
        return answer(exchange)  # nearly always

    def _answer_message(self, room: BomberRoom, verb: Verb, exchange: Exchange) -> None:
        """Answer a message that the body alone determines; nearly always it came before."""
        command = self._known.get(exchange.body)
        if command is None:
            return self._answer(room, verb, "", self._known, exchange)
        return RoomRequest(exchange, room).execute(room.talk, command)

    def _answer(
        self,
        room: BomberRoom,
        verb: Verb,
        rest: str,
        known: KnownCommands | None,
        exchange: Exchange,
    ) -> None:
        """Answer a request of which only the body is not known yet."""
        ask = RoomRequest(exchange, room, known=known)
        try:
            if exchange.body:
                ask.fields = read_message(exchange.body)
            return verb(ask, rest)
        except BadRequest as fault:
            return ask.refuse(BAD, fault.word, fault.sentence, moment=room.moment())

    def _handle(self, exchange: Exchange) -> None:
        path, _, query = exchange.target.partition(b"?")
        method, ask = exchange.request.method, RoomRequest(exchange, self._rooms.first)
        if method == "OPTIONS":
            return exchange.answer(HttpResponse(204, b"", "", PREFLIGHT))
        try:
            ask.read(query)
            ask.room, methods, verb, rest = (
                self._find if len(path) <= LONGEST_KEPT else self._search
            )(path)
            if method not in methods:
                raise _not_allowed(methods)
            if not query and is_usual(exchange):
                self._note_answerer(ask, verb, rest)
            return verb(ask, rest)
        except BadRequest as fault:
            return ask.refuse(BAD, fault.word, fault.sentence, moment=self._moment(path))
        except NotServed as refusal:
            return ask.refuse(refusal.status, refusal.word, refusal.sentence, refusal.headers)

    def _note_answerer(self, ask: RoomRequest, verb: Verb, rest: str) -> None:
        """Note at the head of a request what answers all requests with this head."""
        exchange, room = ask.exchange, ask.room
        answerer: Answerer = partial(self._answer, room, verb, rest, None)
        if verb == self._state and exchange.keep and not exchange.body:
            answerer = partial(show_state, room, rest)
        elif verb in (self._action, self._any) and not rest:
            ask.known, answerer = self._known, partial(self._answer_message, room, verb)
        exchange.head.note = answerer

    def _search(self, target: bytes) -> Route:
        room, path = self._rooms.first, target.split(b"/")[2:]
        if path in ([b"rooms"], [b"rooms", b""]):
            return room, READ, self._list, ""
        if path[:1] == [b"rooms"]:
            found = self._rooms[unquoted(path[1])]
            if found is None:
                raise NotServed(
                    NOT_FOUND, "UNKNOWN_ROOM", "there is no such room; see /bomber/rooms"
                )
            room, path = found, path[2:]
        if path in ([], [b""]):
            return room, READ, self._index, ""
        verb = path[1] if len(path) > 1 else b""
        if path[0] != b"rest" or verb not in self._verbs:
            raise NotServed(
                NOT_FOUND, "UNKNOWN_PATH", "there is nothing here; see /bomber/rest/rules"
            )
        methods, act = self._verbs[verb]
        return room, methods, act, unquoted(b"/".join(path[2:]).removesuffix(b"/"))

    def _moment(self, path: bytes) -> Moment | None:
        """Return the state number and time left of the room in the path, if it exists."""
        try:
            return self._search(path)[0].moment()
        except (NotServed, BadRequest):
            return None

    # Messages of the protocol.

    def _register(self, ask: RoomRequest, name: str) -> None:
        if name:
            ask.fields["user_name"] = name
        ask.fields.setdefault("user_name", None)
        ask.fields.pop("action", None)
        ask.converse()

    def _state(self, ask: RoomRequest, user_id: str) -> None:
        ask.fields["action"] = "STATE"
        return self._action(ask, user_id)

    def _action(self, ask: RoomRequest, user_id: str) -> None:
        if user_id:
            ask.fields["user_id"] = user_id
        if ask.fields.get("action") is None:
            ask.fields.pop("user_name", None)  # this route does not register users
        ask.converse()

    def _any(self, ask: RoomRequest, _: str) -> None:
        if ask.exchange.request.method != "POST":
            return self._state(ask, "") if wants_state(ask.fields) else self._index(ask)
        return ask.converse()

    # Pages.

    def _list(self, ask: RoomRequest, _: str) -> None:
        ask.show(self._rooms.listed())

    def _index(self, ask: RoomRequest, _: str = "") -> None:
        about = ask.room.summary()
        ask.show(
            about | {"routes": ROUTES, "rules": f"{about['url']}/rules", "rooms": "/bomber/rooms"}
        )

    def _rules(self, ask: RoomRequest, _: str) -> None:
        found = rules(ask.room.game, ask.room.settings.shown())
        accept = ask.exchange.request.headers.get(b"accept", b"")
        if b"text/html" in accept and "format" not in ask.query:
            page = rules_page(found).encode()
            return ask.exchange.answer(HttpResponse(200, page, "text/html; charset=UTF-8", OPEN))
        return ask.show(found)


def _not_allowed(methods: tuple[str, ...]) -> NotServed:
    allowed = ", ".join((*methods, "OPTIONS"))
    return NotServed(405, "METHOD_NOT_ALLOWED", f"this is for {allowed}", (("Allow", allowed),))


LONGEST_BODY = 64 << 10


class BomberApi:
    """The Bomberman API. It is open to pages of any origin, since some bots are web pages."""

    player = True

    def __init__(self, desk: Desk, origins: Origins) -> None:
        self.rooms, self._origins = BomberRooms(desk), origins
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
        host = request.headers.get(b"host")
        if not host or self._origins.knows(host):
            return None
        return refuse(421, "UNKNOWN_HOST", self._origins.host_refusal(host))

    def receive_socket(self, target: str) -> MakeSession | None:
        return (
            partial(connect_socket, self.rooms, target)
            if is_ours(target.encode("latin-1"))
            else None
        )

    async def close(self) -> None:
        await self.rooms.close()


def connect_socket(rooms: BomberRooms, target: str, connection: Connection) -> Session:
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
        talk = BomberConversation(
            shape, with_state, room.settings.wrapped_responses, user_id=user_id
        )
    except BadRequest as problem:
        fault = problem
    limit, now = rooms.desk.settings.message, asyncio.get_running_loop().time()
    conversation = BomberSocketConversation(talk, limit.rate, limit.burst, now, fault)
    return Session(connection, conversation, BomberSocket(room, user_id), rooms.desk)


class BomberSocket:
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
        at = room.desk.tables.tick_timers.caught_up(asyncio.get_running_loop().time())
        match command:
            case Act() | ReadState():
                room = room.room_of(command.user_id)
                user = room.user(command.user_id)
                if user is not None:
                    self._user_id = user.user_id
                session.answer(
                    room.act(command, at) if isinstance(command, Act) else room.shown_to(user)
                )
            case RegisterUser():
                reply = partial(self._registered, session)
                room.register(command, session.connection.address, reply)
            case RefuseMessage(word, sentence):
                session.answer(RequestRefused(BAD, word, sentence, room.moment()))
            case FollowRoom():
                self._pusher = partial(self._push, session)
                session.release = self._unfollow
                self._follow(room)
                self._pusher()

    def _registered(self, session: Session, reply: RoomReply) -> None:
        if isinstance(reply, UserRegistered):
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
        sockets=("/bomber",),
        direct=api,
        game=api.rooms.first.game.name,
        targets=("/bomber/",),
        in_use=api.rooms.in_use,
    )
