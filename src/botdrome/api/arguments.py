"""Values in requests and answers: games, names, limits and dates."""

from datetime import UTC, datetime

from botdrome.api.problems import Problem
from botdrome.catalogue import CATALOGUE
from botdrome.store.store import Epoch
from botdrome.wire.battlebot.conversation import LONGEST_CONTEST
from botdrome.wire.battlebot.messages import game_type
from botdrome.wire.conversation import can_be_shown

GAME_TYPES: dict[str, str] = {game_type(name): name for name in CATALOGUE}
"""NOUGHTS_AND_CROSSES is noughts-and-crosses."""


def game_called(name: str) -> str:
    """The name of a format, given it or its game type."""
    game = GAME_TYPES.get(name, name)
    if game not in CATALOGUE:
        raise Problem(f"there is no game {name!r}; there are {', '.join(CATALOGUE)}", 404)
    return game


LONGEST_LIST = 1000
SHORT_LIST = 50
LONGEST_OWNER = 200


def check_owner(owner: str) -> None:
    if len(owner) > LONGEST_OWNER:
        raise Problem(f"an owner has at most {LONGEST_OWNER} characters")
    if not can_be_shown(owner):
        raise Problem("an owner has printable characters only")


def check_contest(name: str) -> None:
    if not name or len(name) > LONGEST_CONTEST or "\0" in name:
        raise Problem(f"the name of a contest has 1 to {LONGEST_CONTEST} characters")


def storable(text: str) -> str:
    """A text that a database can look for."""
    if "\0" in text:
        raise Problem("a text must not contain the character NUL")
    return text


def original_limit(limit: int | None) -> int | None:
    """As in the original: no limit and 0 mean all (None), and the sign does not count."""
    return abs(limit or 0) or None


def original_offset(offset: int | None) -> int:
    if offset is not None and offset < 0:
        raise Problem(f"Skip value must be non-negative, but received: {offset}")
    return offset or 0


DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def javascript(epoch: Epoch) -> str:
    """`Sun Nov 15 2026 02:27:15 GMT+0000 (UTC)`, in any locale."""
    at = datetime.fromtimestamp(epoch / 1000, UTC)
    return f"{DAYS[at.weekday()]} {MONTHS[at.month - 1]} {at:%d %Y %H:%M:%S} GMT+0000 (UTC)"


def iso(epoch: Epoch) -> str:
    """`2026-11-15T02:27:15.123Z`."""
    return (
        datetime.fromtimestamp(epoch / 1000, UTC)
        .isoformat(timespec="milliseconds")
        .replace("+00:00", "Z")
    )


def epoch(text: str) -> Epoch:
    """Read a date or a moment in ISO 8601, in UTC unless it has an offset.

    Raise ValueError if it is neither, or out of range.
    """
    at = datetime.fromisoformat(text)
    try:
        return int((at.astimezone(UTC) if at.tzinfo else at.replace(tzinfo=UTC)).timestamp() * 1000)
    except OverflowError as error:
        raise ValueError(str(error)) from None
