"""One Bomberman client's side of the protocol, over HTTP or a WebSocket, without I/O.

A request becomes a command for the room, and the room's reply becomes an answer. HTTP requests share no connection, so a
conversation lasts for one request or for one WebSocket; the room remembers the user between them.
"""

from typing import Any

from msgspec import Struct

from botdrome.match.terms import Milliseconds
from botdrome.wire.bomber.messages import (
    ACCEPTED,
    CAME_LATE,
    DECLINED,
    HAS_NOT_BEGUN,
    IS_ACCEPTED,
    IS_AHEAD,
    IS_DEAD,
    IS_OVER,
    OVERWRITTEN,
    Response,
    read_action,
)
from botdrome.wire.bomber.request import BadRequest, Message, read_message, read_name, read_number
from botdrome.wire.bomber.shape import DEFAULT, Shape
from botdrome.wire.bomber.state import FINISHED, REGISTRATION, StateWriter
from botdrome.wire.conversation import Close, Command, Conversation, Outs, Reply, Seconds
from botdrome.wire.framing.websocket import POLICY
from botdrome.wire.token_bucket import TokenBucket
from botdrome.wire.versions import BadVersion, read_version

OK, BAD, FORBIDDEN, NOT_FOUND, CONFLICT, UNAVAILABLE = 200, 400, 403, 404, 409, 503
TAKEN = ("its user has another password", "its user registered with a password or from another address")
"""Why a name cannot be had, with a password and without."""

UserAnswer = tuple[int, bytes, bytes]
"""The HTTP status and the body, whose second part may be shared with other answers."""


# Commands.


class RegisterUser(Struct, Command, frozen=True):
    name: str
    password: str | None
    version: str = ""


class ReadState(Struct, Command, frozen=True):
    user_id: object
    after: int | None = None
    """Wait for a state with a higher number."""


class Act(Struct, Command, frozen=True):
    user_id: object
    word: str
    number: int | None
    """`state_number`: the round that the action is for; None: the present one."""


class FollowRoom(Struct, Command, frozen=True):
    """Answer with the state, now and whenever there is a new one."""


class RefuseMessage(Struct, Command, frozen=True):
    """Answer that a message cannot be understood, with the present moment of the room."""

    word: str
    sentence: str


RoomCommand = RegisterUser | ReadState | Act


# Replies.


class Registered(Struct, Reply, frozen=True):
    user_id: str
    time_left: Milliseconds


class RequestRefused(Struct, Reply, frozen=True):
    status: int
    word: str
    sentence: str
    more: dict[str, Any] = {}
    """Keys that are added to the answer."""


class ActionJudged(Struct, Reply, frozen=True):
    response: Response
    number: int
    """The number of the state that the action answers."""
    user: "UserState"


class UserState(Struct, Reply, frozen=True):
    """The room's state, as one user is told it."""

    writer: StateWriter
    player: int | None
    """The user's seat; None: it has none, or it is not known."""
    time_left: Milliseconds


RoomReply = Registered | RequestRefused | ActionJudged | UserState


class BomberConversation:
    def __init__(
        self,
        shape: Shape = DEFAULT,
        with_state: bool = False,
        wrapped: bool = False,
        may_wait: bool = False,
        user_id: str | None = None,
    ) -> None:
        """`wrapped`: the room's switch `wrapped_responses`. `may_wait`: whether a request may wait for the next state.

        `user_id`: for messages of a WebSocket that name none.
        """
        self._shape, self._with_state, self._wrapped, self._may_wait = shape, with_state, wrapped, may_wait
        self._user_id = user_id

    def receive(self, message: Message) -> RoomCommand:
        """Return what the client asks of the room. BadRequest if the message cannot be understood."""
        if registers(message):
            version = _version(message.get("version"))
            return RegisterUser(read_name(message["user_name"]), _password(message.get("password")), version)
        action, user_id = message.get("action"), message.get("user_id", self._user_id)
        if action is None:
            raise BadRequest("MISSING_FIELD", "action is missing, or user_name if this is a registration")
        if wants_state(message):
            after = read_number(message.get("after"), "after") if self._may_wait else None
            return ReadState(user_id, after)
        word = read_action(action)
        number = read_number(message["state_number"], "state_number") if "state_number" in message else None
        if user_id is None or user_id == "":
            raise BadRequest("MISSING_FIELD", "user_id is missing")
        return Act(user_id, word, number)

    def answer(self, reply: RoomReply) -> UserAnswer:
        if isinstance(reply, UserState):
            return OK, *self._told(reply)
        if isinstance(reply, ActionJudged):
            return OK, *self._judged(reply)
        if isinstance(reply, Registered):
            return OK, self._shape.spelled({"user_id": reply.user_id, "time_left": reply.time_left}), b""
        return reply.status, declined(self._shape, reply.word, reply.sentence, **reply.more), b""

    def _told(self, user: UserState, fields: dict[str, Any] | None = None) -> tuple[bytes, bytes]:
        return user.writer.told(self._shape, user.time_left, user.player, fields)

    def _judged(self, reply: ActionJudged) -> tuple[bytes, bytes]:
        fields = reply.response.fields(self._wrapped)
        if self._with_state:
            return self._told(reply.user, fields)
        fields["state_number"], fields["time_left"] = reply.number, reply.user.time_left
        return self._shape.spelled(fields), b""


class BomberSocketConversation(Conversation):
    """The same over a WebSocket: one message per frame, and the server pushes every new state."""

    deadline = None

    def __init__(
        self, talk: BomberConversation, message_rate: float, message_burst: int, now: Seconds, fault: BadRequest | None = None
    ) -> None:
        """`fault`: the URL cannot be understood."""
        self._talk, self._fault = talk, fault
        self._limit = TokenBucket(message_rate, message_burst, now)

    def begin(self, now: Seconds) -> Outs:
        return (FollowRoom(),) if self._fault is None else self._refuse(self._fault.word, self._fault.sentence)

    def receive(self, message: bytes, now: Seconds) -> Outs:
        if not self._limit.take(now):
            return self._refuse("TOO_MANY_REQUESTS", "too many messages", "flood")
        try:
            return (self._talk.receive(read_message(message)),)
        except BadRequest as fault:
            return (RefuseMessage(fault.word, fault.sentence),)

    def answer(self, reply: Reply, now: Seconds) -> Outs:
        assert isinstance(reply, RoomReply)
        _, body, rest = self._talk.answer(reply)
        return (body + rest,)

    def _refuse(self, word: str, sentence: str, refused: str = "") -> Outs:
        _, body, _ = self._talk.answer(RequestRefused(BAD, word, sentence))
        return body, Close(POLICY, word, refused)


def declined(shape: Shape, word: str, sentence: str, **more: object) -> bytes:
    return shape.spelled({"response": DECLINED, "information": word, "detail": sentence} | more)


def wants_state(message: Message) -> bool:
    action = message.get("action")
    return isinstance(action, str) and action.upper() == "STATE"


def registers(message: Message) -> bool:
    return message.get("action") is None and "user_name" in message


def _password(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    raise BadRequest("BAD_FIELD", "password is text")


def _version(value: Any) -> str:
    try:
        return read_version(value)
    except BadVersion as problem:
        raise BadRequest("BAD_FIELD", str(problem)) from None


# The rules of a room.


class Round(Struct, frozen=True):
    """The game of a room, as its rules for actions see it."""

    phase: str
    over: bool
    """Whether there is a result."""
    last: int
    """The number of the last state."""
    running: int
    """The number of the state whose round runs, whether or not the last round was resolved in time."""
    alive: bool


def refused_before(game: Round | None, number: int | None) -> tuple[Response | None, int]:
    """Return the response to an action that is not tried, and the number of the state that it answers. None: try it."""
    if game is None or game.phase == REGISTRATION:
        return HAS_NOT_BEGUN, 0
    if game.over or game.phase == FINISHED:
        return IS_OVER, game.last
    if not game.alive:
        return IS_DEAD, game.running
    if number is not None and number != game.running:
        return IS_AHEAD if number > game.running else CAME_LATE, game.running
    return None, game.running


def accepted(previous: tuple[int, str] | None, step: int) -> Response:
    """Return the response to an accepted action; `previous` is the user's last accepted one, and its round."""
    if previous is not None and previous[0] == step:
        return Response(ACCEPTED, f"{OVERWRITTEN} {previous[1]}")
    return IS_ACCEPTED


class Registration(Struct, frozen=True):
    """A registration whose name and password are checked, as the room's rules see it."""

    name: str
    with_password: bool
    phase: str
    open: bool
    """Whether the room takes new users."""
    stopping: str
    """Why nobody can register any more; empty: somebody can."""
    no_games: str
    """Why no game can start now."""
    known: bool
    """Whether a user of that name is in the room."""
    returns: bool
    """Whether it is that user."""
    next_registration: Milliseconds


def registration_refused(asked: Registration) -> RequestRefused | None:
    """Return why a client cannot register. None: it can, or it is the user that registered before."""
    if asked.stopping:
        return RequestRefused(UNAVAILABLE, "CLOSING", asked.stopping)
    if asked.open and not asked.known:
        return RequestRefused(UNAVAILABLE, "UNAVAILABLE", asked.no_games) if asked.no_games else None
    if asked.returns:
        return None
    if asked.open:
        words = f"{asked.name} is taken: {TAKEN[not asked.with_password]}"
        return RequestRefused(CONFLICT, "NAME_TAKEN", words)
    left = {"time_left": asked.next_registration}
    if asked.known:
        return RequestRefused(CONFLICT, "NAME_TAKEN", "a user of that name plays", left)
    over = "the game is over, and the next one can be joined soon"
    return RequestRefused(CONFLICT, "REGISTRATION_CLOSED", over if asked.phase == FINISHED else "the game runs", left)
