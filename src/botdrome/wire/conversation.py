"""Conversation: one client's side of a protocol, from its first byte to its last, without I/O.

A conversation is told what the client sent, what the server decided, and the time. It returns bytes
for the client and commands for the server. With its seat it joins a writer, which is told what
happens at the table. `server/session.py` connects a conversation to a socket and executes the
commands that all protocols share; the protocol's server executes the others. Commands and replies
are plain data.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal, Protocol

import msgspec
from msgspec import Struct

from botdrome.games.game import Raw
from botdrome.games.reading import shown
from botdrome.match.events import Player
from botdrome.wire.framing.websocket import NORMAL, POLICY
from botdrome.wire.writers import MatchWriters

Seconds = float
"""On the connection's clock."""
TokenNeeded = Literal["always", "in its game", "never"]
"""When a client under the name of a registered bot needs the bot's token.

Where it does not, it is a guest.
"""
TOKEN_CHANGED = "the token was changed"


class Command:
    """Something that a conversation asks of the server."""

    __slots__ = ()


class Submit(Struct, Command, frozen=True, gc=False):
    """Make a move. `message` is what the client sent, for the flight record."""

    raw: Raw
    message: bytes


class RecordMessage(Struct, Command, frozen=True):
    """Put a message that is no move into the flight record, with a verdict for the bot's author."""

    message: bytes
    verdict: str


class Resign(Struct, Command, frozen=True):
    message: bytes
    reason: str = ""


class Close(Struct, Command, frozen=True):
    """Leave the table or the queue, and close the connection.

    `refused` is the metric's label if the client is at fault.
    """

    code: int = NORMAL
    reason: str = ""
    refused: str = ""


class Authenticate(Struct, Command, frozen=True, gc=False):
    """Log in as a registered bot. Without a game, bots of all games may log in."""

    name: str
    token: str
    game: str = ""
    version: str = ""


class Admit(Struct, Command, frozen=True):
    """Log in under a name: as the registered bot of that name, or as a guest."""

    name: str
    token: Any
    game: str
    needed: TokenNeeded = "in its game"
    version: str = ""


class AdmitGuest(Struct, Command, frozen=True):
    """Log in as a guest whose secret shows that a seat is its own.

    `match`: it comes back to its seat there.
    """

    name: str
    secret: str
    game: str
    match: str | None = None


class Redeliver(Struct, Command, frozen=True):
    """Deliver these messages again, one by one.

    They came during the login. Answered by Redelivered.
    """

    messages: tuple[bytes, ...]


class Reply:
    """Something that the server decided."""

    __slots__ = ()


class Admitted(Struct, Reply, frozen=True, gc=False):
    """The login succeeded.

    `name` is the client's name on this server, which for a guest may differ from the name it gave.
    """

    name: str
    game: str = ""


class LoginRefused(Struct, Reply, frozen=True):
    """The login failed. Empty words: the name or the token is wrong. `try_later`: the server is at
    fault. `banned`: the operator has banned the name or the address.
    """

    words: str = ""
    try_later: bool = False
    banned: bool = False


class Redelivered(Struct, Reply, frozen=True):
    """All messages that came during the login were delivered."""


class Seated(Struct, Reply, frozen=True, gc=False):
    """The client has a seat, and a match is about to start or goes on."""

    player: Player
    writers: MatchWriters
    moved: bool = False
    """The client had this seat at another node, and is told nothing."""


class Dismissed(Struct, Reply, frozen=True):
    """The match is over.

    `failed`: it could not be stored, so no result was told. `stopping`: the server stops.
    """

    failed: bool
    stopping: bool


class WaitLimit(Struct, Reply, frozen=True, gc=False):
    """The client waits for a table, at most for these seconds."""

    seconds: Seconds
    words: str


class CannotPlay(Struct, Reply, frozen=True):
    """The client cannot play. Clients that know such messages get the reason."""

    message: dict[str, Any]
    code: int = NORMAL


class NoMatchNow(CannotPlay, frozen=True):
    """No match begins at present. A client that knows no such message may go on waiting."""


class ContestComplete(Struct, Reply, frozen=True):
    """The client has met all others in the contest. It may leave, or wait for newcomers."""

    contest: str


class Removed(Struct, Reply, frozen=True):
    """The operator removed the client."""

    words: str


class TokenChanged(Struct, Reply, frozen=True):
    """The bot's token was changed, so its sessions end as if their connections were lost."""


class Unreadable(Struct, Reply, frozen=True):
    """The framing cannot read what the client sent."""

    why: str


class ReadsTooSlowly(Struct, Reply, frozen=True):
    """The client leaves too much unread.

    Its connection is about to be lost, so it gets no more messages.
    """


class EndOfInput(Struct, Reply, frozen=True):
    """The client sends no more, but may still read."""


Out = bytes | Command
Outs = Sequence[Out]


def refuse(words: str, code: int = POLICY, refused: str = "") -> Outs:
    """Tell a client that reads JSON why its connection is closed, and close it."""
    return msgspec.json.encode({"error": words}), Close(code, words, refused)


class Conversation(Protocol):
    """No method waits. Times are in seconds on one clock."""

    __slots__ = ()

    deadline: Seconds | None
    """When `wake` is due."""

    def begin(self, now: Seconds) -> Outs:
        """The client has connected."""
        return ()

    def receive(self, message: bytes, now: Seconds) -> Outs:
        """The client sent one whole message."""

    def answer(self, reply: Reply, now: Seconds) -> Outs:
        """The server decided something."""

    def wake(self, now: Seconds) -> Outs:
        """The deadline has passed."""
        return ()


# Token bucket: a rate limit. It receives the time, in seconds on any clock.


class TokenBucket:
    """Allow `size` messages at once, and `rate` a second in the long run."""

    __slots__ = ("_filled", "_rate", "_size", "left")

    def __init__(self, rate: float, size: int, now: float) -> None:
        self._rate, self._size, self.left = rate, size, float(size)
        self._filled = now

    def take(self, now: float) -> bool:
        """Return whether another message is allowed, and count it if so."""
        if self.left < 1 and self.wait(now):
            return False
        self.left -= 1
        return True

    def wait(self, now: float) -> float:
        """Return the seconds until the next message is allowed; 0 if it is allowed now."""
        self.left = min(self._size, self.left + (now - self._filled) * self._rate)
        self._filled = now
        return max(0.0, (1 - self.left) / self._rate)


# Features: words in a login that ask for more than the original of the protocol sends.
#
# A client that asks for nothing is sent exactly what the original sends, or its connection is
# closed without a message.

AGAIN = "again"
"""Battlebot: the connection stays open after a match, for the next one."""
DRAW = "draw"
"""Duel arena: a drawn board is announced as a draw."""
EXTRAS = "extras"
"""Battlebot: updates have the keys that we added."""
FRAMES = "frames"
"""Battlebot: the frames of a spectator, with the player's own view and its legal moves, in place of
Battlebot's messages.
"""
NOTICES = "notices"
"""Battlebot: messages that say why a wait or a connection ends."""
VIEWS = "views"
"""Battlebot: as `frames`, without the legal moves, which cost the server far more than the views in
some games.
"""


class BadLogin(Exception):
    """A login with a mistake; the message says what would be right. Empty: the original tells no
    reason.
    """


def read_features(login: Mapping[str, Any], known: tuple[str, ...]) -> frozenset[str]:
    """Return the words under `features` in a login, or raise BadLogin."""
    words = login.get("features")
    if words is None and "features" not in login:
        return frozenset()
    *others, last = [f'"{word}"' for word in known]
    allowed = f"{', '.join(others)} and {last}" if others else last
    if not isinstance(words, list):
        raise BadLogin(f"features is a list that may hold {allowed}, not {shown(words)}")
    for word in words:
        if word not in known:
            raise BadLogin(f"there is no feature {shown(word)}; features may hold {allowed}")
    return frozenset(words)


# Versions of bots: an optional key in the logins of all protocols.

LONGEST_VERSION = 64


def read_version(value: Any) -> str:
    """Return a version; empty: the login names none. Raise BadLogin."""
    if value is None:
        return ""
    if isinstance(value, str) and len(value) <= LONGEST_VERSION and value.isprintable():
        return value
    raise BadLogin(
        f"version is text of at most {LONGEST_VERSION} printable characters, not {shown(value)}"
    )


# Names: characters that no name may have, on any protocol.

UNSEEN = re.compile(
    "[\0-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200c\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff"
    "\U000e0000-\U000e0fff]"
)
"""Control characters, line ends, characters without width or that change the writing direction, and
lone surrogates. Spaces of all widths and the joiners of emoji are allowed.
"""

FILLER = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\uffa0]"
    "|(?<![\u0900-\u0dff\u2000-\u3300\U0001f000-\U0001faff\ufe0f])[\u200d\ufe00-\ufe0f]"
)
"""Invisible characters. Joiners and variation selectors may follow emoji and Indic letters."""
BLANKS = re.compile(r"^\s+|\s+$|\s{2,}|[^\S ]")
"""Spaces that look like none, or like another space."""


def unseen(name: str) -> bool:
    """Whether a name has an invisible character."""
    return FILLER.search(name) is not None


def written_out(name: str) -> str:
    """Return the name with invisible characters written out."""
    filled = FILLER.sub(lambda found: f"<U+{ord(found[0]):04X}>", name)
    return BLANKS.sub(
        lambda found: "".join(
            "\u2420" if one == " " else f"<U+{ord(one):04X}>" for one in found[0]
        ),
        filled,
    )


def can_be_shown(name: str) -> bool:
    return UNSEEN.search(name) is None and (not name or any(map(str.isprintable, name)))
