"""Registration of users in a Bomberman room.

The store checks names and tokens; the rules are in `wire/bomber`.
"""

from msgspec.structs import replace

from botdrome.server.bomber.contest_rooms import ContestRooms
from botdrome.server.bomber.room import BomberRoom, SendReply
from botdrome.server.bomber.users import BomberUser
from botdrome.server.failures import log_failure
from botdrome.server.lobby.registry import Admission, Banned, Denied
from botdrome.store.contest_journal import ContestRefusal
from botdrome.store.store import BotEntry
from botdrome.wire.bomber.conversation import (
    CONFLICT,
    FORBIDDEN,
    UNAVAILABLE,
    RegisterUser,
    Registration,
    RequestRefused,
    RoomReply,
    registration_refused,
)
from botdrome.wire.bomber.state import FINISHED


async def register(room: BomberRoom, command: RegisterUser, address: str, reply: SendReply) -> None:
    reply(await _outcome(room, command, address))


async def _outcome(room: BomberRoom, command: RegisterUser, address: str) -> RoomReply:
    try:
        admission = await room.desk.registry.admit(
            command.name, command.password, room.game.name, "never"
        )
    except Banned as words:
        return RequestRefused(FORBIDDEN, "BANNED", str(words))
    except Denied as words:
        user = room.named(command.name)  # the name may have been registered meanwhile
        if _returns(room, command, address, user):
            return room.registered(user)
        return RequestRefused(FORBIDDEN, "NAME_TAKEN", str(words))
    except Exception:
        log_failure("a bot could not be looked up")
        return RequestRefused(UNAVAILABLE, "UNAVAILABLE", "names cannot be looked up now")
    admission = replace(admission, version=command.version)
    try:
        if (contests := room.contest_rooms) is not None and (
            user := _contest_user(room, contests, command, admission, address)
        ):
            return contests.registered(user)
    except ContestRefusal as problem:
        return RequestRefused(CONFLICT, "VERSION_REFUSED", str(problem))
    return _entered(room, command, admission, address)


def _entered(
    room: BomberRoom, command: RegisterUser, admission: Admission, address: str
) -> RoomReply:
    known, closing = room.named(admission.name), room.desk.closing
    enters = known is None and room.registering
    asked = Registration(
        command.name,
        with_password=bool(command.password),
        phase=room.state.phase,
        open=room.registering,
        stopping=room.desk.refusal if closing else "",
        no_games=room.desk.refusal,
        known=known is not None,
        returns=not closing
        and not enters
        and _returns(room, command, address, known, admission.bot),
        next_registration=room.until_registration(),
    )
    refused = registration_refused(asked)
    if refused is not None:
        return refused
    if enters:
        known = room.enter(command.name, admission, command.password, address)
    return room.registered(known)


def _contest_user(
    room: BomberRoom,
    contests: ContestRooms,
    command: RegisterUser,
    admission: Admission,
    address: str,
) -> BomberUser | None:
    """Return the user that plays in a contest under this name, or let it wait for its next match
    there.
    """
    known = contests.named(admission.name)
    if known is not None and known.is_known_by(admission.bot, command.password, address):
        return known
    if known is not None or room.desk.refusal or not contests.expects(room.plan, admission):
        return None
    return contests.enter(room.plan, command.name, admission, command.password, address)


def _returns(
    room: BomberRoom,
    command: RegisterUser,
    address: str,
    user: BomberUser | None,
    bot: BotEntry | None = None,
) -> bool:
    """Return whether the client is that user. During a game it must send its password or token."""
    if (
        user is None
        or room.state.phase == FINISHED
        or (not command.password and not room.registering)
    ):
        return False
    guesses = room.desk.registry.guesses
    if command.password and guesses.spent(command.name):
        return False
    right = user.is_known_by(bot, command.password, address)
    if command.password:
        guesses.note(command.name, right)
    return right
