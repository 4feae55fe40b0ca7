"""One Bomberman client's side of the protocol, over HTTP or a WebSocket, without I/O.

A request becomes a command for the room, and the room's reply becomes an answer. HTTP requests
share no connection, so a conversation lasts for one request or for one WebSocket; the room
remembers the user between them.
"""

from collections.abc import Collection, Sequence
from functools import lru_cache
from typing import Any

import msgspec
from msgspec import Struct

from botdrome.games.bomberman import ACTIONS, WORDS, Bomberman, action_in
from botdrome.games.game import IllegalMove
from botdrome.match.events import Began, Ended, Late, Played, Player, Refused
from botdrome.match.match import News
from botdrome.match.terms import Milliseconds
from botdrome.wire.bomber.request import (
    DEFAULT,
    BadRequest,
    Message,
    Shape,
    read_message,
    read_name,
    read_number,
)
from botdrome.wire.bomber.state import FINISHED, REGISTRATION, State, StateWriter, told_death
from botdrome.wire.conversation import (
    BadLogin,
    Close,
    Command,
    Conversation,
    Outs,
    Reply,
    Seconds,
    TokenBucket,
    read_version,
)
from botdrome.wire.framing.websocket import POLICY
from botdrome.wire.writers import MatchStatus, PlayerMessages

# The responses of the Bomberman API, and the writer for its users at a table.

ENCODER = msgspec.json.Encoder()
ACCEPTED, CANNOT_MOVE, DEAD, DECLINED = "ACCEPTED", "CANNOT_MOVE", "DEAD", "DECLINED"
OWN_WORDS = {word: WORDS[action] for word, action in ACTIONS.items()}
"""The action's own word for each of the words for it, as long as they are in capitals."""
OVERWRITTEN, TOO_LATE, GAME_OVER, NOT_STARTED = (
    "OVERWRITTEN",
    "TOO_LATE",
    "GAME_OVER",
    "NOT_STARTED",
)


class Response(Struct, frozen=True, cache_hash=True):
    """The outcome of an action: the document's word, a more exact word, and a sentence."""

    word: str
    information: str = ""
    sentence: str = ""

    def fields(self, wrapped: bool) -> dict[str, Any]:
        """As the keys of a message; wrapped, all that is not accepted is DECLINED, as in the
        document's example.
        """
        told = {"response": DECLINED if wrapped and self.word != ACCEPTED else self.word}
        if self.information:
            told["information"] = self.information
        if self.sentence:
            told["detail"] = self.sentence
        return told


@lru_cache(maxsize=4096)
def opening(response: Response, wrapped: bool) -> bytes:
    """Return the response as JSON without its closing bracket."""
    return ENCODER.encode(response.fields(wrapped))[:-1]


JUDGED = b'%b,"state_number":%d,"time_left":%d}'
"""The answer to an action, after its `opening`."""

IS_ACCEPTED = Response(ACCEPTED)
IS_DEAD = Response(DEAD, DEAD, "your user is dead")
IS_OVER = Response(CANNOT_MOVE, GAME_OVER, "the game is over")
HAS_NOT_BEGUN = Response(CANNOT_MOVE, NOT_STARTED, "the game has not begun")
CAME_LATE = Response(CANNOT_MOVE, TOO_LATE, "the round of that state_number is over")
IS_AHEAD = Response(CANNOT_MOVE, TOO_LATE, "the round of that state_number has not begun")
"""There is one word for every state_number but that of the round that runs."""


def read_action(value: Any) -> str:
    """The action's own word, from any of the words for it."""
    try:
        return WORDS[action_in({"action": value})]
    except IllegalMove as fault:
        word, _, sentence = str(fault).partition(": ")
        raise BadRequest(word, sentence.replace("WAIT,", "WAIT, STATE,")) from None


@lru_cache(maxsize=4096)
def refusal(why: str) -> Response:
    """The rules begin their refusals with a word for programs."""
    word, _, sentence = why.partition(": ")
    return (
        Response(CANNOT_MOVE, word, sentence)
        if sentence
        else Response(CANNOT_MOVE, CANNOT_MOVE, why)
    )


def refusal_in(verdict: str) -> Response:
    """Return the response to an action with this verdict of the table, which refused it."""
    _, illegal, why = verdict.partition("illegal: ")
    return refusal(why) if illegal else CAME_LATE


class BomberWriter:
    """Writes what users of the API could ask for, for their flight records: they are
    sent nothing.
    """

    def __init__(self, wrapped: bool, names: Sequence[str] = ()) -> None:
        self._wrapped, self._names = wrapped, names

    def on_news(
        self, news: News, status: MatchStatus, players: Collection[Player]
    ) -> PlayerMessages:
        """The numbers of the states that can be asked for from now on, and what was refused."""
        told: PlayerMessages = {}
        for event, position in news:
            if isinstance(event, Played):
                moment = {"state_number": event.step + 2, "time_left": status.time_left}
                _to_all(told, players, moment | self._deaths(position))
            elif isinstance(event, Refused):
                self._to_one(told, players, event.player, refusal(event.why))
            elif isinstance(event, Late):
                self._to_one(told, players, event.player, CAME_LATE)
            elif isinstance(event, Began):
                _to_all(told, players, {"state_number": 1, "time_left": status.time_left})
            elif isinstance(event, Ended):
                _to_all(told, players, {"phase": "FINISHED"})
        return told

    def _deaths(self, position: Any) -> dict[str, Any]:
        """Those of the round that was just played."""
        assert isinstance(position, Bomberman)
        if None not in position.at:
            return {}
        dead = [
            {"user_name": name} | told_death(death, self._names, position.fuse)
            for name, death in zip(self._names, position.deaths, strict=False)
            if death is not None and death.round == position.round - 1
        ]
        return {"deaths": dead} if dead else {}

    def _to_one(
        self, told: PlayerMessages, players: Collection[Player], player: Player, response: Response
    ) -> None:
        if player in players:
            message = ENCODER.encode(response.fields(self._wrapped))
            told[player] = [*told.get(player, ()), message]


def _to_all(told: PlayerMessages, players: Collection[Player], fields: dict[str, Any]) -> None:
    """Players share a list, so that it is recorded once for all."""
    messages = [ENCODER.encode(fields)]
    if not told:
        return told.update(dict.fromkeys(players, messages))
    for player in players:
        told[player] = told.get(player, []) + messages
    return None


OK, BAD, FORBIDDEN, NOT_FOUND, CONFLICT, UNAVAILABLE = 200, 400, 403, 404, 409, 503
TAKEN = (
    "its user has another password",
    "its user registered with a password or from another address",
)
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


class UserRegistered(Struct, Reply, frozen=True):
    user_id: str
    time_left: Milliseconds


class RequestRefused(Struct, Reply, frozen=True):
    status: int
    word: str
    sentence: str
    more: dict[str, Any] = {}
    """Keys that are added to the answer."""


class UserState(Struct, Reply, frozen=True):
    """The room's state, as one user is told it."""

    writer: StateWriter
    player: int | None
    """The user's seat; None: it has none, or it is not known."""
    time_left: Milliseconds


class ActionJudged(UserState, frozen=True):
    response: Response
    number: int
    """The number of the state that the action answers."""


RoomReply = UserRegistered | RequestRefused | ActionJudged | UserState


class BomberConversation(Struct, frozen=True):
    """It keeps nothing of what was said: on HTTP each request has its own."""

    shape: Shape = DEFAULT
    with_state: bool = False
    wrapped: bool = False
    """The room's switch `wrapped_responses`."""
    may_wait: bool = False
    """Whether a request may wait for the next state."""
    user_id: str | None = None
    """For messages of a WebSocket that name none."""

    def receive(self, message: Message) -> RoomCommand:
        """Return what the client asks of the room.

        BadRequest if the message cannot be understood.
        """
        action, user_id = message.get("action"), message.get("user_id", self.user_id)
        if action is None:
            return self._registration(message)
        word = OWN_WORDS.get(action) if type(action) is str else None
        if word is None:
            if wants_state(message):
                after = read_number(message.get("after"), "after") if self.may_wait else None
                return ReadState(user_id, after)
            word = read_action(action)
        number = (
            read_number(message["state_number"], "state_number")
            if "state_number" in message
            else None
        )
        if user_id is None or user_id == "":
            raise BadRequest("MISSING_FIELD", "user_id is missing")
        return Act(user_id, word, number)

    def _registration(self, message: Message) -> RegisterUser:
        if "user_name" not in message:
            raise BadRequest(
                "MISSING_FIELD", "action is missing, or user_name if this is a registration"
            )
        version, name = _version(message.get("version")), read_name(message["user_name"])
        return RegisterUser(name, _password(message.get("password")), version)

    def answer(self, reply: RoomReply) -> UserAnswer:
        if isinstance(reply, ActionJudged):
            response, left = reply.response, reply.time_left
            if not (self.with_state or self.shape.python):  # nearly always
                return OK, JUDGED % (opening(response, self.wrapped), reply.number, left), b""
            fields = response.fields(self.wrapped)
            if self.with_state:
                return OK, *self._told(reply, fields)
            fields["state_number"], fields["time_left"] = reply.number, left
            return OK, self.shape.spelled(fields), b""
        if isinstance(reply, UserState):
            return OK, *self._told(reply)
        if isinstance(reply, UserRegistered):
            fields = {"user_id": reply.user_id, "time_left": reply.time_left}
            return OK, self.shape.spelled(fields), b""
        return reply.status, declined(self.shape, reply.word, reply.sentence, **reply.more), b""

    def _told(self, user: UserState, fields: dict[str, Any] | None = None) -> tuple[bytes, bytes]:
        return user.writer.told(self.shape, user.time_left, user.player, fields)


class BomberSocketConversation(Conversation):
    """The same over a WebSocket: one message per frame, and the server pushes every new state."""

    deadline = None

    def __init__(
        self,
        talk: BomberConversation,
        message_rate: float,
        message_burst: int,
        now: Seconds,
        fault: BadRequest | None = None,
    ) -> None:
        """`fault`: the URL cannot be understood."""
        self._talk, self._fault = talk, fault
        self._limit = TokenBucket(message_rate, message_burst, now)

    def begin(self, now: Seconds) -> Outs:
        return (
            (FollowRoom(),)
            if self._fault is None
            else self._refuse(self._fault.word, self._fault.sentence)
        )

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


def _password(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    raise BadRequest("BAD_FIELD", "password is text")


def _version(value: Any) -> str:
    try:
        return read_version(value)
    except BadLogin as problem:
        raise BadRequest("BAD_FIELD", str(problem)) from None


# The rules of a room.


def refused_before(
    state: State, player: Player, over: bool, running: int, number: int | None
) -> tuple[Response | None, int]:
    """Return the response to an action that is not tried, and the number of the state that it
    answers. None: try it.

    `over`: there is a result. `running` is the number of the state whose round runs, whether or not
    the last round was resolved in time. `number` is that of the action.
    """
    if state.phase == REGISTRATION:
        return HAS_NOT_BEGUN, 0
    if over or state.phase == FINISHED:
        return IS_OVER, state.number
    if state.place(player) is None:
        return IS_DEAD, running
    if number is not None and number != running:
        return IS_AHEAD if number > running else CAME_LATE, running
    return None, running


def accepted(previous: tuple[int, str] | None, step: int) -> Response:
    """Return the response to an accepted action; `previous` is the user's last accepted one, and
    its round.
    """
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
    """Return why a client cannot register.

    None: it can, or it is the user that registered before.
    """
    if asked.stopping:
        return RequestRefused(UNAVAILABLE, "CLOSING", asked.stopping)
    if asked.open and not asked.known:
        return (
            RequestRefused(UNAVAILABLE, "UNAVAILABLE", asked.no_games) if asked.no_games else None
        )
    if asked.returns:
        return None
    if asked.open:
        words = f"{asked.name} is taken: {TAKEN[not asked.with_password]}"
        return RequestRefused(CONFLICT, "NAME_TAKEN", words)
    left = {"time_left": asked.next_registration}
    if asked.known:
        return RequestRefused(CONFLICT, "NAME_TAKEN", "a user of that name plays", left)
    over = "the game is over, and the next one can be joined soon"
    return RequestRefused(
        CONFLICT, "REGISTRATION_CLOSED", over if asked.phase == FINISHED else "the game runs", left
    )
