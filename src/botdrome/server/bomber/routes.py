"""Routes: the Bomberman API over HTTP."""

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import NamedTuple

from msgspec import Struct

from botdrome.server.bomber.counter import BAD, NOT_FOUND, OK, declined, register, registers, serve, wants_state
from botdrome.server.bomber.room import Moment, Room
from botdrome.server.bomber.rooms import Rooms, summary
from botdrome.server.bomber.settings import BomberSection
from botdrome.server.bomber.waits import Wait
from botdrome.server.network.http_exchange import Exchange, HttpResponse, ResponseHeaders
from botdrome.wire.bomber.request import BadRequest, Message, read_form, read_message, read_number, read_switch, unquoted
from botdrome.wire.bomber.rules import ROUTES, rules, rules_page
from botdrome.wire.bomber.shape import DEFAULT, JSON, PYTHON, Shape, read_shape

OPEN: ResponseHeaders = (
    ("Access-Control-Allow-Origin", "*"),
    ("Access-Control-Allow-Methods", "GET, HEAD, POST, OPTIONS"),
    ("Access-Control-Allow-Headers", "Content-Type, X-User-Id, X-Requested-With"),
    ("Cache-Control", "no-store"),
    ("Cross-Origin-Resource-Policy", "cross-origin"),
    ("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"),
)
PREFLIGHT: ResponseHeaders = (*OPEN, ("Access-Control-Max-Age", "86400"))
"""Without it a browser asks before every action, and a round is short."""
READ, WRITE, BOTH = ("GET", "HEAD"), ("POST",), ("GET", "HEAD", "POST")
LONGEST_KEPT = 200
"""Bytes of a path or a query that is remembered: bots ask for short ones."""


def is_ours(target: bytes) -> bool:
    return target.startswith((b"/bomber/", b"/bomber?")) or target == b"/bomber"


def refuse(status: int, word: str, sentence: str) -> HttpResponse:
    return HttpResponse(status, declined(DEFAULT, word, sentence), headers=OPEN)


class Astray(Exception):
    """A request for what is not here, or not in that way."""

    def __init__(self, status: int, word: str, sentence: str, headers: ResponseHeaders = ()) -> None:
        super().__init__(word)
        self.status, self.word, self.sentence, self.headers = status, word, sentence, headers


class Ask(Struct, eq=False):
    """One request on its way through the routes."""

    exchange: Exchange
    room: Room
    query: Mapping[str, str] = {}
    shape: Shape = DEFAULT
    fields: Message = {}
    """What is in the query and in the body: the body goes first."""

    def read(self, query: bytes) -> None:
        request = self.exchange.request
        headers, fields = request.headers, self.fields
        if query or b"accept" in headers:
            self.query, self.shape = _read_query(query, headers.get(b"accept", b""))
            fields.update(self.query)
        if request.body and request.method == "POST":
            fields.update(read_message(request.body))
        if b"x-user-id" in headers:
            fields.setdefault("user_id", headers[b"x-user-id"].decode("latin-1"))

    def reply(self, status: int, body: bytes, rest: bytes = b"") -> None:
        self.exchange.answer(HttpResponse(status, body, PYTHON if self.shape.python else JSON, OPEN, rest))

    def show(self, value: object) -> None:
        self.reply(OK, self.shape.spelled(value))

    def refuse(self, status: int, word: str, sentence: str, headers: ResponseHeaders = (), moment: Moment | None = None) -> None:
        body = declined(self.shape, word, sentence, **(moment or {}))
        self.exchange.answer(HttpResponse(status, body, self.shape.content_type, OPEN + headers))


def _read_query(query: bytes, accept: bytes) -> tuple[Mapping[str, str], Shape]:
    """What a query says, and the shape that it and an Accept header ask for."""
    return (_known if len(query) + len(accept) <= LONGEST_KEPT else _known.__wrapped__)(query, accept)


@lru_cache(maxsize=1024)
def _known(query: bytes, accept: bytes) -> tuple[Mapping[str, str], Shape]:
    fields = read_form(query)
    return fields, read_shape(fields, accept.decode("latin-1"))


class Route(NamedTuple):
    room: Room
    methods: tuple[str, ...]
    verb: "Verb"
    rest: str
    """What follows the verb in the path."""


Verb = Callable[[Ask, str], None]


class Routes:
    def __init__(self, rooms: Rooms) -> None:
        self._rooms = rooms
        self._catch_up = rooms.desk.floor.metronome.catch_up
        self._verbs: dict[bytes, tuple[tuple[str, ...], Verb]] = {
            b"state": (BOTH, self._state),
            b"action": (WRITE, self._action),
            b"register": (WRITE, self._register),
            b"rules": (READ, self._rules),
            b"": (BOTH, self._any),
        }
        self._find = lru_cache(maxsize=8192)(self._search)
        """Bots ask for the same paths over and over."""

    def handle(self, exchange: Exchange) -> None:
        self._catch_up()
        path, _, query = exchange.target.partition(b"?")
        method, ask = exchange.request.method, Ask(exchange, self._rooms.first)
        if method == "OPTIONS":
            return exchange.answer(HttpResponse(204, b"", "", PREFLIGHT))
        try:
            ask.read(query)
            ask.room, methods, verb, rest = (self._find if len(path) <= LONGEST_KEPT else self._search)(path)
            if method not in methods:
                raise _not_allowed(methods)
            return verb(ask, rest)
        except BadRequest as fault:
            return ask.refuse(BAD, fault.word, fault.sentence, moment=self._moment(path))
        except Astray as fault:
            return ask.refuse(fault.status, fault.word, fault.sentence, fault.headers)

    def _search(self, target: bytes) -> Route:
        room, path = self._rooms.first, target.split(b"/")[2:]
        if path in ([b"rooms"], [b"rooms", b""]):
            return Route(room, READ, self._list, "")
        if path[:1] == [b"rooms"]:
            found = self._rooms[unquoted(path[1])]
            if found is None:
                raise Astray(NOT_FOUND, "UNKNOWN_ROOM", "there is no such room; see /bomber/rooms")
            room, path = found, path[2:]
        if path in ([], [b""]):
            return Route(room, READ, self._index, "")
        verb = path[1] if len(path) > 1 else b""
        if path[0] != b"rest" or verb not in self._verbs:
            raise Astray(NOT_FOUND, "UNKNOWN_PATH", "there is nothing here; see /bomber/rest/rules")
        return Route(room, *self._verbs[verb], unquoted(b"/".join(path[2:]).removesuffix(b"/")))

    def _moment(self, path: bytes) -> Moment | None:
        """In the room that is meant, if there is such a one."""
        try:
            return self._search(path).room.moment()
        except (Astray, BadRequest):
            return None

    # The document's messages.

    def _register(self, ask: Ask, name: str) -> None:
        if name:
            ask.fields["user_name"] = name
        ask.fields.setdefault("user_name", None)
        ask.fields.pop("action", None)
        register(ask.room, ask.fields, ask.exchange.address, ask.shape, ask.reply)

    def _state(self, ask: Ask, user_id: str) -> None:
        if ask.fields:
            ask.fields["action"] = "STATE"
            return self._action(ask, user_id)
        return ask.reply(OK, *ask.room.told(ask.shape, ask.room.user(user_id)))

    def _action(self, ask: Ask, user_id: str) -> None:
        fields = ask.fields
        if user_id:
            fields["user_id"] = user_id
        if "after" in fields and wants_state(fields) and self._waits(ask):
            return
        query = ask.query
        with_state = bool(query) and read_switch(query.get("with_state"), "with_state")
        serve(ask.room, fields, ask.shape, with_state, ask.reply)

    def _any(self, ask: Ask, _: str) -> None:
        if ask.exchange.request.method != "POST":
            return self._state(ask, "") if wants_state(ask.fields) else self._index(ask)
        if registers(ask.fields):
            return self._register(ask, "")
        return self._action(ask, "")

    # Waiting for the next state.

    def _waits(self, ask: Ask) -> bool:
        """Whether this one has to wait. It is told when it is time."""
        after = read_number(ask.fields.get("after"), "after")
        if after is None or ask.exchange.request.method == "HEAD" or not ask.room.comes_after(after):
            return False
        address, most = ask.exchange.address, ask.room.desk.settings.of(BomberSection).waits
        if self._rooms.waiting_from[address] >= most:
            ask.refuse(429, "TOO_MANY_WAIT", f"{most} of your address wait already")
            return True
        room, user_id = ask.room, ask.fields.get("user_id")
        wait = Wait(after, address, lambda: ask.reply(OK, *room.told(ask.shape, room.user(user_id))))
        ask.exchange.on_lost = lambda: room.waits.remove(wait)
        room.waits.add(wait)
        return True

    # Pages.

    def _list(self, ask: Ask, _: str) -> None:
        ask.show(self._rooms.listed())

    def _index(self, ask: Ask, _: str = "") -> None:
        about = summary(ask.room)
        ask.show(about | {"routes": ROUTES, "rules": f"{about['url']}/rules", "rooms": "/bomber/rooms"})

    def _rules(self, ask: Ask, _: str) -> None:
        found = rules(ask.room.game, ask.room.plan.shown())
        accept = ask.exchange.request.headers.get(b"accept", b"")
        if b"text/html" in accept and "format" not in ask.query:
            page = rules_page(found).encode()
            return ask.exchange.answer(HttpResponse(200, page, "text/html; charset=UTF-8", OPEN))
        return ask.show(found)


def _not_allowed(methods: tuple[str, ...]) -> Astray:
    allowed = ", ".join((*methods, "OPTIONS"))
    return Astray(405, "METHOD_NOT_ALLOWED", f"this is for {allowed}", (("Allow", allowed),))
