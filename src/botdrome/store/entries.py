"""What a store keeps: bots and their identity, matches, notes; and the errors of a store."""

import hashlib
import re
import unicodedata
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import cache, lru_cache
from typing import Any, Literal

from msgspec import Struct

from botdrome.match.events import Result
from botdrome.match.record import Seed
from botdrome.match.terms import PaceName

Epoch = int
"""Milliseconds since 1970."""


def iso(epoch: Epoch) -> str:
    """`2026-11-15T02:27:15.123Z`."""
    at = datetime.fromtimestamp(epoch / 1000, UTC)
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


Status = Literal["running", "ended", "aborted"]
BotOrder = Literal["registered", "name", "owner", "game"]


class NameTaken(Exception):
    """A bot with that name exists. Names are unique over all games."""


class LooksAlike(NameTaken):
    """The name looks like that of a registered bot, which is the argument."""


class RefusedUpload(Exception):
    """A change of uploaded versions that cannot be made. The text says why."""


class UnknownBot(Exception):
    """No bot is registered with that name."""


class UnknownMatch(Exception):
    """No match has that id."""


class AlreadyOver(Exception):
    """The match has another end already, for example because the next server aborted it."""


class BadStoreUrl(ValueError):
    """Not the URL of a store."""


class StoreUnavailable(Exception):
    """The store cannot be opened, read or written at present. A change may be lost."""


class Fenced(StoreUnavailable):
    """Other nodes have declared this node dead, so it can store nothing any more."""


class StoreDamaged(StoreUnavailable):
    """The database says that its file is damaged."""


class BrokenMatch(Exception):
    """What is stored of a match is damaged. The text is for people."""


class Unstorable(ValueError):
    """A value that no database can store, such as a time beyond 64 bits."""


class BadExport(ValueError):
    """A file that `export` did not write, or that is incomplete; the text has the line and the
    reason.
    """


class UnknownClass(Exception):
    """No class has that name."""

    def __str__(self) -> str:
        return f"there is no class {self.args[0]!r}"


class ClassRefusal(Exception):
    """A change that a class does not allow; the text has the reason."""


class BotEntry(Struct, frozen=True):
    """A registered bot. `token_hash` is the SHA-256 of its token, in hexadecimal; None: the token
    was revoked.
    """

    name: str
    game: str
    owner: str
    registered: Epoch
    token_hash: str | None
    url: str | None = None
    """The URL at which the server calls it; None: it connects to the server."""
    hosted: str | None = None
    """The hash of the credential with which a runner logs it in; empty: no runner has it yet; None:
    it is not hosted.
    """


class MatchEntry(Struct, frozen=True):
    """A match without its record and flight records, which are fetched separately."""

    id: str
    game: str
    players: tuple[str, ...]
    """Names in the order of the match's players."""
    started: Epoch
    contest: str | None = None
    options: dict[str, Any] = {}
    seed: Seed = 0
    status: Status = "running"
    ended: Epoch | None = None
    result: Result | None = None
    view: dict[str, Any] | None = None
    """The public view of the last position, once it has ended."""
    reason: str = ""
    """Why it was aborted."""
    owners: tuple[str, ...] = ()
    """The owner of each player's seat (see `server/lobby/clients.py`); empty: stored by an older
    version.
    """
    pace: PaceName = "usual"
    """Matches at any other pace are for people, and are unrated."""
    node: str = ""
    """The node that plays it; empty: a single server does. The store fills it in."""
    former: tuple[str, ...] = ()
    """The dead nodes that played it before, oldest first."""
    versions: tuple[str, ...] = ()
    """The version of the bot at each seat, where it named one; empty: no bot did."""
    void: str = ""
    """Why it is unrated: a runner of hosted bots was lost. Empty: it counts."""

    def version(self, player: int) -> str:
        """Return the version of a player's bot; empty: it named none."""
        return self.versions[player] if self.versions else ""


AT = " @ "
"""Between the name of a participant and that of its class, in the owner of its bots."""


class ClassEntry(Struct, frozen=True):
    """A class, without its participants."""

    name: str
    label: str
    """The part of its join code that names the class."""
    secret: str
    """The other part."""
    expires: Epoch
    """When its join code expires."""
    created: Epoch
    closed: Epoch | None = None
    """None: it is open."""


class Participant(Struct, frozen=True):
    """A participant of a class, with one of its tokens."""

    token_hash: str
    class_name: str
    name: str
    joined: Epoch


class Note(Struct, frozen=True):
    """A named value, such as a player's line in a table. A later note replaces an earlier one of
    the same name.
    """

    book: str
    name: str
    value: dict[str, Any]


class ContestResult(Struct, frozen=True):
    """The result of a fixture of a contest."""

    contest: str
    fixture: str
    result: Any


AnyNote = Note | ContestResult


class Finish(Struct, frozen=True):
    """The end of a match, or of one of its boards.

    After a board the status is still `running`, and `result` is the result if the match is aborted
    now. It is hidden while the match runs, and counts only if the server crashes before it stores
    the end.
    """

    id: str
    status: Status
    ended: Epoch | None
    result: Result | None
    view: dict[str, Any]
    record: bytes
    """The match file."""
    flights: tuple[bytes, ...] = ()
    """The flight record of each player, packed."""
    reason: str = ""
    notes: tuple[AnyNote, ...] = ()
    """Stored in the same transaction."""


class Wanted(Struct, frozen=True):
    """The conditions of a list of matches; all must hold."""

    game: str | None = None
    contest: str | None = None
    all_of: Sequence[str] = ()
    """Players that all took part."""
    any_of: Sequence[str] = ()
    """At least one of these players took part."""
    status: Status | None = None
    winner: str | None = None
    """The only winner."""
    since: Epoch | None = None
    """Matches that started at this time or later."""
    until: Epoch | None = None
    """Matches that started before this time."""
    oldest_first: bool = False
    limit: int | None = None
    offset: int = 0


class ContestLine(Struct, frozen=True):
    """The results of one bot in a contest. Only ended matches count."""

    name: str
    wins: int
    draws: int
    losses: int


Meetings = Mapping[tuple[str, ...], int]
"""The number of matches per group of players, in the order of their seats."""


class Source(Struct, frozen=True):
    """The location of a store: the kind of the database, and its file or URL."""

    kind: Literal["sqlite", "postgresql"]
    place: str


# Identity: the hash of a token, and names that look alike (confusable characters, UTS 39).


def hashed(token: str) -> str:
    """Return the SHA-256 that the store keeps in place of a token."""
    return hashlib.sha256(token.encode(errors="surrogatepass")).hexdigest()


IGNORABLE = re.compile(
    "[\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
"""Invisible characters."""
BLANK = re.compile("[\\s\u2800]+")


SHORT = 64
"""Names up to this length are cached: bots log in again and again."""


def likeness(name: str) -> str:
    """Return a key that is equal for names that look alike."""
    return _cached_likeness(name) if len(name) <= SHORT else _likeness(name)


def _likeness(name: str) -> str:
    compatible = unicodedata.normalize("NFKC", name)
    seen = BLANK.sub(" ", IGNORABLE.sub("", compatible)).strip()
    mapped = unicodedata.normalize("NFD", seen).translate(_prototypes())
    return unicodedata.normalize("NFD", mapped)


_cached_likeness = lru_cache(maxsize=4096)(_likeness)


def look_alike(one: str, other: str) -> bool:
    """Whether people confuse two names.

    ASCII letters are not confused: l, I and 1 differ in every font for programs.
    """
    if one == other or likeness(one) != likeness(other):
        return False
    return not (one.isascii() and other.isascii()) or one.split() == other.split() != []


@cache
def _prototypes() -> dict[int, str]:
    """Map each character to the representative of its look-alikes. Reading the list takes 0.1 s."""
    from confusable_homoglyphs.confusables import confusables_data  # type: ignore[import-untyped]

    found: dict[int, str] = {}
    for written, alike in confusables_data.items():
        if len(alike) == 1:  # else it is a prototype itself
            one, other = written.replace("\u200e", ""), alike[0]["c"].replace("\u200e", "")
            pair = len(confusables_data[alike[0]["c"]]) == 1
            if len(one) == 1 and not (
                pair and (not one.isascii(), one) < (not other.isascii(), other)
            ):
                found[ord(one)] = other
    return found
