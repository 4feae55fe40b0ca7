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
from botdrome.wire.features import EXTRAS, FRAMES, NOTICES, BadFeatures, read_features

ENCODER = msgspec.json.Encoder()
LONGEST_CONTEST = 1000
"""Characters of a contest's name."""
LONGEST_INVITE = 64
SHORTEST_SECRET, LONGEST_SECRET = 16, 200
"""Characters of the secret of a guest: it alone shows to whom a seat belongs."""
FAILED = b'{"authentication":"failed"}'
GAMES = {game_type(name): row for name, row in FORMATS.items()}


class Login(Struct, frozen=True):
    format: Format
    name: str
    password: str
    echoed: dict[str, Any]
    """What the answer repeats, as it was sent."""
    players: int
    options: dict[str, Any]
    """Those that are not the usual ones: whoever wants the same says the same."""
    contest: str | None
    opponent: str | None
    match: str | None
    features: frozenset[str]
    pace: PaceName = "usual"
    invite: str | None = None
    guest: bool = False
    """True: it is no registered bot, and `password` is a secret of its own choice."""

    @property
    def frames(self) -> bool:
        return FRAMES in self.features

    @property
    def notices(self) -> bool:
        """The bot knows messages that the original never sends: it asked for them, or used a key that the original lacks."""
        asked = not self.features.isdisjoint((NOTICES, FRAMES))
        return asked or self.guest or self.pace != "usual" or any((self.opponent, self.match, self.invite))

    def answer(self) -> bytes:
        """The good one; a contest is echoed just as it was sent."""
        told = {"authentication": "OK", "gameType": self.echoed["gameType"], "name": self.name}
        if "contest" in self.echoed:
            told["contest"] = self.echoed["contest"]
        return ENCODER.encode(told)


class BadLogin(Exception):
    """A login that fails. Why is said only where the original has no such key: its own failures are all alike."""

    def answer(self) -> bytes:
        why = str(self)
        return msgspec.json.encode({"authentication": "failed", "why": why}) if why else FAILED


def read_login(message: Any) -> Login:
    """The login in a message, or BadLogin."""
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
    return Login(row, name, password, echoed, players, options, contest, opponent, match, features, pace, invite, guest)


def _text(message: dict[str, Any], key: str) -> str:
    value = message.get(key)
    if not isinstance(value, str):
        raise BadLogin
    return value


def _contest(value: Any) -> str | None:
    """None, empty text, 0 and false are no contest, as in JavaScript; anything else but text fails."""
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
    """Guests are people: they play at a pace for people, at which matches are unrated."""
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
        return read_features(message, (EXTRAS, FRAMES, NOTICES))
    except BadFeatures as problem:
        raise BadLogin(str(problem)) from None


def _set_up(row: Format, options: Any, given: Any) -> tuple[Game[Any], int]:
    """The game, and how many are to sit at the table, when it can be set up so."""
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
    """Find a table as the login says, or return to the match that it names."""

    login: Login
