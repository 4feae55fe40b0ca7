"""Login: the first message of the native protocol."""

from typing import Any

import msgspec
from msgspec import Struct

from botdrome.formats import FORMATS, Format
from botdrome.games.game import BadOption, Game
from botdrome.games.options import unusual, with_options
from botdrome.games.reading import shown
from botdrome.match.terms import PACES, PaceName
from botdrome.wire.battlebot.messages import game_type
from botdrome.wire.conversation import Command
from botdrome.wire.features import AGAIN, EXTRAS, FRAMES, NOTICES, VIEWS, BadFeatures, read_features
from botdrome.wire.versions import BadVersion, read_version

ENCODER = msgspec.json.Encoder()
LONGEST_CONTEST = 1000
"""Characters of a contest's name."""
LONGEST_INVITE = 64
SHORTEST_SECRET, LONGEST_SECRET = 16, 200
"""Characters of a guest's secret, which alone proves that a seat is its own."""
PLAY_PATH = "/play"
"""The path of clients that know notices: they may connect while no match begins, and are told why."""
FAILED = b'{"authentication":"failed"}'
GAMES = {game_type(name): row for name, row in FORMATS.items()}


class Login(Struct, frozen=True):
    format: Format
    name: str
    password: str
    echoed: dict[str, Any]
    """The keys that the answer repeats, as they were sent."""
    players: int
    options: dict[str, Any]
    """Options that differ from the defaults, so that equal wishes are equal values."""
    contest: str | None
    opponent: str | None
    match: str | None
    features: frozenset[str]
    pace: PaceName = "usual"
    invite: str | None = None
    guest: bool = False
    """True: the client is no registered bot, and `password` is a secret of its choice."""
    version: str = ""

    @property
    def frames(self) -> bool:
        """Whether the client gets frames in place of Battlebot's messages."""
        return not self.features.isdisjoint((FRAMES, VIEWS))

    @property
    def notices(self) -> bool:
        """Whether the client knows messages that the original never sends: it asked for them, or used a new key."""
        asked = not self.features.isdisjoint((AGAIN, FRAMES, NOTICES, VIEWS))
        return asked or self.guest or self.pace != "usual" or any((self.opponent, self.match, self.invite, self.version))

    def answer(self) -> bytes:
        """Return the answer to a good login. A contest is echoed as it was sent."""
        told = {"authentication": "OK", "gameType": self.echoed["gameType"], "name": self.name}
        if "contest" in self.echoed:
            told["contest"] = self.echoed["contest"]
        return ENCODER.encode(told)


class BadLogin(Exception):
    """A login that fails. The reason is sent only for keys that the original lacks: its own failures are all alike."""

    def answer(self) -> bytes:
        why = str(self)
        return msgspec.json.encode({"authentication": "failed", "why": why}) if why else FAILED


def read_login(message: Any) -> Login:
    """Return the login in a message, or raise BadLogin."""
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
    name, features = _text(message, "name"), _features(message)
    password = _secret(message) if guest else _text(message, "password")
    echoed = {key: message[key] for key in ("gameType", "contest") if key in message}
    wishes = (contest, opponent, match, features, pace, invite)
    return Login(row, name, password, echoed, players, options, *wishes, guest, _version(message))


def _text(message: dict[str, Any], key: str) -> str:
    value = message.get(key)
    if not isinstance(value, str):
        raise BadLogin
    return value


def _contest(value: Any) -> str | None:
    """Return the contest. As in JavaScript, null, empty text, 0 and false are none; other values but text fail."""
    if value in (None, "", 0):
        return None
    if not isinstance(value, str):
        raise BadLogin
    if len(value) > LONGEST_CONTEST:
        raise BadLogin(f"the name of a contest has at most {LONGEST_CONTEST} characters, not {len(value)}")
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
    """Return the pace. Guests are people and play at a pace for people, at which matches are unrated."""
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
    raise BadLogin(f"the secret of a guest is text of {SHORTEST_SECRET} to {LONGEST_SECRET} characters")


def _features(message: dict[str, Any]) -> frozenset[str]:
    try:
        return read_features(message, (AGAIN, EXTRAS, FRAMES, NOTICES, VIEWS))
    except BadFeatures as problem:
        raise BadLogin(str(problem)) from None


def _version(message: dict[str, Any]) -> str:
    try:
        return read_version(message.get("version"))
    except BadVersion as problem:
        raise BadLogin(str(problem)) from None


def _set_up(row: Format, options: Any, given: Any) -> tuple[Game[Any], int]:
    """Return the game and the number of players, or raise BadLogin if the game does not allow them."""
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


class Seek(Struct, Command, frozen=True):
    """Find a table as the login says, or return to the match that it names.

    `message` is the login as it was sent: a session at another node begins with it.
    """

    login: Login
    message: bytes = b""
