"""Battlebot's conversation, the native one: login, waiting for a table, one match or several,
goodbye.
"""

import re
from functools import lru_cache
from typing import Any

import msgspec
from msgspec import UNSET, Struct

from botdrome.catalogue import CATALOGUE, CatalogueEntry
from botdrome.games.game import BadOption, Game
from botdrome.games.options import unusual, with_options
from botdrome.games.reading import BRIEF, UNREADABLE, TooManyValues, bounded, shown
from botdrome.match.events import Player
from botdrome.match.terms import PACES, PaceName
from botdrome.wire.battlebot.messages import (
    DECODER,
    BadPlayerMessage,
    Battlebot,
    PlayerFrames,
    battlebot_with_extras,
    game_type,
    player_views,
    read_action,
    reason_of,
)
from botdrome.wire.conversation import (
    AGAIN,
    EXTRAS,
    FRAMES,
    NOTICES,
    VIEWS,
    AdmitGuest,
    Admitted,
    Authenticate,
    BadLogin,
    CannotPlay,
    Close,
    Command,
    ContestComplete,
    Conversation,
    Dismissed,
    LoginRefused,
    NoMatchNow,
    Outs,
    RecordMessage,
    Removed,
    Reply,
    Resign,
    Seated,
    Seconds,
    Submit,
    TokenBucket,
    TokenChanged,
    WaitLimit,
    read_features,
    read_version,
)
from botdrome.wire.framing.websocket import INTERNAL, MALFORMED, NORMAL, POLICY, TRY_LATER
from botdrome.wire.writers import MakeWriter, MatchHeader

# Login: the first message of the native protocol.

ENCODER = msgspec.json.Encoder()
LONGEST_CONTEST = 1000
"""Characters of a contest's name."""
LONGEST_INVITE = 64
SHORTEST_SECRET, LONGEST_SECRET = 16, 200
"""Characters of a guest's secret, which alone proves that a seat is its own."""
PLAY_PATH = "/play"
"""The path of clients that know notices: they may connect while no match begins, and are told why.
"""
FAILED = b'{"authentication":"failed"}'
GAMES = {game_type(name): row for name, row in CATALOGUE.items()}


class Login(Struct, frozen=True, gc=False):
    game: str
    name: str
    password: str
    players: int
    options: dict[str, Any]
    """Options that differ from the defaults, so that equal wishes are equal values."""
    echoed: Any = UNSET
    """The contest as it was sent, which the answer repeats; UNSET: none was sent."""
    contest: str | None = None
    opponent: str | None = None
    match: str | None = None
    features: frozenset[str] = frozenset()
    pace: PaceName = "usual"
    invite: str | None = None
    guest: bool = False
    """True: the client is no registered bot, and `password` is a secret of its choice."""
    version: str = ""
    ladder: bool = False
    plain: bool = False
    """True: the client asks for nothing that the original does not know."""

    @property
    def frames(self) -> bool:
        """Whether the client gets frames in place of Battlebot's messages."""
        return not self.features.isdisjoint((FRAMES, VIEWS))

    @property
    def notices(self) -> bool:
        """Whether the client knows messages that the original never sends: it asked for them, or
        used a new key.
        """
        if self.plain:
            return False
        asked = not self.features.isdisjoint((AGAIN, FRAMES, NOTICES, VIEWS))
        return (
            asked
            or self.guest
            or self.pace != "usual"
            or any((self.opponent, self.match, self.invite, self.version, self.ladder))
        )

    def answer(self) -> bytes:
        """Return the answer to a good login. A contest is echoed as it was sent."""
        greeting = greeting_of(self.game, self.name)
        if self.echoed is UNSET:
            return greeting
        return greeting[:-1] + b',"contest":%b}' % ENCODER.encode(self.echoed)


@lru_cache(maxsize=256)
def greeting_of(game: str, name: str) -> bytes:
    """Return the answer to a good login without a contest."""
    return ENCODER.encode({"authentication": "OK", "gameType": game_type(game), "name": name})


def failed(why: str) -> bytes:
    """Return the answer to a bad login."""
    return ENCODER.encode({"authentication": "failed", "why": why}) if why else FAILED


class PlainLogin(Struct, rename={"game_type": "gameType"}, forbid_unknown_fields=True):
    """The keys of nearly all logins."""

    game_type: str
    name: str
    password: str


PLAIN_DECODER = msgspec.json.Decoder(PlainLogin)


@lru_cache(maxsize=256)
def read_plain_login(message: bytes) -> Login | None:
    """Return a login with the keys of nearly all logins; None: it is another one, or none.

    A bot sends the same login for each of its matches.
    """
    try:
        found = PLAIN_DECODER.decode(message)
    except UNREADABLE:
        return None
    row = GAMES.get(found.game_type)
    if row is None:
        return None
    players = max(2, row.game.players[0])
    return Login(row.name, found.name, found.password, players, {}, plain=True)


def read_login(message: Any) -> Login:
    """Return the login in a message, or raise BadLogin.

    It has a reason only for keys that the original lacks: its own failures are all alike.
    """
    if not isinstance(message, dict):
        raise BadLogin
    row = GAMES.get(_text(message, "gameType"))
    if row is None:
        raise BadLogin
    contest, guest = _contest(message.get("contest")), _guest(message)
    pace, invite = _pace(message, guest), _invite(message)
    game, players = _set_up(row, message.get("options"), message.get("players"))
    options = {} if game is row.game else unusual(game)
    opponent, match = _wanted(message, "opponent"), _wanted(message, "match")
    if opponent is not None and players != 2 and not opponent.startswith("house:"):
        raise BadLogin("an opponent can be named at a table of two only, unless it is a house bot")
    if contest is not None and (pace != "usual" or invite is not None):
        raise BadLogin("a contest is for bots at the usual pace, without an invite")
    if opponent is not None and invite is not None:
        raise BadLogin("a login has an opponent or an invite, not both")
    name = _text(message, "name")
    features = read_features(message, (AGAIN, EXTRAS, FRAMES, NOTICES, VIEWS))
    password = _secret(message) if guest else _text(message, "password")
    wishes = (message.get("contest", UNSET), contest, opponent, match, features, pace, invite)
    version = read_version(message.get("version"))
    ladder = message.get("ladder", False)
    if not isinstance(ladder, bool):
        raise BadLogin(f"ladder is true or false, not {shown(ladder)}")
    if ladder and (guest or players != 2 or pace != "usual" or contest or opponent or invite):
        raise BadLogin(
            "a ladder is for registered bots at tables of two and at the usual pace; leave out "
            "contest, opponent and invite"
        )
    return Login(row.name, name, password, players, options, *wishes, guest, version, ladder)


def _text(message: dict[str, Any], key: str) -> str:
    value = message.get(key)
    if not isinstance(value, str):
        raise BadLogin
    return value


def _contest(value: Any) -> str | None:
    """Return the contest.

    As in JavaScript, null, empty text, 0 and false are none; other values but text fail.
    """
    if value in (None, "", 0):
        return None
    if not isinstance(value, str):
        raise BadLogin
    if len(value) > LONGEST_CONTEST:
        raise BadLogin(
            f"the name of a contest has at most {LONGEST_CONTEST} characters, not {len(value)}"
        )
    return value


def _wanted(message: dict[str, Any], key: str) -> str | None:
    value = message.get(key)
    if value is not None and not isinstance(value, str):
        raise BadLogin(f"{key} is text")
    return value or None


def _guest(message: dict[str, Any]) -> bool:
    value = message.get("guest", False)
    if not isinstance(value, bool):
        raise BadLogin(f"guest is true or false, not {shown(value)}")
    return value


def _pace(message: dict[str, Any], guest: bool) -> PaceName:
    """Return the pace.

    Guests are people and play at a pace for people, at which matches are unrated.
    """
    value = message.get("pace", "slow" if guest else "usual")
    for pace in PACES[guest:]:
        if pace == value:
            return pace
    words = " or ".join(f'"{pace}"' for pace in PACES[guest:])
    raise BadLogin(f"the pace{' of a guest' * guest} is {words}, not {shown(value)}")


def _invite(message: dict[str, Any]) -> str | None:
    invite = _wanted(message, "invite")
    if invite is not None and len(invite) > LONGEST_INVITE:
        raise BadLogin(f"an invite has at most {LONGEST_INVITE} characters, not {len(invite)}")
    return invite


def _secret(message: dict[str, Any]) -> str:
    secret = message.get("secret")
    if isinstance(secret, str) and SHORTEST_SECRET <= len(secret) <= LONGEST_SECRET:
        return secret
    raise BadLogin(
        f"the secret of a guest is text of {SHORTEST_SECRET} to {LONGEST_SECRET} characters"
    )


def _set_up(row: CatalogueEntry, options: Any, given: Any) -> tuple[Game[Any], int]:
    """Return the game and the number of players, or raise BadLogin if the game does not
    allow them.
    """
    if options is None and given is None:
        return row.game, max(2, row.game.players[0])
    if options is not None and not isinstance(options, dict):
        raise BadLogin("options is an object")
    allowed = row.game.players
    players = max(2, allowed[0]) if given is None else given
    if type(players) is not int or players not in allowed:
        raise BadLogin(f"players is from {allowed[0]} to {allowed[-1]}")
    try:
        game = with_options(row.game, options or {})
        game.check(players)
    except BadOption as problem:
        raise BadLogin(str(problem)) from None
    return game, players


class Seek(Struct, Command, frozen=True, gc=False):
    """Find a table as the login says, or return to the match that it names.

    `message` is the login as it was sent: a session at another node begins with it.
    """

    login: Login
    message: bytes = b""


# Lone surrogates: JSON can write `\ud800` alone. JavaScript reads that; UTF-8 cannot encode it.

ESCAPE = re.compile(
    rb"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"  # both halves
    rb"|(\\u[dD][89a-fA-F][0-9a-fA-F]{2})"  # one of them
    rb"|\\.",  # another escape
    re.DOTALL,
)
MOST_ESCAPES = 1000
"""Escapes in a message that is read a second time, since each of them takes a call."""
UNKNOWN = rb"\ufffd"
"""The replacement character, which JavaScript too writes for a lone surrogate in UTF-8."""


def without_halves(json: bytes) -> bytes:
    return ESCAPE.sub(lambda escape: UNKNOWN if escape[1] else escape[0], json)


def value_of(message: bytes) -> Any:
    """Return the value of a message, lone surrogates or not.

    Raise UNREADABLE if it is no JSON or too large.
    """
    try:
        return DECODER.decode(message if len(message) <= BRIEF else bounded(message))
    except TooManyValues:
        raise
    except UNREADABLE:
        if not 0 < message.count(b"\\") <= MOST_ESCAPES:
            raise
        return DECODER.decode(without_halves(message))


LAST_MOMENT = 0.01
"""Seconds between the last message of a match and the close, as in the original."""
NOT_STORED = "the result could not be stored"
ONCE_MORE = {"again": True}
"""The message of a client that wants the next match, after a match with the feature `again`."""
NOT_ASKED = "you did not ask for the next match in time"


def _admit_guest(login: Login) -> AdmitGuest:
    return AdmitGuest(login.name, login.password, login.game, login.match)


def _is_resignation(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and value.keys() == {"resign"}
        and (value["resign"] is True or isinstance(value["resign"], str))
    )


class BattlebotConversation(Conversation):
    __slots__ = (
        "_admitted", "_between", "_limit", "_login", "_login_limit", "_login_message", "_over",
        "_player", "_wait_message", "deadline",
    )  # fmt: skip

    def __init__(
        self, login_limit: Seconds, message_rate: float, message_burst: int, now: Seconds
    ) -> None:
        self.deadline: Seconds | None = now + login_limit
        self._limit = TokenBucket(message_rate, message_burst, now)
        self._login: Login | None = None
        self._login_message = b""
        self._login_limit = login_limit
        self._admitted = self._over = self._between = False
        """`_between`: a match is over, and the client may ask for the next one."""
        self._player: Player | None = None
        self._wait_message = ""

    def resume(self, login_message: bytes) -> Login:
        """Go on with a client that another node has admitted."""
        login = self._login = read_login(value_of(login_message))
        self._login_message, self._admitted, self.deadline = login_message, True, None
        return login

    # What the client sends.

    def receive(self, message: bytes, now: Seconds) -> Outs:
        if self._over:
            return ()
        limit = self._limit
        if limit.left >= 1:
            limit.left -= 1  # take(), without the call
        elif not limit.take(now):
            return self._cut_off("flood", "too many messages")
        login = self._login
        if login is None:
            return self._read_login(message)
        try:
            value = value_of(message)
        except UNREADABLE as error:
            return self._misread(message, error)
        if not login.features:  # as the original's clients
            return () if self._player is None else (Submit(value, message),)
        if AGAIN in login.features and value == ONCE_MORE:
            return self._seek_again(login)
        if login.frames:
            return self._act(value, message)
        if AGAIN in login.features and _is_resignation(value):
            return self._resign(value["resign"], message)
        return () if self._player is None else (Submit(value, message),)

    def _seek_again(self, login: Login) -> Outs:
        """The next match is any match, also after one that the login named.

        A guest's name may be a bot's by now.
        """
        if not self._between:
            return self._explain({"error": "ask for the next match when this one is over"})
        self._between, self.deadline = False, None
        login = self._login = msgspec.structs.replace(login, match=None)
        return (_admit_guest(login) if login.guest else Seek(login, self._login_message),)

    def _resign(self, value: Any, message: bytes) -> Outs:
        return () if self._player is None else (Resign(message, reason_of(value)),)

    def _act(self, value: Any, message: bytes) -> Outs:
        """A client with frames names its moves, so that it can send other messages too."""
        try:
            action, raw = read_action(value)
        except BadPlayerMessage as problem:
            return self._explain({"error": str(problem)})
        if action == "ping":
            return self._explain({"pong": raw})
        if action == "resign":
            return self._resign(raw, message)
        return () if self._player is None else (Submit(raw, message),)

    def _misread(self, message: bytes, error: Exception) -> Outs:
        self._over = True  # no message goes before this close, as in the original
        return RecordMessage(message, f"unreadable: {error}"), Close(MALFORMED, "ERROR")

    def _read_login(self, message: bytes) -> Outs:
        self._login_message = message
        login = self._login = read_plain_login(message) if len(message) <= BRIEF else None
        if login is not None:
            return (Authenticate(login.name, login.password, login.game),)
        try:
            login = self._login = read_login(value_of(message))
        except UNREADABLE as error:
            return self._misread(message, error)
        except BadLogin as problem:
            return self._fail(failed(str(problem)))
        if login.guest:
            return (_admit_guest(login),)
        return (Authenticate(login.name, login.password, login.game, login.version),)

    # What the server decides.

    def answer(self, reply: Reply, now: Seconds) -> Outs:
        if self._over:
            return ()
        if type(reply) is Admitted:  # a match statement costs more; every match has these three
            return self._welcome()
        if type(reply) is Seated:
            return self._take_seat(reply)
        if type(reply) is Dismissed:
            return self._dismissed(reply, now)
        if type(reply) is WaitLimit and not self._explains:
            return ()
        return self._decided(reply, now)

    def _take_seat(self, reply: Seated) -> Outs:
        self.deadline, self._player = None, reply.player
        login = self._login
        assert login is not None
        if login.plain and not reply.moved:
            reply.writers.join(reply.player, Battlebot)
            return ()
        reply.writers.join(reply.player, self._make_writer())
        return () if reply.moved else self._name_match(reply.writers.header)

    def _decided(self, reply: Reply, now: Seconds) -> Outs:
        match reply:
            case WaitLimit() if self._explains:
                self.deadline, self._wait_message = now + reply.seconds, reply.words
            case LoginRefused():
                return self._refused(reply)
            case ContestComplete() if self._explains:
                return self._turn_away({"contest": reply.contest, "complete": True})
            case NoMatchNow() if not self._explains:
                return ()  # it would connect again at once
            case CannotPlay():
                return self._turn_away(reply.message, reply.code)
            case Removed():
                return self._cut_off("removed", reply.words)
            case TokenChanged():
                self._over = True
                return (Close(NORMAL, "the token was changed"),)
        return ()

    def _welcome(self) -> Outs:
        login, again = self._login, self._admitted
        assert login is not None
        self.deadline, self._admitted = None, True
        seek = Seek(login, self._login_message)
        if again:
            return (seek,)
        return (greeting_of(login.game, login.name) if login.plain else login.answer()), seek

    def _refused(self, reply: LoginRefused) -> Outs:
        """A client that takes no notices is told only that its login failed, as on the original."""
        if reply.try_later and self._explains:
            return self._turn_away({"error": reply.words}, TRY_LATER)
        return self._fail(failed(reply.words) if self._explains else FAILED)

    def _name_match(self, header: MatchHeader) -> Outs:
        """A client that plays several matches is told which one begins; frames tell it by
        themselves.
        """
        login = self._login
        assert login is not None
        return [msgspec.json.encode(header)] if AGAIN in login.features and not login.frames else ()

    def _make_writer(self) -> MakeWriter:
        login = self._login
        assert login is not None
        if login.frames:
            return PlayerFrames if FRAMES in login.features else player_views
        return battlebot_with_extras if EXTRAS in login.features else Battlebot

    def _dismissed(self, reply: Dismissed, now: Seconds) -> Outs:
        assert self._login is not None
        again = AGAIN in self._login.features and not (reply.failed or reply.stopping)
        self._player = None
        self._over, self._between = not again, again
        if again:
            self.deadline = now + self._login_limit
            return ()
        if reply.failed:
            return *self._explain({"error": NOT_STORED}), Close(INTERNAL, NOT_STORED)
        if reply.stopping:
            return (Close(),)
        self.deadline = now + LAST_MOMENT
        return ()

    # What happens at the table, and what does not happen in time.

    def wake(self, now: Seconds) -> Outs:
        self.deadline = None
        if self._over:
            return (Close(),)
        if not self._admitted:
            return self._fail(FAILED)
        return self._turn_away({"error": NOT_ASKED if self._between else self._wait_message})

    # How it ends.

    @property
    def _explains(self) -> bool:
        """False: the client gets no message that the original does not send, and is closed without
        one instead.
        """
        return self._login is not None and self._login.notices

    def _explain(self, message: dict[str, Any]) -> list[bytes]:
        return [msgspec.json.encode(message)] if self._explains else []

    def _fail(self, answer: bytes) -> Outs:
        self._over = True
        return answer, Close(refused="login")

    def _turn_away(self, message: dict[str, Any], code: int = NORMAL) -> Outs:
        self._over = True
        return *self._explain(message), Close(code)

    def _cut_off(self, refused: str, words: str) -> Outs:
        self._over = True
        return (
            RecordMessage(b"", words),
            *self._explain({"error": words}),
            Close(POLICY, words, refused),
        )
