"""Login: the first message of the native protocol."""

from typing import Any

import msgspec
from msgspec import Struct

from botdrome.formats import FORMATS, Format
from botdrome.games.game import BadOption, Game
from botdrome.games.options import unusual, with_options
from botdrome.wire.battlebot import game_type
from botdrome.wire.features import EXTRAS, NOTICES, BadFeatures, read_features

ENCODER = msgspec.json.Encoder()
LONGEST_CONTEST = 1000
"""Characters of a contest's name."""
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

    @property
    def notices(self) -> bool:
        """The bot knows messages that the original never sends: it asked for them, or used a key that the original lacks."""
        return NOTICES in self.features or self.opponent is not None or self.match is not None

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
    contest = _contest(message.get("contest"))
    game, players = _set_up(row, message.get("options"), message.get("players"))
    options = {} if game is row.game else unusual(game)
    opponent, match = _wanted(message, "opponent"), _wanted(message, "match")
    if opponent is not None and players != 2:
        raise BadLogin("an opponent can be named at a table of two only")
    name, password, features = _text(message, "name"), _text(message, "password"), _features(message)
    echoed = {key: message[key] for key in ("gameType", "contest") if key in message}
    return Login(row, name, password, echoed, players, options, contest, opponent, match, features)


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


def _features(message: dict[str, Any]) -> frozenset[str]:
    try:
        return read_features(message, (EXTRAS, NOTICES))
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
