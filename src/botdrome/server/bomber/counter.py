"""Counter: what becomes of one of the document's messages, whichever way it came."""

from collections.abc import Callable
from typing import Any, Protocol

from msgspec import Struct

from botdrome.games.bomberman_actions import WORDS
from botdrome.server.bomber.mailbox import Mailbox
from botdrome.server.bomber.room import Room
from botdrome.server.failures import log_failure
from botdrome.server.lobby.registry import Banned, Denied
from botdrome.server.tables.table import Table
from botdrome.store.store import BotEntry
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
from botdrome.wire.bomber.request import BadRequest, Message, read_name, read_number
from botdrome.wire.bomber.shape import Shape
from botdrome.wire.bomber.state import FINISHED, REGISTRATION


class Reply(Protocol):
    """Takes the status and the body of an answer, the body in one piece or in two."""

    def __call__(self, status: int, body: bytes, rest: bytes = b"", /) -> None: ...


Entered = Callable[[Mailbox], None]
"""Told which user has registered, before that is answered."""


MOVES = {word: ({"action": word}, b'{"action":"%s"}' % word.encode()) for word in WORDS}
"""What a word is for the table and in the record: there is no user_id in it."""
TAKEN = ("its user has another password", "its user registered with a password or from another address")
"""Why a name cannot be had, with a password and without."""
OK, BAD, FORBIDDEN, NOT_FOUND, CONFLICT, UNAVAILABLE = 200, 400, 403, 404, 409, 503


def declined(shape: Shape, word: str, sentence: str, **more: object) -> bytes:
    return shape.spelled({"response": DECLINED, "information": word, "detail": sentence} | more)


def wants_state(message: Message) -> bool:
    action = message.get("action")
    return isinstance(action, str) and action.upper() == "STATE"


def registers(message: Message) -> bool:
    return message.get("action") is None and "user_name" in message


def register(room: Room, message: Message, address: str, shape: Shape, reply: Reply, entered: Entered = lambda _: None) -> None:
    """Answer a registration, though not at once. BadRequest if it cannot be understood."""
    form = Form(read_name(message["user_name"]), _password(message.get("password")), address)
    room.desk.tasks.start(_register(room, form, shape, reply, entered))


def serve(room: Room, message: Message, shape: Shape, with_state: bool, reply: Reply) -> None:
    """Answer any other message. BadRequest if it cannot be understood."""
    if message.get("action") is None:
        raise BadRequest("MISSING_FIELD", "action is missing, or user_name if this is a registration")
    if wants_state(message):
        return reply(OK, *room.told(shape, room.user(message.get("user_id"))))
    return _act(room, message, shape, with_state, reply)


def _password(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    raise BadRequest("BAD_FIELD", "password is text")


# Registration.


class Form(Struct, frozen=True):
    """What is said at registration."""

    name: str
    password: str | None
    address: str


async def _register(room: Room, form: Form, shape: Shape, reply: Reply, entered: Entered) -> None:
    try:
        admission = await room.desk.registry.admit(form.name, form.password, room.game.name, "never")
    except Banned as words:
        return reply(FORBIDDEN, declined(shape, "BANNED", str(words)))
    except Denied as words:
        guest = _registered_before(room, form, room.named(form.name))  # the name may have been registered since
        if guest is not None:
            return _welcome(room, guest, shape, reply, entered)
        return reply(FORBIDDEN, declined(shape, "NAME_TAKEN", str(words)))
    except Exception:
        log_failure("a bot could not be looked up")
        return reply(UNAVAILABLE, declined(shape, "UNAVAILABLE", "names cannot be looked up now"))
    if room.desk.closing:
        return reply(UNAVAILABLE, declined(shape, "CLOSING", room.desk.refusal))
    known = room.named(admission.name)
    if known is None and room.registering and room.desk.refusal:
        return reply(UNAVAILABLE, declined(shape, "UNAVAILABLE", room.desk.refusal))
    if known is None and room.registering:
        known = room.enter(form.name, admission, form.password, form.address)
        return _welcome(room, known, shape, reply, entered)
    user = _registered_before(room, form, known, admission.bot)
    if user is not None:
        return _welcome(room, user, shape, reply, entered)
    if room.registering:
        return reply(CONFLICT, declined(shape, "NAME_TAKEN", f"{form.name} is taken: {TAKEN[not form.password]}"))
    return reply(CONFLICT, _closed(room, known is not None, shape))


def _registered_before(room: Room, form: Form, known: Mailbox | None, bot: BotEntry | None = None) -> Mailbox | None:
    """The user, if it registers again. Once the game runs, its password or token is needed for that."""
    if known is None or room.state.phase == FINISHED or (not form.password and not room.registering):
        return None
    guesses = room.desk.registry.guesses
    if form.password and guesses.spent(form.name):
        return None
    right = known.is_known_by(bot, form.password, form.address)
    if form.password:
        guesses.note(form.name, right)
    return known if right else None


def _welcome(room: Room, user: Mailbox, shape: Shape, reply: Reply, entered: Entered) -> None:
    entered(user)
    reply(OK, shape.spelled({"user_id": user.user_id, "time_left": room.time_left()}))


def _closed(room: Room, taken: bool, shape: Shape) -> bytes:
    runs = "the game is over, and the next one can be joined soon" if room.state.phase == FINISHED else "the game runs"
    word, sentence = ("NAME_TAKEN", "a user of that name plays") if taken else ("REGISTRATION_CLOSED", runs)
    return declined(shape, word, sentence, time_left=room.until_registration())


# Actions.


def _act(room: Room, message: Message, shape: Shape, with_state: bool, reply: Reply) -> None:
    word = read_action(message["action"])
    number = read_number(message["state_number"], "state_number") if "state_number" in message else None
    user_id = message.get("user_id")
    if user_id is None or user_id == "":
        raise BadRequest("MISSING_FIELD", "user_id is missing")
    user = room.user(user_id)
    if user is None:
        return reply(NOT_FOUND, declined(shape, "UNKNOWN_USER", "there is no such user_id in this room", **room.moment()))
    user.traffic.came()
    response, counted = _outcome(room, user, word, number)
    fields = response.fields(room.plan.wrapped_responses)
    if with_state:
        return reply(OK, *room.told(shape, user, fields))
    fields["state_number"], fields["time_left"] = counted, room.time_left()
    return reply(OK, shape.spelled(fields))


def _outcome(room: Room, user: Mailbox, word: str, number: int | None) -> tuple[Response, int]:
    """What becomes of an action, and the number of the state that it is an answer to."""
    table, player = room.table, user.player
    if table is None or player is None or room.state.phase == REGISTRATION:
        return HAS_NOT_BEGUN, 0
    match = table.match
    if match.result is not None or room.state.phase == FINISHED:
        return IS_OVER, room.state.number
    move, note = MOVES[word]
    deadline = match.deadline
    # The number of the state whose round now runs, whether or not the last one was resolved in time.
    running = match.steps + (1 if deadline is None or table.now() <= deadline else 2)
    if room.state.place(player) is None:
        table.note(player, note, "not taken: the user is dead")
        return IS_DEAD, running
    if number is not None and number != running:
        ahead = number > running
        table.note(player, note, "not taken: too early" if ahead else "not taken: too late")
        return IS_AHEAD if ahead else CAME_LATE, running
    table.submit(player, move, note)
    return _verdict(room, user, table, word, running)


def _verdict(room: Room, user: Mailbox, table: Table, word: str, step: int) -> tuple[Response, int]:
    """What the table has made of an action that was submitted for the round with this number."""
    assert user.player is not None
    match, refused = table.match, room.refused(user.player)
    if refused is None and match.result is not None and (step > match.steps or not room.plan.early):
        refused = IS_OVER  # the round before was overdue, and has ended the game
    if refused is not None:
        dead = match.result is None and room.state.place(user.player) is None
        return IS_DEAD if dead else refused, step
    previous, user.acted = user.acted, (step, word)
    if previous is not None and previous[0] == step:
        return Response(ACCEPTED, f"{OVERWRITTEN} {previous[1]}"), step
    return IS_ACCEPTED, step
